"""Renders the BGP speaker of a device model: `router bgp` with peer groups, address families, VLANs and VRFs.

Sessions with equal settings share a peer group, since a session over an interface can have its settings from nowhere
else. What differs by session (its AS, its description) is with the neighbour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    Bgp,
    BgpNeighbor,
    DeviceModel,
    Family,
    NetworkInstance,
    NextHop,
    Remote,
    Vlan,
    vlan_target,
)
from railfab.platforms.eos.names import native_name
from railfab.platforms.shared.line_tree import Line

DEFAULT_TIMERS_S = (60, 180)
"""Keepalive and hold time where none are stated (EOS User Manual, BGP, `timers bgp`)."""

POLICY_REQUIRED = tuple(f"bgp missing-policy direction {direction} action deny" for direction in ("in", "out"))
"""A session without a route map accepts and announces nothing, as in RFC 8212."""

MULTIPATH_RELAX = "bgp bestpath as-path multipath-relax"
REDISTRIBUTE = "redistribute connected"
FAMILIES = {Family.EVPN: "evpn", Family.IPV4: "ipv4", Family.IPV6: "ipv6"}
NEXT_HOPS = {NextHop.SELF: "next-hop-self", NextHop.UNCHANGED: "next-hop-unchanged"}
IPV6_NEXT_HOPS = "next-hop address-family ipv6 originate"
GROUP = "FABRIC"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the sessions of a peer group have in common."""

    internal: bool
    over_ipv6: bool
    enabled: bool
    keepalive_s: int
    hold_s: int
    update_source: str | None
    multihop_ttl: int | None
    families: tuple[Family, ...]
    import_policies: tuple[str, ...]
    export_policies: tuple[str, ...]
    reflector_client: bool
    next_hop: NextHop
    bfd: BfdTimers | None
    prefix_limit: int | None


def settings_of(neighbor: BgpNeighbor, asn: int) -> Settings:
    return Settings(
        internal=neighbor.is_internal(asn),
        over_ipv6=isinstance(neighbor.peer, str | IPv6Address),
        enabled=neighbor.enabled,
        keepalive_s=neighbor.timers.keepalive_s,
        hold_s=neighbor.timers.hold_s,
        update_source=neighbor.update_source,
        multihop_ttl=neighbor.multihop_ttl,
        families=neighbor.families,
        import_policies=neighbor.import_policies,
        export_policies=neighbor.export_policies,
        reflector_client=neighbor.reflector_client,
        next_hop=neighbor.next_hop,
        bfd=neighbor.bfd,
        prefix_limit=neighbor.prefix_limit,
    )


@dataclass(frozen=True, slots=True)
class Groups:
    """The peer groups. names: by settings. members: the group of each neighbour, by its key."""

    names: Mapping[Settings, str]
    members: Mapping[str, str]


def groups_of(bgp: Bgp) -> Groups:
    """The peer groups: `FABRIC`, then `FABRIC-2` and so on, in the order of the neighbours that use them first."""
    names: dict[Settings, str] = {}
    members: dict[str, str] = {}
    for neighbor in bgp.neighbors:
        settings = settings_of(neighbor, bgp.asn)
        if settings not in names:
            names[settings] = GROUP if not names else f"{GROUP}-{len(names) + 1}"
        members[neighbor.key] = names[settings]
    return Groups(names, members)


def bgp_lines(model: DeviceModel) -> Iterator[Line]:
    """`router bgp`; nothing without a BGP speaker."""
    bgp = model.bgp
    if bgp is None:
        return
    groups = groups_of(bgp)
    own = [found for found in bgp.neighbors if found.network_instance == DEFAULT_INSTANCE]
    lines = [
        *_speaker(bgp),
        *(line for settings, name in groups.names.items() for line in _group(settings, name)),
        *_peers(own, bgp, groups),
        *_aggregates(bgp.aggregates, DEFAULT_INSTANCE),
        REDISTRIBUTE,
        *_interfaces(own, bgp, groups),
    ]
    yield Line(
        f"router bgp {bgp.asn}",
        (
            *map(Line, lines),
            *(_vlan(vlan, bgp.router_id) for vlan in model.vlans if vlan.vni is not None),
            *_families(groups),
            *_vrfs(model, bgp, groups),
        ),
    )


def _speaker(bgp: Bgp) -> Iterator[str]:
    if bgp.router_id is not None:
        yield f"router-id {bgp.router_id}"
    yield "no bgp default ipv4-unicast"
    if bgp.cluster_id is not None:
        yield f"bgp cluster-id {bgp.cluster_id}"
    if bgp.max_paths > 1:
        yield f"maximum-paths {bgp.max_paths} ecmp {bgp.max_paths}"
    if not bgp.multiple_as:
        yield f"no {MULTIPATH_RELAX}"
    if bgp.requires_policy:
        yield from POLICY_REQUIRED


def _group(settings: Settings, name: str) -> Iterator[str]:
    """A group in EOS's order of lines. Without `maximum-routes 0`, EOS ends a session at 12000 routes."""
    head = f"neighbor {name}"
    yield f"{head} peer group"
    if settings.next_hop is not NextHop.DEFAULT:
        yield f"{head} {NEXT_HOPS[settings.next_hop]}"
    if not settings.enabled:
        yield f"{head} shutdown"
    if settings.update_source is not None:
        yield f"{head} update-source {native_name(settings.update_source)}"
    if settings.bfd is not None:
        yield f"{head} bfd"
        yield f"{head} bfd {_bfd(settings.bfd)}"
    if settings.multihop_ttl is not None and not settings.internal:
        yield f"{head} ebgp-multihop {settings.multihop_ttl}"
    if settings.reflector_client:
        yield f"{head} route-reflector-client"
    if (settings.keepalive_s, settings.hold_s) != DEFAULT_TIMERS_S:
        yield f"{head} timers {settings.keepalive_s} {settings.hold_s}"
    yield from (f"{head} route-map {policy} in" for policy in settings.import_policies)
    yield from (f"{head} route-map {policy} out" for policy in settings.export_policies)
    yield f"{head} send-community"
    limit = settings.prefix_limit
    yield f"{head} maximum-routes 0" if limit is None else f"{head} maximum-routes {limit} warning-only"


def _bfd(timers: BfdTimers) -> str:
    receive_ms = timers.interval_ms if timers.receive_ms is None else timers.receive_ms
    return f"interval {timers.interval_ms} min-rx {receive_ms} multiplier {timers.multiplier}"


def _peers(neighbors: Iterable[BgpNeighbor], bgp: Bgp, groups: Groups) -> Iterator[str]:
    """The neighbours with an address."""
    for neighbor in neighbors:
        if neighbor.unnumbered:
            continue
        head = f"neighbor {neighbor.peer}"
        yield f"{head} peer group {groups.members[neighbor.key]}"
        if neighbor.remote_as:
            yield f"{head} remote-as {_remote_as(neighbor, bgp)}"
        if neighbor.description:
            yield f"{head} description {neighbor.description}"


def _interfaces(neighbors: Iterable[BgpNeighbor], bgp: Bgp, groups: Groups) -> Iterator[str]:
    """The neighbours over an interface."""
    for neighbor in neighbors:
        if isinstance(neighbor.peer, str):
            group = groups.members[neighbor.key]
            remote_as = f" remote-as {_remote_as(neighbor, bgp)}" if neighbor.remote_as else ""
            yield f"neighbor interface {native_name(neighbor.peer)} peer-group {group}{remote_as}"


def _remote_as(neighbor: BgpNeighbor, bgp: Bgp) -> int:
    return bgp.asn if neighbor.remote_as is Remote.INTERNAL else int(neighbor.remote_as)


def _aggregates(aggregates: Iterable[Aggregate], instance: str) -> Iterator[str]:
    for found in aggregates:
        if found.network_instance == instance:
            yield f"aggregate-address {found.prefix}{' summary-only' * found.summary_only}"


def _vlan(vlan: Vlan, router_id: IPv4Address | None) -> Line:
    """The EVPN instance of a VLAN (MAC-VRF)."""
    assert vlan.vni is not None
    lines = (
        *([f"rd {router_id}:{vlan.vlan_id}"] if router_id is not None else []),
        f"route-target both {vlan_target(vlan.vni)}",
        "redistribute learned",
    )
    return Line(f"vlan {vlan.vlan_id}", tuple(map(Line, lines)))


def _families(groups: Groups) -> Iterator[Line]:
    for family, word in FAMILIES.items():
        lines: list[str] = []
        for settings, name in groups.names.items():
            if family in settings.families:
                lines.append(f"neighbor {name} activate")
                if family is Family.IPV4 and settings.over_ipv6:
                    lines.append(f"neighbor {name} {IPV6_NEXT_HOPS}")
        if lines:
            yield Line(f"address-family {word}", tuple(map(Line, lines)))


def _vrfs(model: DeviceModel, bgp: Bgp, groups: Groups) -> Iterator[Line]:
    instances = {found.name: found for found in model.network_instances}
    for name in sorted(instances):
        own = [found for found in bgp.neighbors if found.network_instance == name]
        lines = [
            *_identity(instances[name]),
            *_peers(own, bgp, groups),
            *_aggregates(bgp.aggregates, name),
            REDISTRIBUTE,
            *_interfaces(own, bgp, groups),
        ]
        yield Line(f"vrf {name}", tuple(map(Line, lines)))


def _identity(instance: NetworkInstance) -> Iterator[str]:
    if instance.rd is not None:
        yield f"rd {instance.rd}"
    yield from _targets("import", instance.import_targets)
    yield from _targets("export", instance.export_targets)
    if instance.router_id is not None:
        yield f"router-id {instance.router_id}"


def _targets(direction: str, targets: Sequence[str]) -> Iterator[str]:
    yield from (f"route-target {direction} evpn {target}" for target in targets)
