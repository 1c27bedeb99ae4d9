"""Parses FRR configuration, from a file or `show running-config`, to a device model.

Parsing is total: a line is an error only when its value is impossible. What the model cannot express is unmodelled,
and so is a line that differs from the one by which this platform renders the model (the name of a prefix list, say).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import replace
from functools import lru_cache
from ipaddress import ip_address

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    Interface,
    Lag,
    Loopback,
    NetworkInstance,
    Port,
    Svi,
    in_order,
    number_of,
)
from railfab.errors import raise_all
from railfab.platforms.differences import Difference, Side
from railfab.platforms.frr.draft import DraftProfile, FrrDraft, FrrInterface, FrrNeighbor, FrrRouter
from railfab.platforms.frr.grammar import CONFIGURATION
from railfab.platforms.frr.lines import FORMAT, effective
from railfab.platforms.frr.names import interface_name, kind_of
from railfab.platforms.frr.render import render
from railfab.platforms.frr.render_bgp import (
    DEFAULT_MAX_PATHS,
    DEFAULT_TIMERS_S,
    DRAIN,
    FAMILIES,
    MULTIPATH_RELAX,
    REQUIRES_POLICY,
)
from railfab.platforms.frr.spelling import as_running, unused_groups
from railfab.platforms.frr.system import command, settings_in
from railfab.platforms.shared.line_grammar import line_differences, read, unmodelled
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_maps import policies_of

NAME = "frr"
VERSION = "frr version"
ROUTER = re.compile(r"router bgp (\d+)(?: vrf (\S+))?")
PEER = re.compile(r"router bgp .*: (?:no )?neighbor (\S+) .*")
INTEGRATED, UNUSED = "service integrated-vtysh-config", "(unused) "
NO_PROFILES = Line("bfd")
"""FRR shows this section even after its last profile is removed."""


def parse(text: str) -> DeviceModel:
    """The model of a configuration text, with or without a header.

    Raises ConfigError, or Problems with every bad value, each with its line and section.
    """
    lines = _lines(text)
    draft = FrrDraft()
    read(draft, lines, CONFIGURATION)
    raise_all(draft.errors)
    model = in_order(_model(draft))
    return replace(model, unmodelled=unmodelled(lines, render(model)))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The lines in which a configuration differs from a rendered one; the version of FRR is none.

    Settings of ports in its comments (see `system`) are lines too where both have them. A line that only reports, of
    `log`, is not missed: that it is not there is something that the configuration has more.
    """
    wanted, lines = _lines(rendered), _lines(text)
    differing = line_differences(_with_as_numbers(lines, wanted), wanted)
    unused = unused_groups(lines)
    placed = (_placed(difference, unused) for difference in differing)
    return (*_port_differences(text, rendered), *_other_numbers(lines, wanted), *placed)


def _other_numbers(lines: tuple[Line, ...], wanted: tuple[Line, ...]) -> Iterator[Difference]:
    """The routers with another AS number."""
    routers = {match[2]: line.text for line in wanted if (match := ROUTER.fullmatch(line.text))}
    for line in lines:
        if (match := ROUTER.fullmatch(line.text)) and routers.get(match[2], line.text) != line.text:
            yield Difference(side=Side.CHANGED, path=line.text, text=line.text, section="router bgp")


def _placed(difference: Difference, unused: Set[str]) -> Difference:
    """The difference; that of a peer group without members has another path, and a missing report is one more.

    So is the line for one file of all daemons, which vtysh looks for without it (doc/user, vtysh, integrated
    configuration mode).
    """
    if difference.path.startswith("no log "):
        return replace(difference, side=Side.ADDED)
    if difference.path == f"no {INTEGRATED}" and difference.side is Side.MISSING:
        return replace(difference, side=Side.ADDED, path=f"{UNUSED}{difference.path}")
    peer = PEER.fullmatch(difference.path) if unused else None
    return replace(difference, path=f"{UNUSED}{difference.path}") if peer and peer[1] in unused else difference


def _with_as_numbers(lines: tuple[Line, ...], wanted: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with the AS numbers of the other ones, so that another number is no difference of lines below."""
    routers = {match[2]: line.text for line in wanted if (match := ROUTER.fullmatch(line.text))}
    return tuple(
        replace(line, text=routers.get(match[2], line.text)) if (match := ROUTER.fullmatch(line.text)) else line
        for line in lines
    )


def _port_differences(text: str, rendered: str) -> Iterator[Difference]:
    wanted = settings_in(rendered)
    for port, settings in settings_in(text).items():
        if port in wanted and settings != wanted[port]:
            line = command(port, settings)
            yield Difference(side=Side.ADDED, path=line, text=line, section="ip link")


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[Line, ...]:
    """The lines as FRR runs them; an audit asks for those of each of its texts several times."""
    lines = as_running(effective(FORMAT.tree(text)))
    return tuple(line for line in lines if line != NO_PROFILES and not line.text.startswith(VERSION))


def _model(draft: FrrDraft) -> DeviceModel:
    return DeviceModel(
        name=draft.hostname,
        platform=NAME,
        breakouts=(),
        interfaces=tuple(
            _interface(interface_name(device), interface) for device, interface in draft.interfaces.items()
        ),
        bgp=_bgp(draft),
        qos=None,
        policies=policies_of(draft, frozenset(router.asn for router in draft.routers.values())),
        network_instances=tuple(_network_instances(draft)),
        drain=any(DRAIN in router.flags for router in draft.routers.values()),
    )


def _interface(name: str, interface: FrrInterface) -> Interface:
    kind = kind_of(name)
    shell: Interface
    if kind == "loopback":
        shell = Loopback(name=name)
    elif kind == "lag":
        shell = Lag(name=name, members=(), esi=interface.esi, system_mac=interface.system_mac)
    elif kind == "vlan":
        shell = Svi(name=name, vlan=number_of(name))
    else:
        shell = Port(name=name)
    return replace(
        shell,
        description=interface.description,
        enabled=interface.enabled,
        addresses=tuple(interface.addresses),
        unnumbered=interface.unnumbered,
    )


def _network_instances(draft: FrrDraft) -> Iterator[NetworkInstance]:
    for name in sorted((draft.vnis.keys() | draft.routers.keys()) - {DEFAULT_INSTANCE}):
        router = draft.routers.get(name)
        instance = NetworkInstance(name=name, vni=draft.vnis.get(name))
        if router is None:
            yield instance
            continue
        yield replace(
            instance,
            rd=router.rd,
            import_targets=tuple(router.targets["import"]),
            export_targets=tuple(router.targets["export"]),
            router_id=router.router_id,
        )


def _bgp(draft: FrrDraft) -> BgpSpeaker | None:
    """The speaker of all network instances, with the settings of the router of the default one."""
    if not draft.routers:
        return None
    router = draft.routers.get(DEFAULT_INSTANCE) or next(iter(draft.routers.values()))
    ipv6_next_hops = all(map(_has_ipv6_next_hops, router.neighbors.items()))
    return BgpSpeaker(
        asn=router.asn,
        router_id=router.router_id,
        max_paths=_first(router.max_paths),
        max_paths_internal=_first(router.max_paths_internal),
        neighbors=tuple(_all_neighbors(draft)),
        multiple_as=MULTIPATH_RELAX in router.flags,
        advertise_ipv6_next_hops=ipv6_next_hops,
        receive_ipv6_next_hops=ipv6_next_hops,
        requires_policy=_requires_policy(draft, router),
        cluster_id=router.cluster_id,
        aggregates=tuple(_aggregates(draft)),
    ).with_originated(router.originated)


def _first(paths: dict[Family, int]) -> int:
    """The value of the first family that states one."""
    return next((paths[family] for family in FAMILIES if family in paths), DEFAULT_MAX_PATHS)


def _requires_policy(draft: FrrDraft, router: FrrRouter) -> bool:
    """FRR's default depends on its defaults profile."""
    default = draft.defaults == "traditional"
    return REQUIRES_POLICY in router.flags or (default and f"no {REQUIRES_POLICY}" not in router.flags)


def _has_ipv6_next_hops(named: tuple[str, FrrNeighbor]) -> bool:
    """Whether a session can carry the IPv4 routes that it carries: one to an IPv6 address needs a capability."""
    peer, neighbor = named
    return (
        neighbor.unnumbered or ":" not in peer or neighbor.ipv6_next_hops or not neighbor.active.get(Family.IPV4, True)
    )


def _aggregates(draft: FrrDraft) -> Iterator[Aggregate]:
    for router in draft.routers.values():
        yield from router.aggregates


def _all_neighbors(draft: FrrDraft) -> Iterator[BgpNeighbor]:
    """The neighbours with an AS; others (peer groups, members of one) are unmodelled."""
    for instance, router in draft.routers.items():
        for peer, neighbor in router.neighbors.items():
            if neighbor.remote_as is not None:
                yield _neighbor(draft, instance, router, peer, neighbor)


def _neighbor(draft: FrrDraft, instance: str, router: FrrRouter, peer: str, neighbor: FrrNeighbor) -> BgpNeighbor:
    assert neighbor.remote_as is not None
    active = [family for family in FAMILIES if neighbor.active.get(family, family is Family.IPV4)]
    return BgpNeighbor(
        peer=interface_name(peer) if neighbor.unnumbered else ip_address(peer),
        remote_as=neighbor.remote_as,
        timers=_timers(draft, router, neighbor),
        network_instance=instance,
        description=neighbor.description,
        enabled=neighbor.enabled,
        update_source=interface_name(neighbor.update_source) if neighbor.update_source is not None else None,
        multihop_ttl=neighbor.multihop_ttl,
        families=tuple(active),
        import_policies=neighbor.policies["in"],
        export_policies=neighbor.policies["out"],
        reflector_client=neighbor.reflector_client,
        next_hop=neighbor.next_hop,
        prefix_limit=next(
            (neighbor.prefix_limits[family] for family in active if family in neighbor.prefix_limits), None
        ),
        bfd=_bfd(draft, neighbor),
    )


def _timers(draft: FrrDraft, router: FrrRouter, neighbor: FrrNeighbor) -> BgpTimers:
    keepalive_s, hold_s = neighbor.keepalive_hold_s or router.keepalive_hold_s or DEFAULT_TIMERS_S[draft.defaults]
    return BgpTimers(
        keepalive_s=keepalive_s,
        hold_s=hold_s,
        connect_retry_s=neighbor.connect_s,
        advertisement_interval_s=neighbor.advertisement_s,
    )


def _bfd(draft: FrrDraft, neighbor: FrrNeighbor) -> BfdTimers | None:
    if not neighbor.bfd and neighbor.profile is None:
        return None
    return draft.profiles.get(neighbor.profile or "", DraftProfile()).timers
