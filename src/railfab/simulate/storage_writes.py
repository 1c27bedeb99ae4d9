"""Checkpoints on the links of the storage network: every host writes to servers in stripes, at max-min fair rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.fabric.route_links import RouteLinks
from railfab.fabric.routed import Numbers, RoutedFabric, payload_share
from railfab.forwarding import Connections
from railfab.sim import Framing
from railfab.sim.fluid import FluidFlows, fluid_ends
from railfab.simulate.contention import BusyLink
from railfab.simulate.exchange import QUANTA
from railfab.simulate.link_loads import busiest_of
from railfab.topology import Role
from railfab.workload.checkpoints import StorageSide
from railfab.workload.storage_stripes import NumberedPorts, storage_ports, stripes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WriteTime:
    """Durations of a checkpoint. seconds: (host,) [s]; ideal_s, busiest: as of an ExchangeTime."""

    seconds: Floats
    ideal_s: float
    busiest: BusyLink | None


def written(host_bytes: Sequence[float], side: StorageSide, hosts: Sequence[str], fabric: RoutedFabric) -> WriteTime:
    """When each host has written its bytes to the storage servers. Raises RailfabError for one that reaches none."""
    servers = tuple(storage_ports(fabric.links.topology, Role.SERVER))
    written_by = stripes(_in_use(hosts, Role.HOST, fabric), _in_use(servers, Role.SERVER, fabric))
    connections = Connections.of([(stripe.source, stripe.target, 0) for stripe in written_by])
    host = np.array([stripe.host for stripe in written_by])
    payload = np.asarray(host_bytes)[host] * np.array([stripe.share for stripe in written_by])
    scale = side.payload_share / payload_share(Framing())
    ends = fabric.ends(connections)
    ideal = _host_ends(ends, scale * fabric.planned_bytes_per_s, host, payload, side)
    routes, capacity = fabric.paths(connections), scale * fabric.payload_bytes_per_s
    seconds = _host_ends(routes, capacity, host, payload, side)
    late = np.where(host == seconds.argmax(), payload, 0.0)
    busiest = busiest_of(routes, capacity, late, connections, fabric)
    return WriteTime(seconds=seconds, ideal_s=float(ideal.max()), busiest=busiest)


def _in_use(nodes: Sequence[str], role: Role, fabric: RoutedFabric) -> list[NumberedPorts]:
    """The storage ports of each node that are up; all of one without any."""
    ports = storage_ports(fabric.links.topology, role)
    numbered = [list(enumerate(ports[node])) for node in nodes]
    return [[entry for entry in held if fabric.state.port(entry[1]).oper_up] or held for held in numbered]


def _host_ends(routes: RouteLinks, capacity: Floats, host: Numbers, payload: Floats, side: StorageSide) -> Floats:
    """When each host has written all [s], (host,). The storage is a link that all flows cross."""
    count, none = len(payload), np.zeros(0, np.int64)
    flows = FluidFlows(
        paths=np.column_stack((np.full(count, len(capacity)), routes.links)),
        shares=np.column_stack((np.ones(count), routes.shares)),
        route=np.arange(count),
        alike=np.ones(count, np.int64),
        payload_bytes=payload,
        latency_s=np.zeros(count),
        earlier=none,
        later=none,
    )
    links = np.append(capacity, side.storage_bytes_per_s)
    quantum_s = QUANTA[0] * float(payload.sum()) / side.storage_bytes_per_s
    ends = fluid_ends(flows, links, quantum_s=quantum_s, slack=QUANTA[0])
    seconds = np.zeros(int(host.max()) + 1)
    np.maximum.at(seconds, host, ends)
    return seconds
