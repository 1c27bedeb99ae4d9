"""Flows that are connected by links or by what they wait for, as components with numbers of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.ordered import Carriers, Floats, Numbers
from railfab.workload import TransferRounds

EQUAL = 1e-9
"""Relative difference of two rates that counts as none."""
LIGHT = 0.5
"""Share of a link that flows take at max-min fair rates, up to which their packets are taken not to meet there."""
MOST_AWAITED = 8
"""Flows that one flow waits for; more are joined by a delay of 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Component:
    """Flows of a component in several rounds, in an order of its own.

    payload_bytes: (flow,), 0 of a delay, which crosses no link. latency_ns: (flow,), that passes before the first byte;
    of a delay, all of it. paths: (flow, hop) links of the fabric, -1 behind the last; shares: (flow, hop) of packets
    that take each. earlier, later: (pair,) flow `later` begins when `earlier` has ended. carrier: (flow,) place of its
    carrier among those of the component, -1 of a join.
    """

    payload_bytes: Numbers
    latency_ns: Numbers
    paths: Numbers
    shares: Floats
    earlier: Numbers
    later: Numbers
    carrier: Numbers

    def packet_hops(self, packet_bytes: int) -> int:
        """Packets times the links that they cross."""
        packets = -(-self.payload_bytes // packet_bytes)
        hops = np.where(self.paths >= 0, self.shares, 0.0).sum(axis=1)
        return round(float((packets * hops).sum()))

    @property
    def is_balanced(self) -> bool:
        """Whether switches choose the links of packets."""
        return bool((self.shares[self.paths >= 0] < 1).any())

    def scaled(self, share: float) -> Component:
        """The component with a share of the payload of each flow."""
        payload = np.where(self.payload_bytes > 0, np.maximum(1, np.rint(self.payload_bytes * share)), 0)
        return replace(self, payload_bytes=payload.astype(np.int64))


def connected(member: Numbers, key: Numbers, members: int) -> Numbers:
    """(member,) a number for each set of members that keys connect, from 0. member, key: (pair,)."""
    parent = np.arange(members)
    keys = int(key.max(initial=-1)) + 1
    while True:
        least = np.full(keys, members)
        np.minimum.at(least, key, parent[member])
        joined = parent.copy()
        np.minimum.at(joined, member, least[key])
        np.minimum.at(joined, parent[member], least[key])
        joined = joined[joined]
        if np.array_equal(joined, parent):
            numbers: Numbers = np.unique(parent, return_inverse=True)[1]
            return numbers
        parent = joined


def meeting_links(paths: Numbers, capacity: Floats, peak: Floats) -> NDArray[np.bool_]:
    """(link,) whether flows on a link meet: it leaves a NIC, or can congest, or PFC may stop it, since a flow crosses
    one that can congest further on.

    paths: (flow, hop) links of the fabric, -1 for none. capacity: (link,) [bytes/s]. peak: (link,) the share of it that
    flows take at max-min fair rates. A link can congest if the NICs whose flows cross it can send more than it carries,
    and these flows fill it by more than LIGHT.
    """
    count, used = len(capacity), paths >= 0
    place, hop = np.nonzero(used)
    links, first = paths[place, hop], paths[place, 0]
    link, source = np.divmod(np.unique(links * count + first), count)
    offered = np.bincount(link, capacity[source], minlength=count)
    meets = (offered > capacity * (1 + EQUAL)) & (peak > LIGHT)
    while True:
        here = used & meets[np.where(used, paths, 0)]
        before = np.logical_or.accumulate(here[:, ::-1], axis=1)[:, ::-1] & used
        if np.array_equal(before, here):
            break
        meets[paths[before]] = True
    meets[first] = True
    return meets


def component_of(rounds: TransferRounds, carriers: Carriers, paths: Numbers) -> Numbers:
    """(carrier,) the component of each: carriers that meet on a link, or wait for each other.

    paths: (route, hop) links on which flows meet, -1 for none.
    """
    by_carrier = paths[carriers.route]
    place, hop = np.nonzero(by_carrier >= 0)
    members, keys = [place], [by_carrier[place, hop]]
    if rounds.count > 1:
        table = rounds.table[carriers.transfer]
        channels = int(rounds.table["channel"].max(initial=0)) + 1
        links = int(paths.max(initial=-1)) + 1
        for end in ("source", "target"):
            members.append(np.arange(len(carriers.transfer)))
            keys.append(links + table[end].astype(np.int64) * channels + table["channel"])
    return connected(np.concatenate(members), np.concatenate(keys), len(carriers.transfer))


def first_seen(values: Numbers) -> Numbers:
    """Numbers from 0 for values, in the order in which each comes first."""
    _, first, number = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: Numbers = rank[number]
    return numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Carriers of an operation by component. delay_s: (carrier,) duration of those that cross no link of the fabric.

    capacity: (link,) of the fabric [bytes/s]. peak: (link,) as of `meeting_links`. network: of the fabric. whole: all
    carriers are one component.
    """

    rounds: TransferRounds
    carriers: Carriers
    capacity: Floats
    peak: Floats
    delay_s: Floats
    network: NetworkColours
    whole: bool = False

    @cached_property
    def _inside(self) -> NDArray[np.bool_]:
        """(carrier,) whether it crosses no link of the fabric."""
        inside: NDArray[np.bool_] = np.asarray((self.carriers.paths >= len(self.capacity)).any(axis=1))
        return inside[self.carriers.route]

    @cached_property
    def _on_fabric(self) -> Numbers:
        """(route, hop) links of the fabric, -1 for none, of the routes that carriers take."""
        paths = np.full_like(self.carriers.paths, -1)
        routes = np.unique(self.carriers.route)
        held = self.carriers.paths[routes]
        paths[routes] = np.where(held < len(self.capacity), held, -1)
        return paths

    @cached_property
    def _meeting(self) -> Numbers:
        """(route, hop) links on which flows meet, -1 for the others: on all, where switches choose among them."""
        paths = self._on_fabric
        if self.whole or (self.carriers.shares[paths >= 0] < 1).any():
            return paths
        meets = meeting_links(paths, self.capacity, self.peak[: len(self.capacity)])
        return np.where((paths >= 0) & meets[paths], paths, -1)

    @cached_property
    def _laid(self) -> tuple[NetworkColours, Numbers]:
        """The network, and (route, hop) its links: of those between two switches on which flows do not meet, each route
        has its own, so that components differ in what matters only."""
        paths, copied = self._on_fabric, self._meeting < 0
        copied[:, 1:] &= paths[:, 1:] >= 0
        copied[:, :-1] &= paths[:, 1:] >= 0
        copied[:, [0, -1]] = False
        return self.network.with_copies(paths, copied)

    @property
    def colours(self) -> NetworkColours:
        """Digests of the links and nodes that components are on."""
        return self._laid[0]

    @cached_property
    def members(self) -> list[Numbers]:
        """The carriers of each component that crosses links."""
        if self.whole:
            return [np.arange(len(self.carriers.transfer))]
        number = component_of(self.rounds, self.carriers, self._meeting)
        order = np.argsort(number, kind="stable")
        sets = np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
        return [members for members in sets if not self._inside[members].all()]

    def packet_hops(self, component: int, packet_bytes: int) -> float:
        """Packets times the links that they cross, of all rounds of a component."""
        members, carriers = self.members[component], self.carriers
        transfer = carriers.transfer[members]
        routes = carriers.route[members]
        hops = np.where(self._on_fabric[routes] >= 0, carriers.shares[routes], 0.0).sum(axis=1)
        payload = carriers.share[members] * carriers.alike[members] * self.rounds.payload_bytes[transfer]
        return float((np.ceil(payload / packet_bytes) * self.rounds.table["times"][transfer] * hops).sum())

    def rounds_of(self, component: int) -> tuple[TransferRounds, Numbers]:
        """The rounds of a component alone, and the transfer there of each of its carriers."""
        rows, place = np.unique(self.carriers.transfer[self.members[component]], return_inverse=True)
        return replace(self.rounds, table=self.rounds.table[rows]), place

    def digest(self, component: int) -> bytes:
        """Digest of a component; equal ones are alike but for names, and have their flows in the same order."""
        members, carriers = self.members[component], self.carriers
        rounds, place = self.rounds_of(component)
        ends = np.concatenate((rounds.table["source"], rounds.table["target"])).astype(np.int64)
        colours, by_route = self._laid
        paths = by_route[carriers.route[members]]
        used = paths[paths >= 0]
        nodes = np.column_stack((colours.near[used], colours.far[used])).ravel()
        digest = blake2b(digest_size=16)
        rows = (rounds.payload_bytes, *(rounds.table[name] for name in ("begin", "times", "channel")))
        columns = (carriers.share, carriers.latency_s, carriers.alike, self.delay_s, self._inside)
        shape = (paths >= 0, 2 * first_seen(used >> 1) + (used & 1), first_seen(nodes))
        seen = (colours.links[used], colours.links[used ^ 1], colours.nodes[nodes])
        for part in (*rows, first_seen(ends), place, *(column[members] for column in columns), *shape, *seen):
            digest.update(f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        return digest.digest()

    def component(self, component: int, times: Callable[[int], int]) -> Component:
        """A component. times: how many of a number of equal rounds in a row are wanted."""
        members, carriers = self.members[component], self.carriers
        rounds, transfer = self.rounds_of(component)
        flows = _FlowList(rounds, transfer, times)
        place = np.array(flows.place, np.int64)
        chosen = members[np.maximum(place, 0)]
        crossing = (place >= 0) & ~self._inside[chosen]
        sizes = carriers.share[chosen] * carriers.alike[chosen] * self.rounds.payload_bytes[carriers.transfer[chosen]]
        seconds = np.where(crossing, carriers.latency_s[chosen], np.where(place >= 0, self.delay_s[chosen], 0.0))
        pairs = np.array(flows.pairs, np.int64).reshape(-1, 2)
        return Component(
            payload_bytes=np.where(crossing, np.maximum(1, np.rint(sizes)), 0).astype(np.int64),
            latency_ns=np.rint(seconds * 1e9).astype(np.int64),
            paths=np.where(crossing[:, None], self._laid[1][carriers.route[chosen]], -1),
            shares=carriers.shares[carriers.route[chosen]],
            earlier=pairs[:, 0],
            later=pairs[:, 1],
            carrier=np.where(place >= 0, place, -1),
        )


class _FlowList:
    """Flows of carriers, round by round, and pairs that wait. place: of each, its carrier's; -1 of a join."""

    def __init__(self, rounds: TransferRounds, transfer: Numbers, times: Callable[[int], int]) -> None:
        self.place: list[int] = []
        self.pairs: list[tuple[int, int]] = []
        self._last: dict[tuple[int, int], list[int]] = {}
        order = np.argsort(transfer, kind="stable")
        used = transfer[order]
        ends = rounds.table[used]
        sources, targets, channels = (ends[name].tolist() for name in ("source", "target", "channel"))
        for repeated, active in rounds.intervals():
            chosen = np.zeros(len(rounds.table), np.bool_)
            chosen[active] = True
            taking = np.flatnonzero(chosen[used]).tolist()
            rows = [(int(order[at]), (sources[at], channels[at]), (targets[at], channels[at])) for at in taking]
            for _ in range(times(repeated)):
                self._add_round(rows)

    def _add_round(self, rows: Sequence[tuple[int, tuple[int, int], tuple[int, int]]]) -> None:
        sent: dict[tuple[int, int], list[int]] = {}
        received: dict[tuple[int, int], list[int]] = {}
        for place, source, target in rows:
            flow = self._add(place, self._awaited(source))
            sent.setdefault(source, []).append(flow)
            received.setdefault(target, []).append(flow)
        for key in dict.fromkeys((*sent, *received)):
            before = sent.get(key) or self._last.get(key, [])
            self._last[key] = [*before, *received.get(key, [])]

    def _add(self, place: int, awaited: Sequence[int]) -> int:
        flow = len(self.place)
        self.place.append(place)
        self.pairs.extend((before, flow) for before in awaited)
        return flow

    def _awaited(self, source: tuple[int, int]) -> Sequence[int]:
        """The flows that the next one of a rank and channel waits for."""
        last = self._last.get(source, [])
        if len(last) > MOST_AWAITED:
            self._last[source] = last = [self._add(-1, last)]
        return last
