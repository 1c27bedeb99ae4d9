"""Rates and latencies of the links of a GPU, from an intent: what a collective gets where nothing is in its way."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import FabricIntent
from railfab.units import ETHERNET_OVERHEAD_BYTES, IP_BYTES, ROCE_BYTES, ROCE_PATH_MTU_BYTES, bytes_per_s
from railfab.workload.operations import OPERATIONS, seconds
from railfab.workload.ranks import Span

ETHERNET_BYTES = 14 + 4
"""Header and check sequence of a frame."""
SCALE_UP_EFFICIENCY = 370 / 450
"""Bus bandwidth of a ring over NVLink 4 of its line rate (maintainer in nccl-tests 212)."""
NETWORK_STEP_S, SCALE_UP_STEP_S, CALL_S = 14e-6, 3.4e-6, 8.4e-6
"""Latency of a ring step over the network and over NVLink, and of a call [s]: NCCL 2.30.7, src/graph/tuning.cc, for the
protocol Simple."""
NETWORK_ALLREDUCE_LATENCY = 1.4
"""Factor of the latency of a ring AllReduce over several hosts, same source."""
ALGORITHMS = {"alltoall": "direct"}
"""Algorithms that are not the first of their operation: NCCL sends to many peers of an AllToAll at once."""


def default_algorithm(op: str) -> str:
    """The algorithm that NCCL would use of those that there are."""
    return ALGORITHMS.get(op) or next(iter(OPERATIONS[op].algorithms))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRates:
    """Payload that a GPU sends in each direction [bytes/s]. scale_up: None on hosts without such a network."""

    nic: float
    scale_up: float | None

    def bus(self, op: str, span: Span) -> float:
        """Bus bandwidth of an operation of a group [bytes/s]: that of the scale-up network or of the NICs, whichever is
        less."""
        ranks_per_host = span.ranks_per_host if self.scale_up is not None else 1
        inside = self.scale_up or self.nic
        if span.hosts == 1:
            return inside
        return min(inside, OPERATIONS[op].boundary(span.ranks, ranks_per_host) * self.nic)

    def latency_s(self, op: str, span: Span) -> float:
        """Mean latency of a step: a ring crosses the network once for each host [s]."""
        if span.hosts == 1:
            return SCALE_UP_STEP_S if self.scale_up is not None else NETWORK_STEP_S
        if op in ALGORITHMS or op == "sendrecv":
            return NETWORK_STEP_S
        inside = span.ranks - span.hosts
        mean = ((span.hosts - 1) * NETWORK_STEP_S + inside * SCALE_UP_STEP_S) / (span.ranks - 1)
        return mean * (NETWORK_ALLREDUCE_LATENCY if op == "allreduce" else 1)

    def call_s(self, op: str, size_bytes: float, span: Span, algorithm: str | None = None) -> float:
        """Duration of one call on an array of this size [s]. Raises IntentError where the algorithm cannot be."""
        rounds = OPERATIONS[op].rounds(span.ranks, size_bytes, algorithm or default_algorithm(op))
        return CALL_S + seconds(rounds, bytes_per_s=self.bus(op, span), latency_s=self.latency_s(op, span))


def link_rates(intent: FabricIntent) -> LinkRates:
    """The rates of a GPU: its share of the ports of its NIC, less the headers of RoCE, and of the scale-up network."""
    hosts = intent.hosts
    frame = ROCE_PATH_MTU_BYTES + ROCE_BYTES + IP_BYTES[intent.profile.family] + ETHERNET_BYTES
    payload = ROCE_PATH_MTU_BYTES / (frame + ETHERNET_OVERHEAD_BYTES)
    nic_gbps = hosts.nic_ports * hosts.rate_gbps / hosts.gpus_per_nic
    scale_up = hosts.scale_up
    return LinkRates(
        nic=payload * bytes_per_s(nic_gbps),
        scale_up=None if scale_up is None else SCALE_UP_EFFICIENCY * bytes_per_s(scale_up.gbps_per_gpu),
    )
