"""Wiring that is not even: shares of spines that differ, rails that stray, planes that meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import alike, alike_by
from railfab.topology.model import Link, Net, Node, Role
from railfab.topology.sorted_links import Wired

Share = tuple[int, int]
"""Of what is between two switches: speed in all [Gb/s], links."""

ABOVE = {Role.LEAF: Role.SPINE, Role.SPINE: Role.SUPER}
EVENLY = "Give each the same links: traffic divides by paths, and the narrowest holds all back"


def _uplinks(wired: Wired) -> Mapping[str, Mapping[str, Share]]:
    """Of each switch, its share of each switch above it."""
    found: dict[str, dict[str, Share]] = {}
    for link in wired.links.rising:
        above = found.setdefault(link.a.node, {})
        gbps, count = above.get(link.z.node, (0, 0))
        above[link.z.node] = gbps + link.rate_gbps, count + 1
    return found


def uneven_uplinks(wired: Wired) -> Iterator[Finding]:
    """A switch with more links, or faster ones, to one switch above than to another."""
    found = []
    for name, above in _uplinks(wired).items():
        few, many = min(above.values()), max(above.values())
        if few != many:
            least, most = (next(upper for upper in above if above[upper] == share) for share in (few, many))
            problem = f"has {_links(many)} to {most} and {_links(few)} to {least}"
            found.append(((few, many), warning(DesignCode.UNEVEN_UPLINKS, name, problem, EVENLY)))
    yield from alike_by(found)


def _links(share: Share) -> str:
    gbps, count = share
    return f"{count} link{'s' if count > 1 else ''} ({gbps} Gb/s)"


def missing_uplinks(wired: Wired) -> Iterator[Finding]:
    """A switch without a link to one above it that its like have: leaves of a pod, spines of one number."""
    uplinks, peers = _uplinks(wired), dict[tuple[object, ...], list[Node]]()
    for node in wired.topology.switches():
        if node.role in ABOVE:
            peers.setdefault(_peers(node), []).append(node)
    found = []
    for group in peers.values():
        met = dict.fromkeys(upper for node in group for upper in uplinks.get(node.name, ()))
        for node in group:
            mine = uplinks.get(node.name, {})
            if len(mine) < len(met):
                upper = next(upper for upper in met if upper not in mine)
                problem = f"has no link to {upper}, and other switches of its kind have"
                remedy = f"Cable it to every {ABOVE[node.role]} that they meet"
                finding = error(DesignCode.MISSING_UPLINK, node.name, problem, remedy)
                found.append(((node.role, len(met) - len(mine)), finding))
    yield from alike_by(found)


def _peers(node: Node) -> tuple[object, ...]:
    """Switches that meet the same switches above: leaves of a pod; spines of one number, each in its pod."""
    return node.net, node.plane, node.role, node.pod if node.role is Role.LEAF else node.index


def uneven_supers(wired: Wired) -> Iterator[Finding]:
    """Switches above that carry less than others of their kind: the spines of a pod, the super-spines of a plane."""
    gbps = Counter[str]()
    for link in wired.links.rising:
        gbps[link.z.node] += link.rate_gbps
    most: dict[tuple[object, ...], str] = {}
    uppers = [node for node in wired.topology.switches() if node.role in (Role.SPINE, Role.SUPER)]
    for node in uppers:
        first = most.setdefault(_kind(node), node.name)
        if gbps[node.name] > gbps[first]:
            most[_kind(node)] = node.name
    found = []
    for node in uppers:
        fullest = most[_kind(node)]
        if gbps[node.name] < gbps[fullest]:
            problem = f"has {gbps[node.name]} Gb/s from below, and {fullest} has {gbps[fullest]}"
            finding = warning(DesignCode.UNEVEN_DOWNLINKS, node.name, problem, EVENLY)
            found.append(((node.role, gbps[node.name], gbps[fullest]), finding))
    yield from alike_by(found)


def _kind(node: Node) -> tuple[object, ...]:
    return node.net, node.plane, node.role, node.pod


def stray_rails(wired: Wired) -> Iterator[Finding]:
    """NICs that meet other switches than their rail does on the other hosts of the segment: crossed cables."""
    nodes, met = wired.topology.by_name, dict[tuple[str, int], list[str]]()
    for link in wired.links.hosts:
        if link.a.rail is not None:
            met.setdefault((link.a.node, link.a.rail), []).append(link.z.node)
    places: dict[tuple[int, int | None, int], Counter[tuple[str, ...]]] = {}
    for (host, rail), switches in met.items():
        place = nodes[host].pod, nodes[host].segment, rail
        places.setdefault(place, Counter())[tuple(sorted(set(switches)))] += 1
    usual = {place: counts.most_common(1)[0][0] for place, counts in places.items() if len(counts) > 1}
    if not usual:
        return
    found = []
    for (host, rail), switches in met.items():
        place = nodes[host].pod, nodes[host].segment, rail
        if place in usual and (mine := tuple(sorted(set(switches)))) != usual[place]:
            problem = f"meets {' and '.join(mine)}, and the rail's other NICs {' and '.join(usual[place])}"
            remedy = "Cable a rail's NICs to the same switches, or its traffic takes a longer way"
            found.append(("rail", warning(DesignCode.CROSSED_RAIL, f"{host} rail{rail}", problem, remedy)))
    yield from alike_by(found)


def meeting_planes(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """Links between switches of two planes, and NIC ports in a plane that is not theirs."""
    planes = {node.name: node.plane for node in wired.topology.nodes if node.net is Net.BACKEND}
    if max(planes.values(), default=1) < 2:
        return
    sorted_links = wired.links
    found = [
        _joins(link, planes)
        for link in (*sorted_links.rising, *sorted_links.level)
        if link.a.node in planes and planes[link.a.node] != planes[link.z.node]
    ]
    yield from alike_by(("planes", one) for one in found)
    yield from alike(_wrong_planes(sorted_links.hosts, planes, intent))


def _joins(link: Link, planes: Mapping[str, int]) -> Finding:
    return error(
        DesignCode.JOINED_PLANES,
        f"{link.a.node} {link.a.name}",
        f"a link to {link.z.node} joins planes {planes[link.a.node]} and {planes[link.z.node]}, which must never meet",
        "Cable it within its plane",
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
                    f"is a port of plane {plane}, and meets a switch of plane {planes[link.z.node]}",
                    "Cable it to a switch of its plane",
                )
