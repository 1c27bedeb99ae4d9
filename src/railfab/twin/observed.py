"""The state of a virtual switch as a deploy reads it."""

from __future__ import annotations

from ipaddress import ip_address

from railfab.device import DeviceModel, IpAddress, Observed, ObservedBgpSession, ObservedInterface
from railfab.forwarding import BgpSession
from railfab.twin.samples import ObservedSwitch


def observed_state(switch: ObservedSwitch, model: DeviceModel | None) -> Observed:
    """Interfaces and sessions of a switch. model: its configuration, which says the MTU of an interface."""
    up: dict[str, bool] = {}
    neighbors: dict[str, tuple[str, str]] = {}
    for (metric, labels), value in zip(switch.series, switch.values, strict=True):
        if metric == "fabric_interface_oper_up":
            up[labels["interface"]] = bool(value)
        elif metric == "fabric_lldp_neighbor_info":
            neighbors[labels["interface"]] = labels["peer_device"], labels["peer_interface"]
    mtu = {interface.name: interface.mtu_bytes for interface in model.interfaces} if model else {}
    resolved = {port.name: frozenset(entry.address for entry in port.resolved) for port in switch.ports}
    return Observed(
        interfaces=tuple(
            _interface(name, oper_up, mtu.get(name), neighbors.get(name), resolved.get(name))
            for name, oper_up in up.items()
        ),
        sessions=tuple(map(_session, switch.sessions)),
    )


def _interface(
    name: str,
    oper_up: bool,
    mtu_bytes: int | None,
    neighbor: tuple[str, str] | None,
    resolved: frozenset[IpAddress] | None,
) -> ObservedInterface:
    device, interface = neighbor or (None, None)
    return ObservedInterface(
        name=name,
        oper_up=oper_up,
        mtu_bytes=mtu_bytes,
        neighbor_device=device,
        neighbor_interface=interface,
        resolved_addresses=resolved,
    )


def _session(session: BgpSession) -> ObservedBgpSession:
    return ObservedBgpSession(
        peer=session.peer if session.peer == session.interface else ip_address(session.peer),
        network_instance=session.network_instance,
        interface=session.interface,
        state=session.state,
        remote_as=session.remote_as,
        neighbor_device=session.peer_device,
        bfd_up=session.bfd_up,
    )
