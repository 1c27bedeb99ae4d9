"""Live state of an SR Linux switch, from a gNMI Get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from ipaddress import ip_address, ip_interface

from railfab.device import IpAddress, IpNetwork, Observed, ObservedBgpSession, ObservedInterface, svi_name
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.names import IRB, front_panel, interface_of, is_managed, is_port, model_lag
from railfab.platforms.srlinux.tree import stripped

_UNIT = "/interface[name=*]/subinterface[index=*]"
_BGP = "/network-instance[name=*]/protocols/bgp/neighbor[peer-address=*]"
_BFD = "/bfd/network-instance[name=*]/peer[local-discriminator=*]"
_LLDP = "/system/lldp/interface[name=*]/neighbor[id=*]"
STATE_PATHS = (
    "/interface[name=*]/oper-state",
    f"{_UNIT}/ip-mtu",
    f"{_UNIT}/ipv4/address",
    f"{_UNIT}/ipv6/address",
    f"{_LLDP}/system-name",
    f"{_LLDP}/port-id",
    f"{_BGP}/session-state",
    f"{_BGP}/peer-as",
    f"{_BFD}/session-state",
    f"{_BFD}/ipv6-link-local-interface",
    f"{_BFD}/remote-address",
)
GROUPS = "/network-instance[name=default]/route-table/next-hop-group[index=*]/next-hop[id=*]/resolved"
NEIGHBOR_PATHS = (f"{_UNIT}/ipv4/arp/neighbor", f"{_UNIT}/ipv6/neighbor-discovery/neighbor")
MAC_TABLES = "/network-instance[name=*]/bridge-table/mac-table/mac"
"""Read where there are SVIs: a chassis that cannot bridge lacks the node, and would refuse the whole request."""

_TABLES = {"ipv4": ("arp", "ipv4-address"), "ipv6": ("neighbor-discovery", "ipv6-address")}
"""Container and key of the neighbours of a family (srl_nokia-interfaces-nbr)."""


def has_svis(answers: Json) -> bool:
    return any(port.get("name") == IRB for port in stripped(answers).get("interface", []))


def observed_state(answers: Json, *, resolved: bool = True, routes: bool = False) -> Observed:
    """Interfaces in front-panel order, and BGP sessions by network instance and interface.

    A session's neighbour is the LLDP neighbour of its interface. resolved, routes: whether the neighbours and the
    next-hop groups were read.
    """
    state = stripped(answers)
    neighbors = dict(_neighbors(state))
    ports = {str(port["name"]): port for port in state.get("interface", []) if is_managed(str(port["name"]))}
    observed = [name for name in ports if is_port(name) or model_lag(name)]
    addresses = _resolved(state, ports) if resolved else {}
    return Observed(
        interfaces=tuple(
            _interface(name, ports[name], neighbors.get(name, {}), addresses.get(name))
            for name in sorted(observed, key=_position)
        ),
        sessions=tuple(sorted(_sessions(state, _Subnets(ports), neighbors), key=_session_key)),
        next_hop_widths=_widths(state) if routes else None,
    )


def _widths(state: Json) -> Counter[int]:
    """Number of next-hop groups by the number of their resolved next hops."""
    groups = (
        group.get("next-hop", ())
        for instance in state.get("network-instance", [])
        for group in instance.get("route-table", {}).get("next-hop-group", [])
    )
    return Counter(sum(hop.get("resolved") == "true" for hop in group) for group in groups)


def _position(interface: str) -> tuple[bool, tuple[int, ...], str]:
    """Front-panel ports first."""
    place = front_panel(interface)
    return not place, place, interface


def _session_key(session: ObservedBgpSession) -> tuple[str, bool, tuple[bool, tuple[int, ...], str], str]:
    interface = session.interface or ""
    return session.network_instance, not interface, _position(interface), str(session.peer)


def _neighbors(state: Json) -> Iterator[tuple[str, Json]]:
    for port in state.get("system", {}).get("lldp", {}).get("interface", []):
        if port.get("neighbor"):
            yield str(port["name"]), port["neighbor"][0]


def _resolved(state: Json, ports: Json) -> dict[str, frozenset[IpAddress]]:
    """The addresses that each port has resolved, or that its VLAN has to a MAC address learned on it."""
    learned = _learned_macs(state)
    addresses: dict[str, set[IpAddress]] = {name: set() for name in ports}
    for name, port in ports.items():
        for unit in port.get("subinterface", []):
            for address, mac in _neighbors_of(unit):
                place = learned.get((svi_name(int(unit["index"])), mac)) if name == IRB else name
                if place is not None:
                    addresses.setdefault(place, set()).add(address)
    return {name: frozenset(resolved) for name, resolved in addresses.items()}


def _neighbors_of(unit: Json) -> Iterator[tuple[IpAddress, str]]:
    """Address and MAC address of each neighbour that a subinterface has learned; the others are configured, or EVPN's.

    An entry of neighbour discovery is incomplete until there is an answer.
    """
    for family, (table, key) in _TABLES.items():
        for entry in unit.get(family, {}).get(table, {}).get("neighbor", []):
            if entry.get("origin") == "dynamic" and entry.get("current-state") != "incomplete":
                yield ip_address(entry[key]), str(entry["link-layer-address"]).upper()


def _learned_macs(state: Json) -> dict[tuple[str, str], str]:
    """The port or LAG on which each MAC address was learned, by mac-vrf and address."""
    return {
        (str(instance["name"]), str(entry["address"]).upper()): str(entry.get("destination")).partition(".")[0]
        for instance in state.get("network-instance", [])
        for entry in instance.get("bridge-table", {}).get("mac-table", {}).get("mac", [])
        if entry.get("type") == "learnt"
    }


def _interface(name: str, port: Json, neighbor: Json, resolved: frozenset[IpAddress] | None) -> ObservedInterface:
    unit: Json = next((unit for unit in port.get("subinterface", []) if str(unit.get("index")) == "0"), {})
    mtu = unit.get("ip-mtu")
    return ObservedInterface(
        name=name,
        oper_up=port.get("oper-state") == "up",
        mtu_bytes=int(mtu) if mtu is not None else None,
        neighbor_device=neighbor.get("system-name"),
        neighbor_interface=neighbor.get("port-id"),
        resolved_addresses=resolved,
    )


class _Subnets:
    """The subnets of the interfaces, by which a peer's address is found."""

    def __init__(self, ports: Json) -> None:
        self._ports = ports

    @cached_property
    def _subnets(self) -> list[tuple[IpNetwork, str]]:
        """Each subnet and its interface, in the order of the ports."""
        return [
            (ip_interface(address["ip-prefix"]).network, name)
            for port, state in self._ports.items()
            for unit in state.get("subinterface", [])
            if (name := interface_of(f"{port}.{unit.get('index')}")) is not None
            for family in ("ipv4", "ipv6")
            for address in unit.get(family, {}).get("address", [])
        ]

    def interface_towards(self, address: str) -> str | None:
        """The zone of a link-local address, or the interface in whose subnet the address is."""
        zone = address.partition("%")[2]
        if zone:
            return interface_of(zone)
        try:
            wanted = ip_address(address)
        except ValueError:
            return None
        return next((name for network, name in self._subnets if _is_in(wanted, network)), None)


def _is_in(address: IpAddress, network: IpNetwork) -> bool:
    return address.version == network.version and address in network


def _sessions(state: Json, subnets: _Subnets, neighbors: dict[str, Json]) -> Iterator[ObservedBgpSession]:
    """Sessions with a state; the peer of one over a link-local address is its interface."""
    bfd = dict(_bfd(state, subnets))
    for instance in state.get("network-instance", []):
        name = str(instance.get("name"))
        for peer in instance.get("protocols", {}).get("bgp", {}).get("neighbor", []):
            address = str(peer["peer-address"])
            interface = subnets.interface_towards(address)
            key = interface if "%" in address else ip_address(address)
            if key is not None and "session-state" in peer:
                yield ObservedBgpSession(
                    peer=key,
                    state=peer["session-state"],
                    network_instance=name,
                    interface=interface,
                    remote_as=int(peer["peer-as"]) if "peer-as" in peer else None,
                    neighbor_device=neighbors.get(interface or "", {}).get("system-name"),
                    bfd_up=bfd.get((name, interface or address)),
                )


def _bfd(state: Json, subnets: _Subnets) -> Iterator[tuple[tuple[str, str], bool]]:
    """Whether BFD is up, by network instance and interface, or address of a peer that is not connected."""
    for instance in state.get("bfd", {}).get("network-instance", []):
        for peer in instance.get("peer", []):
            unit, address = peer.get("ipv6-link-local-interface"), str(peer.get("remote-address"))
            towards = interface_of(unit or "") or subnets.interface_towards(address) or address
            yield (str(instance.get("name")), towards), peer.get("session-state") == "UP"
