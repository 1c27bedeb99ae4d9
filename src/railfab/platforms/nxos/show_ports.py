"""Ports of a virtual switch with NX-OS: the names that an operator types, their state and counters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from railfab.device import DeviceModel, Interface
from railfab.platforms.nxos.names import device_name
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

COUNTERS: Mapping[str, str] = {
    "fabric_interface_receive_bytes_total": "eth_inbytes",
    "fabric_interface_receive_errors_total": "eth_inerr",
    "fabric_interface_receive_fcs_errors_total": "eth_crc",
    "fabric_interface_receive_discards_total": "eth_indiscard",
    "fabric_interface_transmit_bytes_total": "eth_outbytes",
    "fabric_interface_transmit_errors_total": "eth_outerr",
    "fabric_interface_transmit_discards_total": "eth_outdiscard",
    "fabric_interface_carrier_transitions_total": "eth_reset_cntr",
}
"""Names of counters in `show interface | json`."""
PACKETS: Mapping[str, str] = {
    "fabric_interface_receive_packets_total": "eth_in",
    "fabric_interface_transmit_packets_total": "eth_out",
}
"""Beginnings of the names of counters of packets."""
CASTS: Mapping[str, str] = {"unicast": "ucast", "multicast": "mcast", "broadcast": "bcast"}
_TYPED = re.compile(r"([a-z-]+) *(\d\S*)", re.IGNORECASE)
_KINDS = ("Ethernet", "loopback", "port-channel", "Vlan", "mgmt", "nve")
_INVALID = "{caret}\n% Invalid interface format at '^' marker."


@dataclass(frozen=True, slots=True)
class NxosPort:
    """An interface as the switch has it. port: None for one that is no port of the front panel."""

    name: str
    enabled: bool
    oper_up: bool
    configured: Interface | None
    port: VirtualPort | None

    @property
    def reason(self) -> str:
        """The reason for which it is down; empty when it is up."""
        if self.oper_up:
            return ""
        return "Link not connected" if self.enabled else "Administratively down"

    @property
    def is_routed(self) -> bool:
        return self.port.routed if self.port else True

    @property
    def description(self) -> str:
        return self.configured.description if self.configured else ""


def port_name(typed: str, names: Iterable[str]) -> str:
    """The interface that an operator means: `e1/1`, `Eth1/1`, `ethernet 1/1`. Raises CliRefusal without one."""
    match = _TYPED.fullmatch(typed)
    kinds = [kind for kind in _KINDS if match and kind.lower().startswith(match[1].lower())]
    if match is None or len(kinds) != 1:
        raise CliRefusal(_INVALID.format(caret="^"))
    if (name := f"{kinds[0]}{match[2]}") not in names:
        raise CliRefusal("^\nInvalid range at '^' marker.")
    return name


def shown_ports(device: VirtualDevice, model: DeviceModel) -> dict[str, NxosPort]:
    """The interfaces whose state is known: ports as they are, and loopbacks, which are up while they are enabled."""
    configured = {device_name(interface.name): interface for interface in model.interfaces}
    ports = {port.name: port for port in device.ports()}
    shown = {}
    for interface in device.observe().interfaces:
        name = device_name(interface.name)
        port, stated = ports.get(interface.name), configured.get(name)
        enabled = port.fault != "disabled" if port else interface.enabled is not False
        shown[name] = NxosPort(name, enabled, interface.oper_up, stated, port)
    for name, loopback in configured.items():
        if name.startswith("loopback"):
            shown[name] = NxosPort(name, loopback.enabled, loopback.enabled, loopback, None)
    return shown


def counters(readings: SwitchReadings, name: str) -> dict[str, str]:
    """The counters of a port, by their names in JSON."""
    return {key: str(int(value)) for key, value in _counters(readings, name)}


def _counters(readings: SwitchReadings, name: str) -> Iterator[tuple[str, float]]:
    for metric, key in COUNTERS.items():
        yield key, readings.of_port(metric, name)
    for metric, key in PACKETS.items():
        yield f"{key}pkts", readings.of_port(metric, name)
        by_cast = readings.by(metric, "cast", interface=name)
        for cast, short in CASTS.items():
            yield f"{key}{short}", by_cast.get((cast,), 0)
