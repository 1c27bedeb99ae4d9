"""Grammar of the FRR configuration lines that a device model can express."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import Interface, PrefixRange
from railfab.platforms.frr.render import (
    ADDRESS_FAMILY,
    DEFAULT_BFD_INTERVAL_MS,
    DEFAULT_BFD_MULTIPLIER,
    DEFAULT_MAX_PATHS,
    EXPORT,
    IMPORT,
    MULTIPATH_RELAX,
    REDISTRIBUTE,
    ROUTER_ADVERTISEMENTS,
)
from railfab.platforms.shared.line_grammar import LineDraft, ignored, rule, within

MAX_ASN = 2**32 - 1


@dataclass(slots=True)
class Neighbor:
    """A neighbour being parsed. lines: its other settings, each as FRR shows it."""

    number: int | None
    remote_as: int | None = None
    interface: bool = False
    v6only: bool = False
    profile: str | None = None
    lines: set[str] = field(default_factory=set)


@dataclass(slots=True)
class BfdProfile:
    multiplier: int = DEFAULT_BFD_MULTIPLIER
    transmit_ms: int = DEFAULT_BFD_INTERVAL_MS
    receive_ms: int = DEFAULT_BFD_INTERVAL_MS


@dataclass(slots=True)
class Draft(LineDraft):
    """A configuration being parsed. lists: prefix lists by name and sequence number; None is `deny any`.

    seen: required lines and route maps that were found.
    """

    hostname: str | None = None
    defaults: str = "traditional"
    loopback: IPv4Address | None = None
    interfaces: dict[str, Interface] = field(default_factory=dict)
    asn: int | None = None
    router_id: IPv4Address | None = None
    timers_s: tuple[int, int] | None = None
    max_paths: int = DEFAULT_MAX_PATHS
    neighbors: dict[str, Neighbor] = field(default_factory=dict)
    lists: dict[str, dict[int, PrefixRange | None]] = field(default_factory=dict)
    profiles: dict[str, BfdProfile] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def neighbor(self, peer: str) -> Neighbor:
        return self.neighbors.setdefault(peer, Neighbor(self.number))


def _seen(draft: Draft, match: re.Match[str]) -> None:
    draft.seen.add(match[0])


def _policy(draft: Draft, match: re.Match[str]) -> None:
    if match[1] != draft.owner:
        raise ValueError(f"route-map {draft.owner} must match prefix-list {draft.owner}")
    draft.seen.add(draft.owner)


def _defaults(draft: Draft, match: re.Match[str]) -> None:
    draft.defaults = match[1]


def _hostname(draft: Draft, match: re.Match[str]) -> None:
    if draft.hostname not in (None, match[1]):
        raise ValueError(f"the hostname is already {draft.hostname}")
    draft.hostname = match[1]


def _loopback(draft: Draft, match: re.Match[str]) -> None:
    address = IPv4Interface(match[1])
    if draft.loopback is not None or address.network.prefixlen != address.max_prefixlen:
        raise ValueError("the loopback needs exactly one /32")
    draft.loopback = address.ip


def _interface(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces.setdefault(match[1], Interface(name=match[1]))


def _description(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], description=match[1])


def _address(draft: Draft, match: re.Match[str]) -> None:
    if draft.interfaces[draft.owner].address is not None:
        raise ValueError("the interface already has an address")
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], address=IPv4Interface(match[1]))


def _unnumbered(draft: Draft, _match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], unnumbered=True)


def _shutdown(draft: Draft, _match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], enabled=False)


def _router(draft: Draft, match: re.Match[str]) -> None:
    draft.asn = within(match[1], 1, MAX_ASN)


def _router_id(draft: Draft, match: re.Match[str]) -> None:
    draft.router_id = IPv4Address(match[1])


def _timers(draft: Draft, match: re.Match[str]) -> None:
    draft.timers_s = int(match[1]), int(match[2])


def _max_paths(draft: Draft, match: re.Match[str]) -> None:
    draft.max_paths = within(match[1], 1, DEFAULT_MAX_PATHS)


def _unnumbered_neighbor(draft: Draft, match: re.Match[str]) -> None:
    neighbor = draft.neighbor(match[1])
    neighbor.interface, neighbor.v6only = True, bool(match[2])
    neighbor.remote_as = within(match[3], 1, MAX_ASN)


def _numbered_neighbor(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(str(IPv4Address(match[1]))).remote_as = within(match[2], 1, MAX_ASN)


def _of_neighbor(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).lines.add(match[2])


def _permit(draft: Draft, match: re.Match[str]) -> None:
    prefix = IPv4Network("0.0.0.0/0" if match[3] == "any" else match[3])
    length, longest = prefix.prefixlen, prefix.max_prefixlen
    bounded = match[4] or match[5] or match[3] == "any"
    ge = within(match[4], length, longest) if match[4] else length
    le = within(match[5], ge, longest) if match[5] else (longest if bounded else length)
    draft.lists.setdefault(match[1], {})[int(match[2])] = PrefixRange(prefix=prefix, ge=ge, le=le)


def _deny(draft: Draft, match: re.Match[str]) -> None:
    draft.lists.setdefault(match[1], {})[int(match[2])] = None


def _bfd_profile(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).profile = match[2]


def _profile(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles.setdefault(match[1], BfdProfile())


def _multiplier(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].multiplier = within(match[1], 2, 255)


def _transmit(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].transmit_ms = within(match[1], 10, 60000)


def _receive(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].receive_ms = within(match[1], 10, 60000)


_POLICIES = f"({IMPORT}|{EXPORT})"
_FAMILY = (
    rule(re.escape(REDISTRIBUTE), _seen),
    rule(rf"neighbor (\S+) (route-map {IMPORT} in|route-map {EXPORT} out|activate)", _of_neighbor),
    rule(r"maximum-paths (\d+)", _max_paths),
)
_ROUTER = (
    rule(r"bgp router-id (\S+)", _router_id),
    rule(re.escape(MULTIPATH_RELAX), _seen),
    rule(r"timers bgp (\d+) (\d+)", _timers),
    rule(r"neighbor (\S+) interface( v6only)? remote-as (\d+)", _unnumbered_neighbor),
    rule(r"neighbor (\S+) remote-as (\d+)", _numbered_neighbor),
    rule(r"neighbor (\S+) (bfd)", _of_neighbor),
    rule(r"neighbor (\S+) bfd profile (\S+)", _bfd_profile),
    rule(ADDRESS_FAMILY, ignored, *_FAMILY),
)
_INTERFACE = (
    rule(r"description (.+)", _description),
    rule(r"ip address (\S+)", _address),
    rule(ROUTER_ADVERTISEMENTS, _unnumbered),
    rule(r"shutdown", _shutdown),
)
_PROFILE = (
    rule(r"detect-multiplier (\d+)", _multiplier),
    rule(r"transmit-interval (\d+)", _transmit),
    rule(r"receive-interval (\d+)", _receive),
)
CONFIGURATION = (
    rule(r"frr version .+", ignored),
    rule(r"frr defaults (datacenter|traditional)", _defaults),
    rule(r"hostname (\S+)", _hostname),
    rule(r"(?:log|service) .+", ignored),
    rule(r"interface lo", ignored, rule(r"ip address (\S+)", _loopback)),
    rule(r"interface (\S+)", _interface, *_INTERFACE),
    rule(r"router bgp (\d+)", _router, *_ROUTER),
    rule(rf"ip prefix-list {_POLICIES} seq (\d+) permit (\S+)(?: ge (\d+))?(?: le (\d+))?", _permit),
    rule(rf"ip prefix-list {_POLICIES} seq (\d+) deny any", _deny),
    rule(rf"route-map {_POLICIES} permit 10", ignored, rule(rf"match ip address prefix-list {_POLICIES}", _policy)),
    rule(r"bfd", ignored, rule(r"profile (\S+)", _profile, *_PROFILE)),
)
