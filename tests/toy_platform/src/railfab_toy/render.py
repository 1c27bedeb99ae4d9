"""Renders a device model to lines of Toy OS."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import BgpNeighbor, DeviceModel, Interface, PrefixRange
from railfab.platforms.shared.line_tree import Line


def render(model: DeviceModel) -> tuple[Line, ...]:
    bfd = (Line(f"bfd {model.bfd.interval_ms} {model.bfd.multiplier}"),) if model.bfd else ()
    return (
        Line(f"hostname {model.name}"),
        Line(f"loopback {model.loopback}"),
        *bfd,
        *(Line(f"port {port.name}", tuple(_port(port))) for port in model.interfaces),
        _bgp(model),
    )


def _port(port: Interface) -> Iterator[Line]:
    if port.description:
        yield Line(f"description {port.description}")
    if port.address is not None:
        yield Line(f"address {port.address}")
    if port.unnumbered:
        yield Line("link-local")
    if port.mtu_bytes is not None:
        yield Line(f"mtu {port.mtu_bytes}")
    if port.rate_gbps is not None:
        yield Line(f"speed {port.rate_gbps}")
    if not port.enabled:
        yield Line("disabled")


def _bgp(model: DeviceModel) -> Line:
    bgp = model.bgp
    return Line(
        f"bgp {bgp.asn}",
        (
            Line(f"router-id {bgp.router_id}"),
            Line(f"paths {bgp.max_paths}"),
            Line(f"timers {bgp.keepalive_s} {bgp.hold_s}"),
            *(Line(f"import {_range(found)}") for found in bgp.import_prefixes),
            *(Line(f"export {_range(found)}") for found in bgp.export_prefixes),
            *map(_neighbor, bgp.neighbors),
        ),
    )


def _range(found: PrefixRange) -> str:
    return f"{found.prefix} {found.ge} {found.le}"


def _neighbor(neighbor: BgpNeighbor) -> Line:
    address = f" address {neighbor.address}" if neighbor.address else ""
    return Line(f"neighbor {neighbor.interface} as {neighbor.remote_as}{address}{' bfd' if neighbor.bfd else ''}")
