"""The configuration of Toy OS: each line once, with the field of which it states the value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import (
    Action,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Interface,
    IpAddress,
    Loopback,
    Policy,
    PolicyRule,
    Port,
    PrefixRange,
    in_order,
)
from railfab.errors import ConfigError, raise_all
from railfab.platforms import Difference
from railfab.platforms.shared.line_grammar import line_differences, unmodelled
from railfab.platforms.shared.line_tree import Line, LineFormat
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Reading,
    Word,
    choice,
    flag,
    integer,
    line,
    lines,
    sections,
    written,
)

FORMAT = LineFormat(indent=2, separator="#", ends=False, exits=frozenset(), comments="#")
text = FORMAT.text

ACTION = choice({action: str(action) for action in Action})
ASN = integer(1, 2**32 - 1)
NUMBER = Word(r"\d+", int)
PEER: Word[IpAddress | str] = Word(r"\S+", lambda text: IPv4Address(text) if text[0].isdigit() else text)


@dataclass(slots=True, kw_only=True)
class ToyInterface:
    description: str = line("description {}", REST, default="")
    addresses: list[IPv4Interface] = lines("address {}", Word(r"\S+", IPv4Interface))
    unnumbered: bool = flag("link-local")
    mtu_bytes: int | None = line("mtu {}", integer(1280, 9400))
    rate_gbps: int | None = line("speed {}", NUMBER)
    enabled: bool = flag("disabled", default=True)


@dataclass(slots=True, kw_only=True)
class ToyRule:
    prefixes: list[tuple[IPv4Network, int, int]] = lines(
        "prefix {} {} {}", Word(r"\S+", IPv4Network), integer(0, 32), integer(0, 32)
    )


@dataclass(slots=True, kw_only=True)
class ToyPolicy:
    rules: dict[tuple[int, Action], ToyRule] = sections("rule {} {}", NUMBER, ACTION, kind=ToyRule)


@dataclass(slots=True, kw_only=True)
class ToyNeighbor:
    description: str = line("description {}", REST, default="")
    timers_s: tuple[int, int] = line("timers {} {}", NUMBER, NUMBER, default=(30, 90))
    connect_retry_s: int | None = line("connect-retry {}", NUMBER)
    advertisement_interval_s: int | None = line("advertisement-interval {}", NUMBER)
    import_policies: list[str] = lines("import {}", WORD)
    export_policies: list[str] = lines("export {}", WORD)
    bfd: tuple[int, int] | None = line("bfd {} {}", NUMBER, NUMBER)
    enabled: bool = flag("disabled", default=True)


@dataclass(slots=True, kw_only=True)
class ToySpeaker:
    router_id: IPv4Address | None = line("router-id {}", Word(r"\S+", IPv4Address))
    max_paths: int = line("paths {}", NUMBER, default=1)
    neighbors: dict[tuple[IpAddress | str, int], ToyNeighbor] = sections(
        "neighbor {} as {}", PEER, ASN, kind=ToyNeighbor
    )


@dataclass(slots=True, kw_only=True)
class ToyConfiguration:
    hostname: str | None = line("hostname {}", WORD)
    interfaces: dict[tuple[type[Interface], str], ToyInterface] = sections(
        "{} {}", choice({Port: "port", Loopback: "loopback"}), WORD, kind=ToyInterface
    )
    policies: dict[tuple[str, Action], ToyPolicy] = sections("policy {} default {}", WORD, ACTION, kind=ToyPolicy)
    speakers: dict[int, ToySpeaker] = sections("bgp {}", ASN, kind=ToySpeaker)


def render(model: DeviceModel) -> tuple[Line, ...]:
    return written(
        ToyConfiguration(
            hostname=model.name,
            interfaces={_header(interface): _interface(interface) for interface in model.interfaces},
            policies={(policy.name, policy.default): _policy(policy) for policy in model.policies},
            speakers={model.bgp.asn: _speaker(model.bgp)} if model.bgp else {},
        )
    )


def _header(interface: Interface) -> tuple[type[Interface], str]:
    return Port if isinstance(interface, Port) else Loopback, interface.name


def _interface(interface: Interface) -> ToyInterface:
    return ToyInterface(
        description=interface.description,
        addresses=list(interface.addresses),
        unnumbered=interface.unnumbered,
        mtu_bytes=interface.mtu_bytes,
        rate_gbps=interface.rate_gbps if isinstance(interface, Port) else None,
        enabled=interface.enabled,
    )


def _policy(policy: Policy) -> ToyPolicy:
    return ToyPolicy(
        rules={
            (number, rule.action): ToyRule(prefixes=[(each.prefix, each.ge, each.le) for each in rule.prefixes])
            for number, rule in enumerate(policy.rules, start=1)
        }
    )


def _speaker(bgp: BgpSpeaker) -> ToySpeaker:
    neighbors = {(neighbor.peer, neighbor.remote_as): _neighbor(neighbor) for neighbor in bgp.neighbors}
    return ToySpeaker(router_id=bgp.router_id, max_paths=bgp.max_paths, neighbors=neighbors)


def _neighbor(neighbor: BgpNeighbor) -> ToyNeighbor:
    timers, bfd = neighbor.timers, neighbor.bfd
    return ToyNeighbor(
        description=neighbor.description,
        timers_s=(timers.keepalive_s, timers.hold_s),
        connect_retry_s=timers.connect_retry_s,
        advertisement_interval_s=timers.advertisement_interval_s,
        import_policies=list(neighbor.import_policies),
        export_policies=list(neighbor.export_policies),
        bfd=(bfd.interval_ms, bfd.multiplier) if bfd else None,
        enabled=neighbor.enabled,
    )


def parse(text: str) -> DeviceModel:
    """The model of a configuration. Raises ConfigError, or Problems with every error."""
    stated, configuration, reading = FORMAT.tree(text), ToyConfiguration(), Reading()
    reading.read(configuration, stated)
    if configuration.hostname is None:
        reading.errors.append(ConfigError("configuration", "`hostname` is missing", "Add it"))
    raise_all(reading.errors)
    model = in_order(_model(configuration))
    return replace(model, unmodelled=unmodelled(stated, render(model)))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The lines in which a configuration differs from a rendered one."""
    return line_differences(FORMAT.tree(text), FORMAT.tree(rendered))


def _model(configuration: ToyConfiguration) -> DeviceModel:
    return DeviceModel(
        name=configuration.hostname or "",
        platform="toy",
        breakouts=(),
        interfaces=tuple(_native(kind, name, stated) for (kind, name), stated in configuration.interfaces.items()),
        bgp=next((_bgp(asn, speaker) for asn, speaker in configuration.speakers.items()), None),
        qos=None,
        policies=tuple(
            Policy(name=name, rules=tuple(map(_rule, policy.rules.items())), default=default)
            for (name, default), policy in configuration.policies.items()
        ),
    )


def _native(kind: type[Interface], name: str, stated: ToyInterface) -> Interface:
    interface = kind(
        name=name,
        description=stated.description,
        addresses=tuple(stated.addresses),
        unnumbered=stated.unnumbered,
        mtu_bytes=stated.mtu_bytes,
        enabled=stated.enabled,
    )
    return replace(interface, rate_gbps=stated.rate_gbps) if isinstance(interface, Port) else interface


def _rule(entry: tuple[tuple[int, Action], ToyRule]) -> PolicyRule:
    (_, action), rule = entry
    ranges = (PrefixRange(prefix=prefix, ge=ge, le=le) for prefix, ge, le in rule.prefixes)
    return PolicyRule(action=action, prefixes=tuple(ranges))


def _bgp(asn: int, speaker: ToySpeaker) -> BgpSpeaker:
    neighbors = tuple(_session(peer, remote_as, stated) for (peer, remote_as), stated in speaker.neighbors.items())
    return BgpSpeaker(asn=asn, router_id=speaker.router_id, max_paths=speaker.max_paths, neighbors=neighbors)


def _session(peer: IpAddress | str, remote_as: int, stated: ToyNeighbor) -> BgpNeighbor:
    keepalive_s, hold_s = stated.timers_s
    return BgpNeighbor(
        peer=peer,
        remote_as=remote_as,
        timers=BgpTimers(
            keepalive_s=keepalive_s,
            hold_s=hold_s,
            connect_retry_s=stated.connect_retry_s,
            advertisement_interval_s=stated.advertisement_interval_s,
        ),
        description=stated.description,
        import_policies=tuple(stated.import_policies),
        export_policies=tuple(stated.export_policies),
        bfd=BfdTimers(interval_ms=stated.bfd[0], multiplier=stated.bfd[1]) if stated.bfd else None,
        enabled=stated.enabled,
    )
