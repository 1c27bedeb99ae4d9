"""Outages: what a fabric loses while several of its switches forward nothing at the same time.

A group is a set of links whose bandwidth is counted together: the links of hosts to the leaves of a rail, and of each
tier its links downwards, those of the spines of a pod apart from those of other pods. Planes are counted together: a
host has a port in each. A host is cut off where one of its NICs has no leaf left that forwards and has an uplink left,
if it had one; it is less redundant where a NIC has lost some of its leaves. The management network has groups, and cuts
no host off: no data crosses it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TypeVar

from railfab.topology.links_by_tier import links_by_tier
from railfab.topology.model import Link, Net, Node, Role, Topology

_Nic = tuple[str, Net, int | None]
"""Host, network and rail."""


@dataclass(frozen=True, slots=True)
class Outage:
    """What is lost while some switches forward nothing.

    lost: share of the bandwidth of each group that loses some, 0 to 1, by its name (`rail 3`, `spines of pod1`).
    cut_off: hosts of which a NIC has no path left. less_redundant: other hosts of which a NIC has fewer. Both sorted.
    """

    lost: Mapping[str, float]
    cut_off: tuple[str, ...]
    less_redundant: tuple[str, ...]


@dataclass(frozen=True)
class Outages:
    """The outages of a topology, indexed.

    gbps: bandwidth of each group. of_switch: what each switch has of them. nics: the leaves of each NIC. above: the
    switches above each leaf. peers: the other switch of each redundant pair. nics_on, below: `nics` and `above`, by the
    other end.
    """

    gbps: Mapping[str, float]
    of_switch: Mapping[str, Mapping[str, float]]
    nics: Mapping[_Nic, frozenset[str]]
    above: Mapping[str, frozenset[str]]
    peers: Mapping[str, frozenset[str]]
    nics_on: Mapping[str, tuple[_Nic, ...]] = field(repr=False)
    below: Mapping[str, tuple[str, ...]] = field(repr=False)

    def __call__(self, switches: Iterable[str]) -> Outage:
        """The outage of these switches together."""
        names = frozenset(switches)
        down = self.down(names)
        touched = dict.fromkeys(nic for leaf in down for nic in self.nics_on.get(leaf, ()))
        cut = {nic[0] for nic in touched if self.nics[nic] <= down}
        fewer = {nic[0] for nic in touched if not self.nics[nic] <= down}
        return Outage(self.shares(names), tuple(sorted(cut)), tuple(sorted(fewer - cut)))

    def shares(self, switches: Iterable[str]) -> dict[str, float]:
        """The lost share of each group that has links of these switches."""
        lost: Counter[str] = Counter()
        for name in sorted(switches):
            lost.update(self.of_switch.get(name, {}))
        return {group: lost[group] / self.gbps[group] for group in self.gbps if group in lost}

    def down(self, switches: frozenset[str]) -> frozenset[str]:
        """The leaves that reach no other leaf: those of these switches, and those below these alone."""
        below = {leaf for name in switches for leaf in self.below.get(name, ()) if self._is_down(leaf, switches)}
        return frozenset(below | {name for name in switches if name in self.nics_on})

    def cut_together(self, switches: Set[str], name: str) -> bool:
        """Whether one more switch and these are a redundant pair, or cut a NIC off that none of them cuts off alone."""
        if self.peers.get(name, frozenset()) & switches:
            return True
        after = {*switches, name}
        leaves = [leaf for leaf in (name, *self.below.get(name, ())) if self._is_down(leaf, after)]
        return any(self._is_cut_jointly(self.nics[nic], after) for leaf in leaves for nic in self.nics_on.get(leaf, ()))

    def _is_cut_jointly(self, leaves: frozenset[str], switches: Set[str]) -> bool:
        if not all(self._is_down(leaf, switches) for leaf in leaves):
            return False
        alone = [{name} for leaf in leaves for name in (leaf, *self.above.get(leaf, ())) if name in switches]
        return not any(all(self._is_down(leaf, name) for leaf in leaves) for name in alone)

    def _is_down(self, leaf: str, switches: Set[str]) -> bool:
        """Whether a leaf is among these switches, or has uplinks to these alone."""
        return leaf in switches or (leaf in self.above and self.above[leaf] <= switches)


def outages(topology: Topology) -> Outages:
    """The outages of a topology."""
    links, nodes = links_by_tier(topology), topology.by_name
    gbps: Counter[str] = Counter()
    of_switch: dict[str, Counter[str]] = defaultdict(Counter)
    for group, link in _grouped((*links.hosts, *links.managed, *links.uplinks), nodes):
        gbps[group] += link.rate_gbps
        of_switch[link.z.node][group] += link.rate_gbps
    nics: dict[_Nic, set[str]] = defaultdict(set)
    for link in links.hosts:
        if nodes[link.z.node].net is not Net.MANAGEMENT:
            nics[link.a.node, nodes[link.z.node].net, link.a.rail].add(link.z.node)
    above: dict[str, set[str]] = defaultdict(set)
    for link in links.uplinks:
        if nodes[link.a.node].role is Role.LEAF:
            above[link.a.node].add(link.z.node)
    peers: dict[str, set[str]] = defaultdict(set)
    for link in links.peer_links:
        peers[link.a.node].add(link.z.node)
        peers[link.z.node].add(link.a.node)
    return Outages(gbps, of_switch, _frozen(nics), _frozen(above), _frozen(peers), _inverted(nics), _inverted(above))


_Key = TypeVar("_Key")


def _frozen(sets: Mapping[_Key, set[str]]) -> dict[_Key, frozenset[str]]:
    return {key: frozenset(members) for key, members in sets.items()}


def _inverted(sets: Mapping[_Key, set[str]]) -> dict[str, tuple[_Key, ...]]:
    """The keys of the sets that have each member."""
    keys: dict[str, list[_Key]] = defaultdict(list)
    for key, members in sets.items():
        for member in members:
            keys[member].append(key)
    return {member: tuple(keys[member]) for member in keys}


def _grouped(links: Iterable[Link], nodes: Mapping[str, Node]) -> Iterator[tuple[str, Link]]:
    """The groups of each link; its upper end carries it."""
    for link in links:
        yield tier_of(nodes[link.z.node]), link
        if link.a.rail is not None and nodes[link.z.node].net is Net.BACKEND:
            yield f"rail {link.a.rail}", link


def tier_of(node: Node) -> str:
    """The name of the tier of a switch: `leaves`, `spines of pod1`, `super-spines`; of other networks with theirs."""
    net = "" if node.net is Net.BACKEND else f"{node.net} "
    match node.role:
        case Role.SPINE:
            return f"{net}spines of pod{node.pod}" if node.pod else f"{net}spines"
        case Role.SUPER:
            return f"{net}super-spines"
        case _:
            return f"{net}leaves"
