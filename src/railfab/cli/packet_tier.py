"""What `railfab simulate --tier packets` prints of the packets that it has simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from railfab.simulate import Contention

PACKET_COLUMNS = ("group", "operation", "tier", "parts", "run", "kinds", "of max-min", "marked", "pauses", "lost")


def packet_rows(contentions: Iterable[Contention]) -> Iterator[tuple[object, ...]]:
    """The tier of each operation; its components, those that were simulated, and kinds of them; their times over those
    at max-min fair rates; packets with a mark, XOFF frames, lost packets."""
    for held in contentions:
        sample = held.sample
        if sample is None:
            yield held.group, held.op, held.tier, *("-",) * 7
            continue
        counts = sample.components, sample.simulated, sample.kinds
        yield (
            held.group,
            held.op,
            held.tier,
            *counts,
            f"{sample.ratio:.2f}",
            sample.marked,
            sample.pauses,
            sample.dropped,
        )


def packet_lines(contentions: Iterable[Contention]) -> Iterator[str]:
    """Why packets were not simulated, and how components differ of which only some were."""
    for held in contentions:
        name, sample = f"{held.group} {held.op}", held.sample
        if held.why:
            yield f"{name} is at max-min fair rates: {held.why}"
        if sample is not None and sample.simulated < sample.components:
            span = f"{sample.least_ratio:.2f} to {sample.most_ratio:.2f}"
            mean = f"{sample.ratio:.3f} in the mean, with a standard error of {sample.standard_error:.3f}"
            parts = f"{sample.simulated} of {sample.components} components"
            yield f"{name}: {parts} take {span} times as long as at max-min fair rates, {mean}, as the others do"
