"""`railfab sweep`: a job on designs, with many seeds of hashes and failures."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import (
    Output,
    OutputOption,
    prepare_simulator,
    print_json,
    print_table,
    ticking_bar,
    uncollected,
)
from railfab.cli.echo import echo_line
from railfab.cli.simulate_files import write_sweep_files
from railfab.cli.simulate_options import IntentFiles, JobOption, SimulationTier, designs_of
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.process.cores import usable_cores
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.simulate import SweepResult, SweepRun

RESULTS = "results.jsonl"
SHOWN = 30
"""Rows of the table that are printed."""

SeedsOption = Annotated[int, typer.Option("--seeds", min=1, max=10_000, help="Seeds of the hashes that are tried.")]
EachOption = Annotated[
    list[str] | None,
    typer.Option("--each", metavar="KIND", help="A run for each cable between switches, or switch: cable, switch."),
]
FaultsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fault", metavar="KIND=WHERE[,...]", help="A run with these faults at once, as of simulate. Repeatable."
    ),
]
TierOption = Annotated[
    SimulationTier, typer.Option(help="max-min, or packets, which takes longer where the memo has no such run.")
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder that keeps results; a sweep continues there."),
]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; by default one for each core.")]


@uncollected()
def sweep(
    intents: IntentFiles,
    job: JobOption,
    seeds: SeedsOption = 1,
    fault: FaultsOption = None,
    each: EachOption = None,
    tier: TierOption = SimulationTier.MAX_MIN,
    out: FolderOption = None,
    workers: WorkersOption = None,
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Simulate a job on designs many times: other hashes, and a failure of every cable or switch."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from railfab.simulate import sweep as results_of

    if Path("-") in intents:
        raise RailfabError("-", "the processes of a sweep cannot read standard input", "Name a file")
    if tier is SimulationTier.CLOSED_FORM:
        raise RailfabError("--tier", "a closed form sees neither faults nor hashes", "Use --tier max-min")
    runs: list[SweepRun] = []
    for fabric in designs_of(intents, accept, output):
        runs += _runs(fabric, job, seeds, _failures(fabric, fault or (), each or ()), tier)
    kept = None if out is None else _results_file(out)
    prepare_simulator(here=False)
    count = min(len(runs), workers or usable_cores())
    spawned = get_context("spawn")
    with (
        ProcessPoolExecutor(count, spawned, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as executor,
        closing(results_of(runs, executor, kept)) as coming,
        ticking_bar("runs", len(runs)) as tick,
    ):
        results = []
        for result in coming:
            results.append(result)
            tick()
    results.sort(key=lambda result: (result.fabric, result.faults, result.seed))
    if out is not None:
        write_sweep_files(results, out)
    if output is Output.JSON:
        print_json([asdict(result) for result in results])
    else:
        rows = list(_rows(results))
        print_table(f"{counted(len(results), 'run')} of {results[0].job}", COLUMNS, rows[:SHOWN])
        if len(rows) > SHOWN:
            echo_line(f"and {counted(len(rows) - SHOWN, 'row')} more; --output json has each run")


def _results_file(folder: Path) -> Path:
    """The file of results in a folder, which is made. Raises RailfabError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULTS).touch()
    except OSError as error:
        raise RailfabError(str(folder), f"cannot be written: {error.strerror}", "Use another folder") from None
    return folder / RESULTS


def _runs(
    fabric: Design, job: Path, seeds: int, failures: Iterable[tuple[str, ...]], tier: SimulationTier
) -> Iterator[SweepRun]:
    """Check the job, and every fault, on a design; then all of its runs."""
    from railfab.fabric.design import naming
    from railfab.simulate import SweepRun, faults
    from railfab.simulate.routed import require_routes
    from railfab.workload import estimate
    from railfab.workload.recorded import load_any_job

    require_routes(fabric)
    wanted, document = load_any_job(job)
    with naming(document):
        estimate(wanted, fabric.intent, fabric.topology)
    for failure in failures:
        faults(failure, fabric.topology)
        for seed in range(1, seeds + 1):
            yield SweepRun(str(fabric.path), str(job), seed, failure, str(tier))


def _failures(fabric: Design, given: Iterable[str], kinds: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """No fault, then those that are given, then one of each cable or switch."""
    yield ()
    for text in given:
        yield tuple(text.split(","))
    switches = [node.name for node in fabric.topology.switches()]
    for kind in kinds:
        if kind == "switch":
            yield from ((f"switch={name}",) for name in switches)
        elif kind == "cable":
            for link in fabric.topology.links:
                if {link.a.node, link.z.node} <= set(switches):
                    yield (f"cable={link.a.node}:{link.a.name}",)
        else:
            raise RailfabError(f"--each {kind}", "there is no such kind", "Use cable or switch")


COLUMNS = ("fabric", "fault", "runs", "median s", "slowest s", "ratio", "cut off")


def _rows(results: Iterable[SweepResult]) -> Iterator[tuple[object, ...]]:
    """Steps without a fault, then by fault, the slowest first; the ratio is that of medians to no fault.

    cut off: runs in which ranks do not reach each other.
    """
    by_fault: dict[tuple[str, tuple[str, ...]], list[SweepResult]] = {}
    for result in results:
        by_fault.setdefault((result.fabric, result.faults), []).append(result)
    healthy = {fabric: _median(held) for (fabric, faults), held in by_fault.items() if not faults}
    order = sorted(by_fault, key=lambda key: (key[0], bool(key[1]), -(_median(by_fault[key]) or float("inf"))))
    for fabric, faults in order:
        held = by_fault[fabric, faults]
        steps = [result.step_s for result in held if result.step_s is not None]
        middle, base = _median(held), healthy.get(fabric)
        times = (f"{middle:.4f}", f"{max(steps):.4f}") if middle else ("-", "-")
        ratio = f"{middle / base:.3f}" if middle and base else "-"
        yield fabric, ", ".join(faults) or "none", len(held), *times, ratio, len(held) - len(steps)


def _median(results: Iterable[SweepResult]) -> float | None:
    steps = [result.step_s for result in results if result.step_s is not None]
    return median(steps) if steps else None
