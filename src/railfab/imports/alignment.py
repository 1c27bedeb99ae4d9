"""Match an existing topology with the intended one: its nodes and ports under the names of the intent.

A source may call things otherwise, and may leave out what a fabric has. Neither is a difference by itself: a node is
known by its cables, a port by its place on the front panel, and what a source holds nothing of is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from railfab.imports.existing import ExistingNode, ExistingPort, ExistingTopology, Position
from railfab.topology.model import TIERS, Net, Node, Role, Topology

End = tuple[str, str]
"""A port: node and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """An existing topology, with the names of the intent.

    nodes: by name. called: names in the source of nodes that it names otherwise. left_out: intended nodes that the
    source does not describe. not_compared: their groups, for messages. peers: of each cabled port. meant: their peers
    in the intent. links: in the order of the source.
    """

    nodes: Mapping[str, ExistingNode]
    called: Mapping[str, str]
    left_out: frozenset[str]
    not_compared: tuple[str, ...]
    peers: Mapping[End, tuple[End, ...]]
    meant: Mapping[End, End]
    links: tuple[tuple[End, End], ...]
    ports: Mapping[End, ExistingPort]


def _intended_peers(intended: Topology) -> dict[End, End]:
    """The peer of every port that is cabled in the intent."""
    peers: dict[End, End] = {}
    for link in intended.links:
        a, z = (link.a.node, link.a.name), (link.z.node, link.z.name)
        peers[a], peers[z] = z, a
    return peers


def align(intended: Topology, found: ExistingTopology) -> Alignment:
    """Match an existing topology with the intended one."""
    peers, resolve = _intended_peers(intended), _Ports(intended)
    called = _called(intended, found, peers, resolve)
    intended_name = {theirs: ours for ours, theirs in called.items()}
    nodes = {intended_name.get(node.name, node.name): node for node in found.nodes}

    def end(port: ExistingPort) -> End:
        return resolve.end(intended_name.get(port.node, port.node), port)

    ends = [(end(link.a), end(link.z)) for link in found.links]
    ours, strangers = _host_ports(intended, ends, peers)
    links = tuple(dict.fromkeys((ours.get(a, a), ours.get(z, z)) for a, z in ends))
    ports = {ours.get(end(port), end(port)): port for port in found.all_ports()}
    left_out, words = _left_out(intended, nodes)
    if strangers:
        words = (*words, f"which NIC a cable ends in, on {_first_of(strangers)}: other names than the intent's")
    return Alignment(
        nodes=nodes,
        called=called,
        left_out=left_out,
        not_compared=words,
        peers=_both_ways(links),
        meant=peers,
        links=links,
        ports=ports,
    )


class _Ports:
    """Finds intended ports by name, or else by front-panel position."""

    def __init__(self, intended: Topology) -> None:
        self._names: set[End] = set()
        self._by_position: dict[tuple[str, Position], str] = {}
        for port, _, _ in intended.ports():
            self._names.add((port.node, port.name))
            if port.cage:
                self._by_position[port.node, (port.cage, port.lane)] = port.name

    def end(self, node: str, port: ExistingPort) -> End:
        if (node, port.name) in self._names or port.position is None:
            return node, port.name
        cage, lane = port.position
        whole = (cage, None if lane == 1 else lane)  # some name a whole cage by its first lane
        name = self._by_position.get((node, port.position)) or self._by_position.get((node, whole))
        return node, name or port.name


def _called(intended: Topology, found: ExistingTopology, peers: Mapping[End, End], resolve: _Ports) -> dict[str, str]:
    """The source's names, by intended name, of nodes that it calls otherwise.

    A missing node is one of another name when all cables of that are its cables, and at least half of them are there.
    """
    names = {node.name for node in found.nodes}
    votes: dict[str, Counter[str]] = {}
    for link in found.links:
        for stranger, known in ((link.a, link.z), (link.z, link.a)):
            if stranger.node not in intended.by_name and known.node in intended.by_name:
                peer = peers.get(resolve.end(known.node, known))
                votes.setdefault(stranger.node, Counter())[peer[0] if peer else ""] += 1
    cables = Counter(end[0] for end, peer in peers.items() if peer[0] in names)
    called: dict[str, str] = {}
    for stranger_name, counts in votes.items():
        (node, count), *others = counts.most_common()
        if node and not others and node not in names and node not in called and 2 * count >= cables[node]:
            called[node] = stranger_name
    return called


def _host_ports(
    intended: Topology, ends: list[tuple[End, End]], peers: Mapping[End, End]
) -> tuple[dict[End, End], tuple[str, ...]]:
    """The intended port for each port of a host that the source calls otherwise, and those hosts.

    A NIC's port is called as its operating system calls it; the switch's end tells which it must be. So that a wrong
    name is still one, this is done where a source has none of the intent's names for a host's ports to a network.
    """
    ways = [way for a, z in ends for way in ((a, z), (z, a))]
    known = {(here[0], _net(intended, there)) for here, there in ways if here in peers}
    ours: dict[End, End] = {}
    for here, there in ways:
        meant = peers.get(there)
        if meant is None or meant[0] != here[0] or TIERS[intended.by_name[here[0]].role]:
            continue
        if (here[0], _net(intended, there)) not in known:
            ours[here] = meant
    hosts = {here[0] for here in ours}
    return ours, tuple(name for name in intended.by_name if name in hosts)


def _net(intended: Topology, end: End) -> Net | None:
    """The network that a switch's port belongs to."""
    node = intended.by_name.get(end[0])
    return node.net if node else None


def _left_out(intended: Topology, nodes: Mapping[str, ExistingNode]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Intended nodes of a sort of which the source has none, and those sorts in words; backend switches are never."""
    by_sort: dict[str, list[str]] = {}
    for node in intended.nodes:
        if (sort := _sort(node)) is not None:
            by_sort.setdefault(sort, []).append(node.name)
    absent = {sort: names for sort, names in by_sort.items() if not any(name in nodes for name in names)}
    return frozenset(name for names in absent.values() for name in names), tuple(absent)


def _sort(node: Node) -> str | None:
    """The group of nodes that a source may leave out as a whole; None for the backend."""
    if node.role is Role.HOST:
        return "hosts"
    if node.role is Role.SERVER:
        return "storage servers"
    return None if node.net is Net.BACKEND else f"{node.net} switches"


def _both_ways(links: tuple[tuple[End, End], ...]) -> dict[End, tuple[End, ...]]:
    peers: dict[End, tuple[End, ...]] = {}
    for a, z in links:
        peers[a] = (*peers.get(a, ()), z)
        peers[z] = (*peers.get(z, ()), a)
    return peers


def _first_of(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
