"""Grammar of the FRR configuration lines that a device model can express.

A rule is a pattern, a function that stores its match, and the rules of the lines below it. A line that no rule matches
is an error, because a model without it would not describe what the switch runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import Interface, PrefixRange
from railfab.errors import ConfigError, RailfabError
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
from railfab.platforms.shared.line_tree import Line

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
class Draft:
    """A configuration being parsed. lists: prefix lists by name and sequence number; None is `deny any`.

    seen: required lines and route maps that were found. number: number of the current line.
    owner: name in the header of the current section.
    """

    errors: list[RailfabError] = field(default_factory=list)
    number: int | None = None
    owner: str = ""
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


Store = Callable[[Draft, re.Match[str]], None]
"""Stores the values of a line in the draft. Raises ValueError for a bad value."""


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: re.Pattern[str]
    store: Store
    below: tuple[Rule, ...] = ()


def read(draft: Draft, lines: tuple[Line, ...], rules: tuple[Rule, ...], *, section: str = "", owner: str = "") -> None:
    """Parse lines into the draft; an unknown line or a bad value becomes an error."""
    for line in lines:
        where = f"line {line.number}" + (f", in {section}" if section else "")
        found = next(((rule, match) for rule in rules if (match := rule.pattern.fullmatch(line.text))), None)
        if found is None:
            draft.errors.append(ConfigError(where, f"{line.text!r} is not supported", "Correct it, or remove it"))
            continue
        rule, match = found
        draft.number, draft.owner = line.number, owner
        try:
            rule.store(draft, match)
        except ValueError as error:
            draft.errors.append(ConfigError(where, f"{line.text!r} has a bad value ({error})", "Correct the value"))
            continue
        read(draft, line.children, rule.below, section=line.text, owner=match[1] if match.re.groups else "")


def _rule(pattern: str, store: Store, *below: Rule) -> Rule:
    return Rule(re.compile(pattern), store, below)


def _within(text: str, low: int, high: int) -> int:
    number = int(text)
    if not low <= number <= high:
        raise ValueError(f"{number} is not within {low} to {high}")
    return number


def _nothing(_draft: Draft, _match: re.Match[str]) -> None:
    """Ignore a line that does not concern the model."""


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
    draft.asn = _within(match[1], 1, MAX_ASN)


def _router_id(draft: Draft, match: re.Match[str]) -> None:
    draft.router_id = IPv4Address(match[1])


def _timers(draft: Draft, match: re.Match[str]) -> None:
    draft.timers_s = int(match[1]), int(match[2])


def _max_paths(draft: Draft, match: re.Match[str]) -> None:
    draft.max_paths = _within(match[1], 1, DEFAULT_MAX_PATHS)


def _unnumbered_neighbor(draft: Draft, match: re.Match[str]) -> None:
    neighbor = draft.neighbor(match[1])
    neighbor.interface, neighbor.v6only = True, bool(match[2])
    neighbor.remote_as = _within(match[3], 1, MAX_ASN)


def _numbered_neighbor(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(str(IPv4Address(match[1]))).remote_as = _within(match[2], 1, MAX_ASN)


def _of_neighbor(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).lines.add(match[2])


def _permit(draft: Draft, match: re.Match[str]) -> None:
    prefix = IPv4Network("0.0.0.0/0" if match[3] == "any" else match[3])
    length, longest = prefix.prefixlen, prefix.max_prefixlen
    bounded = match[4] or match[5] or match[3] == "any"
    ge = _within(match[4], length, longest) if match[4] else length
    le = _within(match[5], ge, longest) if match[5] else (longest if bounded else length)
    draft.lists.setdefault(match[1], {})[int(match[2])] = PrefixRange(prefix=prefix, ge=ge, le=le)


def _deny(draft: Draft, match: re.Match[str]) -> None:
    draft.lists.setdefault(match[1], {})[int(match[2])] = None


def _bfd_profile(draft: Draft, match: re.Match[str]) -> None:
    draft.neighbor(match[1]).profile = match[2]


def _profile(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles.setdefault(match[1], BfdProfile())


def _multiplier(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].multiplier = _within(match[1], 2, 255)


def _transmit(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].transmit_ms = _within(match[1], 10, 60000)


def _receive(draft: Draft, match: re.Match[str]) -> None:
    draft.profiles[draft.owner].receive_ms = _within(match[1], 10, 60000)


_POLICIES = f"({IMPORT}|{EXPORT})"
_FAMILY = (
    _rule(re.escape(REDISTRIBUTE), _seen),
    _rule(rf"neighbor (\S+) (route-map {IMPORT} in|route-map {EXPORT} out|activate)", _of_neighbor),
    _rule(r"maximum-paths (\d+)", _max_paths),
)
_ROUTER = (
    _rule(r"bgp router-id (\S+)", _router_id),
    _rule(re.escape(MULTIPATH_RELAX), _seen),
    _rule(r"timers bgp (\d+) (\d+)", _timers),
    _rule(r"neighbor (\S+) interface( v6only)? remote-as (\d+)", _unnumbered_neighbor),
    _rule(r"neighbor (\S+) remote-as (\d+)", _numbered_neighbor),
    _rule(r"neighbor (\S+) (bfd)", _of_neighbor),
    _rule(r"neighbor (\S+) bfd profile (\S+)", _bfd_profile),
    _rule(ADDRESS_FAMILY, _nothing, *_FAMILY),
)
_INTERFACE = (
    _rule(r"description (.+)", _description),
    _rule(r"ip address (\S+)", _address),
    _rule(ROUTER_ADVERTISEMENTS, _unnumbered),
    _rule(r"shutdown", _shutdown),
)
_PROFILE = (
    _rule(r"detect-multiplier (\d+)", _multiplier),
    _rule(r"transmit-interval (\d+)", _transmit),
    _rule(r"receive-interval (\d+)", _receive),
)
CONFIGURATION = (
    _rule(r"frr version .+", _nothing),
    _rule(r"frr defaults (datacenter|traditional)", _defaults),
    _rule(r"hostname (\S+)", _hostname),
    _rule(r"(?:log|service) .+", _nothing),
    _rule(r"interface lo", _nothing, _rule(r"ip address (\S+)", _loopback)),
    _rule(r"interface (\S+)", _interface, *_INTERFACE),
    _rule(r"router bgp (\d+)", _router, *_ROUTER),
    _rule(rf"ip prefix-list {_POLICIES} seq (\d+) permit (\S+)(?: ge (\d+))?(?: le (\d+))?", _permit),
    _rule(rf"ip prefix-list {_POLICIES} seq (\d+) deny any", _deny),
    _rule(rf"route-map {_POLICIES} permit 10", _nothing, _rule(rf"match ip address prefix-list {_POLICIES}", _policy)),
    _rule(r"bfd", _nothing, _rule(r"profile (\S+)", _profile, *_PROFILE)),
)
