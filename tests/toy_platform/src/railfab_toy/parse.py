"""Parses lines of Toy OS to a device model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import BfdTimers, Bgp, BgpNeighbor, DeviceModel, Interface, PrefixRange
from railfab.errors import ConfigError, raise_all
from railfab.platforms.shared.line_grammar import LineDraft, read, rule, within
from railfab_toy.lines import FORMAT

NAME = "toy"
MAX_ASN = 2**32 - 1
REQUIRED = ("hostname", "loopback", "bgp", "router-id", "paths", "timers")


@dataclass(slots=True)
class Draft(LineDraft):
    """A configuration being parsed. words: values that occur once, by the first word of their line."""

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ports: dict[str, Interface] = field(default_factory=dict)
    prefixes: dict[str, list[PrefixRange]] = field(default_factory=lambda: {"import": [], "export": []})
    neighbors: list[BgpNeighbor] = field(default_factory=list)
    router_id: IPv4Address | None = None
    loopback: IPv4Address | None = None


def parse(text: str) -> DeviceModel:
    """The model of a configuration. Raises ConfigError, or Problems with every error."""
    draft = Draft()
    read(draft, FORMAT.tree(text), GRAMMAR)
    missing = [
        word for word in ("hostname", "loopback", "bgp", "router-id", "paths", "timers") if word not in draft.words
    ]
    raise_all([*draft.errors, *(ConfigError("configuration", f"`{word}` is missing", "Add it") for word in missing)])
    assert draft.loopback is not None
    assert draft.router_id is not None
    words, bfd = draft.words, draft.words.get("bfd")
    return DeviceModel(
        name=words["hostname"][0],
        platform=NAME,
        loopback=draft.loopback,
        breakouts=(),
        interfaces=tuple(draft.ports.values()),
        bgp=Bgp(
            asn=int(words["bgp"][0]),
            router_id=draft.router_id,
            max_paths=int(words["paths"][0]),
            keepalive_s=int(words["timers"][0]),
            hold_s=int(words["timers"][1]),
            import_prefixes=tuple(draft.prefixes["import"]),
            export_prefixes=tuple(draft.prefixes["export"]),
            neighbors=tuple(draft.neighbors),
        ),
        bfd=BfdTimers(interval_ms=int(bfd[0]), multiplier=int(bfd[1])) if bfd else None,
        qos=None,
    )


def _once(draft: Draft, match: re.Match[str]) -> None:
    word = match[0].partition(" ")[0]
    if word in draft.words:
        raise ValueError(f"{word} is already set")
    draft.words[word] = match.groups()


def _loopback(draft: Draft, match: re.Match[str]) -> None:
    draft.loopback = IPv4Address(match[1])
    _once(draft, match)


def _router_id(draft: Draft, match: re.Match[str]) -> None:
    draft.router_id = IPv4Address(match[1])
    _once(draft, match)


def _bgp(draft: Draft, match: re.Match[str]) -> None:
    within(match[1], 1, MAX_ASN)
    _once(draft, match)


def _port(draft: Draft, match: re.Match[str]) -> None:
    draft.ports[match[1]] = Interface(name=match[1])


def _description(draft: Draft, match: re.Match[str]) -> None:
    draft.ports[draft.owner] = replace(draft.ports[draft.owner], description=match[1])


def _address(draft: Draft, match: re.Match[str]) -> None:
    draft.ports[draft.owner] = replace(draft.ports[draft.owner], address=IPv4Interface(match[1]))


def _link_local(draft: Draft, _match: re.Match[str]) -> None:
    draft.ports[draft.owner] = replace(draft.ports[draft.owner], unnumbered=True)


def _mtu(draft: Draft, match: re.Match[str]) -> None:
    draft.ports[draft.owner] = replace(draft.ports[draft.owner], mtu_bytes=within(match[1], 1280, 9400))


def _speed(draft: Draft, match: re.Match[str]) -> None:
    draft.ports[draft.owner] = replace(draft.ports[draft.owner], rate_gbps=int(match[1]))


def _disabled(draft: Draft, _match: re.Match[str]) -> None:
    draft.ports[draft.owner] = replace(draft.ports[draft.owner], enabled=False)


def _prefix(draft: Draft, match: re.Match[str]) -> None:
    found = PrefixRange(prefix=IPv4Network(match[2]), ge=int(match[3]), le=int(match[4]))
    draft.prefixes[match[1]].append(found)


def _neighbor(draft: Draft, match: re.Match[str]) -> None:
    if match[1] not in draft.ports:
        raise ValueError(f"there is no port {match[1]}")
    address = IPv4Address(match[3]) if match[3] else None
    draft.neighbors.append(
        BgpNeighbor(interface=match[1], remote_as=within(match[2], 1, MAX_ASN), address=address, bfd=bool(match[4]))
    )


PORT = (
    rule(r"description (.+)", _description),
    rule(r"address (\S+)", _address),
    rule(r"link-local", _link_local),
    rule(r"mtu (\d+)", _mtu),
    rule(r"speed (\d+)", _speed),
    rule(r"disabled", _disabled),
)
BGP = (
    rule(r"router-id (\S+)", _router_id),
    rule(r"paths (\d+)", _once),
    rule(r"timers (\d+) (\d+)", _once),
    rule(r"(import|export) (\S+) (\d+) (\d+)", _prefix),
    rule(r"neighbor (\S+) as (\d+)(?: address (\S+))?( bfd)?", _neighbor),
)
GRAMMAR = (
    rule(r"hostname (\S+)", _once),
    rule(r"loopback (\S+)", _loopback),
    rule(r"bfd (\d+) (\d+)", _once),
    rule(r"port (\S+)", _port, *PORT),
    rule(r"bgp (\d+)", _bgp, *BGP),
)
