"""Match the two ends of a link: speed, lanes and forward error correction of the ports, and the medium between them.

Assumptions about equipment, from general knowledge: a switch lane also supports every slower standard speed; a DAC, AEC
or AOC has equal ends, so it connects only equal lanes; optics of 100 Gb/s and more per lane exist with a gearbox that
accepts slower electrical lanes and terminates the error correction of the fibre.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import product
from typing import NamedTuple

from railfab.intent import FabricIntent
from railfab.topology.catalogue import SwitchModel
from railfab.topology.equipment import LANE_COUNTS, LANES_GBPS, Media, lane_modes, media_of_rate
from railfab.topology.model import CabledPort, Link, Net, Node, Topology


class SignalFec(StrEnum):
    """Forward error correction of a port.

    RS(528,514) belongs to NRZ lanes of 25 Gb/s: 100GBASE-KR4 and its like, IEEE 802.3bj, Clause 91 (as Intel's
    application note AN 846 cites it), and Clause 108 for one lane (general knowledge). RS(544,514) belongs to PAM4:
    Clause 91 for 100 Gb/s, and Clauses 119, 134 and 161 for the other rates and lanes (general knowledge).
    """

    NONE = "no FEC"
    RS528 = "RS(528,514)"
    RS544 = "RS(544,514)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """The electrical signal of an end: rate, number of lanes, error correction."""

    rate_gbps: int
    lanes: int
    fec: SignalFec

    @property
    def lane_gbps(self) -> int:
        return self.rate_gbps // self.lanes

    def __str__(self) -> str:
        return f"{self.lanes} x {self.lane_gbps} Gb/s"


class LinkMismatch(NamedTuple):
    """The reason why no medium connects two ends."""

    problem: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkMatch:
    """The signals and the medium of a link. optics_only: optics are needed, although a cable of this length exists
    between two ends like one of them."""

    a: Signal
    z: Signal
    media: Media
    optics_only: bool


def signals(rate_gbps: int, *, lane_gbps: int, lanes: int) -> tuple[Signal, ...]:
    """The signals of a port with up to `lanes` lanes of up to `lane_gbps` at a rate; the fastest lanes first."""
    return tuple(
        Signal(rate_gbps=rate_gbps, lanes=rate_gbps // lane, fec=fec_of(lane))
        for lane in lane_modes(rate_gbps, lane_gbps, lanes)
    )


def fec_of(lane_gbps: int) -> SignalFec:
    """The error correction of lanes of this speed."""
    if lane_gbps > 25:
        return SignalFec.RS544
    return SignalFec.RS528 if lane_gbps == 25 else SignalFec.NONE


def switch_signals(model: SwitchModel, rate_gbps: int, breakout: int) -> tuple[Signal, ...]:
    """The signals of a switch port at a rate, with its cage split into `breakout` ports (1: no breakout).

    A model with the speed in its entry has the lanes for it, whatever its other figures are.
    """
    speeds = model.speeds_gbps if breakout == 1 else model.breakouts.get(breakout, ())
    if rate_gbps not in speeds:
        return ()
    found = signals(rate_gbps, lane_gbps=model.lane_gbps, lanes=model.electrical_lanes // breakout)
    return found or nic_signals(rate_gbps, model.lane_gbps)


def nic_signals(rate_gbps: int, lane_gbps: int) -> tuple[Signal, ...]:
    """The signal of a NIC port, which has just the lanes that its rate needs; empty if there is none."""
    return signals(rate_gbps, lane_gbps=lane_gbps, lanes=LANE_COUNTS[-1])[:1]


def mismatch_reason(a: Signal, z: Signal, media: Media) -> str | None:
    """The reason why a cable or optic does not connect two ends; None if it does."""
    if a.rate_gbps != z.rate_gbps:
        return f"the ends run at {a.rate_gbps} Gb/s and {z.rate_gbps} Gb/s"
    if media.rate_gbps != a.rate_gbps:
        return f"{media.name} does not run at {a.rate_gbps} Gb/s"
    if not media.pluggables_per_end and a != z:
        return f"{media.name} does not connect {_with_fec(a)} to {_with_fec(z)}"
    for end in (a, z):
        if not media.supports(end.lane_gbps):
            return f"{media.name} does not support lanes of {end.lane_gbps} Gb/s"
    return None


def _with_fec(signal: Signal) -> str:
    return f"{signal} with {signal.fec}"


def match_ends(
    a: tuple[Signal, ...], z: tuple[Signal, ...], cable_m: float, *, by: tuple[Media, ...] | None = None
) -> LinkMatch | LinkMismatch:
    """The signals and medium that connect two ends over a length; or the reason why none do.

    The medium of the shortest reach among those in `by`; by default among all of the rate.
    """
    if not a or not z:
        return LinkMismatch("one end has no lanes for its speed", "Use a speed that both ends support")
    if a[0].rate_gbps != z[0].rate_gbps:
        problem = f"the ends run at {a[0].rate_gbps} Gb/s and {z[0].rate_gbps} Gb/s"
        return LinkMismatch(problem, "Use the same speed at both ends")
    media = media_of_rate(a[0].rate_gbps) if by is None else by
    long_enough = [medium for medium in media if medium.reach_m >= cable_m]
    for medium in long_enough:
        for a_signal, z_signal in product(a, z):
            if mismatch_reason(a_signal, z_signal, medium) is None:
                optics_only = bool(medium.pluggables_per_end) and _has_cable((*a, *z), long_enough)
                return LinkMatch(a=a_signal, z=z_signal, media=medium, optics_only=optics_only)
    return _mismatch(a, z, cable_m, media)


def _has_cable(ends: tuple[Signal, ...], media: list[Media]) -> bool:
    """Whether a cable of this length connects one of the ends to an equal end."""
    cables = [medium for medium in media if not medium.pluggables_per_end]
    return any(mismatch_reason(end, end, cable) is None for end in ends for cable in cables)


def _mismatch(a: tuple[Signal, ...], z: tuple[Signal, ...], cable_m: float, media: tuple[Media, ...]) -> LinkMismatch:
    pairs = list(product(a, z))
    matching = [medium for medium in media if any(mismatch_reason(*pair, medium) is None for pair in pairs)]
    if not matching:
        problem = f"no cable or optic connects {_with_fec(a[0])} to {_with_fec(z[0])}"
        return LinkMismatch(problem, "Use ports with equal lanes")
    longest = max(matching, key=lambda medium: medium.reach_m)
    problem = f"{cable_m:g} m exceeds the {longest.reach_m:g} m of {longest.name}, the longest medium for these ends"
    return LinkMismatch(problem, "Shorten the cable")


End = tuple[str, int, int]
"""The properties that determine the signals of an end: model, rate and breakout; for a NIC no model, rate, and the
speed of its lanes or 0."""
LinkType = tuple[End, End, float, bool]
"""The properties that determine the medium of a link: its ends, its length [m], and whether the lanes of a cage lead to
several cages, which needs optics."""
Cage = tuple[str, int]
"""A switch and one of its cages."""


class LinkMatcher:
    """Signals and media of the links of a cluster; links of one type are matched once.

    If the intent does not state the lanes of a NIC, it has those of its switch port; so has every port of other
    networks.

    A cage has one plug. If both ends of a link are breakout ports, a DAC, AEC or AOC connects all lanes of two cages
    one to one; lanes of a cage that lead to several cages need optics and separate fibres.
    """

    def __init__(self, topology: Topology, intent: FabricIntent) -> None:
        self._topology = topology
        self._nic_lane_gbps = intent.hosts.lane_gbps or 0
        self._nodes = topology.by_name
        self._lanes: dict[str, Mapping[int, int]] = {}
        self._known: dict[LinkType, LinkMatch | LinkMismatch] = {}

    def type_of(self, link: Link) -> LinkType:
        apart = link.a.lane is not None and link.z.lane is not None and not self._paired(link)
        return self._end(link.a, link.z), self._end(link.z, link.a), link.cable_m, apart

    def of(self, link: Link) -> LinkMatch | LinkMismatch:
        """The signals and medium of this link, or the reason why there are none."""
        link_type = self.type_of(link)
        if link_type not in self._known:
            self._known[link_type] = self._match(link_type)
        return self._known[link_type]

    def _paired(self, link: Link) -> bool:
        """Whether all lanes of two breakout cages connect to each other in their order."""
        ports = [self._breakout(self._nodes[end.node], end.rate_gbps) for end in (link.a, link.z)]
        return ports[0] == ports[1] == self._lanes_between[_cage(link.a), _cage(link.z)]

    @cached_property
    def _lanes_between(self) -> Counter[tuple[Cage, Cage]]:
        """Number of lanes of a cage that connect to the same lanes of another cage."""
        both = (link for link in self._topology.links if link.a.lane is not None and link.a.lane == link.z.lane)
        return Counter((_cage(link.a), _cage(link.z)) for link in both)

    def _end(self, port: CabledPort, peer: CabledPort) -> End:
        node = self._nodes[port.node]
        if node.model is None or port.cage == 0:
            backend = self._nodes[peer.node].net is Net.BACKEND
            return "", port.rate_gbps, self._nic_lane_gbps if backend else 0
        return node.model, port.rate_gbps, 1 if port.lane is None else self._breakout(node, port.rate_gbps)

    def _breakout(self, node: Node, rate_gbps: int) -> int:
        """Ports per cage of the breakout cages of this speed on a switch."""
        if node.name not in self._lanes:
            self._lanes[node.name] = {breakout.rate_gbps: breakout.lanes for breakout in node.breakouts}
        return self._lanes[node.name][rate_gbps]

    def _match(self, link_type: LinkType) -> LinkMatch | LinkMismatch:
        a, z, cable_m, apart = link_type
        optics = tuple(medium for medium in media_of_rate(a[1]) if medium.pluggables_per_end) if apart else None
        return match_ends(self._signals(a, z), self._signals(z, a), cable_m, by=optics)

    def _signals(self, end: End, peer: End) -> tuple[Signal, ...]:
        model, rate_gbps, detail = end
        if model:
            return switch_signals(self._topology.models[model], rate_gbps, detail)
        if not detail and peer[0] and peer[1] == rate_gbps:
            return self._signals(peer, end)
        return nic_signals(rate_gbps, detail or LANES_GBPS[0])


def _cage(port: CabledPort) -> Cage:
    return port.node, port.cage
