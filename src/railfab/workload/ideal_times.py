"""Durations of transfers where nothing is slow: at max-min fair rates, and no packets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from railfab.intent import FabricIntent
from railfab.sim.fluid import FluidFlows, fluid_ends
from railfab.topology import Topology
from railfab.units import NS_PER_S, bytes_per_s
from railfab.workload.rates import roce_payload_share
from railfab.workload.transfer import Transfer

QUANTUM_S = 1e-6
"""Time within which events are one [s]."""
Ideal = Callable[[Sequence[Transfer]], float]
"""Duration of transfers that wait for each other [s]."""


def is_crossing(transfers: Sequence[Transfer]) -> NDArray[np.bool_]:
    """(transfer,) whether it crosses links; of the others only the time passes."""
    return np.array([transfer.payload_bytes > 0 for transfer in transfers], np.bool_)


def seconds_on_links(
    transfers: Sequence[Transfer],
    links: NDArray[np.int64],
    capacity: NDArray[np.float64],
    shares: NDArray[np.float64] | None = None,
) -> float:
    """Duration of transfers on these links [s].

    links: (crossing transfer, hop), -1 behind the last; shares: of its bytes on each, by default all. capacity: (link,)
    [bytes/s].
    """
    crossing = is_crossing(transfers)
    pairs = [(earlier, later) for later, transfer in enumerate(transfers) for earlier in transfer.after]
    earlier, later = np.array(pairs, np.int64).reshape(-1, 2).T
    flows = FluidFlows(
        paths=links,
        shares=shares,
        route=np.where(crossing, np.cumsum(crossing) - 1, -1),
        alike=np.ones(len(transfers), np.int64),
        payload_bytes=np.array([transfer.payload_bytes for transfer in transfers]),
        latency_s=np.array([transfer.gap_ns for transfer in transfers]) / NS_PER_S,
        earlier=earlier,
        later=later,
    )
    return float(fluid_ends(flows, capacity, quantum_s=QUANTUM_S).max(initial=0.0))


def between_host_ports(intent: FabricIntent, topology: Topology) -> Ideal:
    """Durations where only the ports of hosts limit transfers: links between switches have room for all."""
    share = bytes_per_s(roce_payload_share(intent))
    ports = [port for port, _, _ in topology.ports()]
    number = {(port.node, port.name): 2 * place for place, port in enumerate(ports)}
    capacity = np.repeat([share * min(port.rate_gbps, intent.hosts.port_gbps) for port in ports], 2)

    def seconds(transfers: Sequence[Transfer]) -> float:
        ends = [
            (number[transfer.source], number[transfer.target] + 1) for transfer in transfers if transfer.payload_bytes
        ]
        return seconds_on_links(transfers, np.array(ends, np.int64).reshape(-1, 2), capacity)

    return seconds
