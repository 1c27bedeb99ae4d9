"""`railfab measured`: results of nccl-tests and the ceilings of a design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli import completion
from railfab.cli.common import (
    FOUND,
    HostNamesOption,
    Output,
    OutputOption,
    host_names,
    prepare_simulator,
    print_json,
    print_table,
    print_text,
    uncollected,
)
from railfab.cli.simulate_options import SimulationTier, closed_form_by_default
from railfab.fabric import Design, design
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.simulate.job import FabricCalls
    from railfab.simulate.measured import CauseCeiling, MeasuredCeilings, PlacedRun
    from railfab.simulate.run_difference import RunDifference

ResultFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Output of nccl-tests, as text or JSON; the others are compared with the first.",
        show_default=False,
    ),
]
IntentOption = Annotated[
    Path,
    typer.Option(
        "--with",
        metavar="INTENT",
        help="The fabric's intent (YAML).",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
SeedsOption = Annotated[
    int, typer.Option("--seeds", min=1, max=1000, help="Seeds of the hashes that the simulation tries.")
]
TierOption = Annotated[
    SimulationTier | None,
    typer.Option(
        help="closed-form: no simulation. max-min: simulate on the links of the fabric, the default where it can be.",
        show_default=False,
    ),
]
NOISE = "noise: 95 %, Student's t over out-of-place and in-place of all cycles, all sizes at once"


@uncollected()
def measured(
    files: ResultFiles,
    intent: IntentOption,
    seeds: SeedsOption = 4,
    tier: TierOption = None,
    hosts: HostNamesOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Compare results of nccl-tests with the ceilings of the design, and name the faults that would explain them."""
    from railfab.imports.nccl_tests import read_nccl_tests
    from railfab.simulate.measured import measured_ceilings, placed_run
    from railfab.simulate.run_difference import run_difference

    if tier is SimulationTier.PACKETS:
        raise typer.BadParameter("nccl-tests are not simulated packet by packet: use closed-form or max-min.")
    fabric = design(intent)
    names = host_names(fabric, hosts)
    placed = [placed_run(read_nccl_tests(path), fabric, names) for path in files]
    for each in placed[1:]:
        _check_comparable(placed[0], each)
    why = "as asked" if tier is SimulationTier.CLOSED_FORM else "" if tier else closed_form_by_default(fabric)
    simulated, why = _simulated(placed[0], fabric, seeds, why)
    ceilings = [measured_ceilings(each, fabric, simulated) for each in placed]
    sizes = ceilings[0].bandwidth_sizes
    differences = [run_difference(placed[0].run, each.run, sizes) for each in placed[1:]]
    if output is Output.JSON:
        print_json(_document(fabric, ceilings, differences, why))
    else:
        for run in ceilings:
            _print_run(run, fabric, why)
        for difference in differences:
            _print_difference(difference, ceilings[0])
    if any(size.wrong for run in ceilings for size in run.sizes):
        raise typer.Exit(FOUND)


def _check_comparable(before: PlacedRun, after: PlacedRun) -> None:
    """Raises RailfabError for runs of other operations, or on other GPUs."""
    from railfab.errors import RailfabError

    if before.run.op != after.run.op:
        problem = f"is a run of {after.run.op}, and {before.run.source} of {before.run.op}"
        raise RailfabError(after.run.source, problem, "Compare runs of one operation")
    if before.span != after.span or len(before.run.groups) != len(after.run.groups):
        problem = f"has {_where(after)}, and {before.run.source} {_where(before)}"
        raise RailfabError(after.run.source, problem, "Compare runs on as many GPUs")


def _simulated(placed: PlacedRun, fabric: Design, seeds: int, why: str) -> tuple[list[FabricCalls], str]:
    """The collective on the links of the fabric, by seed, or why it is not simulated."""
    from railfab.simulate.measured import simulated_calls

    if placed.run.op == "sendrecv":
        why = "sendrecv of nccl-tests, in which each rank sends to the next one, is not simulated"
    if why:
        return [], why
    from railfab.fabric.routed import routed

    there = routed(fabric)
    prepare_simulator()
    calls = [simulated_calls(placed, fabric, there.with_seed(seed)) for seed in range(1, seeds + 1)]
    return calls, ""


def _where(placed: PlacedRun) -> str:
    groups = len(placed.run.groups)
    each = f"{counted(groups, 'group')} of " if groups > 1 else ""
    return f"{each}{counted(placed.span.ranks, 'GPU')} on {counted(placed.span.hosts, 'host')}"


def _document(
    fabric: Design, ceilings: list[MeasuredCeilings], differences: list[RunDifference], why: str
) -> dict[str, Any]:
    runs = [
        {
            "file": each.placed.run.source,
            "op": each.placed.run.op,
            "groups": len(each.placed.run.groups),
            "ranks": each.placed.span.ranks,
            "hosts": each.placed.span.hosts,
            "hosts_assumed": each.placed.assumed,
            "bandwidth_from_bytes": each.from_bytes,
            "sizes": [asdict(size) for size in each.sizes],
            "causes": [asdict(cause) for cause in each.causes],
        }
        for each in ceilings
    ]
    return {
        "fabric": fabric.intent.fabric,
        "not_simulated": why,
        "runs": runs,
        "differences": [
            {**asdict(each), "sizes": [{**asdict(size), "differs": size.differs} for size in each.sizes]}
            for each in differences
        ],
    }


SIZE_COLUMNS = ("size", "GB/s", "closed form", "simulated", "%", "limit")
CAUSE_COLUMNS = ("ceiling", "GB/s", "measured %", "fits")


def _print_run(each: MeasuredCeilings, fabric: Design, why: str) -> None:
    run = each.placed.run
    title = f"{run.source}: {run.op} of {_where(each.placed)}, bus bandwidth on {fabric.intent.fabric}"
    rows = [
        (
            _size(size.size_bytes),
            _rate(size.measured_bytes_per_s),
            _rate(size.closed_form_bytes_per_s),
            _rate(size.simulated_bytes_per_s),
            "" if size.share is None else f"{100 * size.share:.0f}",
            size.limit,
        )
        for size in each.sizes
    ]
    print_table(title, SIZE_COLUMNS, rows)
    if each.causes:
        print_table("", CAUSE_COLUMNS, map(_cause, each.causes))
    for line in _lines(each, why):
        print_text(line)


def _cause(cause: CauseCeiling) -> tuple[str, ...]:
    rate = _rate(cause.bus_bytes_per_s)
    if cause.least_bytes_per_s < cause.bus_bytes_per_s:
        rate = f"{_rate(cause.least_bytes_per_s)} to {rate}"
    return cause.cause, rate, f"{100 * cause.share:.0f}", "yes" if cause.fits else "no"


def _lines(each: MeasuredCeilings, why: str) -> Iterator[str]:
    """Errors of data, the verdict, and what was assumed."""
    from railfab.simulate.measured import MOST_SHARE

    for size in each.sizes:
        if size.wrong:
            yield f"error: {size.wrong:,.0f} elements of {_size(size.size_bytes)} are wrong: the data was corrupted"
    fitting, design_ceiling = each.fitting, each.design
    if design_ceiling is None:
        yield "Latency limits every size of this run" + (
            f": measure sizes from {_size(each.from_bytes)} on." if each.from_bytes is not None else "."
        )
    elif fitting:
        yield f"The numbers speak for: {', or '.join(cause.cause for cause in fitting)}."
    elif design_ceiling.share > MOST_SHARE:
        yield "The numbers are above the ceiling of the design: the run is not of this fabric, or the intent is wrong."
    else:
        yield "The numbers speak for none of these: look at the GPUs, PCIe and counters of the slowest host."
    if each.placed.assumed:
        yield "The plan names none of the hosts: its first ones stand for them. Name them with --hosts."
    if why:
        yield f"Not simulated: {why.rstrip('.')}."


DIFFERENCE_COLUMNS = ("size", "before", "after", "change %", "noise %", "differs")


def _print_difference(difference: RunDifference, before: MeasuredCeilings) -> None:
    from railfab.simulate.measured import nearest_cause

    rows = [
        (
            _size(size.size_bytes),
            _rate(size.before_bytes_per_s),
            _rate(size.after_bytes_per_s),
            f"{100 * (size.ratio - 1):+.1f}",
            "unknown" if size.noise is None else f"{100 * (size.noise - 1):.1f}",
            "yes" if size.differs else "no",
        )
        for size in difference.sizes
    ]
    print_table(f"{difference.before} and {difference.after}: bus bandwidth [GB/s]", DIFFERENCE_COLUMNS, rows)
    print_text(NOISE)
    if difference.ratio is None or difference.least is None or difference.most is None:
        return
    span = f"{100 * difference.least:.1f} to {100 * difference.most:.1f} %"
    print_text(f"Where bandwidth limits, {difference.after} has {100 * difference.ratio:.1f} % ({span}) of before.")
    near = nearest_cause(before, difference.ratio)
    if near is not None and difference.most < 1 and difference.least <= near[1] <= difference.most:
        print_text(f"That is what the design loses by: {near[0].cause} ({100 * near[1]:.1f} %).")


def _rate(bytes_per_s: float | None) -> str:
    return "" if bytes_per_s is None else f"{bytes_per_s / 1e9:.2f}"


UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _size(size_bytes: float) -> str:
    """A size in the largest unit that it is a whole number of."""
    power = 0
    while power + 1 < len(UNITS) and size_bytes >= 1024 and size_bytes % 1024 == 0:
        size_bytes, power = size_bytes / 1024, power + 1
    return f"{size_bytes:,.0f} {UNITS[power]}"
