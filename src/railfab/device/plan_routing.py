"""BGP and routing policies of a switch, from its topology."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address

from railfab.device.interfaces import LOOPBACK, lag_name
from railfab.device.plan_switch import AnnouncedPool, PlannedConnection, PlannedSwitch, group_of
from railfab.device.routing import (
    Action,
    Aggregate,
    BgpNeighbor,
    BgpSpeaker,
    Family,
    LinkBandwidth,
    NextHop,
    Policy,
    PolicyRule,
    PrefixRange,
    Remote,
)
from railfab.topology import TIERS, Net, Node, Role

IMPORT, EXPORT = "fabric-import", "fabric-export"
OVERLAY = "overlay"
"""Policy of EVPN sessions: every route."""

OVERLAY_TTL = 3
"""Hops between the loopbacks of two switches with an EVPN session, which have a link to each other."""


def planned_policies(switch: PlannedSwitch) -> tuple[Policy, ...]:
    """Policies of a switch: it accepts and announces loopbacks and prefixes of hosts, and of EVPN every route."""
    announced = switch.fabric.announced[switch.node.net]
    rules = tuple(PolicyRule(action=Action.PERMIT, prefixes=(_range(prefix),)) for prefix in announced)
    exported = tuple(replace(rule, set_link_bandwidth=_link_bandwidth(switch)) for rule in rules)
    underlay = Policy(name=IMPORT, rules=rules), Policy(name=EXPORT, rules=exported)
    overlay = Policy(name=OVERLAY, rules=(), default=Action.PERMIT)
    return (*underlay, overlay) if _overlay_peers(switch) else underlay


def _link_bandwidth(switch: PlannedSwitch) -> LinkBandwidth | None:
    """The link bandwidth that a switch announces: leaves that of their links, which the tiers above them add up."""
    if not switch.profile.bgp.weighted_ecmp:
        return None
    return LinkBandwidth.NEXT_HOPS if switch.node.role is Role.LEAF else LinkBandwidth.CUMULATIVE


def _range(announced: AnnouncedPool) -> PrefixRange:
    return PrefixRange(prefix=announced.pool, ge=announced.shortest, le=announced.longest)


def planned_bgp(switch: PlannedSwitch) -> BgpSpeaker | None:
    """The BGP speaker of a switch; None without an AS number."""
    node, settings = switch.node, switch.profile.bgp
    if node.asn is None:
        return None
    underlay = tuple(_neighbor(connection, switch) for connection in _session_links(switch))
    overlay = tuple(_overlay_neighbor(peer, switch) for peer in _overlay_peers(switch))
    internal = any(neighbor.remote_as is Remote.INTERNAL for neighbor in underlay)
    return BgpSpeaker(
        asn=node.asn,
        router_id=node.router_id,
        max_paths=settings.max_paths,
        max_paths_internal=settings.max_paths if internal else 1,
        neighbors=(*underlay, *overlay),
        cluster_id=_cluster(switch) if internal and node.reflector else None,
        aggregates=tuple(_aggregates(switch)),
    )


def _session_links(switch: PlannedSwitch) -> Iterator[PlannedConnection]:
    """The links with a session: each single one to a switch, and the first of each LAG.

    None within an MLAG pair, and none to the management port of a switch, which is a host there.
    """
    firsts = {members[0] for members in switch.lags.values()}
    for connection in switch.connections:
        if connection.peer_node.asn is None or not connection.peer.cage or connection in switch.peer_link:
            continue
        if connection.port.bundle is None or connection in firsts:
            yield connection


def _neighbor(connection: PlannedConnection, switch: PlannedSwitch) -> BgpNeighbor:
    """The session over a link: to the address at its other end, or over the interface of an unnumbered one."""
    port, far, node, peer = connection.port, connection.peer.address, switch.node, connection.peer_node
    name = port.name if port.bundle is None else lag_name(port.bundle)
    assert peer.asn is not None
    neighbor = BgpNeighbor(
        peer=name if far is None else far.ip,
        remote_as=peer.asn,
        network_instance=switch.network_instance,
        timers=switch.timers,
        families=(_family(node),),
        import_policies=(IMPORT,),
        export_policies=(EXPORT,),
        bfd=switch.bfd,
        prefix_limit=switch.profile.bgp.prefix_limit,
    )
    return _internal(neighbor, node, peer) if peer.asn == node.asn else neighbor


def _internal(neighbor: BgpNeighbor, node: Node, peer: Node) -> BgpNeighbor:
    """A session within one AS, link by link: without an IGP, each reflector is the next hop of what it reflects."""
    return replace(
        neighbor,
        remote_as=Remote.INTERNAL,
        reflector_client=node.reflector and TIERS[peer.role] < TIERS[node.role],
        next_hop=NextHop.SELF if node.reflector else NextHop.DEFAULT,
    )


def _cluster(switch: PlannedSwitch) -> IPv4Address | None:
    """One cluster for the reflectors of a group, so that a route does not return to it by the tier above (RFC 4456)."""
    return switch.fabric.first_of_group[group_of(switch.node)].router_id


def _family(node: Node) -> Family:
    return Family.IPV6 if node.loopback is not None and node.loopback.version == 6 else Family.IPV4


def _aggregates(switch: PlannedSwitch) -> Iterator[Aggregate]:
    for summary in switch.fabric.summaries.get(switch.node.name, ()):
        yield Aggregate(prefix=summary.prefix)


def _overlay_peers(switch: PlannedSwitch) -> tuple[Node, ...]:
    """The switches with which a switch exchanges EVPN routes: those that it has a link to, in another tier.

    Two switches of a pair without spines have each other.
    """
    node, evpn = switch.node, switch.profile.control_plane == "evpn"
    if not _has_evpn(node, evpn=evpn):
        return ()
    around = {link.peer_node.name: link.peer_node for link in switch.connections if link.to_switch}
    peers = [peer for peer in around.values() if peer.net is node.net and _has_evpn(peer, evpn=evpn)]
    others = tuple(peer for peer in peers if peer.role is not node.role)
    return others or tuple(peers)


def _has_evpn(node: Node, *, evpn: bool) -> bool:
    """Whether a switch exchanges EVPN routes. evpn: whether the backend does."""
    if node.net is Net.BACKEND:
        return evpn and (node.role is Role.LEAF or node.reflector)
    return node.vtep is not None or node.reflector


def _overlay_neighbor(peer: Node, switch: PlannedSwitch) -> BgpNeighbor:
    """The EVPN session between two loopbacks. A reflector, with eBGP a route server, keeps the next hop of a route."""
    assert peer.asn is not None
    assert peer.loopback is not None
    return BgpNeighbor(
        peer=peer.loopback,
        remote_as=peer.asn,
        timers=switch.timers,
        network_instance=switch.network_instance,
        update_source=LOOPBACK,
        multihop_ttl=OVERLAY_TTL,
        families=(Family.EVPN,),
        import_policies=(OVERLAY,),
        export_policies=(OVERLAY,),
        next_hop=NextHop.UNCHANGED if switch.node.reflector else NextHop.DEFAULT,
    )
