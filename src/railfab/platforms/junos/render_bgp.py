"""Renders the BGP speaker of a device model: one `protocols bgp` for each network instance, and routing options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    Bgp,
    BgpNeighbor,
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
    UNNUMBERED_GROUP,
    as_list_name,
    device_name,
    summary_policy,
    unit_name,
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
    found = [one for one in model.bgp.aggregates if one.network_instance == instance] if model.bgp else []
    table = "inet6.0" if instance == DEFAULT_INSTANCE else f"{instance}.inet6.0"
    yield from block(f"rib {table}", _aggregates(found, 6))
    yield from _aggregates(found, 4)


def _aggregates(found: Sequence[Aggregate], version: int) -> Iterator[Line]:
    routes = (Line(f"route {one.prefix} discard") for one in found if one.prefix.version == version)
    yield from block("aggregate", routes)


def protocol_lines(model: DeviceModel, instance: str) -> Iterator[Line]:
    """BGP of a network instance, and the router advertisements of every interface in the default one."""
    if instance == DEFAULT_INSTANCE:
        advertised = (Line(f"interface {unit_name(found.name)}") for found in model.interfaces if found.unnumbered)
        yield from block("router-advertisement", advertised)
    bgp = model.bgp
    if bgp is None:
        return
    groups = tuple(_groups(model, bgp, instance))
    if groups or instance == DEFAULT_INSTANCE:
        yield from block("bgp", _speaker(model, bgp), groups)


def _speaker(model: DeviceModel, bgp: Bgp) -> Iterator[Line]:
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


def _multipath(bgp: Bgp) -> Iterator[Sequence[Line]]:
    yield (*flag("disable", bgp.max_paths <= 1), *flag("multiple-as", bgp.multiple_as))


def _groups(model: DeviceModel, bgp: Bgp, instance: str) -> Iterator[Line]:
    """The groups of one network instance: numbered sessions by kind, and one for each unnumbered session."""
    own = [found for found in bgp.neighbors if found.network_instance == instance]
    numbered = [found for found in own if not found.unnumbered]
    for name in (EXTERNAL_GROUP, INTERNAL_GROUP, CLIENT_GROUP):
        members = [found for found in numbered if group_of(found, bgp) == name]
        if members:
            neighbors = (entry(f"neighbor {found.peer}", _session(found, model, bgp)) for found in members)
            yield entry(f"group {name}", _kind(name, bgp), neighbors)
    yield from (_unnumbered(found, model, bgp) for found in own if found.unnumbered)
    if bgp.cluster_id is not None and instance == DEFAULT_INSTANCE and not _has_clients(bgp):
        yield entry(f"group {CLIENT_GROUP}", _kind(CLIENT_GROUP, bgp))


def _has_clients(bgp: Bgp) -> bool:
    return any(found.reflector_client for found in bgp.neighbors)


def group_of(found: BgpNeighbor, bgp: Bgp) -> str:
    if not found.is_internal(bgp.asn):
        return EXTERNAL_GROUP
    return CLIENT_GROUP if found.reflector_client else INTERNAL_GROUP


def _kind(name: str, bgp: Bgp) -> Iterator[Line]:
    """The type of a group; one with a cluster reflects routes to its sessions."""
    yield leaf("type", "external" if name == EXTERNAL_GROUP else "internal")
    if name == CLIENT_GROUP:
        yield from setting("cluster", bgp.cluster_id or bgp.router_id)


def _unnumbered(found: BgpNeighbor, model: DeviceModel, bgp: Bgp) -> Line:
    """The group of a session over an interface: its peer is found by its router advertisements (RFC 8950)."""
    assert isinstance(found.peer, str)
    discovery = (
        *block("family inet6", (Line("ipv6-nd"),)),
        Line(f"interface {unit_name(found.peer)}"),
    )
    return entry(
        f"group {UNNUMBERED_GROUP}{device_name(found.peer)}",
        _kind(group_of(found, bgp), bgp),
        _session(found, model, bgp),
        block("dynamic-neighbor PEER", block("peer-auto-discovery", discovery)),
    )


def _session(found: BgpNeighbor, model: DeviceModel, bgp: Bgp) -> Iterator[Line]:
    """Settings of one session."""
    yield from setting("description", found.description)
    yield from _multihop(found)
    yield from setting("local-address", _source(found, model))
    yield leaf("hold-time", found.timers.hold_s)
    yield from setting("out-delay", found.timers.advertisement_interval_s)
    yield from listed("import", found.import_policies)
    yield from (_family(family, found, bgp) for family in found.families)
    yield from listed("export", _exports(found, bgp))
    if found.remote_as is not Remote.INTERNAL:
        yield from _remote_as(found)
    yield from flag("shutdown", not found.enabled)
    yield from _bfd(found.bfd)


def _remote_as(found: BgpNeighbor) -> Iterator[Line]:
    number = found.remote_as if isinstance(found.remote_as, int) else 0
    if found.unnumbered:
        yield from setting("peer-as-list", as_list_name(number) if number else None)
    else:
        yield from setting("peer-as", number or None)


def _multihop(found: BgpNeighbor) -> Iterator[Line]:
    """Hops to the peer; a next hop that is kept needs the statement also for a peer on the link."""
    unchanged = found.next_hop is NextHop.UNCHANGED
    if found.multihop_ttl is not None or unchanged:
        hops = leaf("ttl", found.multihop_ttl or 1)
        yield from block("multihop", (hops, *flag("no-nexthop-change", unchanged)))


def source_address(model: DeviceModel, name: str, peer: IpAddress) -> IpAddress | None:
    """The address of an interface from which a session to this peer is opened."""
    interface = model.interface(name)
    addresses = interface.addresses if interface is not None else ()
    return next((found.ip for found in addresses if found.version == peer.version), None)


def _source(found: BgpNeighbor, model: DeviceModel) -> IpAddress | None:
    if found.update_source is None or isinstance(found.peer, str):
        return None
    return source_address(model, found.update_source, found.peer)


def _family(family: Family, found: BgpNeighbor, bgp: Bgp) -> Line:
    """An address family; without `teardown` a limit of prefixes only logs. IPv4 over a session to an IPv6 address has
    IPv6 next hops."""
    if family is Family.EVPN:
        return entry("family evpn", (Line("signaling"),))
    over_ipv6 = found.unnumbered or isinstance(found.peer, IPv6Address)
    limit = (leaf("maximum", found.prefix_limit),) if found.prefix_limit is not None else ()
    extended = family is Family.IPV4 and over_ipv6 and bgp.receive_ipv6_next_hops
    unicast = entry("unicast", block("prefix-limit", limit), flag("extended-nexthop", extended))
    return entry(f"family {UNICAST[family]}", (unicast,))


def _exports(found: BgpNeighbor, bgp: Bgp) -> Iterator[str]:
    """The export policies, after those that set the next hop and hold back the contributors of aggregates."""
    if found.next_hop is NextHop.SELF:
        yield NEXT_HOP_SELF
    if any(x.summary_only and x.network_instance == found.network_instance for x in bgp.aggregates):
        yield summary_policy(found.network_instance)
    yield from found.export_policies


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
