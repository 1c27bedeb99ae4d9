"""Match the nodes and ports of an existing topology with those of the intent.

A source may use other names, and may lack whole groups of nodes. Neither is a difference by itself: nodes are
identified by their cables, ports by their position on the front panel, and groups that a source lacks are not compared.
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
class Matching:
    """An existing topology under the names of the intent.

    nodes: by name. renamed: name in the source, of each node with another name there. absent: intended nodes of groups
    that the source lacks. not_compared: descriptions of those groups. peers: of each cabled port. intended_peers: of
    each port that the intent cables. links: in the order of the source.
    """

    nodes: Mapping[str, ExistingNode]
    renamed: Mapping[str, str]
    absent: frozenset[str]
    not_compared: tuple[str, ...]
    peers: Mapping[End, tuple[End, ...]]
    intended_peers: Mapping[End, End]
    links: tuple[tuple[End, End], ...]
    ports: Mapping[End, ExistingPort]


def _intended_peers(intended: Topology) -> dict[End, End]:
    """Port at the other end of every port that the intent cables."""
    peers: dict[End, End] = {}
    for link in intended.links:
        a, z = (link.a.node, link.a.name), (link.z.node, link.z.name)
        peers[a], peers[z] = z, a
    return peers


def match_topology(intended: Topology, found: ExistingTopology) -> Matching:
    """Match an existing topology with the intended one."""
    peers, resolve = _intended_peers(intended), _Ports(intended)
    renamed = _renamed(intended, found, peers, resolve)
    intended_name = {theirs: ours for ours, theirs in renamed.items()}
    nodes = {intended_name.get(node.name, node.name): node for node in found.nodes}

    def end(port: ExistingPort) -> End:
        return resolve.end(intended_name.get(port.node, port.node), port)

    ends = [(end(link.a), end(link.z)) for link in found.links]
    host_ports, unnamed = _host_ports(intended, ends, peers)
    links = tuple(dict.fromkeys((host_ports.get(a, a), host_ports.get(z, z)) for a, z in ends))
    ports = {host_ports.get(end(port), end(port)): port for port in found.all_ports()}
    absent, not_compared = _absent(intended, nodes)
    if unnamed:
        note = f"NIC at the end of each cable, on {_first_of(unnamed)}: names differ from the intent"
        not_compared = (*not_compared, note)
    return Matching(
        nodes=nodes,
        renamed=renamed,
        absent=absent,
        not_compared=not_compared,
        peers=_both_ways(links),
        intended_peers=peers,
        links=links,
        ports=ports,
    )


class _Ports:
    """Finds intended ports by name, or by position on the front panel."""

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
        other = {1: None, None: 1}.get(
            lane, lane
        )  # some sources name an unsplit cage by its first lane, or that lane so
        name = self._by_position.get((node, port.position)) or self._by_position.get((node, (cage, other)))
        return node, name or port.name


def _renamed(intended: Topology, found: ExistingTopology, peers: Mapping[End, End], resolve: _Ports) -> dict[str, str]:
    """Names in the source, by intended name, of nodes with another name there.

    An unknown node is a missing one if all cables of the unknown node are cables of the missing one, and at least half
    of the cables of the missing one exist.
    """
    names = {node.name for node in found.nodes}
    votes: dict[str, Counter[str]] = {}
    for link in found.links:
        for unknown, known in ((link.a, link.z), (link.z, link.a)):
            if unknown.node not in intended.by_name and known.node in intended.by_name:
                peer = peers.get(resolve.end(known.node, known))
                votes.setdefault(unknown.node, Counter())[peer[0] if peer else ""] += 1
    cables = Counter(end[0] for end, peer in peers.items() if peer[0] in names)
    renamed: dict[str, str] = {}
    for unknown_name, counts in votes.items():
        (node, count), *others = counts.most_common()
        if node and not others and node not in names and node not in renamed and 2 * count >= cables[node]:
            renamed[node] = unknown_name
    return renamed


def _host_ports(
    intended: Topology, ends: list[tuple[End, End]], peers: Mapping[End, End]
) -> tuple[dict[End, End], tuple[str, ...]]:
    """The intended port for each host port with another name in the source, and those hosts.

    Operating systems name NIC ports; the switch's end of a cable identifies the intended port. This applies only if the
    source has no port of a host to a network under the intent's names; otherwise a different name is a difference.
    """
    directions = [direction for a, z in ends for direction in ((a, z), (z, a))]
    known = {(here[0], _net(intended, there)) for here, there in directions if here in peers}
    ours: dict[End, End] = {}
    for here, there in directions:
        expected = peers.get(there)
        if expected is None or expected[0] != here[0] or TIERS[intended.by_name[here[0]].role]:
            continue
        if (here[0], _net(intended, there)) not in known:
            ours[here] = expected
    hosts = {here[0] for here in ours}
    return ours, tuple(name for name in intended.by_name if name in hosts)


def _net(intended: Topology, end: End) -> Net | None:
    """Network of the node of a port."""
    node = intended.by_name.get(end[0])
    return node.net if node else None


def _absent(intended: Topology, nodes: Mapping[str, ExistingNode]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Intended nodes of groups that the source lacks, and the names of those groups; never backend switches."""
    by_group: dict[str, list[str]] = {}
    for node in intended.nodes:
        if (group := _group(node)) is not None:
            by_group.setdefault(group, []).append(node.name)
    absent = {group: names for group, names in by_group.items() if not any(name in nodes for name in names)}
    return frozenset(name for names in absent.values() for name in names), tuple(absent)


def _group(node: Node) -> str | None:
    """Group of nodes that a source may lack as a whole; None for backend switches."""
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
