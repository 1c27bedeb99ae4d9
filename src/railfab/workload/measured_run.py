"""A collective as nccl-tests measured it: its GPUs, and the times of each size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from railfab.workload.operations import OPERATIONS

HostGpu = tuple[str, int]
"""A host by its name in the run, and a GPU of it, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTime:
    """The iterations of a size, out-of-place or in-place. bus_bytes_per_s: of their mean time; not finite where that
    was not measured. wrong: elements; None: not checked. variation:
    standard deviation of the iterations over their mean; None where they were not recorded.
    """

    in_place: bool
    bus_bytes_per_s: float
    wrong: float | None = None
    variation: float | None = None

    @property
    def is_measured(self) -> bool:
        return isfinite(self.bus_bytes_per_s) and self.bus_bytes_per_s > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSize:
    """The measurements of a size, in the order of the run: two in each of its cycles."""

    size_bytes: int
    measurements: tuple[MeasuredTime, ...]

    @property
    def valid(self) -> tuple[MeasuredTime, ...]:
        return tuple(each for each in self.measurements if each.is_measured)

    @property
    def bus_bytes_per_s(self) -> float | None:
        """Mean bus bandwidth; None where nothing was measured."""
        rates = [each.bus_bytes_per_s for each in self.valid]
        return sum(rates) / len(rates) if rates else None

    @property
    def wrong(self) -> float:
        """Elements that were wrong."""
        return sum(each.wrong or 0.0 for each in self.measurements)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """A run of one operation. gpus: of each rank. groups: ranks of each group, which measure at once; the times are
    those of the first. iterations: of which a time is the mean; None: not known.
    """

    source: str
    op: str
    gpus: Sequence[HostGpu]
    groups: Sequence[Sequence[int]]
    iterations: int | None
    sizes: Sequence[MeasuredSize]

    @property
    def ranks(self) -> int:
        """Ranks of a group."""
        return len(self.groups[0])

    @property
    def bus_factor(self) -> float:
        return OPERATIONS[self.op].bus_factor(self.ranks)
