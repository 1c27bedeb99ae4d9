"""Parses lines of Toy OS to a device model; what the model has no word for is kept as unmodelled."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import (
    Action,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Interface,
    Loopback,
    Policy,
    PolicyRule,
    Port,
    PrefixRange,
    in_order,
)
from railfab.errors import ConfigError, raise_all
from railfab.platforms import Difference
from railfab.platforms.shared.line_grammar import LineDraft, line_differences, read, rule, unmodelled
from railfab.platforms.shared.statements import within
from railfab_toy.render import render
from railfab_toy.text import FORMAT

NAME = "toy"
MAX_ASN = 2**32 - 1
DEFAULT_TIMERS = BgpTimers(keepalive_s=30, hold_s=90)


@dataclass(slots=True)
class Draft(LineDraft):
    """A configuration being parsed; the last policy and the last neighbour are those of the current section."""

    hostname: str | None = None
    interfaces: dict[str, Interface] = field(default_factory=dict)
    policies: list[Policy] = field(default_factory=list)
    bgp: BgpSpeaker | None = None


def parse(text: str) -> DeviceModel:
    """The model of a configuration. Raises ConfigError, or Problems with every error."""
    draft, tree = Draft(), FORMAT.tree(text)
    read(draft, tree, GRAMMAR)
    if draft.hostname is None:
        draft.errors.append(ConfigError("configuration", "`hostname` is missing", "Add it"))
    raise_all(draft.errors)
    model = in_order(
        DeviceModel(
            name=draft.hostname or "",
            platform=NAME,
            breakouts=(),
            interfaces=tuple(draft.interfaces.values()),
            bgp=draft.bgp,
            qos=None,
            policies=tuple(draft.policies),
        )
    )
    return replace(model, unmodelled=unmodelled(tree, render(model)))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The lines in which a configuration differs from a rendered one."""
    return line_differences(FORMAT.tree(text), FORMAT.tree(rendered))


def _hostname(draft: Draft, match: re.Match[str]) -> None:
    draft.hostname = match[1]


def _port(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces[match[1]] = Port(name=match[1])


def _loopback(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces[match[1]] = Loopback(name=match[1])


def _description(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], description=match[1])


def _address(draft: Draft, match: re.Match[str]) -> None:
    interface = draft.interfaces[draft.owner]
    draft.interfaces[draft.owner] = replace(interface, addresses=(*interface.addresses, IPv4Interface(match[1])))


def _link_local(draft: Draft, _match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], unnumbered=True)


def _mtu(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], mtu_bytes=within(match[1], 1280, 9400))


def _speed(draft: Draft, match: re.Match[str]) -> None:
    port = draft.interfaces[draft.owner]
    if isinstance(port, Port):
        draft.interfaces[draft.owner] = replace(port, rate_gbps=int(match[1]))


def _disabled(draft: Draft, _match: re.Match[str]) -> None:
    draft.interfaces[draft.owner] = replace(draft.interfaces[draft.owner], enabled=False)


def _policy(draft: Draft, match: re.Match[str]) -> None:
    draft.policies.append(Policy(name=match[1], rules=(), default=Action(match[2])))


def _rule(draft: Draft, match: re.Match[str]) -> None:
    policy = draft.policies[-1]
    draft.policies[-1] = replace(policy, rules=(*policy.rules, PolicyRule(action=Action(match[2]))))


def _prefix(draft: Draft, match: re.Match[str]) -> None:
    *before, last = draft.policies[-1].rules
    found = PrefixRange(prefix=IPv4Network(match[1]), ge=int(match[2]), le=int(match[3]))
    last = replace(last, prefixes=(*last.prefixes, found))
    draft.policies[-1] = replace(draft.policies[-1], rules=(*before, last))


def _bgp(draft: Draft, match: re.Match[str]) -> None:
    draft.bgp = BgpSpeaker(asn=within(match[1], 1, MAX_ASN), router_id=None, max_paths=1, neighbors=())


def _speaker(draft: Draft) -> BgpSpeaker:
    assert draft.bgp is not None
    return draft.bgp


def _router_id(draft: Draft, match: re.Match[str]) -> None:
    draft.bgp = replace(_speaker(draft), router_id=IPv4Address(match[1]))


def _paths(draft: Draft, match: re.Match[str]) -> None:
    draft.bgp = replace(_speaker(draft), max_paths=int(match[1]))


def _neighbor(draft: Draft, match: re.Match[str]) -> None:
    peer = match[1] if match[1] in draft.interfaces else IPv4Address(match[1])
    added = BgpNeighbor(peer=peer, remote_as=within(match[2], 1, MAX_ASN), timers=DEFAULT_TIMERS)
    bgp = _speaker(draft)
    draft.bgp = replace(bgp, neighbors=(*bgp.neighbors, added))


def _last(draft: Draft) -> BgpNeighbor:
    return _speaker(draft).neighbors[-1]


def _take(draft: Draft, neighbor: BgpNeighbor) -> None:
    bgp = _speaker(draft)
    draft.bgp = replace(bgp, neighbors=(*bgp.neighbors[:-1], neighbor))


def _peer_description(draft: Draft, match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), description=match[1]))


def _timers(draft: Draft, match: re.Match[str]) -> None:
    timers = replace(_last(draft).timers, keepalive_s=int(match[1]), hold_s=int(match[2]))
    _take(draft, replace(_last(draft), timers=timers))


def _connect_retry(draft: Draft, match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), timers=replace(_last(draft).timers, connect_retry_s=int(match[1]))))


def _advertisement(draft: Draft, match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), timers=replace(_last(draft).timers, advertisement_interval_s=int(match[1]))))


def _import(draft: Draft, match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), import_policies=(*_last(draft).import_policies, match[1])))


def _export(draft: Draft, match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), export_policies=(*_last(draft).export_policies, match[1])))


def _bfd(draft: Draft, match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), bfd=BfdTimers(interval_ms=int(match[1]), multiplier=int(match[2]))))


def _peer_disabled(draft: Draft, _match: re.Match[str]) -> None:
    _take(draft, replace(_last(draft), enabled=False))


INTERFACE = (
    rule(r"description (.+)", _description),
    rule(r"address (\S+)", _address),
    rule(r"link-local", _link_local),
    rule(r"mtu (\d+)", _mtu),
    rule(r"speed (\d+)", _speed),
    rule(r"disabled", _disabled),
)
NEIGHBOR = (
    rule(r"description (.+)", _peer_description),
    rule(r"timers (\d+) (\d+)", _timers),
    rule(r"connect-retry (\d+)", _connect_retry),
    rule(r"advertisement-interval (\d+)", _advertisement),
    rule(r"import (\S+)", _import),
    rule(r"export (\S+)", _export),
    rule(r"bfd (\d+) (\d+)", _bfd),
    rule(r"disabled", _peer_disabled),
)
BGP = (
    rule(r"router-id (\S+)", _router_id),
    rule(r"paths (\d+)", _paths),
    rule(r"neighbor (\S+) as (\d+)", _neighbor, *NEIGHBOR),
)
GRAMMAR = (
    rule(r"hostname (\S+)", _hostname),
    rule(r"port (\S+)", _port, *INTERFACE),
    rule(r"loopback (\S+)", _loopback, *INTERFACE),
    rule(
        r"policy (\S+) default (permit|deny)",
        _policy,
        rule(r"rule (\d+) (permit|deny)", _rule, rule(r"prefix (\S+) (\d+) (\d+)", _prefix)),
    ),
    rule(r"bgp (\d+)", _bgp, *BGP),
)
