"""Why the step of a job takes longer on a design than on another: the operations, and the links on which they wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from railfab.simulate.contention import BusyLink, Contention
from railfab.simulate.results import FabricEstimate
from railfab.workload import CollectiveTime

LEAST_SHARE = 1e-3
"""Differences of an operation below this share of the step are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationDifference:
    """An operation that takes longer on a fabric than on another one. extra_s: in all calls of a step, in the slowest
    stage [s]. hidden: whether it runs beside computation. link: on which it waits; empty where its NICs limit it."""

    fabric: str
    than: str
    group: str
    op: str
    extra_s: float
    hidden: bool
    link: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRun:
    """A run on the fabric of this name."""

    fabric: str
    run: FabricEstimate

    def turns(self) -> dict[tuple[str, str, bool], list[CollectiveTime]]:
        """Operations of the slowest stage by group, operation and whether they are hidden."""
        by_kind: dict[tuple[str, str, bool], list[CollectiveTime]] = {}
        for turn in self.run.step.collectives:
            by_kind.setdefault((turn.group, turn.op, turn.hidden), []).append(turn)
        return by_kind

    def contention(self, turn: CollectiveTime) -> Contention | None:
        """What the fabric adds to an operation; None where it was not followed."""
        key = turn.group, turn.op, turn.algorithm
        return next((held for held in self.run.contentions if (held.group, held.op, held.algorithm) == key), None)


def differences(slow: NamedRun, fast: NamedRun) -> tuple[OperationDifference, ...]:
    """Operations that take longer in a run than in another, the largest difference first."""
    return tuple(sorted(_differences(slow, fast), key=lambda each: -each.extra_s))


def _differences(slow: NamedRun, fast: NamedRun) -> Iterator[OperationDifference]:
    known = fast.turns()
    for key, turns in slow.turns().items():
        others = known.get(key, [])
        extra_s = _seconds(turns) - _seconds(others)
        if extra_s < LEAST_SHARE * slow.run.step.step_s:
            continue
        turn = max(turns, key=lambda each: each.calls * each.call_s)
        same = next((each for each in others if each.size_bytes == turn.size_bytes), None) or next(iter(others), None)
        link, reason = _reason(slow, fast, turn, same)
        yield OperationDifference(
            fabric=slow.fabric,
            than=fast.fabric,
            group=turn.group,
            op=turn.op,
            extra_s=extra_s,
            hidden=turn.hidden,
            link=link,
            reason=reason,
        )


def _seconds(turns: list[CollectiveTime]) -> float:
    return sum(turn.calls * turn.call_s for turn in turns)


def _reason(slow: NamedRun, fast: NamedRun, turn: CollectiveTime, same: CollectiveTime | None) -> tuple[str, str]:
    """The link on which an operation waits, if it waits longer there than in the other run; and why it takes longer."""
    held, other = slow.contention(turn), None if same is None else fast.contention(same)
    if held is not None and held.busiest is not None and held.extra_s > (other.extra_s if other else 0.0):
        return held.link, _crowded(held.busiest)
    if same is None:
        return "", f"{fast.fabric} has no such operation"
    if turn.ranks != same.ranks:
        return "", f"a group has {turn.ranks:,} ranks where {fast.fabric} has {same.ranks:,}"
    if turn.calls * turn.size_bytes > same.calls * same.size_bytes:
        return "", "the slowest stage sends more"
    ours, theirs = (f"{each.bus_bytes_per_s / 1e9:.1f}" for each in (turn, same))
    return "", f"its NICs and hosts give {ours} GB/s of bus bandwidth where {fast.fabric} has {theirs}"


def _crowded(busiest: BusyLink) -> str:
    return f"{busiest.flows:,} flows where {busiest.fair_flows:.1f} is the mean of its group: {busiest.reason}"
