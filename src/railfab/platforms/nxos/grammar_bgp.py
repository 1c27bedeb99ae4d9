"""Grammar of `router bgp`."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_network

from railfab.device import DEFAULT_INSTANCE, NextHop
from railfab.platforms.nxos.draft import DraftFamily, NxosDraft, NxosNeighbor, NxosRouter
from railfab.platforms.nxos.names import instance_name
from railfab.platforms.nxos.render_bgp import DRAIN, FAMILIES, MULTIPATH_RELAX, NEXT_HOP_SELF, REDISTRIBUTE
from railfab.platforms.shared.line_grammar import rule
from railfab.platforms.shared.route_map_grammar import MAX_ASN, MAX_NUMBER
from railfab.platforms.shared.statements import within

MAX_PATHS = 128
_FAMILIES = {name: family for family, name in FAMILIES.items()}


def asn_of(text: str) -> int:
    """An AS number, also one written with a dot (RFC 5396)."""
    high, dot, low = text.partition(".")
    return within(high, 0, 65535) << 16 | within(low, 0, 65535) if dot else within(text, 1, MAX_ASN)


def _router(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.asn, draft.instance = asn_of(match[1]), DEFAULT_INSTANCE
    draft.routers.setdefault(draft.instance, NxosRouter())


def _vrf(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.instance = instance_name(match[1])
    draft.routers.setdefault(draft.instance, NxosRouter())


def _router_id(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.router_id = IPv4Address(match[1])


def _cluster_id(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.cluster_id = IPv4Address(int(match[1]) if match[1].isdecimal() else match[1])


def _reconnect(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.reconnect_s = within(match[1], 1, 60)


def _router_timers(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.keepalive_hold_s = within(match[1], 0, 3600), within(match[2], 0, 3600)


def _flag(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.flags.add(match[0])


def _family(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.family = _FAMILIES[match[1]]
    draft.router.max_paths.setdefault(draft.family, 1)
    draft.router.max_paths_internal.setdefault(draft.family, 1)


def _redistribute(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.router.originated.add(draft.family)


def _aggregate(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.aggregates.append((ip_network(match[1], strict=False), bool(match[2])))


def _max_paths(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.max_paths[draft.family] = within(match[1], 1, MAX_PATHS)


def _max_paths_internal(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.router.max_paths_internal[draft.family] = within(match[1], 1, MAX_PATHS)


def _neighbor(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.neighbor = draft.router.neighbors.setdefault(match[1], NxosNeighbor())
    if match[2]:
        draft.neighbor.remote_as = asn_of(match[2])


def _remote_as(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.neighbor.remote_as = asn_of(match[1])


def _description(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.neighbor.description = match[1]


def _shutdown(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.neighbor.enabled = False


def _bfd(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.neighbor.bfd = True


def _multihop(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.neighbor.multihop_ttl = within(match[1], 2, 255)


def _update_source(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.neighbor.update_source = match[1]


def _timers(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.neighbor.keepalive_hold_s = within(match[1], 0, 3600), within(match[2], 0, 3600)


def _neighbor_family(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.settings = draft.neighbor.families.setdefault(_FAMILIES[match[1]], DraftFamily())


def _advertisement(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.settings.advertisement_s = within(match[1], 1, 600)


def _reflector_client(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.settings.reflector_client = True


def _next_hop_self(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.settings.next_hop = NextHop.SELF


def _prefix_limit(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.settings.prefix_limit = within(match[1], 1, MAX_NUMBER)


def _applied(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.settings.policies[match[2]] = match[1]


_AS = r"(\d+(?:\.\d+)?)"
_PEER = r"([\d.]+|[0-9a-fA-F]*:[0-9a-fA-F:.]+|Ethernet\S+|port-channel\d+|Vlan\d+)"
_OF_FAMILY = (
    rule(r"advertisement-interval (\d+)", _advertisement),
    rule(r"route-reflector-client", _reflector_client),
    rule(NEXT_HOP_SELF, _next_hop_self),
    rule(r"maximum-prefix (\d+) warning-only", _prefix_limit),
    rule(r"route-map (\S+) (in|out)", _applied),
)
_NEIGHBOR = (
    rule(rf"remote-as {_AS}", _remote_as),
    rule(r"description (.+)", _description),
    rule(r"shutdown", _shutdown),
    rule(r"bfd", _bfd),
    rule(r"ebgp-multihop (\d+)", _multihop),
    rule(r"update-source (\S+)", _update_source),
    rule(r"timers (\d+) (\d+)", _timers),
    rule(rf"address-family ({'|'.join(FAMILIES.values())})", _neighbor_family, *_OF_FAMILY),
)
_FAMILY = (
    rule(REDISTRIBUTE, _redistribute),
    rule(r"aggregate-address (\S+)( summary-only)?", _aggregate),
    rule(r"maximum-paths (\d+)", _max_paths),
    rule(r"maximum-paths ibgp (\d+)", _max_paths_internal),
)
_INSTANCE = (
    rule(r"router-id (\S+)", _router_id),
    rule(r"cluster-id (\S+)", _cluster_id),
    rule(r"reconnect-interval (\d+)", _reconnect),
    rule(r"timers bgp (\d+) (\d+)", _router_timers),
    rule("|".join((DRAIN, MULTIPATH_RELAX)), _flag),
    rule(rf"address-family ({'|'.join(FAMILIES.values())})", _family, *_FAMILY),
    rule(rf"neighbor {_PEER}(?: remote-as {_AS})?", _neighbor, *_NEIGHBOR),
)
BGP = (rule(rf"router bgp {_AS}", _router, *_INSTANCE, rule(r"vrf (\S+)", _vrf, *_INSTANCE)),)
