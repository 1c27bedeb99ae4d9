"""Renders the BGP speaker of a device model: one `protocols bgp` for each network instance, and routing options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    DeviceModel,
    Family,
    IpAddress,
    NextHop,
    Remote,
)
from railfab.platforms.junos.names import (
    CLIENT_GROUP,
    EXTERNAL_GROUP,
    INTERNAL_GROUP,
    LOAD_BALANCE,
    NEXT_HOP_SELF,
    as_list_name,
    summary_policy,
    unit_name,
    unnumbered_group,
)
from railfab.platforms.junos.trees import block, entry, flag, leaf, listed, setting
from railfab.platforms.shared.line_tree import Line

PATH_LIMITS: Sequence[int] = (16, *range(32, 513, 32))
"""Values of `chassis maximum-ecmp` (junos-qfx-conf-chassis, maximum-ecmp)."""

PATHS = "PATHS"
"""Macro with the number of paths of the intent, where the switch's own limit is the next larger value."""

OWN_CLUSTER = "OWN-CLUSTER"
"""Macro that says that the intent has no cluster ID: that of the groups is the router ID."""

UNICAST = {Family.IPV4: "inet", Family.IPV6: "inet6"}


def path_limit(paths: int) -> int:
    """The smallest limit of next hops that holds this number of paths."""
    return min(limit for limit in PATH_LIMITS if limit >= min(paths, PATH_LIMITS[-1]))


def routing_lines(model: DeviceModel) -> Iterator[Line]:
    """Router ID and AS number, the aggregates, and the policy without which only one of the equal paths is used."""
    bgp = model.bgp
    if bgp is None:
        return
    yield from aggregate_lines(model, DEFAULT_INSTANCE)
    yield from setting("router-id", bgp.router_id)
    yield from setting("autonomous-system", bgp.asn or None)
    yield from block("forwarding-table", (leaf("export", LOAD_BALANCE), *_chained(model)))


def _chained(model: DeviceModel) -> Iterator[Line]:
    """Next hops of EVPN prefixes are shared, without which type-5 routes are not installed (Juniper's validated design
    of multitenancy)."""
    if any(instance.vni is not None for instance in model.network_instances):
        yield from block("chained-composite-next-hop", block("ingress", (Line("evpn"),)))


def aggregate_lines(model: DeviceModel, instance: str) -> Iterator[Line]:
    """The aggregates of a network instance, those of IPv6 in its own table."""
    aggregates = (
        [aggregate for aggregate in model.bgp.aggregates if aggregate.network_instance == instance] if model.bgp else []
    )
    table = "inet6.0" if instance == DEFAULT_INSTANCE else f"{instance}.inet6.0"
    yield from block(f"rib {table}", _aggregates(aggregates, 6))
    yield from _aggregates(aggregates, 4)


def _aggregates(aggregates: Sequence[Aggregate], version: int) -> Iterator[Line]:
    routes = (
        Line(f"route {aggregate.prefix} discard") for aggregate in aggregates if aggregate.prefix.version == version
    )
    yield from block("aggregate", routes)


def protocol_lines(model: DeviceModel, instance: str) -> Iterator[Line]:
    """BGP of a network instance, and the router advertisements of every interface in the default one."""
    if instance == DEFAULT_INSTANCE:
        advertised = (
            Line(f"interface {unit_name(interface.name)}") for interface in model.interfaces if interface.unnumbered
        )
        yield from block("router-advertisement", advertised)
    bgp = model.bgp
    if bgp is None:
        return
    groups = tuple(_groups(model, bgp, instance))
    if groups or instance == DEFAULT_INSTANCE:
        yield from block("bgp", _speaker(model, bgp), groups)


def _speaker(model: DeviceModel, bgp: BgpSpeaker) -> Iterator[Line]:
    """Settings of all sessions. A session without policy accepts and announces nothing (RFC 8212), where Junos would
    accept everything and announce what it has from BGP."""
    if bgp.max_paths > 1 and path_limit(bgp.max_paths) != bgp.max_paths:
        yield entry(f"apply-macro {PATHS}", (leaf("max-paths", bgp.max_paths),))
    if bgp.cluster_id is None and _has_clients(bgp):
        yield Line(f"apply-macro {OWN_CLUSTER}")
    yield Line("log-updown")
    if bgp.requires_policy:
        actions = (Line("receive reject-always"), Line("advertise reject-always"))
        yield from block("defaults", block("ebgp", block("no-policy", actions)))
    yield from flag("graceful-shutdown sender", model.drain)
    if bgp.max_paths > 1 or bgp.multiple_as:
        yield from block("multipath", *_multipath(bgp)) if bgp.multiple_as else (Line("multipath"),)


def _multipath(bgp: BgpSpeaker) -> Iterator[Sequence[Line]]:
    yield (*flag("disable", bgp.max_paths <= 1), *flag("multiple-as", bgp.multiple_as))


def _groups(model: DeviceModel, bgp: BgpSpeaker, instance: str) -> Iterator[Line]:
    """The groups of one network instance: numbered sessions by kind, and one for each unnumbered session."""
    of_instance = [neighbor for neighbor in bgp.neighbors if neighbor.network_instance == instance]
    numbered = [neighbor for neighbor in of_instance if not neighbor.unnumbered]
    for name in (EXTERNAL_GROUP, INTERNAL_GROUP, CLIENT_GROUP):
        members = [neighbor for neighbor in numbered if group_of(neighbor, bgp) == name]
        if members:
            neighbors = (entry(f"neighbor {member.peer}", _session(member, model, bgp)) for member in members)
            yield entry(f"group {name}", _kind(name, bgp), neighbors)
    yield from (_unnumbered(neighbor, model, bgp) for neighbor in of_instance if neighbor.unnumbered)
    if bgp.cluster_id is not None and instance == DEFAULT_INSTANCE and not _has_clients(bgp):
        yield entry(f"group {CLIENT_GROUP}", _kind(CLIENT_GROUP, bgp))


def _has_clients(bgp: BgpSpeaker) -> bool:
    return any(neighbor.reflector_client for neighbor in bgp.neighbors)


def group_of(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> str:
    if not neighbor.is_internal(bgp.asn):
        return EXTERNAL_GROUP
    return CLIENT_GROUP if neighbor.reflector_client else INTERNAL_GROUP


def _kind(name: str, bgp: BgpSpeaker) -> Iterator[Line]:
    """The type of a group; one with a cluster reflects routes to its sessions."""
    yield leaf("type", "external" if name == EXTERNAL_GROUP else "internal")
    if name == CLIENT_GROUP:
        yield from setting("cluster", bgp.cluster_id or bgp.router_id)


def _unnumbered(neighbor: BgpNeighbor, model: DeviceModel, bgp: BgpSpeaker) -> Line:
    """The group of a session over an interface: its peer is found by its router advertisements (RFC 8950)."""
    assert isinstance(neighbor.peer, str)
    discovery = (
        *block("family inet6", (Line("ipv6-nd"),)),
        Line(f"interface {unit_name(neighbor.peer)}"),
    )
    return entry(
        f"group {unnumbered_group(neighbor.peer)}",
        _kind(group_of(neighbor, bgp), bgp),
        _session(neighbor, model, bgp),
        block("dynamic-neighbor PEER", block("peer-auto-discovery", discovery)),
    )


def _session(neighbor: BgpNeighbor, model: DeviceModel, bgp: BgpSpeaker) -> Iterator[Line]:
    """Settings of one session."""
    yield from setting("description", neighbor.description)
    yield from _multihop(neighbor)
    yield from setting("local-address", _source(neighbor, model))
    yield leaf("hold-time", neighbor.timers.hold_s)
    yield from setting("out-delay", neighbor.timers.advertisement_interval_s)
    yield from listed("import", neighbor.import_policies)
    yield from (_family(family, neighbor, bgp) for family in neighbor.families)
    yield from listed("export", _exports(neighbor, bgp))
    if neighbor.remote_as is not Remote.INTERNAL:
        yield from _remote_as(neighbor)
    yield from flag("shutdown", not neighbor.enabled)
    yield from _bfd(neighbor.bfd)


def _remote_as(neighbor: BgpNeighbor) -> Iterator[Line]:
    number = neighbor.remote_as if isinstance(neighbor.remote_as, int) else 0
    if neighbor.unnumbered:
        yield from setting("peer-as-list", as_list_name(number) if number else None)
    else:
        yield from setting("peer-as", number or None)


def _multihop(neighbor: BgpNeighbor) -> Iterator[Line]:
    """Hops to the peer; a next hop that is kept needs the statement also for a peer on the link."""
    unchanged = neighbor.next_hop is NextHop.UNCHANGED
    if neighbor.multihop_ttl is not None or unchanged:
        hops = leaf("ttl", neighbor.multihop_ttl or 1)
        yield from block("multihop", (hops, *flag("no-nexthop-change", unchanged)))


def source_address(model: DeviceModel, name: str, peer: IpAddress) -> IpAddress | None:
    """The address of an interface from which a session to this peer is opened."""
    interface = model.interface(name)
    addresses = interface.addresses if interface is not None else ()
    return next((address.ip for address in addresses if address.version == peer.version), None)


def _source(neighbor: BgpNeighbor, model: DeviceModel) -> IpAddress | None:
    if neighbor.update_source is None or isinstance(neighbor.peer, str):
        return None
    return source_address(model, neighbor.update_source, neighbor.peer)


def _family(family: Family, neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Line:
    """An address family; without `teardown` a limit of prefixes only logs. IPv4 over a session to an IPv6 address has
    IPv6 next hops."""
    if family is Family.EVPN:
        return entry("family evpn", (Line("signaling"),))
    over_ipv6 = neighbor.unnumbered or isinstance(neighbor.peer, IPv6Address)
    limit = (leaf("maximum", neighbor.prefix_limit),) if neighbor.prefix_limit is not None else ()
    extended = family is Family.IPV4 and over_ipv6 and bgp.receive_ipv6_next_hops
    unicast = entry("unicast", block("prefix-limit", limit), flag("extended-nexthop", extended))
    return entry(f"family {UNICAST[family]}", (unicast,))


def _exports(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> Iterator[str]:
    """The export policies, after those that set the next hop and hold back the contributors of aggregates."""
    if neighbor.next_hop is NextHop.SELF:
        yield NEXT_HOP_SELF
    if any(
        aggregate.summary_only and aggregate.network_instance == neighbor.network_instance
        for aggregate in bgp.aggregates
    ):
        yield summary_policy(neighbor.network_instance)
    yield from neighbor.export_policies


def _bfd(timers: BfdTimers | None) -> Iterator[Line]:
    if timers is None:
        return
    if timers.receive_ms is None:
        yield from block(
            "bfd-liveness-detection",
            (leaf("minimum-interval", timers.interval_ms), leaf("multiplier", timers.multiplier)),
        )
        return
    yield from block(
        "bfd-liveness-detection",
        (leaf("minimum-receive-interval", timers.receive_ms), leaf("multiplier", timers.multiplier)),
        block("transmit-interval", (leaf("minimum-interval", timers.interval_ms),)),
    )
