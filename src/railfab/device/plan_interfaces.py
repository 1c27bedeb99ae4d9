"""Interfaces of a switch, from its topology: ports, and the loopback."""

from __future__ import annotations

from ipaddress import ip_interface

from railfab.device.interfaces import LOOPBACK, Interface, Loopback, Port
from railfab.device.plan_switch import Connection, PlannedSwitch


def planned_interfaces(switch: PlannedSwitch) -> tuple[Interface, ...]:
    """The interfaces of a switch in the order of a device model."""
    ports = (_port(connection, switch.profile.mtu) for connection in switch.connections)
    return (*ports, _loopback(switch))


def _port(connection: Connection, mtu_bytes: int) -> Port:
    port, peer = connection.port, connection.peer
    return Port(
        name=port.name,
        description=f"{peer.node} {peer.name}",
        mtu_bytes=mtu_bytes,
        rate_gbps=port.rate_gbps if port.lane is None else None,
        addresses=() if port.address is None else (port.address,),
        unnumbered=connection.to_switch and port.address is None,
    )


def _loopback(switch: PlannedSwitch) -> Loopback:
    """The loopback with the router ID, a /32 or /128."""
    address = switch.node.loopback
    assert address is not None
    return Loopback(name=LOOPBACK, addresses=(ip_interface(address),))
