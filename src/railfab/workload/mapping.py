"""Transfers between ranks as flows between NIC ports, and as copies over the scale-up network of a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.errors import IntentError
from railfab.intent import FabricIntent
from railfab.topology import PortKey, Topology
from railfab.workload.algorithms import TransferRounds
from railfab.workload.algorithms.rounds import Rows
from railfab.workload.job_hosts import gpu_nics
from railfab.workload.ranks import RanksByHost
from railfab.workload.rates import link_rates
from railfab.workload.transfer import Gpu

FLOW = np.dtype(
    [
        ("transfer", np.int32),
        ("source", np.int32),
        ("target", np.int32),
        ("stream", np.int32),
        ("share", np.float64),
    ]
)
"""A flow between two NIC ports: a share of the payload of a transfer. stream: tells queue pairs of two ports apart."""
COPY = np.dtype([("transfer", np.int32), ("source", np.int32), ("target", np.int32)])
"""A transfer, or its way to the NIC, between the GPUs of two ranks of a host."""


@dataclass(frozen=True, kw_only=True)
class HostPorts:
    """The hosts of a job as flows see them. gpus: of each rank. nics: ports of each GPU. scale_up: payload that a GPU
    sends over the scale-up network [bytes/s]; None without one."""

    gpus: Sequence[Gpu]
    nics: Mapping[Gpu, Sequence[PortKey]]
    scale_up: float | None

    def port(self, rank: int) -> PortKey:
        """The first NIC port of a rank, where it computes."""
        return self.nics[self.gpus[rank]][0]


def host_ports(intent: FabricIntent, topology: Topology, hosts: tuple[str, ...], ranks: int | None = None) -> HostPorts:
    """The GPUs of these hosts, a rank each, or the first of them."""
    gpus = [(host, gpu // intent.hosts.gpus_per_nic + 1) for host in hosts for gpu in range(intent.hosts.gpus)]
    return HostPorts(gpus=gpus[:ranks], nics=gpu_nics(topology, hosts), scale_up=link_rates(intent).scale_up)


def ranks_by_host(members: Sequence[int], hosts: HostPorts) -> RanksByHost:
    """Count the ranks of a group on each host, in the order of the group."""
    counts: dict[str, int] = {}
    for rank in members:
        host = hosts.gpus[rank][0]
        counts[host] = counts.get(host, 0) + 1
    return RanksByHost(tuple(counts.values()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MappedRounds:
    """The flows of rounds of transfers. flows: (flow,) of FLOW, by transfer. ports: those that FLOW numbers.

    copies: (copy,) of COPY, by transfer, over the scale-up network; source and target are ranks.
    """

    rounds: TransferRounds
    flows: Rows
    copies: Rows
    ports: tuple[PortKey, ...]

    @property
    def payload_bytes(self) -> NDArray[np.float64]:
        """Payload of each flow in each round of its transfer [bytes], (flow,)."""
        sizes: NDArray[np.float64] = self.flows["share"] * self.rounds.payload_bytes[self.flows["transfer"]]
        return sizes

    def whole_flows(self) -> dict[tuple[PortKey, PortKey, int], float]:
        """Payload of all rounds by source, target and stream [bytes], in the order of the first transfer of each."""
        table = self.rounds.table
        sizes = self.payload_bytes * table["times"][self.flows["transfer"]]
        order = np.argsort(table["begin"][self.flows["transfer"]], kind="stable")
        payloads: dict[tuple[PortKey, PortKey, int], float] = {}
        for flow, size in zip(self.flows[order].tolist(), sizes[order].tolist(), strict=True):
            key = (self.ports[flow[1]], self.ports[flow[2]], flow[3])
            payloads[key] = payloads.get(key, 0.0) + size
        return payloads


def mapped(
    rounds: TransferRounds,
    gpus: Sequence[Gpu],
    nics: Mapping[Gpu, Sequence[PortKey]],
    *,
    scale_up: bool = True,
    pxn: bool = True,
    queue_pairs: int = 1,
) -> MappedRounds:
    """The flows of transfers among ranks on these GPUs. nics: the ports of each NIC that a rank may use.

    A transfer enters a host at the NIC of its target, and leaves by the NIC on the same rail if one of the ranks of its
    host has that: the scale-up network takes it there (PXN). queue_pairs: of a connection, which has a channel, a
    source and a target; they share what it carries (NCCL_IB_QPS_PER_CONNECTION, 1 in NCCL 2.30.7).
    Raises IntentError for a GPU without NIC.
    """
    places = _Places(gpus, nics)
    source, target = rounds.table["source"], rounds.table["target"]
    same_nic = places.nic[source] == places.nic[target]
    inside = (places.host[source] == places.host[target]) & (scale_up | same_nic)
    relay = source.copy()
    if scale_up and pxn:
        relay = places.relay(source, target)
    network = np.flatnonzero(~inside)
    flows = _flows(rounds, places, relay, network, queue_pairs)
    hop = np.where(inside, target, relay)
    moved = np.flatnonzero(hop != source)
    copies = np.zeros(len(moved), COPY)
    copies["transfer"], copies["source"], copies["target"] = moved, source[moved], hop[moved]
    return MappedRounds(rounds=rounds, flows=flows, copies=copies, ports=places.ports)


class _Places:
    """Hosts, rails and NIC ports of ranks as numbers. host, nic: (rank,). port_numbers: (nic, port), -1 for none."""

    def __init__(self, gpus: Sequence[Gpu], nics: Mapping[Gpu, Sequence[PortKey]]) -> None:
        used = list(dict.fromkeys(gpus))
        for gpu in used:
            if not nics.get(gpu):
                raise IntentError(f"host {gpu[0]}", f"no NIC on rail {gpu[1]}", "Use a GPU with a NIC")
        hosts = {host: number for number, host in enumerate(dict.fromkeys(host for host, _ in used))}
        numbers = {gpu: number for number, gpu in enumerate(used)}
        self.host = np.array([hosts[host] for host, _ in gpus])
        self.rail = np.array([rail for _, rail in gpus])
        self.nic = np.array([numbers[gpu] for gpu in gpus])
        self.ports = tuple(port for gpu in used for port in nics[gpu])
        widths = [len(nics[gpu]) for gpu in used]
        self.port_numbers = np.full((len(used), max(widths)), -1)
        self.port_numbers[np.arange(max(widths)) < np.array(widths)[:, None]] = np.arange(len(self.ports))

    def relay(self, source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int32]:
        """The rank of the host of each source that is on the rail of the target: the source itself, or the first."""
        first = np.full((self.host.max() + 1, self.rail.max() + 1), -1, np.int32)
        for rank in reversed(range(len(self.host))):
            first[self.host[rank], self.rail[rank]] = rank
        relay = first[self.host[source], self.rail[target]]
        away = (self.rail[source] != self.rail[target]) & (self.host[source] != self.host[target]) & (relay >= 0)
        return np.where(away, relay, source)


def _flows(
    rounds: TransferRounds, places: _Places, relay: NDArray[np.int32], network: NDArray[np.intp], queue_pairs: int
) -> Rows:
    """Flows of the transfers that cross the network, over the ports that both NICs have and the queue pairs."""
    ends = [places.port_numbers[places.nic[ranks[network]]] for ranks in (relay, rounds.table["target"])]
    common = (ends[0] >= 0) & (ends[1] >= 0)
    transfer, port = np.nonzero(common)
    flows = np.zeros((len(transfer), queue_pairs), FLOW)
    flows["transfer"] = network[transfer][:, None]
    for name, numbers in zip(("source", "target"), ends, strict=True):
        flows[name] = numbers[transfer, port][:, None]
    channel = rounds.table["channel"][network[transfer]].astype(np.int32)
    flows["stream"] = channel[:, None] * queue_pairs + np.arange(queue_pairs)
    flows["share"] = (1 / (common.sum(axis=1)[transfer] * queue_pairs))[:, None]
    return flows.ravel()
