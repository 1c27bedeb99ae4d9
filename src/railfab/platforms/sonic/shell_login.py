"""A login at a virtual SONiC switch, with what its commands read: ports, readings and CONFIG_DB."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface

from railfab.device import IpInterface
from railfab.platforms.shared.switch_shell import SwitchShell
from railfab.platforms.sonic.tables import SEPARATOR, Tables, tree_of
from railfab.platforms.twin_face import VirtualPort

ADDRESSED = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE")
NOT_AVAILABLE = "N/A"


class SonicLogin(SwitchShell):
    """A login whose commands read the switch."""

    def tables(self) -> Tables:
        """The tables of CONFIG_DB."""
        return tree_of(self.device.running())

    def ports(self, interface: str | None = None) -> tuple[VirtualPort, ...]:
        """The ports; that of one name, which is none where the switch has no such port."""
        return tuple(port for port in self.device.ports() if interface in (None, port.name))


def addresses(tables: Tables) -> Iterator[tuple[str, IpInterface]]:
    """Interfaces with an address, and the address."""
    for table in ADDRESSED:
        for key in tables.get(table, {}):
            name, _, prefix = key.partition(SEPARATOR)
            if prefix:
                yield name, ip_interface(prefix)
