"""Grammar of the FRR configuration lines that a device model can express."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_address, ip_network

from railfab.device import DEFAULT_INSTANCE, Aggregate, Remote
from railfab.platforms.frr.draft import DraftProfile, FrrDraft, FrrInterface, FrrRouter
from railfab.platforms.frr.grammar_policy import POLICY
from railfab.platforms.frr.render import ROUTER_ADVERTISEMENTS
from railfab.platforms.frr.render_bgp import (
    ALL_VNIS,
    DEFAULT_MAX_PATHS,
    DRAIN,
    FAMILIES,
    MULTIPATH_RELAX,
    NEXT_HOPS,
    PREFIXES,
    REDISTRIBUTE,
    REQUIRES_POLICY,
)
from railfab.platforms.shared.line_grammar import ignored, rule
from railfab.platforms.shared.native_names import interface_address
from railfab.platforms.shared.route_map_grammar import MAX_ASN
from railfab.platforms.shared.statements import within

_FAMILIES = {name: family for family, name in FAMILIES.items()}
_NEXT_HOPS = {line: next_hop for next_hop, line in NEXT_HOPS.items()}


def _defaults(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.defaults = match[1]


def _hostname(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.hostname = match[1]


def _vrf(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.vnis.setdefault(match[1], None)


def _vni(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.vnis[draft.owner] = within(match[1], 1, 2**24 - 1)


def _interface(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.interfaces.setdefault(match[1], FrrInterface())


def _interface_description(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner].description = match[1]


def _address(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner].addresses.append(interface_address(match[1], match[2]))


def _unnumbered(draft: FrrDraft, _match: re.Match[str]) -> None:
    draft.interfaces[draft.owner].unnumbered = True


def _interface_shutdown(draft: FrrDraft, _match: re.Match[str]) -> None:
    draft.interfaces[draft.owner].enabled = False


def _esi(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner].esi = match[1]


def _system_mac(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner].system_mac = match[1]


def _router(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.instance = match[2] or DEFAULT_INSTANCE
    draft.routers.setdefault(draft.instance, FrrRouter(asn=within(match[1], 1, MAX_ASN)))


def _router_id(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.router_id = IPv4Address(match[1])


def _cluster_id(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.cluster_id = IPv4Address(match[1])


def _flag(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.flags.add(match[0])


def _router_timers(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.keepalive_hold_s = within(match[1], 0, 65535), within(match[2], 0, 65535)


def _neighbor(draft: FrrDraft, match: re.Match[str]) -> None:
    neighbor = draft.router.neighbor(match[1])
    neighbor.unnumbered = " interface " in match[0]
    neighbor.remote_as = within(match[2], 1, MAX_ASN) if match[2].isdigit() else Remote(match[2])


def _numbered_neighbor(draft: FrrDraft, match: re.Match[str]) -> None:
    ip_address(match[1])
    _neighbor(draft, match)


def _description(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).description = match[2]


def _shutdown(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).enabled = False


def _bfd(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).bfd = True


def _bfd_profile(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).profile = match[2]


def _multihop(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).multihop_ttl = within(match[2], 1, 255)


def _update_source(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).update_source = match[2]


def _advertisement(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).advertisement_s = within(match[2], 0, 600)


def _timers(draft: FrrDraft, match: re.Match[str]) -> None:
    timers = within(match[2], 0, 65535), within(match[3], 0, 65535)
    draft.router.neighbor(match[1]).keepalive_hold_s = timers


def _connect(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).connect_s = within(match[2], 1, 65535)


def _ipv6_next_hops(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).ipv6_next_hops = True


def _family(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.family = _FAMILIES[match[1]]


def _redistribute(draft: FrrDraft, _match: re.Match[str]) -> None:
    draft.router.originated.add(draft.family)


def _aggregate(draft: FrrDraft, match: re.Match[str]) -> None:
    aggregate = Aggregate(prefix=ip_network(match[1]), summary_only=bool(match[2]), network_instance=draft.instance)
    draft.router.aggregates.append(aggregate)


def _max_paths(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.max_paths[draft.family] = within(match[1], 1, DEFAULT_MAX_PATHS)


def _max_paths_internal(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.max_paths_internal[draft.family] = within(match[1], 1, DEFAULT_MAX_PATHS)


def _activate(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[2]).active[draft.family] = match[1] is None


def _reflector_client(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).reflector_client = True


def _next_hop(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).next_hop = _NEXT_HOPS[match[2]]


def _prefix_limit(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).prefix_limits[draft.family] = within(match[2], 1, 4294967295)


def _applied(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.neighbor(match[1]).policies[match[3]] = (match[2],)


def _rd(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.rd = match[1]


def _target(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.router.targets[match[1]].append(match[2])


def _profile(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.profiles.setdefault(match[1], DraftProfile())


def _multiplier(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].multiplier = within(match[1], 2, 255)


def _interval(draft: FrrDraft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].interval_ms = within(match[1], 10, 60000)


_ADDRESS = r"(\d+\.\d+\.\d+\.\d+|[0-9a-fA-F]*:[0-9a-fA-F:.]+)"
_AS = r"(\d+|internal|external)"
_FAMILY = (
    rule(REDISTRIBUTE, _redistribute),
    rule(r"aggregate-address (\S+)( summary-only)?", _aggregate),
    rule(r"maximum-paths (\d+)", _max_paths),
    rule(r"maximum-paths ibgp (\d+)", _max_paths_internal),
    rule(r"(no )?neighbor (\S+) activate", _activate),
    rule(r"neighbor (\S+) route-reflector-client", _reflector_client),
    rule(rf"neighbor (\S+) ({'|'.join(NEXT_HOPS.values())})", _next_hop),
    rule(r"neighbor (\S+) route-map (\S+) (in|out)", _applied),
    rule(r"neighbor (\S+) maximum-prefix (\d+) warning-only", _prefix_limit),
    rule(ALL_VNIS, ignored),
    rule(PREFIXES, ignored),
    rule(r"rd (\S+:\d+)", _rd),
    rule(r"route-target (import|export) (\S+:\d+)", _target),
)
_ROUTER = (
    rule(r"bgp router-id (\S+)", _router_id),
    rule(r"bgp cluster-id (\S+)", _cluster_id),
    rule("|".join((REQUIRES_POLICY, f"no {REQUIRES_POLICY}", DRAIN, MULTIPATH_RELAX)), _flag),
    rule(r"timers bgp (\d+) (\d+)", _router_timers),
    rule(rf"neighbor (\S+) interface (?:v6only )?remote-as {_AS}", _neighbor),
    rule(rf"neighbor {_ADDRESS} remote-as {_AS}", _numbered_neighbor),
    rule(r"neighbor (\S+) description (.+)", _description),
    rule(r"neighbor (\S+) shutdown", _shutdown),
    rule(r"neighbor (\S+) bfd", _bfd),
    rule(r"neighbor (\S+) bfd profile (\S+)", _bfd_profile),
    rule(r"neighbor (\S+) ebgp-multihop (\d+)", _multihop),
    rule(r"neighbor (\S+) update-source (\S+)", _update_source),
    rule(r"neighbor (\S+) advertisement-interval (\d+)", _advertisement),
    rule(r"neighbor (\S+) timers (\d+) (\d+)", _timers),
    rule(r"neighbor (\S+) timers connect (\d+)", _connect),
    rule(r"neighbor (\S+) capability extended-nexthop", _ipv6_next_hops),
    rule(rf"address-family ({'|'.join(FAMILIES.values())})", _family, *_FAMILY),
)
_INTERFACE = (
    rule(r"description (.+)", _interface_description),
    rule(r"(ip|ipv6) address (\S+)", _address),
    rule(ROUTER_ADVERTISEMENTS, _unnumbered),
    rule(r"evpn mh es-id ((?:[0-9a-f]{2}:){9}[0-9a-f]{2})", _esi),
    rule(r"evpn mh es-sys-mac ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})", _system_mac),
    rule(r"shutdown", _interface_shutdown),
)
_PROFILE = (
    rule(r"detect-multiplier (\d+)", _multiplier),
    rule(r"(?:transmit|receive)-interval (\d+)", _interval),
)
CONFIGURATION = (
    rule(r"frr defaults (datacenter|traditional)", _defaults),
    rule(r"hostname (\S+)", _hostname),
    rule(r"vrf (\S+)", _vrf, rule(r"vni (\d+)", _vni)),
    rule(r"interface (\S+)", _interface, *_INTERFACE),
    rule(r"router bgp (\d+)(?: vrf (\S+))?", _router, *_ROUTER),
    *POLICY,
    rule(r"bfd", ignored, rule(r"profile (\S+)", _profile, *_PROFILE)),
)
