"""Live state of an SR Linux switch, from a gNMI Get."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Interface
from typing import Any

from railfab.device import Observed, ObservedBgpSession, ObservedInterface
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.interfaces import SYSTEM, front_panel, is_managed, port_of
from railfab.platforms.srlinux.routing import INSTANCE
from railfab.platforms.srlinux.tree import stripped

_UNIT = "/interface[name=*]/subinterface[index=0]"
_BGP = f"/network-instance[name={INSTANCE}]/protocols/bgp/neighbor[peer-address=*]"
_BFD = f"/bfd/network-instance[name={INSTANCE}]/peer[local-discriminator=*]"
_LLDP = "/system/lldp/interface[name=*]/neighbor[id=*]"
STATE_PATHS = (
    "/interface[name=*]/oper-state",
    f"{_UNIT}/ip-mtu",
    f"{_UNIT}/ipv4/address",
    f"{_LLDP}/system-name",
    f"{_LLDP}/port-id",
    f"{_BGP}/session-state",
    f"{_BGP}/peer-as",
    f"{_BFD}/session-state",
    f"{_BFD}/ipv6-link-local-interface",
    f"{_BFD}/remote-address",
)


def observed_state(answers: Json) -> Observed:
    """Interfaces and BGP sessions in front-panel order; a session's neighbour is the LLDP neighbour of its port."""
    state = stripped(answers)
    neighbors = dict(_neighbors(state))
    ports = {str(port["name"]): port for port in state.get("interface", []) if is_managed(str(port["name"]))}
    interfaces = [_interface(name, ports[name], neighbors.get(name, {})) for name in ports if name != SYSTEM]
    return Observed(
        interfaces=tuple(sorted(interfaces, key=lambda port: front_panel(port.name))),
        sessions=tuple(sorted(_sessions(state, ports, neighbors), key=lambda session: front_panel(session.interface))),
    )


def _neighbors(state: Json) -> Iterator[tuple[str, Json]]:
    for port in state.get("system", {}).get("lldp", {}).get("interface", []):
        if port.get("neighbor"):
            yield str(port["name"]), port["neighbor"][0]


def _interface(name: str, port: Json, neighbor: Json) -> ObservedInterface:
    mtu = _unit(port).get("ip-mtu")
    return ObservedInterface(
        name=name,
        oper_up=port.get("oper-state") == "up",
        mtu_bytes=int(mtu) if mtu is not None else None,
        neighbor_device=neighbor.get("system-name"),
        neighbor_interface=neighbor.get("port-id"),
    )


def _sessions(state: Json, ports: dict[str, Json], neighbors: dict[str, Json]) -> Iterator[ObservedBgpSession]:
    bfd = dict(_bfd(state, ports))
    for instance in state.get("network-instance", []):
        for peer in instance.get("protocols", {}).get("bgp", {}).get("neighbor", []):
            interface = _port_towards(str(peer["peer-address"]), ports)
            if interface is not None and "session-state" in peer:
                yield ObservedBgpSession(
                    interface=interface,
                    state=peer["session-state"],
                    remote_as=int(peer["peer-as"]) if "peer-as" in peer else None,
                    neighbor_device=neighbors.get(interface, {}).get("system-name"),
                    bfd_up=bfd.get(interface),
                )


def _bfd(state: Json, ports: dict[str, Json]) -> Iterator[tuple[str, bool]]:
    """Whether BFD is up, by port."""
    for instance in state.get("bfd", {}).get("network-instance", []):
        for peer in instance.get("peer", []):
            unit = peer.get("ipv6-link-local-interface")
            port = port_of(unit) if unit else _port_towards(str(peer.get("remote-address")), ports)
            if port is not None:
                yield port, peer.get("session-state") == "UP"


def _port_towards(address: str, ports: dict[str, Json]) -> str | None:
    """The port of a neighbour: the zone of its link-local address, or the port in whose subnet its address is."""
    zone = address.partition("%")[2]
    if zone:
        return port_of(zone)
    try:
        wanted = IPv4Address(address)
    except AddressValueError:
        return None
    return next((name for name, port in ports.items() if any(wanted in net for net in _networks(port))), None)


def _networks(port: Json) -> Iterator[Any]:
    for address in _unit(port).get("ipv4", {}).get("address", []):
        yield IPv4Interface(address["ip-prefix"]).network


def _unit(port: Json) -> Json:
    return next(iter(port.get("subinterface", [])), {})
