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

from railfab.topology.exposure import Exposure, exposure
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Link, Net, Node, Role, Topology

NicOfNet = tuple[str, Net, int | None]
"""Host, network and rail; rail None: all ports of the host to the network."""


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
    other end. held: the NICs with a port on a leaf whose address no other leaf reaches, because it is of no LAG to a
    pair; what is sent to it stays there until the link goes down.
    """

    gbps: Mapping[str, float]
    of_switch: Mapping[str, Mapping[str, float]]
    nics: Mapping[NicOfNet, frozenset[str]]
    above: Mapping[str, frozenset[str]]
    peers: Mapping[str, frozenset[str]]
    nics_on: Mapping[str, tuple[NicOfNet, ...]] = field(repr=False)
    below: Mapping[str, tuple[str, ...]] = field(repr=False)
    held: Mapping[str, frozenset[NicOfNet]] = field(repr=False)

    def __call__(self, switches: Iterable[str]) -> Outage:
        """The outage of these switches together."""
        names = frozenset(switches)
        cut, fewer = ({nic[0] for nic in nics} for nics in self.nics_without(names))
        return Outage(self.shares(names), tuple(sorted(cut)), tuple(sorted(fewer - cut)))

    def shares(self, switches: Iterable[str]) -> dict[str, float]:
        """The lost share of each group that has links of these switches."""
        lost: Counter[str] = Counter()
        for name in sorted(switches):
            lost.update(self.of_switch.get(name, {}))
        return {group: lost[group] / self.gbps[group] for group in self.gbps if group in lost}

    def nics_without(self, switches: Set[str]) -> tuple[set[NicOfNet], set[NicOfNet]]:
        """The NICs without a leaf that reaches others, and those with fewer such leaves than without this outage."""
        near = dict.fromkeys(leaf for name in switches for leaf in (name, *self.below.get(name, ())))
        touched = {nic for leaf in near if self._is_down(leaf, switches) for nic in self.nics_on.get(leaf, ())}
        cut = {nic for nic in touched if self._are_down(self.nics[nic], switches)}
        return cut, touched - cut

    def stopped(self, switches: Set[str]) -> set[NicOfNet]:
        """The NICs of which a port exchanges nothing while these switches forward nothing and their links are up."""
        return self.nics_without(switches)[0].union(*(self.held.get(name, ()) for name in switches))

    def moves(self, switch: str) -> bool:
        """Whether a drain takes traffic off a switch: not where each NIC on it has an address that it alone reaches."""
        return not self.nics_on.get(switch) or not self.held.get(switch, frozenset()).issuperset(self.nics_on[switch])

    def nics_behind(self, switch: str) -> int:
        """The number of NICs on a leaf, or on the leaves below a spine."""
        leaves = (switch, *self.below.get(switch, ()))
        return len({nic for leaf in leaves for nic in self.nics_on.get(leaf, ())})

    def cut_together(self, switches: Set[str], name: str, drained: Set[str] = frozenset()) -> bool:
        """Whether one more switch is of a redundant pair with one of these, or cuts off, with them, a NIC that neither
        it alone nor they cut off. drained: switches that are lost already."""
        if not self.peers.get(name, frozenset()).isdisjoint(switches):
            return True
        out = switches | drained if drained else switches
        near = [leaf for leaf in (name, *self.below.get(name, ())) if self._is_down(leaf, out, name)]
        return any(
            self._are_down(leaves, out, name)
            and not self._are_down(leaves, out)
            and not self._are_down(leaves, drained, name)
            for leaves in {self.nics[nic] for leaf in near for nic in self.nics_on.get(leaf, ())}
        )

    def _are_down(self, leaves: Set[str], switches: Set[str], name: str = "") -> bool:
        return all(self._is_down(leaf, switches, name) for leaf in leaves)

    def _is_down(self, leaf: str, switches: Set[str], name: str = "") -> bool:
        """Whether a leaf is among these switches and this one, or has uplinks to these alone."""
        if leaf == name or leaf in switches:
            return True
        above = self.above.get(leaf)
        return above is not None and all(spine == name or spine in switches for spine in above)


def outages(topology: Topology) -> Outages:
    """The outages of a topology."""
    indexed = IndexedTopology(topology)
    nets = dict.fromkeys(node.net for node in topology.switches())
    networks = [exposure(net, topology, indexed.links) for net in nets]
    gbps: Counter[str] = Counter()
    of_switch: dict[str, Counter[str]] = defaultdict(Counter)
    for group, link in (pair for network in networks for pair in _grouped(network)):
        gbps[group] += link.rate_gbps
        of_switch[link.z.node][group] += link.rate_gbps
    nics: dict[NicOfNet, frozenset[str]] = {
        (host, network.net, rail): frozenset(leaves)
        for network in networks
        if network.net is not Net.MANAGEMENT
        for (host, rail), leaves in network.nics.items()
    }
    above = {
        low: frozenset(up)
        for network in networks
        for low, up in network.up.items()
        if network.nodes[low].role is Role.LEAF
    }
    peers: dict[str, set[str]] = defaultdict(set)
    for pair in indexed.pairs:
        for name in pair:
            peers[name] |= pair - {name}
    frozen = {name: frozenset(names) for name, names in peers.items()}
    held = {leaf: frozenset(of_leaf) for leaf, of_leaf in _held(topology, networks).items()}
    return Outages(gbps, of_switch, nics, above, frozen, _inverted(nics), _inverted(above), held)


def _held(topology: Topology, networks: Iterable[Exposure]) -> Mapping[str, set[NicOfNet]]:
    """The NICs with a port of their own on each leaf: of no LAG, or of one to this leaf alone."""
    to_pairs = {(bond.host, port) for bond in topology.bonds if len(set(bond.switches)) > 1 for port in bond.ports}
    held: dict[str, set[NicOfNet]] = defaultdict(set)
    for network in networks:
        for link in network.members:
            if network.net is not Net.MANAGEMENT and (link.a.node, link.a.name) not in to_pairs:
                held[link.z.node].add((link.a.node, network.net, link.a.rail))
    return held


_Key = TypeVar("_Key")


def _inverted(sets: Mapping[_Key, frozenset[str]]) -> dict[str, tuple[_Key, ...]]:
    """The keys of the sets that have each member."""
    keys: dict[str, list[_Key]] = defaultdict(list)
    for key, members in sets.items():
        for member in members:
            keys[member].append(key)
    return {member: tuple(keys[member]) for member in keys}


def _grouped(network: Exposure) -> Iterator[tuple[str, Link]]:
    """The groups of each link of a network; its upper end carries it."""
    for link in (*network.access, *network.uplinks):
        yield tier_of(network.nodes[link.z.node]), link
        if link.a.rail is not None and network.net is Net.BACKEND:
            yield f"{_RAIL}{link.a.rail}", link


_RAIL = "rail "


def is_rail(group: str) -> bool:
    """Whether a group is a rail; the others are tiers."""
    return group.startswith(_RAIL)


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
