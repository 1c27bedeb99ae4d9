"""BGP of EOS: `router bgp` with peer groups, address families, VLANs and VRFs.

Sessions with equal settings share a peer group, since a session over an interface can have its settings from nowhere
else. What differs by session (its AS, its description) is with the neighbour.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from ipaddress import IPv4Address, ip_address, ip_network
from operator import attrgetter

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    IpAddress,
    IpNetwork,
    NextHop,
    Remote,
    vlan_target,
)
from railfab.platforms.eos.names import interface_name, native_name
from railfab.platforms.eos.spellings import MOST_PATHS
from railfab.platforms.shared.route_map_grammar import MAX_ASN
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Word,
    choice,
    flag,
    inline,
    integer,
    line,
    lines,
    over,
    prefixed,
    sections,
    unread,
)

DEFAULT_TIMERS_S = (60, 180)
"""Keepalive and hold time where none are stated (EOS User Manual, BGP, `timers bgp`)."""

DEFAULT_BFD = BfdTimers(interval_ms=300, multiplier=3)
"""Timers of a session for which no line states any (EOS User Manual, BFD)."""

FAMILIES = {Family.EVPN: "evpn", Family.IPV4: "ipv4", Family.IPV6: "ipv6"}
NEXT_HOPS = {NextHop.SELF: "next-hop-self", NextHop.UNCHANGED: "next-hop-unchanged"}
GROUP = "FABRIC"
ASN, INTERVAL_MS = integer(1, MAX_ASN), integer(50, 60000)
ADDRESS = Word(r"\S+", IPv4Address)
NATIVE_INTERFACE = Word(r"\S+", interface_name, native_name)


def _bfd(interval_ms: int, receive_ms: int, multiplier: int) -> BfdTimers:
    receive = None if receive_ms == interval_ms else receive_ms
    return BfdTimers(interval_ms=interval_ms, multiplier=multiplier, receive_ms=receive)


@dataclass(slots=True, kw_only=True)
class EosNeighbor:
    """A neighbour with an address, or a peer group, in EOS's order of lines.

    routes: limit of prefixes, 0 for none: without it EOS ends a session at 12000 routes.
    """

    is_group: bool = flag("peer group")
    group: str | None = line("peer group {}", WORD)
    remote_as: int | None = line("remote-as {}", ASN)
    next_hop: NextHop = line("{}", choice(NEXT_HOPS), default=NextHop.DEFAULT)
    enabled: bool = flag("shutdown", default=True)
    description: str = line("description {}", REST, default="")
    update_source: str | None = line("update-source {}", NATIVE_INTERFACE)
    bfd: BfdTimers | None = line(
        "bfd interval {} min-rx {} multiplier {}",
        *(INTERVAL_MS, INTERVAL_MS, integer(3, 50)),
        make=_bfd,
        parts=lambda bfd: (bfd.interval_ms, bfd.receive_ms or bfd.interval_ms, bfd.multiplier),
        means={"bfd": DEFAULT_BFD},
        beside=("bfd",),
    )
    multihop_ttl: int | None = line("ebgp-multihop {}", integer(1, 255))
    reflector_client: bool = flag("route-reflector-client")
    timers_s: tuple[int, int] | None = line("timers {} {}", integer(0, 3600), integer(0, 7200))
    import_policies: list[str] = lines("route-map {} in", WORD)
    export_policies: list[str] = lines("route-map {} out", WORD)
    sends_communities: bool = unread("send-community")
    routes: tuple[int, str | None] | None = line(
        "maximum-routes {}[ {}]", integer(0, 2**32 - 1), Word("warning-only", str)
    )


@dataclass(slots=True, kw_only=True)
class FamilyNeighbor:
    active: bool = flag("activate")
    ipv6_next_hops: bool = flag("next-hop address-family ipv6 originate")


@dataclass(slots=True, kw_only=True)
class AddressFamily:
    """A family of the default instance. redistributes: only this one; a line of the router is for all families."""

    neighbors: dict[str, FamilyNeighbor] = prefixed("neighbor", WORD, FamilyNeighbor)
    redistributes: bool = flag("redistribute connected")


@dataclass(slots=True, kw_only=True)
class MacVrf:
    """The EVPN instance of a VLAN."""

    rd: str | None = line("rd {}", WORD)
    target: str | None = line("route-target both {}", WORD)
    redistributes: bool = flag("redistribute learned")


@dataclass(slots=True, kw_only=True)
class Sessions:
    """The sessions of a network instance. over_interfaces: interface, peer group, and AS number of each."""

    neighbors: dict[str, EosNeighbor] = prefixed("neighbor", WORD, EosNeighbor)
    aggregates: list[tuple[IpNetwork, str | None]] = lines(
        "aggregate-address {}[ {}]", Word(r"\S+", ip_network), Word("summary-only", str)
    )
    redistributes: bool = flag("redistribute connected")
    over_interfaces: list[tuple[str, str, int | None]] = lines(
        "neighbor interface {} peer-group {}[ remote-as {}]", NATIVE_INTERFACE, WORD, ASN
    )


@dataclass(slots=True, kw_only=True)
class RouterVrf:
    rd: str | None = line("rd {}", WORD)
    imports: list[str] = lines("route-target import evpn {}", WORD)
    exports: list[str] = lines("route-target export evpn {}", WORD)
    router_id: IPv4Address | None = line("router-id {}", ADDRESS)
    sessions: Sessions = inline(Sessions)


@dataclass(slots=True, kw_only=True)
class Router:
    """`router bgp`. policy_required: by direction; without a route map such a session accepts or announces nothing."""

    router_id: IPv4Address | None = line("router-id {}", ADDRESS)
    no_default_family: bool = flag("no bgp default ipv4-unicast")
    cluster_id: IPv4Address | None = line("bgp cluster-id {}", ADDRESS)
    max_paths: tuple[int, int | None] | None = line(
        "maximum-paths {}[ ecmp {}]", integer(1, MOST_PATHS), Word(r"\d+", int)
    )
    multiple_as: bool = flag("no bgp bestpath as-path multipath-relax", default=True)
    policy_required: list[str] = lines("bgp missing-policy direction {} action deny", Word("in|out", str))
    sessions: Sessions = inline(Sessions)
    vlans: dict[int, MacVrf] = sections("vlan {}", Word(r"\d+", int), kind=MacVrf)
    families: dict[Family, AddressFamily] = sections("address-family {}", choice(FAMILIES), kind=AddressFamily)
    vrfs: dict[str, RouterVrf] = sections("vrf {}", WORD, kind=RouterVrf)


# To EOS


_of_group = attrgetter(
    *(
        {each.name for each in fields(BgpNeighbor)}
        - {"peer", "remote_as", "timers", "network_instance", "description", "password"}
    )
)
"""Settings that a neighbour has from its peer group alone; of its timers the group has two."""


def settings_of(neighbor: BgpNeighbor, asn: int) -> tuple[Hashable, ...]:
    """Settings that the session has in common with others of its peer group: without what a neighbour states itself.

    Among them are whether it runs over IPv4, whether it is an internal one, and the description of a session over an
    interface, which has no line of its own for it.
    """
    peer, timers = neighbor.peer, neighbor.timers
    over_ipv4, description = isinstance(peer, IPv4Address), neighbor.description if isinstance(peer, str) else ""
    return over_ipv4, neighbor.is_internal(asn), description, timers.keepalive_s, timers.hold_s, _of_group(neighbor)


@dataclass(frozen=True, slots=True)
class PeerGroups:
    """The peer groups. firsts: the first neighbour of each, by name. members: the group of each, by its key."""

    firsts: Mapping[str, BgpNeighbor]
    members: Mapping[str, str]


def groups_of(bgp: BgpSpeaker) -> PeerGroups:
    """The peer groups: `FABRIC`, then `FABRIC-2` and so on, in the order of the neighbours that use them first."""
    names: dict[tuple[Hashable, ...], str] = {}
    firsts: dict[str, BgpNeighbor] = {}
    members: dict[str, str] = {}
    for neighbor in bgp.neighbors:
        settings = settings_of(neighbor, bgp.asn)
        if (name := names.get(settings)) is None:
            name = names[settings] = f"{GROUP}-{len(names) + 1}" if names else GROUP
            firsts[name] = neighbor
        members[neighbor.key] = name
    return PeerGroups(firsts, members)


def native_bgp(model: DeviceModel) -> dict[int, Router]:
    """`router bgp` by its AS number; nothing without a BGP speaker."""
    bgp = model.bgp
    if bgp is None:
        return {}
    groups = groups_of(bgp)
    router = Router(
        router_id=bgp.router_id,
        no_default_family=True,
        cluster_id=bgp.cluster_id,
        max_paths=(bgp.max_paths, bgp.max_paths) if bgp.max_paths > 1 else None,
        multiple_as=bgp.multiple_as,
        policy_required=["in", "out"] if bgp.requires_policy else [],
        sessions=_sessions(bgp, DEFAULT_INSTANCE, groups),
    )
    router.sessions.redistributes = bgp.originates_all
    peers = router.sessions.neighbors
    router.sessions.neighbors = {name: _group(first, bgp.asn) for name, first in groups.firsts.items()} | peers
    for vlan in model.vlans:
        if vlan.vni is not None:
            rd = f"{bgp.router_id}:{vlan.vlan_id}" if bgp.router_id is not None else None
            router.vlans[vlan.vlan_id] = MacVrf(rd=rd, target=vlan_target(vlan.vni), redistributes=True)
    router.families = {family: each for family in FAMILIES if (each := _family(groups, family)).neighbors}
    for family in () if bgp.originates_all else bgp.originated:
        if family in router.families:
            router.families[family].redistributes = True
    for instance in sorted(model.network_instances, key=lambda each: each.name):
        router.vrfs[instance.name] = RouterVrf(
            rd=instance.rd,
            imports=list(instance.import_targets),
            exports=list(instance.export_targets),
            router_id=instance.router_id,
            sessions=_sessions(bgp, instance.name, groups),
        )
    return {bgp.asn: router}


def _sessions(bgp: BgpSpeaker, instance: str, groups: PeerGroups) -> Sessions:
    sessions = Sessions(redistributes=True)
    for neighbor in bgp.neighbors:
        if neighbor.network_instance != instance:
            continue
        remote_as = bgp.asn if neighbor.remote_as is Remote.INTERNAL else int(neighbor.remote_as) or None
        group = groups.members[neighbor.key]
        if isinstance(neighbor.peer, str):
            sessions.over_interfaces.append((neighbor.peer, group, remote_as))
        else:
            native = EosNeighbor(group=group, remote_as=remote_as, description=neighbor.description)
            sessions.neighbors[str(neighbor.peer)] = native
    for aggregate in bgp.aggregates:
        if aggregate.network_instance == instance:
            sessions.aggregates.append((aggregate.prefix, "summary-only" if aggregate.summary_only else None))
    return sessions


def _group(first: BgpNeighbor, asn: int) -> EosNeighbor:
    """The peer group of a neighbour."""
    timers_s, limit = (first.timers.keepalive_s, first.timers.hold_s), first.prefix_limit
    return EosNeighbor(
        is_group=True,
        next_hop=first.next_hop,
        enabled=first.enabled,
        description=first.description if isinstance(first.peer, str) else "",
        update_source=first.update_source,
        bfd=first.bfd,
        multihop_ttl=None if first.is_internal(asn) else first.multihop_ttl,
        reflector_client=first.reflector_client,
        timers_s=None if timers_s == DEFAULT_TIMERS_S else timers_s,
        import_policies=list(first.import_policies),
        export_policies=list(first.export_policies),
        sends_communities=True,
        routes=(0, None) if limit is None else (limit, "warning-only"),
    )


def _family(groups: PeerGroups, family: Family) -> AddressFamily:
    carries_ipv4 = family is Family.IPV4
    return AddressFamily(
        neighbors={
            name: FamilyNeighbor(active=True, ipv6_next_hops=carries_ipv4 and not isinstance(first.peer, IPv4Address))
            for name, first in groups.firsts.items()
            if family in first.families
        }
    )


# From EOS


def bgp_of(asn: int, router: Router) -> BgpSpeaker:
    """The speaker of all network instances."""
    speaking = tuple(_all_neighbors(asn, router))
    ipv6_next_hops = all(has for _, has in speaking)
    vrfs = [(name, vrf.sessions) for name, vrf in router.vrfs.items()]
    speaker = BgpSpeaker(
        asn=asn,
        router_id=router.router_id,
        max_paths=router.max_paths[0] if router.max_paths else 1,
        neighbors=tuple(neighbor for neighbor, _ in speaking),
        multiple_as=router.multiple_as,
        advertise_ipv6_next_hops=ipv6_next_hops,
        receive_ipv6_next_hops=ipv6_next_hops,
        requires_policy={*router.policy_required} == {"in", "out"},
        cluster_id=router.cluster_id,
        aggregates=tuple(
            Aggregate(prefix=prefix, summary_only=summary is not None, network_instance=instance)
            for instance, sessions in ((DEFAULT_INSTANCE, router.sessions), *vrfs)
            for prefix, summary in sessions.aggregates
        ),
    ).with_originated(
        family
        for family in FAMILIES
        if router.sessions.redistributes or router.families.get(family, AddressFamily()).redistributes
    )
    return speaker.with_one_number_of_paths()


def _all_neighbors(asn: int, router: Router) -> Iterator[tuple[BgpNeighbor, bool]]:
    """The neighbours, each with whether it can carry the IPv4 routes that it carries: over IPv6 it needs a line."""
    groups = router.sessions.neighbors
    instances = ((DEFAULT_INSTANCE, router.sessions), *((name, vrf.sessions) for name, vrf in router.vrfs.items()))
    for instance, sessions in instances:
        for peer, neighbor in _stated(sessions):
            settings = over(groups.get(neighbor.group or "", EosNeighbor()), neighbor)
            families = _families(router, neighbor.group, str(peer), in_default=instance == DEFAULT_INSTANCE)
            over_ipv6 = not isinstance(peer, IPv4Address)
            needs = over_ipv6 and Family.IPV4 in families
            yield _neighbor(asn, instance, peer, settings, families), not needs or families[Family.IPV4]


def _stated(sessions: Sessions) -> Iterator[tuple[str | IpAddress, EosNeighbor]]:
    """Neighbours by address or interface; no peer groups, also such as are used without being defined."""
    over_interfaces = {name: (group, remote_as) for name, group, remote_as in sessions.over_interfaces}
    for name, (group, remote_as) in over_interfaces.items():
        yield name, replace(sessions.neighbors.get(name, EosNeighbor()), group=group, remote_as=remote_as)
    for name, neighbor in sessions.neighbors.items():
        if not neighbor.is_group and name not in over_interfaces:
            try:
                yield ip_address(name), neighbor
            except ValueError:
                continue


def _families(router: Router, group: str | None, peer: str, *, in_default: bool) -> dict[Family, bool]:
    """The families of a neighbour, each with whether it has IPv6 next hops."""
    families: dict[Family, bool] = {}
    for family, native in router.families.items():
        stated = [native.neighbors[name] for name in (peer if in_default else None, group) if name in native.neighbors]
        if any(each.active for each in stated):
            families[family] = any(each.ipv6_next_hops for each in stated)
    return families


def _neighbor(
    asn: int,
    instance: str,
    peer: str | IpAddress,
    neighbor: EosNeighbor,
    families: Iterable[Family],
) -> BgpNeighbor:
    keepalive_s, hold_s = neighbor.timers_s or DEFAULT_TIMERS_S
    return BgpNeighbor(
        peer=peer,
        remote_as=Remote.INTERNAL if neighbor.remote_as == asn else neighbor.remote_as or 0,
        timers=BgpTimers(keepalive_s=keepalive_s, hold_s=hold_s),
        network_instance=instance,
        description=neighbor.description,
        enabled=neighbor.enabled,
        update_source=neighbor.update_source,
        multihop_ttl=neighbor.multihop_ttl,
        families=tuple(families),
        import_policies=tuple(neighbor.import_policies[-1:]),
        export_policies=tuple(neighbor.export_policies[-1:]),
        reflector_client=neighbor.reflector_client,
        next_hop=neighbor.next_hop,
        bfd=neighbor.bfd,
        prefix_limit=(neighbor.routes and neighbor.routes[0]) or None,
    )
