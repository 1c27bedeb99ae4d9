"""A model with one port and one LAG of each kind: short enough that a person reads its whole configuration."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from railfab.device import BgpNeighbor, DeviceModel, Interface, Lag, Port, Qos, interfaces_of_peers
from railfab.topology import Role, Topology

T = TypeVar("T")
MOST_PEERS = 2
"""Sessions that are not over one interface, such as those of EVPN, which are kept."""


def thinned(model: DeviceModel, topology: Topology) -> DeviceModel:
    """The model with the first port and the first LAG of each kind, and what belongs to them."""
    lags = [found for found in model.interfaces if isinstance(found, Lag)]
    peer_link = model.mlag.peer_link if model.mlag else None
    uplinks = uplinks_of(model.name, topology)

    def kind_of_lag(lag: Lag) -> Hashable:
        is_uplink = not uplinks.isdisjoint(lag.members)
        return (lag.name == peer_link, lag.mlag_id is None, lag.esi is None, is_uplink, attachment(lag))

    few = firsts(lags, kind_of_lag)
    members = {member for lag in lags for member in lag.members}
    single = (one for one in model.interfaces if isinstance(one, Port) and one.name not in members)
    names = {member for lag in few for member in lag.members} | {lag.name for lag in few}
    kept_ports = firsts(single, lambda port: (port.rate_gbps, port.name in uplinks, attachment(port)))
    names |= {port.name for port in kept_ports}
    cages = cages_of(model.name, names, topology)
    kept = tuple(one for one in model.interfaces if not isinstance(one, Port | Lag) or one.name in names)
    return replace(
        model,
        interfaces=kept,
        breakouts=tuple(one for one in model.breakouts if one.cage in cages),
        bgp=model.bgp and replace(model.bgp, neighbors=tuple(neighbors_of(model, {one.name for one in kept}))),
        qos=model.qos and qos_of(model.qos, names),
    )


def uplinks_of(switch: str, topology: Topology) -> set[str]:
    """The names of the ports whose far end is a switch, not a host."""
    ports = topology.ports_of(switch)
    return {port.name for port, far, _ in ports if topology.by_name[far.node].role is not Role.HOST}


def attachment(interface: Interface) -> Hashable:
    vlans = interface.vlans if isinstance(interface, Port | Lag) else None
    addresses = tuple(address.version for address in interface.addresses)
    return (interface.unnumbered, addresses, vlans is None, interface.network_instance)


def firsts(found: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """The first of each kind, in their order."""
    by_kind: dict[Hashable, T] = {}
    for one in found:
        by_kind.setdefault(kind(one), one)
    return list(by_kind.values())


def cages_of(switch: str, names: set[str], topology: Topology) -> set[str]:
    """The names of the cages of these ports."""
    node, model = topology.by_name[switch], topology.model_of(topology.by_name[switch])
    ports = (port for port, _, _ in topology.ports_of(switch) if port.name in names and port.cage)
    return {model.interface(str(node.platform), port.cage, None) for port in ports}


def neighbors_of(model: DeviceModel, names: set[str]) -> Iterator[BgpNeighbor]:
    """The sessions over these interfaces, and the first of the others."""
    over, others = interfaces_of_peers(model), MOST_PEERS
    for neighbor in model.neighbors:
        if neighbor.key in over:
            if over[neighbor.key] in names:
                yield neighbor
        elif others:
            others -= 1
            yield neighbor


def qos_of(qos: Qos, names: set[str]) -> Qos:
    return replace(qos, ports=tuple(port for port in qos.ports if port.interface in names))
