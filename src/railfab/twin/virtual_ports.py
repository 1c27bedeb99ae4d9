"""Ports and chassis of a virtual switch, from which a platform makes the leaves that no metric carries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from railfab.device import Family, Interface, Lag, number_of
from railfab.forwarding import ForwardingState
from railfab.forwarding.next_hop_groups import NO_HOPS
from railfab.forwarding.peers import FAMILIES
from railfab.platforms import (
    RouteCounts,
    VirtualArpEntry,
    VirtualChassis,
    VirtualLag,
    VirtualMember,
    VirtualNeighbor,
    VirtualPort,
    platform,
)
from railfab.topology import PortKey
from railfab.twin.lldp import Neighbor, Neighbors
from railfab.twin.optics import lanes, port_optics


def virtual_ports(state: ForwardingState, neighbors: Neighbors, name: str) -> Iterator[VirtualPort]:
    """The cabled ports of a switch, in front-panel order."""
    config, heard = state.configs.get(name), neighbors.of(name)
    for interface, port in state.ports[name].items():
        held = config.interfaces.get(interface) if config else None
        yield VirtualPort(
            name=interface,
            rate_gbps=port.rate_gbps,
            fault=port.fault,
            routed=held is not None and held.network_instance is not None,
            mtu_bytes=held.mtu_bytes if held else None,
            fec=port.fec,
            optics=port_optics(state, (name, interface)),
            lanes=lanes(port.rate_gbps),
            lag=bundle.name if config and (bundle := config.lag_of.get(interface)) else None,
            lldp=config is not None and config.model.lldp.runs_on(interface),
            neighbors=tuple(map(_neighbor, heard.get(interface, ()))),
            resolved=tuple(_resolved(state, (name, interface), held)) if held and port.oper_up else (),
        )


def virtual_lags(state: ForwardingState, name: str) -> Iterator[VirtualLag]:
    """The LAGs of a switch with a cabled member, by their numbers; none of a platform whose LAGs are not shown."""
    node = state.links.nodes[name]
    twin = platform(node.platform).twin if node.platform else None
    if twin is None or twin().lag_leaves is None:
        return
    for lag in sorted(state.lags.get(name, {}), key=number_of):
        settings = state.configs[name].interfaces[lag]
        assert isinstance(settings, Lag)
        members = tuple(_member(state, (name, lag), port) for port in settings.members if port in state.ports[name])
        yield VirtualLag(
            name=lag,
            enabled=settings.enabled,
            routed=settings.network_instance is not None,
            rate_gbps=sum(state.ports[name][member.port].rate_gbps for member in members if member.used),
            members=members,
        )


def _member(state: ForwardingState, lag: PortKey, port: str) -> VirtualMember:
    device, name = lag
    held, used = state.lags[device][name], state.links.egress[device, port] in state.lags[device][name].members
    return VirtualMember(port, state.ports[device][port].fault, used, held.peer[0] if used else None)


def _resolved(state: ForwardingState, key: PortKey, config: Interface) -> Iterator[VirtualArpEntry]:
    """The host at the far end, if its address is in a subnet of the port: a switch does not resolve any other."""
    far = state.links.far(state.links.egress[key])
    routed = config.network_instance is not None and state.links.is_host(far.node)
    if routed and far.address is not None and any(far.address.ip in subnet for subnet in config.subnets):
        yield VirtualArpEntry(far.address.ip, far.node, far.name)


def _neighbor(neighbor: Neighbor) -> VirtualNeighbor:
    said = neighbor.announcement
    return VirtualNeighbor(said.name, said.port, said.description, neighbor.since_s)


def virtual_chassis(state: ForwardingState, name: str, started_s: float) -> VirtualChassis:
    config, node = state.configs.get(name), state.links.nodes[name]
    lldp = config.model.lldp if config else None
    return VirtualChassis(
        name=name,
        model=node.model or "",
        system_name=(lldp.system_name if lldp else None) or name,
        lldp=lldp is not None and lldp.enabled,
        started_s=started_s,
        routes=tuple(_route_counts(state, name, family) for family in (Family.IPV4, Family.IPV6)),
        groups=_groups(state, name),
    )


def _groups(state: ForwardingState, name: str) -> tuple[int, ...]:
    """The number of next hops of each group that routes of BGP have."""
    hops = state.routes.hops[state.routes.rows[name]]
    return tuple(map(int, state.routes.tables.hops.sizes(np.unique(hops[hops != NO_HOPS]))))


def _route_counts(state: ForwardingState, name: str, family: Family) -> RouteCounts:
    routes, bits = state.routes, FAMILIES[family][1]
    own = sum(prefix[0] == bits for prefix in routes.connected.get(name, {}))
    hops = routes.hops[routes.rows[name]]
    sizes = np.where((hops != NO_HOPS) & (routes.groups.bits == bits), routes.groups.sizes, 0)
    ecmp, learned = int(sizes[routes.tables.hops.sizes(hops) > 1].sum()), int(sizes.sum())
    return RouteCounts(family.value, own + learned, ecmp, learned)
