"""`railfab sweep`: a job on designs, with many seeds of hashes and failures."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
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
from railfab.cli.sweep_axes import SweepAxes
from railfab.cli.sweep_table import sweep_table
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.process.cores import usable_cores
from railfab.text.counted import counted, listed

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
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE[,...]",
        help="Values of a key of the intent that are tried, such as profile.hash.seed=1,7. Repeatable: each with each.",
    ),
]
PlacementOption = Annotated[
    str | None,
    typer.Option(
        "--placement", metavar="NAME[,...]", help="Placements of the hosts of the job that are tried: packed,scattered."
    ),
]
TierOption = Annotated[
    SimulationTier, typer.Option(help="max-min, or packets, which takes longer where the memo has no such run.")
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder that keeps results; a sweep continues there."),
]
DaskOption = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Scheduler of Dask whose workers run, such as tcp://host:8786."),
]
RayOption = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Cluster of Ray whose workers run, such as host:6379."),
]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; by default one for each core.")]


@uncollected()
def sweep(
    intents: IntentFiles,
    jobs: JobOption,
    seeds: SeedsOption = 1,
    fault: FaultsOption = None,
    each: EachOption = None,
    settings: SetOption = None,
    placement: PlacementOption = None,
    tier: TierOption = SimulationTier.MAX_MIN,
    out: FolderOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    ray: RayOption = None,
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Simulate a job on designs many times: other hashes, settings and placements, a failure of every part."""
    from railfab.simulate import sweep as results_of
    from railfab.simulate.sweeps import AHEAD

    job = _only(jobs)
    _check_one_place(workers, dask, ray)
    if Path("-") in intents:
        raise RailfabError("-", "the processes of a sweep cannot read standard input", "Name a file")
    if tier is SimulationTier.CLOSED_FORM:
        raise RailfabError("--tier", "a closed form sees neither faults nor hashes", "Use --tier max-min")
    axes = SweepAxes.read(settings or (), placement, seeds, tier)
    runs: list[SweepRun] = []
    for fabric in designs_of(intents, accept, output):
        runs += axes.runs(fabric, job, lambda changed: _failures(changed, fault or (), each or ()), accept, output)
    if unseen := axes.unseen():
        echo_line(f"max-min does not see {listed(unseen)}: only --tier packets does", err=True)
    kept = None if out is None else _results_file(out)
    prepare_simulator(here=False)
    with (
        _cluster(dask, ray, min(len(runs), workers or usable_cores())) as (executor, count),
        closing(results_of(runs, executor, kept, ahead=max(AHEAD, 2 * count))) as coming,
        ticking_bar("runs", len(runs)) as tick,
    ):
        results = []
        for result in coming:
            results.append(result)
            tick()
    place = {run.key: number for number, run in enumerate(runs)}
    results.sort(key=lambda result: place[result.key])
    if out is not None:
        write_sweep_files(results, out)
    _show(results, output)


def _only(jobs: Sequence[Path]) -> Path:
    """The job of a sweep. Raises RailfabError for several."""
    if len(jobs) > 1:
        raise RailfabError(f"--job {jobs[1]}", "a sweep has one job", "Leave it out, and give it a sweep of its own")
    return jobs[0]


def _check_one_place(workers: int | None, dask: str | None, ray: str | None) -> None:
    """Raise RailfabError for two options that say where runs go."""
    given = [option for option, value in (("--workers", workers), ("--dask", dask), ("--ray", ray)) if value]
    if len(given) > 1:
        raise RailfabError(given[0], f"{given[1]} says where runs go, too", "Leave one of them out")


def _show(results: Sequence[SweepResult], output: Output) -> None:
    """Print the results, or the first rows of their table."""
    if output is Output.JSON:
        print_json([asdict(result) for result in results])
        return
    heads, rows = sweep_table(results)
    print_table(f"{counted(len(results), 'run')} of {results[0].job}", heads, rows[:SHOWN])
    if len(rows) > SHOWN:
        echo_line(f"and {counted(len(rows) - SHOWN, 'row')} more; --output json has each run")


@contextmanager
def _cluster(dask: str | None, ray: str | None, workers: int) -> Iterator[tuple[Executor, int]]:
    """The workers of a cluster, or processes of this machine, and their number."""
    from railfab.simulate.clusters import dask_cluster, ray_cluster

    if dask or ray:
        with dask_cluster(dask) if dask else ray_cluster(str(ray)) as cluster:
            yield cluster
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("forkserver" if sys.platform == "linux" else "spawn")
    context.set_forkserver_preload(["railfab.simulate.job", "railfab.sim.engine"])  # once for all workers
    with ProcessPoolExecutor(workers, context, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as executor:
        yield executor, workers


def _results_file(folder: Path) -> Path:
    """The file of results in a folder, which is made. Raises RailfabError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULTS).touch()
    except OSError as error:
        raise RailfabError(str(folder), f"cannot be written: {error.strerror}", "Use another folder") from None
    return folder / RESULTS


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
