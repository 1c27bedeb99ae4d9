"""Renders a device model to lines of Toy OS."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import BgpNeighbor, BgpSpeaker, DeviceModel, Interface, Policy, PolicyRule, Port
from railfab.platforms.shared.line_tree import Line


def render(model: DeviceModel) -> tuple[Line, ...]:
    return (
        Line(f"hostname {model.name}"),
        *(Line(_header(found), tuple(_interface(found))) for found in model.interfaces),
        *(Line(f"policy {found.name} default {found.default}", tuple(_rules(found))) for found in model.policies),
        *(() if model.bgp is None else (Line(f"bgp {model.bgp.asn}", tuple(_bgp(model.bgp))),)),
    )


def _header(interface: Interface) -> str:
    return f"{'port' if isinstance(interface, Port) else 'loopback'} {interface.name}"


def _interface(interface: Interface) -> Iterator[Line]:
    if interface.description:
        yield Line(f"description {interface.description}")
    yield from (Line(f"address {address}") for address in interface.addresses)
    if interface.unnumbered:
        yield Line("link-local")
    if interface.mtu_bytes is not None:
        yield Line(f"mtu {interface.mtu_bytes}")
    if isinstance(interface, Port) and interface.rate_gbps is not None:
        yield Line(f"speed {interface.rate_gbps}")
    if not interface.enabled:
        yield Line("disabled")


def _rules(policy: Policy) -> Iterator[Line]:
    for number, rule in enumerate(policy.rules, start=1):
        yield Line(f"rule {number} {rule.action}", tuple(_rule(rule)))


def _rule(rule: PolicyRule) -> Iterator[Line]:
    yield from (Line(f"prefix {found.prefix} {found.ge} {found.le}") for found in rule.prefixes)


def _bgp(bgp: BgpSpeaker) -> Iterator[Line]:
    if bgp.router_id is not None:
        yield Line(f"router-id {bgp.router_id}")
    yield Line(f"paths {bgp.max_paths}")
    yield from (Line(f"neighbor {found.peer} as {found.remote_as}", tuple(_neighbor(found))) for found in bgp.neighbors)


def _neighbor(neighbor: BgpNeighbor) -> Iterator[Line]:
    if neighbor.description:
        yield Line(f"description {neighbor.description}")
    timers = neighbor.timers
    yield Line(f"timers {timers.keepalive_s} {timers.hold_s}")
    if timers.connect_retry_s is not None:
        yield Line(f"connect-retry {timers.connect_retry_s}")
    if timers.advertisement_interval_s is not None:
        yield Line(f"advertisement-interval {timers.advertisement_interval_s}")
    yield from (Line(f"import {name}") for name in neighbor.import_policies)
    yield from (Line(f"export {name}") for name in neighbor.export_policies)
    if neighbor.bfd is not None:
        yield Line(f"bfd {neighbor.bfd.interval_ms} {neighbor.bfd.multiplier}")
    if not neighbor.enabled:
        yield Line("disabled")
