"""Check of the switches that the intent drains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from railfab.findings import DesignCode, Finding, warning
from railfab.intent import FabricIntent
from railfab.text.counted import counted
from railfab.topology.checks.deduplicate import deduplicate_by
from railfab.topology.checks.inventory import unknown
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import TIERS, Bond, Link, Net, Node, Role, Topology


def drained_switches(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that the switches to drain exist, and that others can take their traffic."""
    nodes = {node.name: node for node in indexed.topology.switches()}
    names = dict.fromkeys(intent.drain)
    missing = [_unknown(name, list(nodes)) for name in names if name not in nodes]
    yield from deduplicate_by(("unknown", finding) for finding in missing)
    yield from _effects(indexed, names.keys())


def drain_findings(topology: Topology, drained: Set[str], more: Set[str]) -> tuple[Finding, ...]:
    """The findings about traffic that stays, which a drain of more switches adds to those that are drained."""
    indexed = IndexedTopology(topology)
    before = set(_effects(indexed, drained))
    return tuple(finding for finding in _effects(indexed, drained | more) if finding not in before)


def drain_alternatives(topology: Topology, names: Set[str]) -> frozenset[str]:
    """The other switches that can take the traffic of these: those of their tier, and those of their hosts' NICs."""
    nodes = {node.name: node for node in topology.switches()}
    of_hosts = _by_nic(IndexedTopology(topology).links.hosts, nodes).values()
    return frozenset().union(*(group for group in (*_tiers(nodes.values()), *of_hosts) if group & names)) - names


def _effects(indexed: IndexedTopology, drained: Set[str]) -> Iterator[Finding]:
    """Warnings for traffic that stays on drained switches."""
    nodes = {node.name: node for node in indexed.topology.switches()}
    yield from _whole_tiers(drained, nodes.values())
    yield from deduplicate_by(("attached", finding) for finding in _attached(drained, indexed.links.hosts, nodes))
    yield from deduplicate_by(("bonded", finding) for finding in _bonded(drained, indexed.topology.bonds))


def _unknown(name: str, switches: Sequence[str]) -> Finding:
    return unknown(name, switches, "drain", f"{name} is not a switch of this fabric")


def _whole_tiers(drained: Set[str], switches: Iterable[Node]) -> Iterator[Finding]:
    """A warning for spines or super-spines all of which are drained: with no other path, their traffic stays."""
    yield from (_whole_tier(sorted(group)) for group in _tiers(switches) if group <= drained)


def _tiers(switches: Iterable[Node]) -> Iterable[set[str]]:
    """The spines of each pod, and the super-spines."""
    members: dict[object, set[str]] = defaultdict(set)
    for node in switches:
        if TIERS[node.role] > TIERS[Role.LEAF]:
            members[node.net, node.plane, node.role, node.pod].add(node.name)
    return members.values()


def _whole_tier(group: Sequence[str]) -> Finding:
    if len(group) == 1:
        problem = f"{group[0]} is drained and the only one of its tier, so that its traffic has no other path"
        remedy = "End the jobs that use it before you work on it"
    else:
        problem = f"{group[0]} and all others of its tier are drained, so that their traffic has no other path"
        remedy = "Drain one part of the tier at a time"
    return warning(DesignCode.DRAIN_WITHOUT_EFFECT, "drain", problem, remedy)


def _attached(drained: Set[str], links: Iterable[Link], nodes: Mapping[str, Node]) -> Iterator[Finding]:
    """A warning for each switch with NICs that connect to drained switches only: the traffic of their hosts stays."""
    switches = _by_nic(links, nodes)
    for name in drained:
        hosts = list(dict.fromkeys(host for (host, *_), found in switches.items() if name in found <= drained))
        if hosts:
            stays = f"the traffic of {counted(len(hosts), 'host')} such as {hosts[0]}"
            problem = f"{name} is drained, but {stays} has no other path, and no alert on {name} fires meanwhile"
            remedy = "End the jobs of these hosts before you work on it"
            yield warning(DesignCode.DRAIN_WITHOUT_EFFECT, "drain", problem, remedy)


def _by_nic(links: Iterable[Link], nodes: Mapping[str, Node]) -> Mapping[tuple[str, Net, int | None], set[str]]:
    """The switches of each NIC, by its host, network and rail."""
    switches: dict[tuple[str, Net, int | None], set[str]] = defaultdict(set)
    for link in links:
        switches[link.a.node, nodes[link.z.node].net, link.a.rail].add(link.z.node)
    return switches


def _bonded(drained: Set[str], bonds: Iterable[Bond]) -> Iterator[Finding]:
    """A warning for each switch of a pair, of MLAG or Ethernet segments, to which LAGs of hosts have links.

    A drain moves what is routed to the switch, and LACP stays up, so that hosts send it what they hash to its links.
    """
    hosts: dict[str, dict[str, None]] = defaultdict(dict)
    for bond in bonds:
        own = [name for name in bond.switches if name in drained]
        for name in own if len(own) < len(bond.switches) else ():
            hosts[name][bond.host] = None
    for name in (name for name in drained if name in hosts):
        found = list(hosts[name])
        sending = f"{counted(len(found), 'host')} such as {found[0]}"
        problem = f"{name} is drained of routed traffic, but LAGs of {sending} still send it what they hash to it"
        remedy = "Shut its ports to these hosts before you work on it, so that they use the other switch of the pair"
        yield warning(DesignCode.DRAIN_OF_ROUTES_ONLY, "drain", problem, remedy)
