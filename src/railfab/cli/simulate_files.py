"""Files that `railfab simulate -o` and `railfab sweep -o` write: pictures, and tables as Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.cli.echo import echo, echo_line
from railfab.errors import RailfabError
from railfab.text.counted import counted
from railfab.text.remedies import install

if TYPE_CHECKING:
    from railfab.fabric import Design
    from railfab.simulate import FabricEstimate, SweepResult

LIBRARIES = {"matplotlib": "plot", "pyarrow": "parquet"}
"""Libraries that write the files, with their extras."""


def missing_writers() -> tuple[str, ...]:
    """The libraries that are not installed."""
    return tuple(name for name in LIBRARIES if find_spec(name) is None)


def make_folder(folder: Path) -> None:
    """Make a folder for files. Raises RailfabError where it cannot be, and for libraries that are not installed."""
    if missing := missing_writers():
        extras = ",".join(LIBRARIES[name] for name in missing)
        verb = "is" if len(missing) == 1 else "are"
        raise RailfabError("--out", f"{' and '.join(missing)} {verb} not installed", install(extras))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RailfabError(str(folder), f"cannot be written: {error.strerror}", "Use another folder") from None


def write_run_files(job: str, runs: Sequence[tuple[Design, FabricEstimate]], folder: Path) -> None:
    """Write pictures of each run, and the tables of all of them, to a folder that exists."""
    from railfab.simulate import write_pictures, write_tables

    paths = write_tables(runs, folder)
    for design, run in runs:
        paths += write_pictures(job, design, run, folder)
    for design, run in runs:
        if not any(detail.queues for detail in run.details):
            reason = "no packets were simulated" if run.step.tier == "packets" else "only --tier packets has them"
            echo_line(f"{design.intent.fabric}: no picture of queues, {reason}", err=True)
    echo_line(f"wrote {counted(len(paths), 'file')} to {folder}", err=True)


def write_sweep_files(results: Sequence[SweepResult], folder: Path) -> None:
    """Write the table and the picture of a sweep, whose results are kept in any case; name what cannot be written."""
    from railfab.simulate import write_distribution, write_results

    missing = missing_writers()
    for name in missing:
        echo(f"railfab: {name} is not installed, and its files are left out. {install(LIBRARIES[name])}.", err=True)
    if "pyarrow" not in missing:
        write_results(results, folder / "results.parquet")
    if "matplotlib" not in missing and any(result.step_s is not None for result in results):
        write_distribution(results, folder / "steps")
