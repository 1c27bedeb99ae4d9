"""Addresses of interfaces and of their neighbours, as a virtual switch with NX-OS shows them.

Texts: recorded by NAPALM and ntc-templates; keys of the JSON: those that NAPALM takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from railfab.device import DEFAULT_INSTANCE, DeviceModel, IpInterface
from railfab.platforms.nxos.names import instance_name, vrf_name
from railfab.platforms.nxos.show_ports import NxosPort, shown_ports
from railfab.platforms.nxos.show_rows import arp_row, link_local, mtu_bytes, short_name, table
from railfab.platforms.nxos.show_text import as_json, as_lines, require_json, require_text
from railfab.platforms.twin_face import VirtualArpEntry, VirtualDevice

_BRIEF = "Interface            IP Address      Interface Status"
_BRIEF6 = (
    "Interface        IPv6 Address/Link-local Address           Interface Status",
    f"{'':<59}prot/link/admin",
)

Lines: TypeAlias = Callable[[NxosPort, int], Iterator[str]]
"""The lines of an interface. Its number is that of the switch's own (`iod`)."""


class AddressShows:
    """Commands that show addresses; NxosShows derives from it. vrf: `all` for each of them."""

    device: VirtualDevice
    model: Callable[[], DeviceModel]

    def show_arp(self, form: str = "text") -> str:
        require_json(form)
        rows = [arp_row("ip-addr-out", name, entry) for name, entry in self._resolved(4)]
        vrf = {"vrf-name-out": "default", "cnt-total": len(rows), **table("adj", rows)}
        return as_json(table("vrf", [vrf]))

    def show_nd(self, form: str = "text") -> str:
        require_json(form)
        rows = [arp_row("ipv6-addr", name, entry) for name, entry in self._resolved(6)]
        family = {"afi": "ipv6", "count": len(rows), **table("adj", rows)}
        return as_json(table("vrf", [{"vrf-name-out": "default", **table("afi", [family])}]))

    def _resolved(self, version: int) -> list[tuple[str, VirtualArpEntry]]:
        entries = [(port.name, entry) for port in self.device.ports() for entry in port.resolved]
        return [(name, entry) for name, entry in entries if entry.address.version == version]

    def show_ip_interfaces(self, vrf: str = "default", form: str = "text") -> str:
        return self._by_instance("IP", vrf, form, _ip_lines)

    def show_ipv6_interfaces(self, vrf: str = "default", form: str = "text") -> str:
        return self._by_instance("IPv6", vrf, form, _ipv6_lines)

    def show_ip_brief(self, vrf: str = "default", form: str = "text") -> str:
        return self._by_instance("IP", vrf, form, _ip_brief, _BRIEF)

    def show_ipv6_brief(self, vrf: str = "default", form: str = "text") -> str:
        return self._by_instance("IPv6", vrf, form, _ipv6_brief, *_BRIEF6)

    def _by_instance(self, family: str, vrf: str, form: str, lines: Lines, *header: str) -> str:
        require_text(form)
        model = self.model()
        shown = list(enumerate(shown_ports(self.device, model).values(), 1))
        routed = [each.configured.network_instance for _, each in shown if each.configured]
        instances = list(dict.fromkeys([DEFAULT_INSTANCE, *(each for each in routed if each is not None)]))
        wanted = instances if vrf == "all" else [DEFAULT_INSTANCE if vrf == "default" else instance_name(vrf)]
        return "\n".join(
            as_lines(
                [
                    f'{family} Interface Status for VRF "{vrf_name(instance)}"({instances.index(instance) + 1})',
                    *header,
                    *(line for number, each in shown if _instance(each) == instance for line in lines(each, number)),
                ]
            )
            for instance in wanted
            if instance in instances
        )


def _instance(shown: NxosPort) -> str | None:
    return shown.configured.network_instance if shown.configured else None


def _addresses(shown: NxosPort, version: int) -> list[IpInterface]:
    return [each for each in shown.configured.addresses if each.version == version] if shown.configured else []


def _has_link_local(shown: NxosPort) -> bool:
    return shown.configured is not None and shown.configured.unnumbered


def _state(shown: NxosPort) -> str:
    up = "up" if shown.oper_up else "down"
    return f"protocol-{up}/link-{up}/admin-{'up' if shown.enabled else 'down'}"


def _ip_lines(shown: NxosPort, number: int) -> Iterator[str]:
    addresses = _addresses(shown, 4)
    if not addresses:
        return
    yield f"{shown.name}, Interface status: {_state(shown)}, iod: {number},"
    for each, kind in zip(addresses, ["", *[" secondary"] * len(addresses)], strict=False):
        yield f"  IP address: {each.ip}, IP subnet: {each.network}{kind} route-preference: 0, tag: 0"
    yield f"  IP MTU: {mtu_bytes(shown)} bytes (using link MTU)"


def _ipv6_lines(shown: NxosPort, number: int) -> Iterator[str]:
    addresses = _addresses(shown, 6)
    if not addresses and not _has_link_local(shown):
        return
    yield f"{shown.name}, Interface status: {_state(shown)}, iod: {number}"
    yield f"  IPv6 address:{'' if addresses else ' none'}"
    for each in addresses:
        yield f"    {each.with_prefixlen} [VALID]"
    yield f"  IPv6 link-local address: {link_local(shown.name)} (default) [VALID]"
    yield f"  IPv6 MTU: {mtu_bytes(shown)} (using link MTU)"


def _ip_brief(shown: NxosPort, _number: int) -> Iterator[str]:
    for each in _addresses(shown, 4)[:1]:
        yield f"{_short(shown):<20} {each.ip!s:<15} {_state(shown)}       "


def _ipv6_brief(shown: NxosPort, _number: int) -> Iterator[str]:
    addresses = [str(each.ip) for each in _addresses(shown, 6)]
    if not addresses and not _has_link_local(shown):
        return
    up = "up" if shown.oper_up else "down"
    state = f"{up}/{up}/{'up' if shown.enabled else 'down'}"
    first, *rest = [*addresses, link_local(shown.name)]
    yield f"{_short(shown):<16} {first:<41} {state}"
    for each in rest:
        yield f"{'':<16} {each}"


def _short(shown: NxosPort) -> str:
    return short_name(shown.name).replace("loopback", "Lo")
