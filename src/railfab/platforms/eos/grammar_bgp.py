"""Grammar of `router bgp`."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_network

from railfab.device import DEFAULT_INSTANCE, Aggregate, BfdTimers
from railfab.platforms.eos.draft import Draft, DraftRouter
from railfab.platforms.eos.names import interface_name
from railfab.platforms.eos.render_bgp import FAMILIES, IPV6_NEXT_HOPS, MULTIPATH_RELAX, NEXT_HOPS
from railfab.platforms.shared.line_grammar import ignored, rule, within
from railfab.platforms.shared.route_map_grammar import MAX_ASN

DEFAULT_BFD = BfdTimers(interval_ms=300, multiplier=3)
"""Of a session whose timers no line states (EOS User Manual, BFD)."""

_FAMILIES = {word: family for family, word in FAMILIES.items()}
_NEXT_HOPS = {word: next_hop for next_hop, word in NEXT_HOPS.items()}


def _router(draft: Draft, match: re.Match[str]) -> None:
    draft.instance = DEFAULT_INSTANCE
    draft.router = DraftRouter(asn=within(match[1], 1, MAX_ASN))


def _vrf(draft: Draft, match: re.Match[str]) -> None:
    draft.instance = match[1]
    draft.vrf(match[1])


def _router_id(draft: Draft, match: re.Match[str]) -> None:
    if draft.instance == DEFAULT_INSTANCE:
        draft.bgp.router_id = IPv4Address(match[1])
    else:
        draft.vrf(draft.instance).router_id = IPv4Address(match[1])


def _cluster_id(draft: Draft, match: re.Match[str]) -> None:
    draft.bgp.cluster_id = IPv4Address(match[1])


def _max_paths(draft: Draft, match: re.Match[str]) -> None:
    draft.bgp.max_paths = within(match[1], 1, 600)


def _single_as(draft: Draft, _match: re.Match[str]) -> None:
    draft.bgp.multiple_as = False


def _policy_required(draft: Draft, match: re.Match[str]) -> None:
    draft.bgp.requires_policy.add(match[1])


def _group(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).is_group = True


def _member(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).group = match[2]


def _over_interface(draft: Draft, match: re.Match[str]) -> None:
    neighbor = draft.neighbor(interface_name(match[1]))
    neighbor.over_interface, neighbor.group = True, match[2]
    neighbor.remote_as = within(match[3], 1, MAX_ASN) if match[3] else None


def _remote_as(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).remote_as = within(match[2], 1, MAX_ASN)


def _description(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).description = match[2]


def _shutdown(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).enabled = False


def _update_source(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).update_source = interface_name(match[2])


def _multihop(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).multihop_ttl = within(match[2], 1, 255)


def _bfd(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).bfd = DEFAULT_BFD


def _bfd_timers(draft: Draft, match: re.Match[str]) -> None:
    interval_ms, receive_ms = within(match[2], 50, 60000), within(match[3], 50, 60000)
    draft.neighbor(match[1]).bfd = BfdTimers(
        interval_ms=interval_ms,
        multiplier=within(match[4], 3, 50),
        receive_ms=None if receive_ms == interval_ms else receive_ms,
    )


def _reflector_client(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).reflector_client = True


def _timers(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).keepalive_hold_s = within(match[2], 0, 3600), within(match[3], 0, 7200)


def _applied(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).policies[match[3]] = match[2]


def _next_hop(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).next_hop = _NEXT_HOPS[match[2]]


def _routes(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).routes = within(match[2], 0, 2**32 - 1)


def _aggregate(draft: Draft, match: re.Match[str]) -> None:
    found = Aggregate(prefix=ip_network(match[1]), summary_only=bool(match[2]), network_instance=draft.instance)
    draft.bgp.aggregates.append(found)


def _family(draft: Draft, match: re.Match[str]) -> None:
    draft.family = _FAMILIES[match[1]]


def _activate(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).active.add(draft.family)


def _ipv6_next_hops(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).ipv6_next_hops = True


def _rd(draft: Draft, match: re.Match[str]) -> None:
    draft.vrf(draft.instance).rd = match[1]


def _target(draft: Draft, match: re.Match[str]) -> None:
    instance = draft.vrf(draft.instance)
    (instance.imports if match[1] == "import" else instance.exports).append(match[2])


_NEIGHBORS = (
    rule(r"neighbor interface (\S+) peer-group (\S+)(?: remote-as (\d+))?", _over_interface),
    rule(r"neighbor (\S+) peer group", _group),
    rule(r"neighbor (\S+) peer group (\S+)", _member),
    rule(r"neighbor (\S+) remote-as (\d+)", _remote_as),
    rule(r"neighbor (\S+) description (.+)", _description),
    rule(r"neighbor (\S+) shutdown", _shutdown),
    rule(r"neighbor (\S+) update-source (\S+)", _update_source),
    rule(r"neighbor (\S+) ebgp-multihop (\d+)", _multihop),
    rule(r"neighbor (\S+) bfd", _bfd),
    rule(r"neighbor (\S+) bfd interval (\d+) min-rx (\d+) multiplier (\d+)", _bfd_timers),
    rule(r"neighbor (\S+) route-reflector-client", _reflector_client),
    rule(r"neighbor (\S+) timers (\d+) (\d+)", _timers),
    rule(r"neighbor (\S+) route-map (\S+) (in|out)", _applied),
    rule(rf"neighbor (\S+) ({'|'.join(_NEXT_HOPS)})", _next_hop),
    rule(r"neighbor (\S+) maximum-routes (\d+)(?: warning-only)?", _routes),
    rule(r"router-id (\S+)", _router_id),
    rule(r"aggregate-address (\S+)( summary-only)?", _aggregate),
)
_FAMILY = (
    rule(r"neighbor (\S+) activate", _activate),
    rule(rf"neighbor (\S+) {IPV6_NEXT_HOPS}", _ipv6_next_hops),
)
ROUTER = rule(
    r"router bgp (\d+)",
    _router,
    *_NEIGHBORS,
    rule(r"bgp cluster-id (\S+)", _cluster_id),
    rule(r"maximum-paths (\d+)(?: ecmp \d+)?", _max_paths),
    rule(rf"no {MULTIPATH_RELAX}", _single_as),
    rule(r"bgp missing-policy direction (in|out) action deny", _policy_required),
    rule(rf"address-family ({'|'.join(_FAMILIES)})", _family, *_FAMILY),
    rule(r"vlan \d+", ignored),
    rule(
        r"vrf (\S+)",
        _vrf,
        rule(r"rd (\S+)", _rd),
        rule(r"route-target (import|export) evpn (\S+)", _target),
        *_NEIGHBORS,
    ),
)
