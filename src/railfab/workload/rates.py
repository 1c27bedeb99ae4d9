"""Rates and latencies of the links of a GPU, from an intent: what a collective gets where nothing is in its way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf

from railfab.intent import FabricIntent, Hosts
from railfab.units import ETHERNET_OVERHEAD_BYTES, IP_BYTES, ROCE_BYTES, ROCE_PATH_MTU_BYTES, bytes_per_s
from railfab.workload.nccl import (
    AMPERE,
    BASE_S,
    BLACKWELL,
    HOPPER,
    NVLINK_S,
    PAT,
    PLATEAU,
    RING,
    CostModel,
    GpuGeneration,
    Prediction,
    ring_steps,
)
from railfab.workload.operations import OPERATIONS
from railfab.workload.ranks import RanksByHost, Span

ETHERNET_BYTES = 14 + 4
"""Header and check sequence of a frame."""
NVLINK_GBPS = ((7200, BLACKWELL), (3600, HOPPER), (0, AMPERE))
"""Least line rate of a GPU over NVLink of each generation [Gb/s]."""
SCALE_UP_STEP_S, CALL_S = NVLINK_S[RING][2], BASE_S[RING][2]
"""Latency of a ring step over NVLink, and of a call, with the protocol Simple [s]."""
CHUNK_S = 256 * 1024 / 50e9
"""Time of the chunk of 256 KiB that NCCL's latency of a step over the network contains, at 400 Gb/s [s].

NCCL's tuning.cc said so of its trees (01afd20). A duration has these bytes in its volume: the AllGathers that SimAI's
authors measured on 64 to 1024 GPUs leave 4.05 us for a step in the median, where 14 us between hosts make 4.6 to 4.7 of
all steps, and 8.8 us 4.0 to 4.1.
"""
NETWORK_STEP_S = 14e-6 - CHUNK_S
"""Latency of a ring step over the network, its volume apart [s]."""
DIRECT = "direct"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTime:
    """Duration of a call. latency_s: of it, what it takes without a byte. nic_bytes: payload that the NICs of a rank
    send in it, the busiest of them.
    """

    algorithm: str
    seconds: float
    latency_s: float
    nic_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRates:
    """Payload that a GPU sends in each direction [bytes/s]. scale_up: None on hosts without such a network.

    payload_share: of the line rate of the NIC. generation: of the GPUs, whose channels NCCL's search finds; None: rings
    use the links whole, and NCCL chooses nothing else. missing: GPUs of a host whose NICs are not used.
    """

    nic: float
    scale_up: float | None
    payload_share: float = 1.0
    generation: GpuGeneration | None = None
    missing: int = 0

    def of_hosts(self, span: Span) -> Span:
        """The group as NCCL sees it: without a scale-up network every GPU is a host of its own."""
        if self.scale_up is not None:
            return span
        return Span(ranks=span.ranks, hosts=span.ranks, ranks_per_host=1)

    def bus(self, op: str, span: Span) -> float:
        """Bus bandwidth of rings, and of exchanges of all with all, of a group [bytes/s].

        Every NIC of a host has a part of its rings, the scale-up network has all. Over several hosts that is what the
        channels have that NCCL's search finds, at most 48 GB/s each, less headers. Of an AllToAll, what is for other
        hosts takes the NIC of its GPU, the rest the scale-up network.
        """
        inside = self.nic if self.scale_up is None else self.scale_up
        if span.hosts == 1:
            return inside
        if op == "sendrecv":
            return self.nic
        if op == "alltoall":
            nic = self.nic / self._gpus_at_a_nic(span)
            away = span.ranks - span.ranks_per_host
            local = (span.ranks - 1) / (span.ranks_per_host - 1) if span.ranks_per_host > 1 else inf
            return min(nic * (span.ranks - 1) / away, inside * local)
        if self.generation is None:
            nics = span.ranks_per_host * self.nic
            return nics if span.ranks_per_host == 1 else min(inside, nics)
        return self.payload_share * self._model(span, self.generation).ring_channels().total

    def _model(self, span: Span, generation: GpuGeneration) -> CostModel:
        nic = self.nic / self.payload_share
        return CostModel(generation=generation, nic=nic, scale_up=self.scale_up, span=span, missing=self.missing)

    def _gpus_at_a_nic(self, span: Span) -> int:
        """GPUs that send by the share of a NIC that is used most."""
        return ceil(span.ranks_per_host / (span.ranks_per_host - self.missing))

    def choice(self, op: str, size_bytes: float, span: Span, algorithm: str | None = None) -> Prediction | None:
        """Choose as NCCL does, or among the protocols of a named algorithm; None where NCCL has none."""
        if self.generation is None:
            return None
        predictions = [
            prediction
            for prediction in self._model(span, self.generation).predictions(op, size_bytes)
            if algorithm in (None, prediction.algorithm)
        ]
        return min(predictions, key=lambda prediction: prediction.seconds(size_bytes), default=None)

    def call(self, op: str, size_bytes: float, span: Span, algorithm: str | None = None) -> CallTime:
        """Duration of one call on an array of this size, by NCCL's choice or an algorithm by name.

        Raises IntentError where the algorithm cannot be.
        """
        span = self.of_hosts(span)
        if op in ("alltoall", "sendrecv") and algorithm in (None, DIRECT):
            return self._direct(op, size_bytes, span)
        choice = self.choice(op, size_bytes, span, algorithm)
        if choice is not None and choice.algorithm != RING:
            return self._by_prediction(choice, size_bytes, span)
        if algorithm in (None, RING):
            return self._ring(op, size_bytes, span, choice)
        return self._by_rounds(op, size_bytes, span, algorithm)

    def channels(self, op: str, span: Span) -> int:
        """Channels over which NCCL spreads a collective, or the bytes between two ranks of a group."""
        if self.generation is None:
            return 1
        model = self._model(self.of_hosts(span), self.generation)
        return model.channels_per_peer() if op in ("alltoall", "sendrecv") else model.channel_count()

    def beside_others(self, left_share: float) -> LinkRates:
        """The rates where others leave this share of each NIC: channels are those of the whole NIC."""
        return replace(self, nic=left_share * self.nic, payload_share=left_share * self.payload_share)

    def _volume_s(self, op: str, size_bytes: float, span: Span) -> float:
        return OPERATIONS[op].bus_factor(span.ranks) * size_bytes / self.bus(op, span)

    def _direct(self, op: str, size_bytes: float, span: Span) -> CallTime:
        """Every rank sends to all others at once, or to one."""
        latency_s = CALL_S + (NETWORK_STEP_S if span.hosts > 1 else SCALE_UP_STEP_S)
        away = 1.0 if op == "sendrecv" else 1 - span.ranks_per_host / span.ranks
        return CallTime(
            algorithm=DIRECT,
            seconds=latency_s + self._volume_s(op, size_bytes, span),
            latency_s=latency_s,
            nic_bytes=away * size_bytes if span.hosts > 1 else 0.0,
        )

    def _ring(self, op: str, size_bytes: float, span: Span, choice: Prediction | None) -> CallTime:
        """Rings over several hosts have the latency of Simple at every size, as the AllGathers of CHUNK_S have."""
        steps, volume_s = ring_steps(op, span.ranks), self._volume_s(op, size_bytes, span)
        if span.hosts == 1:
            latency_s = CALL_S + steps * SCALE_UP_STEP_S
            seconds = latency_s + volume_s
            if choice is not None and choice.seconds(size_bytes) < seconds:
                seconds, latency_s = choice.seconds(size_bytes), choice.latency_s
            return CallTime(algorithm=RING, seconds=seconds, latency_s=latency_s, nic_bytes=0.0)
        crossing = (2 if op == "allreduce" else 1) * (span.hosts - 1)
        latency_s = crossing * NETWORK_STEP_S + (steps - crossing) * SCALE_UP_STEP_S
        latency_s = CALL_S + latency_s * (PLATEAU if op == "allreduce" else 1.0)
        nic_bytes = OPERATIONS[op].bus_factor(span.ranks) * size_bytes / span.ranks_per_host
        return CallTime(algorithm=RING, seconds=latency_s + volume_s, latency_s=latency_s, nic_bytes=nic_bytes)

    def _by_prediction(self, choice: Prediction, size_bytes: float, span: Span) -> CallTime:
        """NCCL's prediction, less headers; a rank of a host has up to two edges of trees to other hosts."""
        share = self.payload_share if span.hosts > 1 else 1.0
        seconds = choice.latency_s + size_bytes / (share * choice.bytes_per_s)
        crossing = min(2.0, span.hosts - 1.0) / span.ranks_per_host
        if choice.algorithm == PAT:
            crossing = 1 - 1 / span.ranks
        return CallTime(
            algorithm=choice.algorithm,
            seconds=seconds,
            latency_s=choice.latency_s,
            nic_bytes=crossing * size_bytes,
        )

    def _by_rounds(self, op: str, size_bytes: float, span: Span, algorithm: str) -> CallTime:
        """An algorithm that NCCL does not have: its rounds one after another."""
        from railfab.workload.algorithms import RankLink, transfer_rounds  # needs numpy

        ranks = RanksByHost((span.ranks_per_host,) * (span.ranks // span.ranks_per_host))
        rounds = transfer_rounds(op, algorithm, ranks, size_bytes)
        network, scale_up = RankLink(self.nic, NETWORK_STEP_S), RankLink(self.scale_up or self.nic, SCALE_UP_STEP_S)
        seconds, nic_bytes = rounds.seconds_on_hosts(ranks, network, scale_up)
        latency_s, _ = rounds.seconds_on_hosts(
            ranks, replace(network, bytes_per_s=inf), replace(scale_up, bytes_per_s=inf)
        )
        return CallTime(
            algorithm=algorithm, seconds=CALL_S + seconds, latency_s=CALL_S + latency_s, nic_bytes=nic_bytes
        )


def roce_payload_share(intent: FabricIntent) -> float:
    """Payload of RoCE over the line rate."""
    frame = ROCE_PATH_MTU_BYTES + ROCE_BYTES + IP_BYTES[intent.profile.family] + ETHERNET_BYTES
    return ROCE_PATH_MTU_BYTES / (frame + ETHERNET_OVERHEAD_BYTES)


def link_rates(intent: FabricIntent) -> LinkRates:
    """The rates of a GPU: its share of its NIC, or of the PCIe of that, less headers, and of the scale-up network."""
    hosts, payload = intent.hosts, roce_payload_share(intent)
    nic_gbps = hosts.nic_ports * hosts.port_gbps / hosts.gpus_per_nic
    generation, scale_up = _generation(hosts), None
    if hosts.scale_up is not None:
        scale_up = generation.nvlink_share * bytes_per_s(hosts.scale_up.gbps_per_gpu)
    return LinkRates(
        nic=payload * bytes_per_s(nic_gbps), scale_up=scale_up, payload_share=payload, generation=generation
    )


def _generation(hosts: Hosts) -> GpuGeneration:
    """The generation of NVLink with this rate; Hopper's search where there is none.

    Fewer than 8 GPUs of Hopper or before have links to each other in place of a switch (general knowledge).
    """
    if hosts.scale_up is None:
        return HOPPER
    generation = next(generation for gbps, generation in NVLINK_GBPS if hosts.scale_up.gbps_per_gpu >= gbps)
    has_switch = hosts.scale_up.name.startswith("NVLink") and (hosts.gpus >= 8 or generation is BLACKWELL)
    return generation if has_switch else replace(generation, nvls=None)
