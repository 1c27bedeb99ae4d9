"""What the links of a fabric add to a collective."""

from __future__ import annotations

from dataclasses import dataclass

TIER = "max-min"
PACKETS = "packets"
COLLISIONS = "hashes collide"
"""The reason of a link that would not limit its flows if they were spread evenly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyLink:
    """A link on which a group waits. flows: of all groups on it; fair_flows: the mean of the links between which its
    switch chooses, this one included. share: of the rate that a flow would have if only its NICs were full."""

    link: int
    flows: int
    fair_flows: float
    share: float

    @property
    def reason(self) -> str:
        """Whether the link would limit its flows if they were spread evenly, and whether they are not."""
        unevenness = self.flows / self.fair_flows
        if self.share * unevenness > 0.99:
            return COLLISIONS
        return "the links are too few, and hashes collide" if unevenness > 1.1 else "the links are too few"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSample:
    """Components of an operation that were simulated. kinds: of them, that differ in more than names.

    ratio: mean of the times of their slowest groups over those of their flows at max-min fair rates, from the least to
    the largest one (`least_ratio`, `most_ratio`), with the standard error of the mean where not all were simulated.
    marked, pauses, dropped: packets with a mark, XOFF frames and lost packets of these.
    """

    components: int
    simulated: int
    kinds: int
    ratio: float
    least_ratio: float
    most_ratio: float
    standard_error: float
    marked: int
    pauses: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """What a fabric adds to a call of a collective [s]: nothing where only NICs and hosts limit it.

    median_s, slowest_s: of the groups; ideal_s, at max-min fair rates. busiest: a BusyLink, and link its name.
    tier: what times are computed with, and why, where that is not what was asked for. sample: what was simulated.
    """

    group: str
    op: str
    algorithm: str
    size_bytes: int
    groups: int
    ideal_s: float
    median_s: float
    slowest_s: float
    link: str = ""
    busiest: BusyLink | None = None
    tier: str = TIER
    why: str = ""
    sample: PacketSample | None = None

    @property
    def is_in_proportion(self) -> bool:
        """Whether a call of a little more takes so much longer: in packets, where none was marked, stopped or lost."""
        sample = self.sample
        return sample is None or not (sample.marked or sample.pauses or sample.dropped)

    @property
    def extra_s(self) -> float:
        """Time by which the slowest group is later than where only NICs and hosts limit it [s]."""
        return max(0.0, self.slowest_s - self.ideal_s)
