"""Ranks of a training job: their groups, and the hosts on which those are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod

from railfab.intent.training import Dimension

Group = str
"""A kind of groups, one of GROUPS."""
GROUPS: Mapping[Group, tuple[Dimension, ...]] = {
    "tp": ("tp",),
    "cp": ("cp",),
    "ep": ("ep",),
    "dp": ("cp", "ep", "dp"),
    "edp": ("cp", "dp"),
    "pp": ("pp",),
}
"""Dimensions in which the ranks of a group differ. dp: who has the same parameters, but those of experts; edp: who has
the same experts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The hosts of a group. ranks_per_host: the fewest on a host that has some."""

    ranks: int
    hosts: int
    ranks_per_host: int

    @classmethod
    def of(cls, hosts: Iterable[str | int]) -> Span:
        """The span of a group with ranks on these hosts."""
        counts = Counter(hosts)
        return cls(ranks=counts.total(), hosts=len(counts), ranks_per_host=min(counts.values()))


def widest(spans: Iterable[Span]) -> Span:
    """The span over the most hosts, of several the one with the fewest ranks on a host."""
    return max(spans, key=lambda span: (span.hosts, -span.ranks_per_host))


@dataclass(frozen=True, slots=True)
class RanksByHost:
    """The ranks of a group, numbered from 0 host by host. counts: those of each host."""

    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        return sum(self.counts)

    @property
    def hosts(self) -> int:
        return len(self.counts)

    @property
    def per_host(self) -> int:
        """Ranks of a host that has most."""
        return max(self.counts)

    @property
    def alike(self) -> bool:
        """Whether all hosts have the same number of ranks."""
        return len(set(self.counts)) == 1

    @property
    def starts(self) -> tuple[int, ...]:
        """The first rank of each host."""
        return tuple(accumulate(self.counts[:-1], initial=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """The ranks of a job, numbered from 0: rank r is GPU r % gpus_per_host of host r // gpus_per_host.

    sizes: ranks in each dimension; that of dp is the number of copies of each expert, for each rank of cp.
    order: the dimension first whose neighbours have neighbouring ranks.
    """

    sizes: Mapping[Dimension, int]
    order: tuple[Dimension, ...]
    gpus_per_host: int

    @property
    def count(self) -> int:
        return prod(self.sizes.values())

    def group_size(self, group: Group) -> int:
        return prod(self.sizes[dimension] for dimension in GROUPS[group])

    def groups(self, group: Group) -> Iterator[tuple[int, ...]]:
        """The ranks of every group of a kind."""
        members = self._offsets(GROUPS[group])
        for first in self._offsets(tuple(d for d in self.order if d not in GROUPS[group])):
            yield tuple(first + member for member in members)

    def gpu(self, rank: int) -> tuple[int, int]:
        """Host and GPU of a rank, both from 0."""
        return divmod(rank, self.gpus_per_host)

    def place(self, rank: int) -> dict[Dimension, int]:
        """The position of a rank in each dimension, from 0."""
        place: dict[Dimension, int] = {}
        for dimension in self.order:
            rank, place[dimension] = divmod(rank, self.sizes[dimension])
        return place

    def span(self, group: Group) -> Span:
        """The hosts of the group that is spread most. Groups that begin at the same GPU of a host are alike."""
        members = self._offsets(GROUPS[group])
        firsts = self._offsets(tuple(d for d in self.order if d not in GROUPS[group]))
        starts = {first % self.gpus_per_host for first in firsts}
        spans = [Span.of((start + member) // self.gpus_per_host for member in members) for start in starts]
        return widest(spans)

    def _offsets(self, dimensions: tuple[Dimension, ...]) -> tuple[int, ...]:
        """Distances of ranks that differ in these dimensions from the first of them, in the order of the ranks."""
        strides, stride = {}, 1
        for dimension in self.order:
            strides[dimension] = stride
            stride *= self.sizes[dimension]
        axes = [
            range(0, self.sizes[dimension] * strides[dimension], strides[dimension])
            for dimension in reversed(self.order)
            if dimension in dimensions
        ]
        return tuple(map(sum, product(*axes)))
