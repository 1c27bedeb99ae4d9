"""The tables of `railfab simulate` of several designs: their steps, what they take, and why they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from railfab.cli.common import print_table, print_text
from railfab.text.counted import counted, listed

if TYPE_CHECKING:
    from railfab.documents.equipment import Equipment
    from railfab.fabric import Design
    from railfab.simulate import FabricEstimate
    from railfab.simulate.difference import OperationDifference
    from railfab.workload import JobEstimate

STEP_COLUMNS = ("fabric", "GPUs", "step s", "compute", "exposed", "bubble", "ratio")
MOST_DIFFERENCES = 3
"""Operations that are named for a design; --output json has each."""


def equipment_of(design: Design) -> Equipment:
    """The equipment of a design."""
    from railfab.documents.equipment import equipment
    from railfab.documents.plan import Plan

    return equipment(Plan(document=design.document, intent=design.intent, topology=design.topology))


def step_differences(runs: Mapping[str, FabricEstimate]) -> tuple[OperationDifference, ...]:
    """Why each design is slower than the fastest one. runs: by the name of the fabric."""
    from railfab.simulate.difference import NamedRun, differences

    fastest = min(runs, key=lambda name: runs[name].step.step_s)
    fast = NamedRun(fabric=fastest, run=runs[fastest])
    return tuple(
        difference
        for name, run in runs.items()
        if name != fastest
        for difference in differences(NamedRun(fabric=name, run=run), fast)
    )


def print_comparison(
    job: str,
    steps: Mapping[str, JobEstimate],
    equipment: Mapping[str, Equipment],
    differing: tuple[OperationDifference, ...],
) -> None:
    """Print designs side by side."""
    print_table(job, STEP_COLUMNS, _step_rows(steps))
    tiers = list(dict.fromkeys(tier for each in equipment.values() for tier in each.switches))
    heads = ("fabric", *tiers, "optics", "cables", "kW")
    print_table("Switches, optics, cables, and the most that these take", heads, _equipment_rows(equipment, tiers))
    heads = ("per GPU", "switches", "optics", "cables", "W")
    print_table("", heads, _gpu_rows(equipment))
    for line in (*_unknown(equipment), *_differences(differing)):
        print_text(line)
    if differing or any(each.unknown for each in equipment.values()):
        print_text("")


def _step_rows(steps: Mapping[str, JobEstimate]) -> Iterator[tuple[object, ...]]:
    fastest = min(step.step_s for step in steps.values())
    for name, step in steps.items():
        parts = step.step_s, step.compute_s, sum(step.exposed_s.values()), step.bubble_s
        yield name, step.gpus, *(f"{seconds:.3f}" for seconds in parts), f"{step.step_s / fastest:.2f}"


def _equipment_rows(equipment: Mapping[str, Equipment], tiers: list[str]) -> Iterator[tuple[object, ...]]:
    for name, each in equipment.items():
        switches = (f"{each.switches.get(tier, 0):,}" for tier in tiers)
        power = "unknown" if each.power_w is None else f"{each.power_w / 1e3:,.1f}"
        yield name, *switches, f"{each.optics:,}", f"{each.cables:,}", power


def _gpu_rows(equipment: Mapping[str, Equipment]) -> Iterator[tuple[object, ...]]:
    for name, each in equipment.items():
        counts = sum(each.switches.values()), each.optics, each.cables
        power = "unknown" if each.power_w is None else f"{each.power_w / each.gpus:.1f}"
        yield name, *(f"{count / each.gpus:.3f}" for count in counts), power


def _unknown(equipment: Mapping[str, Equipment]) -> Iterator[str]:
    for name, each in equipment.items():
        if each.unknown:
            yield f"{name}: unknown is {listed(each.unknown)}."


def _differences(differing: tuple[OperationDifference, ...]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for each in differing:
        counts[each.fabric] = counts.get(each.fabric, 0) + 1
        if counts[each.fabric] > MOST_DIFFERENCES:
            continue
        beside = ", beside computation" if each.hidden else ""
        where = f"{each.link} has " if each.link else ""
        yield (
            f"{each.fabric} against {each.than}: {each.group} {each.op} takes {each.extra_s * 1e3:,.1f} ms more in a "
            f"step{beside}: {where}{each.reason}."
        )
    for name, count in counts.items():
        if count > MOST_DIFFERENCES:
            yield f"{name}: and {counted(count - MOST_DIFFERENCES, 'operation')} more; --output json has each."
