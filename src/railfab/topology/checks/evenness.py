"""Checks for uneven cabling: unequal uplinks, crossed rails, connected planes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate, deduplicate_by
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Link, Net, Node, Role

Share = tuple[int, int]
"""The links between two switches: their total speed [Gb/s], their number."""

ABOVE = {Role.LEAF: Role.SPINE, Role.SPINE: Role.SUPER}
EVENLY = "Use equal links: ECMP divides traffic evenly over paths, so the slowest path limits all"


def _uplinks(indexed: IndexedTopology) -> Mapping[str, Mapping[str, Share]]:
    """The links of each switch to each switch above it."""
    found: dict[str, dict[str, Share]] = {}
    for link in indexed.links.uplinks:
        above = found.setdefault(link.a.node, {})
        gbps, count = above.get(link.z.node, (0, 0))
        above[link.z.node] = gbps + link.rate_gbps, count + 1
    return found


def uneven_uplinks(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that a switch has equal links to every switch above it."""
    found = []
    for name, above in _uplinks(indexed).items():
        few, many = min(above.values()), max(above.values())
        if few != many:
            least, most = (next(upper for upper in above if above[upper] == share) for share in (few, many))
            problem = f"has {_links(many)} to {most} and {_links(few)} to {least}"
            found.append(((few, many), warning(DesignCode.UNEVEN_UPLINKS, name, problem, EVENLY)))
    yield from deduplicate_by(found)


def _links(share: Share) -> str:
    gbps, count = share
    return f"{count} link{'s' if count > 1 else ''} ({gbps} Gb/s)"


def missing_uplinks(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that switches of one role connect to the same switches above: leaves of a pod, spines of one number."""
    uplinks, peers = _uplinks(indexed), dict[tuple[object, ...], list[Node]]()
    for node in indexed.topology.switches():
        if node.role in ABOVE:
            peers.setdefault(_peers(node), []).append(node)
    found = []
    for group in peers.values():
        all_uppers = dict.fromkeys(upper for node in group for upper in uplinks.get(node.name, ()))
        for node in group:
            connected = uplinks.get(node.name, {})
            if len(connected) < len(all_uppers):
                upper = next(upper for upper in all_uppers if upper not in connected)
                problem = f"has no link to {upper}, unlike other switches of its role"
                remedy = f"Connect it to every {ABOVE[node.role]} that they connect to"
                finding = error(DesignCode.MISSING_UPLINK, node.name, problem, remedy)
                found.append(((node.role, len(all_uppers) - len(connected)), finding))
    yield from deduplicate_by(found)


def _peers(node: Node) -> tuple[object, ...]:
    """A key of switches that connect to the same switches above: leaves of a pod; spines of one number in all pods."""
    return node.net, node.plane, node.role, node.pod if node.role is Role.LEAF else node.index


def uneven_downlinks(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that the spines of a pod, and the super-spines of a plane, have equal downlink capacity."""
    gbps = Counter[str]()
    for link in indexed.links.uplinks:
        gbps[link.z.node] += link.rate_gbps
    most: dict[tuple[object, ...], str] = {}
    uppers = [node for node in indexed.topology.switches() if node.role in (Role.SPINE, Role.SUPER)]
    for node in uppers:
        first = most.setdefault(_tier(node), node.name)
        if gbps[node.name] > gbps[first]:
            most[_tier(node)] = node.name
    found = []
    for node in uppers:
        fullest = most[_tier(node)]
        if gbps[node.name] < gbps[fullest]:
            problem = f"has {gbps[node.name]} Gb/s of downlinks, and {fullest} has {gbps[fullest]}"
            finding = warning(DesignCode.UNEVEN_DOWNLINKS, node.name, problem, EVENLY)
            found.append(((node.role, gbps[node.name], gbps[fullest]), finding))
    yield from deduplicate_by(found)


def _tier(node: Node) -> tuple[object, ...]:
    return node.net, node.plane, node.role, node.pod


def crossed_rails(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that a NIC connects to the same switches as the NICs of its rail in the other hosts of the segment."""
    nodes, switches_of = indexed.topology.by_name, dict[tuple[str, int], list[str]]()
    for link in indexed.links.hosts:
        if link.a.rail is not None:
            switches_of.setdefault((link.a.node, link.a.rail), []).append(link.z.node)
    places: dict[tuple[int, int | None, int], Counter[tuple[str, ...]]] = {}
    for (host, rail), switches in switches_of.items():
        place = nodes[host].pod, nodes[host].segment, rail
        places.setdefault(place, Counter())[tuple(sorted(set(switches)))] += 1
    usual = {place: counts.most_common(1)[0][0] for place, counts in places.items() if len(counts) > 1}
    if not usual:
        return
    found = []
    for (host, rail), switches in switches_of.items():
        place = nodes[host].pod, nodes[host].segment, rail
        if place in usual and (connected := tuple(sorted(set(switches)))) != usual[place]:
            others = " and ".join(usual[place])
            problem = f"connects to {' and '.join(connected)}, but the other NICs of the rail connect to {others}"
            remedy = "Connect all NICs of a rail to the same switches, so that its traffic takes the shortest path"
            found.append(("rail", warning(DesignCode.CROSSED_RAIL, f"{host} rail{rail}", problem, remedy)))
    yield from deduplicate_by(found)


def connected_planes(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that no link connects two planes, and that each NIC port connects to its plane."""
    planes = {node.name: node.plane for node in indexed.topology.nodes if node.net is Net.BACKEND}
    if max(planes.values(), default=1) < 2:
        return
    sorted_links = indexed.links
    found = [
        _joins(link, planes)
        for link in (*sorted_links.uplinks, *sorted_links.peer_links)
        if link.a.node in planes and planes[link.a.node] != planes[link.z.node]
    ]
    yield from deduplicate_by(("planes", one) for one in found)
    yield from deduplicate(_wrong_planes(sorted_links.hosts, planes, intent))


def _joins(link: Link, planes: Mapping[str, int]) -> Finding:
    return error(
        DesignCode.JOINED_PLANES,
        f"{link.a.node} {link.a.name}",
        f"a link to {link.z.node} connects planes {planes[link.a.node]} and {planes[link.z.node]}, "
        "which must be separate",
        "Connect it to a switch of its plane",
    )


def _wrong_planes(links: tuple[Link, ...], planes: Mapping[str, int], intent: FabricIntent) -> Iterator[Finding]:
    ports, count = intent.hosts.nic_ports, intent.backend.planes
    expected = {f"p{port}": port * count // ports + 1 for port in range(ports)}
    for link in links:
        if link.a.rail is not None and link.z.node in planes:
            plane = expected.get(link.a.name.rpartition("-")[2])
            if plane is not None and plane != planes[link.z.node]:
                yield error(
                    DesignCode.WRONG_PLANE,
                    f"{link.a.node} {link.a.name}",
                    f"a port of plane {plane} connects to a switch of plane {planes[link.z.node]}",
                    "Connect it to a switch of its plane",
                )
