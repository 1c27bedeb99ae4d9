"""Whether two ends can be joined: the speed, lanes and forward error correction of ports, and the media between them.

What is assumed of equipment, from general knowledge: a switch's lane runs at every slower standard speed too; a cable
with its ends attached (DAC, AEC, AOC) is the same at both, so it joins equal lanes only; optics of 100 Gb/s and more a
lane exist with a gearbox that takes slower electrical lanes and does the error correction of the fibre itself.
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
from railfab.topology.model import Link, Net, Node, Port, Topology


class Fec(StrEnum):
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
    """What an end sends: a rate over so many electrical lanes, with its error correction."""

    rate_gbps: int
    lanes: int
    fec: Fec

    @property
    def lane_gbps(self) -> int:
        return self.rate_gbps // self.lanes

    def __str__(self) -> str:
        return f"{self.lanes} x {self.lane_gbps} Gb/s"


class Gap(NamedTuple):
    """Why two ends cannot be joined."""

    problem: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """How two ends are joined. optics_only: no cable joins them at a length that either end alone has a cable for."""

    a: Signal
    z: Signal
    media: Media
    optics_only: bool


def signals(rate_gbps: int, *, lane_gbps: int, lanes: int) -> tuple[Signal, ...]:
    """What a port of so many lanes, none faster than `lane_gbps`, can send at a rate; the fastest lanes first."""
    return tuple(
        Signal(rate_gbps=rate_gbps, lanes=rate_gbps // lane, fec=fec_of(lane))
        for lane in lane_modes(rate_gbps, lane_gbps, lanes)
    )


def fec_of(lane_gbps: int) -> Fec:
    """The error correction that lanes of this speed are run with."""
    if lane_gbps > 25:
        return Fec.RS544
    return Fec.RS528 if lane_gbps == 25 else Fec.NONE


def switch_signals(model: SwitchModel, rate_gbps: int, breakout: int) -> tuple[Signal, ...]:
    """What a port of a switch can send at a rate, its cage being split into `breakout` ports (1: unbroken).

    A model whose entry gives it the speed has the lanes for it, whatever is stated of its cages.
    """
    speeds = model.speeds_gbps if breakout == 1 else model.breakouts.get(breakout, ())
    if rate_gbps not in speeds:
        return ()
    found = signals(rate_gbps, lane_gbps=model.lane_gbps, lanes=model.electrical_lanes // breakout)
    return found or nic_signals(rate_gbps, model.lane_gbps)


def nic_signals(rate_gbps: int, lane_gbps: int) -> tuple[Signal, ...]:
    """What a NIC port can send: it has no more lanes than its rate needs, so there is one way or none."""
    return signals(rate_gbps, lane_gbps=lane_gbps, lanes=LANE_COUNTS[-1])[:1]


def joinable(a: Signal, z: Signal, media: Media) -> str | None:
    """Why two ends cannot be joined by a cable or optic; None when they can."""
    if a.rate_gbps != z.rate_gbps:
        return f"{a.rate_gbps} Gb/s meets {z.rate_gbps} Gb/s"
    if media.rate_gbps != a.rate_gbps:
        return f"{media.name} is not of {a.rate_gbps} Gb/s"
    if not media.pluggables_per_end and a != z:
        return f"{_said(a)} meet {_said(z)}, which {media.name} does not join"
    for end in (a, z):
        if not media.takes(end.lane_gbps):
            return f"{media.name} does not take lanes of {end.lane_gbps} Gb/s"
    return None


def _said(signal: Signal) -> str:
    return f"{signal} with {signal.fec}"


def joint(
    a: tuple[Signal, ...], z: tuple[Signal, ...], cable_m: float, *, by: tuple[Media, ...] | None = None
) -> Joint | Gap:
    """How two ends, each able to send one of several signals, are joined over a length; or why they cannot be.

    The medium of the shortest reach that does, of those in `by`; by default of all that have the rate.
    """
    if not a or not z:
        return Gap("one end has no lanes that make up its speed", "Use a speed and lanes that both ends have")
    if a[0].rate_gbps != z[0].rate_gbps:
        return Gap(f"{a[0].rate_gbps} Gb/s meets {z[0].rate_gbps} Gb/s", "Give both ends one speed")
    media = media_of_rate(a[0].rate_gbps) if by is None else by
    long_enough = [medium for medium in media if medium.reach_m >= cable_m]
    for medium in long_enough:
        for mine, theirs in product(a, z):
            if joinable(mine, theirs, medium) is None:
                optics_only = bool(medium.pluggables_per_end) and _has_cable((*a, *z), long_enough)
                return Joint(a=mine, z=theirs, media=medium, optics_only=optics_only)
    return _gap(a, z, cable_m, media)


def _has_cable(ends: tuple[Signal, ...], media: list[Media]) -> bool:
    """Whether an end would have a cable of that length to an end like itself."""
    return any(not medium.pluggables_per_end and joinable(end, end, medium) is None for end in ends for medium in media)


def _gap(a: tuple[Signal, ...], z: tuple[Signal, ...], cable_m: float, media: tuple[Media, ...]) -> Gap:
    reaching = [
        medium for medium in media if any(joinable(mine, theirs, medium) is None for mine, theirs in product(a, z))
    ]
    if not reaching:
        problem = f"{_said(a[0])} meet {_said(z[0])}, and no cable or optic joins them"
        return Gap(problem, "Use ends with equal lanes")
    longest = max(reaching, key=lambda medium: medium.reach_m)
    problem = f"{cable_m:g} m are more than the {longest.reach_m:g} m of {longest.name}, the longest that joins them"
    return Gap(problem, "Shorten the cable")


End = tuple[str, int, int]
"""What decides what an end can send: model, rate and breakout; on a NIC no model, and the speed of its lanes or 0."""
Kind = tuple[End, End, float, bool]
"""What decides how a link is joined: its ends, its length [m], and whether only optics can lead its lanes apart."""
Cage = tuple[str, int]
"""A switch and one of its cages."""


class Joints:
    """How the links of a cluster are joined; links of one kind are looked at once.

    A NIC whose lanes the intent does not state has those of its switch port; so has every port of other networks.

    A cage takes one plug. Where both ends of a link are broken out, a cable with attached ends joins all lanes of two
    cages one to one; lanes of a cage that lead to several cages are led apart by fibres between optics.
    """

    def __init__(self, topology: Topology, intent: FabricIntent) -> None:
        self._topology = topology
        self._nic_lane_gbps = intent.hosts.lane_gbps or 0
        self._nodes = topology.by_name
        self._lanes: dict[str, Mapping[int, int]] = {}
        self._known: dict[Kind, Joint | Gap] = {}

    def kind(self, link: Link) -> Kind:
        apart = link.a.lane is not None and link.z.lane is not None and not self._paired(link)
        return self._end(link.a, link.z), self._end(link.z, link.a), link.cable_m, apart

    def of(self, link: Link) -> Joint | Gap:
        """How this link is joined, or why it cannot be."""
        kind = self.kind(link)
        if kind not in self._known:
            self._known[kind] = self._joint(kind)
        return self._known[kind]

    def _paired(self, link: Link) -> bool:
        """Whether all lanes of the two cages of a link, broken out at both ends, join each other in their order."""
        ports = [self._breakout(self._nodes[end.node], end.rate_gbps) for end in (link.a, link.z)]
        return ports[0] == ports[1] == self._lanes_between[_cage(link.a), _cage(link.z)]

    @cached_property
    def _lanes_between(self) -> Counter[tuple[Cage, Cage]]:
        """How many lanes of a cage have links to the same lanes of another."""
        both = (link for link in self._topology.links if link.a.lane is not None and link.a.lane == link.z.lane)
        return Counter((_cage(link.a), _cage(link.z)) for link in both)

    def _end(self, port: Port, peer: Port) -> End:
        node = self._nodes[port.node]
        if node.model is None or port.cage == 0:
            backend = self._nodes[peer.node].net is Net.BACKEND
            return "", port.rate_gbps, self._nic_lane_gbps if backend else 0
        return node.model, port.rate_gbps, 1 if port.lane is None else self._breakout(node, port.rate_gbps)

    def _breakout(self, node: Node, rate_gbps: int) -> int:
        """How many ports of this speed the broken-out cages of a switch give."""
        if node.name not in self._lanes:
            self._lanes[node.name] = {breakout.rate_gbps: breakout.lanes for breakout in node.breakouts}
        return self._lanes[node.name][rate_gbps]

    def _joint(self, kind: Kind) -> Joint | Gap:
        a, z, cable_m, apart = kind
        optics = tuple(medium for medium in media_of_rate(a[1]) if medium.pluggables_per_end) if apart else None
        return joint(self._signals(a, z), self._signals(z, a), cable_m, by=optics)

    def _signals(self, end: End, peer: End) -> tuple[Signal, ...]:
        model, rate_gbps, detail = end
        if model:
            return switch_signals(self._topology.models[model], rate_gbps, detail)
        if not detail and peer[0] and peer[1] == rate_gbps:
            return self._signals(peer, end)
        return nic_signals(rate_gbps, detail or LANES_GBPS[0])


def _cage(port: Port) -> Cage:
    return port.node, port.cage
