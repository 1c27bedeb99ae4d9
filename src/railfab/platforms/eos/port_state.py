"""Interfaces of a virtual switch with EOS, as its show commands have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from railfab.device import DEFAULT_INSTANCE
from railfab.platforms.eos.names import full_interface, native_name
from railfab.platforms.shared.port_facts import interface_sections
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

DEFAULT_MTU, BRIDGED_MTU = 1500, 9214
LOOPBACK_MTU = 65535
_SHORT = re.compile(r"([A-Z][a-z])[a-z-]*(\d\S*)")
_KINDS = ("Ethernet", "Loopback", "Vlan", "Port-Channel")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ShownInterface:
    """An interface. port: None for one that is no front-panel port. settings: the lines of its section.

    changed_s: Unix time at which its state changed last [s]; None without. counters: by metric and label `cast`.
    """

    name: str
    device: str
    settings: tuple[str, ...]
    port: VirtualPort | None = None
    changed_s: float | None = None
    transitions: int = 0
    counters: Mapping[tuple[str, str], int] | None = None

    @property
    def oper_up(self) -> bool:
        return self.port is None or not self.port.fault

    @property
    def status(self) -> str:
        """EOS's word for its state."""
        if self.port is not None and self.port.fault:
            return "disabled" if self.port.fault == "disabled" else "notconnect"
        return "connected"

    @property
    def protocol(self) -> str:
        """EOS's word for the state of its line protocol."""
        return "up" if self.oper_up else "down"

    @property
    def description(self) -> str:
        return self.setting("description ")

    @property
    def vrf(self) -> str:
        return self.setting("vrf ") or DEFAULT_INSTANCE

    @property
    def routed(self) -> bool:
        return self.port is None or self.port.routed

    @property
    def bandwidth_bps(self) -> int:
        return int(self.port.rate_gbps * 1_000_000_000) if self.port else 0

    @property
    def mtu_bytes(self) -> int:
        """Its MTU; EOS's default where the configuration has none."""
        if stated := self.setting("mtu "):
            return int(stated)
        if self.name.startswith("Loopback"):
            return LOOPBACK_MTU
        return DEFAULT_MTU if self.routed else BRIDGED_MTU

    @property
    def mac(self) -> str:
        return mac_address(self.device, self.name)

    def setting(self, start: str) -> str:
        """The rest of the first line of its section that begins so; empty without one."""
        return next((line.removeprefix(start) for line in self.settings if line.startswith(start)), "")

    def addresses(self, version: int) -> tuple[str, ...]:
        """Its addresses with prefix lengths, of IP in this version."""
        start = "ip address " if version == 4 else "ipv6 address "
        stated = (line.removeprefix(start).split()[0] for line in self.settings if line.startswith(start))
        return tuple(address for address in stated if "/" in address)

    @property
    def has_ipv6(self) -> bool:
        return any(line == "ipv6 enable" or line.startswith("ipv6 address ") for line in self.settings)


def shown_interfaces(device: VirtualDevice, name: str = "") -> list[ShownInterface]:
    """The interfaces of a switch, ports first; the one of a name where one is given, empty for an unknown one."""
    sections = interface_sections(device.running())
    ports = {native_name(port.name): port for port in device.ports()}
    names = {*ports, *(each for each in sections if each.startswith(("Loopback", "Vlan")))}
    if name:
        names &= {full_name(name)}
    readings, counters = SwitchReadings(device), _counters(device)
    return [
        ShownInterface(
            each,
            device.name,
            sections.get(each, ()),
            ports.get(each),
            readings.of_port("fabric_interface_last_change_timestamp_seconds", each) or None,
            int(readings.of_port("fabric_interface_carrier_transitions_total", each)),
            counters.get(each),
        )
        for each in sorted(names, key=place)
    ]


def full_name(name: str) -> str:
    """A name that an operator types, in full."""
    return full_interface(f"interface {name}").removeprefix("interface ")


def short_name(name: str) -> str:
    """`Et1/1` of `Ethernet1/1`."""
    match = _SHORT.fullmatch(native_name(name))
    return f"{match[1]}{match[2]}" if match else name


def mac_address(*names: str) -> str:
    """A MAC address that is always that of these names, in Arista's range, as EOS writes it."""
    digits = sha256(" ".join(names).encode()).hexdigest()[:6]
    return f"001c.73{digits[:2]}.{digits[2:]}"


def _counters(device: VirtualDevice) -> dict[str, dict[tuple[str, str], int]]:
    """Counters of each port, by metric and cast."""
    counters: dict[str, dict[tuple[str, str], int]] = {}
    for metric, labels, value in device.readings():
        if metric.startswith("fabric_interface_") and metric.endswith("_total"):
            key = metric.removeprefix("fabric_interface_").removesuffix("_total"), labels.get("cast", "")
            counters.setdefault(native_name(labels["interface"]), {})[key] = int(value)
    return counters


def place(name: str) -> tuple[int, list[int]]:
    """The place of an interface among others in an answer."""
    rank = next((rank for rank, kind in enumerate(_KINDS) if name.startswith(kind)), len(_KINDS))
    return rank, [int(digits) for digits in _NUMBER.findall(name)]
