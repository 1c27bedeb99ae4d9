"""NCCL's choice of algorithm and protocol: the least time that its cost model predicts.

Constants and formulas: NCCL 2.30.7, src/graph/tuning.cc and src/graph/search.cc, for hosts with processors of Intel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import ceil

from railfab.workload.ranks import Span

Protocol = str
"""One of PROTOCOLS: messages of 8 bytes with a flag in 4 of them, of 128 with a flag in 8, or chunks in buffers."""
PROTOCOLS: tuple[Protocol, ...] = ("LL", "LL128", "Simple")
RING, TREE, NVLS_TREE, PAT = "ring", "double-binary-tree", "nvls-tree", "pat"
Speeds = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuGeneration:
    """Rates that NCCL assumes of GPUs with one generation of NVLink [GB/s].

    nvlink_share: rate of a link that its search counts with, of the line rate. between, inside: rates of a channel that
    its search tries, between hosts and inside one. nvls: efficiency of the switch, None where it does not add. Largest
    rates of a channel, on one host, two, and more: tree_simple, tree_ll128, nvls_tree; ring_ll128 on any. ll: largest
    rate of LL on one host.
    """

    nvlink_share: float
    between: Speeds
    inside: Speeds
    nvls: float | None
    ring_ll128: float
    tree_simple: Speeds
    tree_ll128: Speeds
    nvls_tree: Speeds
    ll: float


AMPERE = GpuGeneration(
    nvlink_share=20 / 25,
    between=(48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12),
    inside=(40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3),
    nvls=None,
    ring_ll128=20,
    tree_simple=(24, 23.6, 17.8),
    tree_ll128=(20, 20, 20),
    nvls_tree=(24, 23.6, 17.8),
    ll=87.7,
)
HOPPER = GpuGeneration(
    nvlink_share=20.6 / 25,
    between=(48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12),
    inside=(60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3),
    nvls=0.85,
    ring_ll128=36.7,
    tree_simple=(38.7, 41.4, 36),
    tree_ll128=(36.7, 36.7, 29),
    nvls_tree=(0, 57.7, 45.5),
    ll=141,
)
BLACKWELL = GpuGeneration(
    nvlink_share=40.1 / 50,
    between=(96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12),
    inside=(90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18),
    nvls=0.74,
    ring_ll128=40,
    tree_simple=(70, 42.8, 24),
    tree_ll128=(55.6, 31.67, 20),
    nvls_tree=(0, 96, 80),
    ll=282,
)
LL_BETWEEN: Speeds = (39, 20.4)
"""Largest rate of LL on two hosts, and on more [GB/s]."""
BASE_S: Mapping[str, tuple[float, float, float]] = {
    RING: (6.6e-6, 14e-6, 8.4e-6),
    TREE: (6.8e-6, 14e-6, 8.4e-6),
    NVLS_TREE: (0, 0, 0),
    PAT: (8e-6, 8e-6, 8e-6),
}
"""Latency of a call, by algorithm and protocol [s]."""
NVLINK_S: Mapping[str, tuple[float, float, float]] = {
    RING: (0.6e-6, 1.9e-6, 3.4e-6),
    TREE: (0.6e-6, 1.25e-6, 4e-6),
    NVLS_TREE: (0, 0, 25e-6),
    PAT: (0, 0, 4e-6),
}
"""Latency of a step over NVLink [s]."""
NETWORK_S: Mapping[str, tuple[float, float, float]] = {
    RING: (2.7e-6, 4e-6, 14e-6),
    TREE: (5e-6, 8.5e-6, 14e-6),
    NVLS_TREE: (0, 0, 20.9e-6),
    PAT: (0, 0, 14e-6),
}
"""Latency of a step over the network [s]."""
POSTING_S = (1e-6, 1e-6, 3e-6)
"""Least time of a step of a ring over several hosts: each posts to the network [s]."""
MOST_CHANNELS = 64
CHANNEL_PEER_BYTES_PER_S, PEERS_OF_BATCH = 14e9, 8
"""Rate of a NIC for which a pair of ranks has a channel [bytes/s], and peers to which a rank sends at once."""
LOWEST_SPEED = 0.49
"""Share of the speed of channels that were found, below which the search tries no other."""
PLATEAU = 1.4
"""Factor of the latency of an AllReduce by a ring over several hosts with Simple."""
TREE_EFFICIENCY, PAT_EFFICIENCY, LL128_SHARE = 0.92, 0.75, 0.92
PAT_RANK_S = 2.8e-6
"""Latency of PAT for each rank [s]."""
TREE_CORRECTION: Mapping[Protocol, Speeds] = {
    "LL": (1, 1, 1, 1, 0.9, 0.8, *(0.7,) * 4, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "LL128": (*(1,) * 5, 0.9, 0.8, 0.8, 0.8, 0.7, *(0.6,) * 6, 0.8, *(0.9,) * 4),
    "Simple": (*(0.9,) * 7, 0.8, 0.7, 0.6, 0.6, *(0.5,) * 4, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
}
"""Trees do worse than their formula at medium sizes: factors of the rate from 64 bytes on, by powers of two; then 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Channels of a ring that NCCL's search finds, and the rate of each [bytes/s]."""

    count: int
    bytes_per_s: float

    @property
    def total(self) -> float:
        """Rate of all channels [bytes/s]."""
        return self.count * self.bytes_per_s


@cache
def search(speeds: Speeds, *, ranks_per_host: int, nic: float | None, scale_up: float | None) -> Channels:
    """The channels with most bandwidth together; each passes one NIC, and all ranks of a host by the scale-up network.

    Speeds are tried from the highest on, down to about half of the best. nic: line rate of the NICs of a rank, None
    inside a host; scale_up: None where a host has one rank [bytes/s].
    """
    limits = [(rate, count) for rate, count in ((nic, ranks_per_host), (scale_up, 1)) if rate is not None]
    best = Channels(count=0, bytes_per_s=min(rate for rate, _ in limits))
    for speed in speeds:
        if best.count and speed * 1e9 <= LOWEST_SPEED * best.bytes_per_s:
            break
        fitting = min(count * int(rate / (speed * 1e9)) for rate, count in limits)
        best = max(best, Channels(count=fitting, bytes_per_s=speed * 1e9), key=lambda channels: channels.total)
    return best if best.count else replace(best, count=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Expectation of NCCL for an algorithm with a protocol: latency_s, and bytes_per_s of the array."""

    algorithm: str
    protocol: Protocol
    latency_s: float
    bytes_per_s: float

    def seconds(self, size_bytes: float) -> float:
        """Time for an array of this size [s]."""
        return self.latency_s + size_bytes / self.bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """NCCL's cost model for a group on hosts whose GPUs have these line rates [bytes/s]. scale_up: None without one.

    missing: GPUs of a host whose NICs are not used; they send by those of others.
    """

    generation: GpuGeneration
    nic: float
    scale_up: float | None
    span: Span
    missing: int = 0

    def ring_channels(self) -> Channels:
        """The channels of rings, and of trees."""
        several = self.span.ranks_per_host > 1
        return search(
            self.generation.inside if self.span.hosts == 1 else self.generation.between,
            ranks_per_host=self.span.ranks_per_host - self.missing,
            nic=None if self.span.hosts == 1 else self.nic,
            scale_up=self.scale_up if several else None,
        )

    def channel_count(self) -> int:
        """Channels of a collective: the search's are doubled, and those of fast NICs again while they are few."""
        channels = self.ring_channels()
        count = min(MOST_CHANNELS, 2 * channels.count)
        return 2 * count if self.span.hosts > 1 and channels.bytes_per_s > 45e9 and count < 16 else count

    def channels_per_peer(self) -> int:
        """Channels of a pair of ranks in an AllToAll over several hosts: fewer, the more peers each rank has."""
        wanted = 1 << max(0, ceil(self.nic / CHANNEL_PEER_BYTES_PER_S) - 1).bit_length()
        batches = ceil(self.span.ranks / PEERS_OF_BATCH)
        while wanted > 1 and wanted * batches > self.channel_count():
            wanted //= 2
        return wanted

    def predictions(self, op: str, size_bytes: float) -> Iterator[Prediction]:
        """List the algorithms and protocols that NCCL has for an operation, with the time of the call for this size."""
        yield from self._ring(op)
        if op == "allreduce":
            yield from self._tree(size_bytes)
            yield from self._nvls()
        if op in ("allgather", "reducescatter") and self.span.ranks_per_host == 1:
            yield self._pat()

    def _ring(self, op: str) -> Iterator[Prediction]:
        span, channels = self.span, self.ring_channels()
        steps = ring_steps(op, span.ranks)
        largest = self.generation.ll if span.hosts == 1 else LL_BETWEEN[span.hosts > 2]
        rates = (
            min(largest * 1e9, channels.total / 2),
            min(channels.total * LL128_SHARE, channels.count * self.generation.ring_ll128 * 1e9),
            channels.total,
        )
        for number, (protocol, rate) in enumerate(zip(PROTOCOLS, rates, strict=True)):
            latency_s = BASE_S[RING][number] + self._ring_latency_s(op, number, steps)
            ratio = span.ranks / steps
            yield Prediction(algorithm=RING, protocol=protocol, latency_s=latency_s, bytes_per_s=rate * ratio)

    def _ring_latency_s(self, op: str, number: int, steps: int) -> float:
        """Latency of the steps of a ring with a protocol; with Simple a broadcast waits for a chunk in each [s]."""
        span = self.span
        if op == "broadcast":
            table = NVLINK_S if span.hosts == 1 else NETWORK_S
            return steps * table[TREE if PROTOCOLS[number] == "Simple" else RING][number]
        if span.hosts == 1:
            return steps * NVLINK_S[RING][number]
        crossing = (2 if op == "allreduce" else 1) * (span.hosts - 1)
        between = NETWORK_S[TREE if span.ranks_per_host == 1 else RING][number]
        inside = max(NVLINK_S[RING][number], POSTING_S[number])
        plateau = PLATEAU if op == "allreduce" and PROTOCOLS[number] == "Simple" else 1.0
        return plateau * ((steps - crossing) * inside + crossing * between)

    def _tree(self, size_bytes: float) -> Iterator[Prediction]:
        span, channels, generation = self.span, self.ring_channels(), self.generation
        column = min(span.hosts, 3) - 1
        largest = generation.ll if span.hosts == 1 else LL_BETWEEN[span.hosts > 2]
        whole = min(channels.total * TREE_EFFICIENCY, channels.count * generation.tree_simple[column] * 1e9)
        ll128 = whole * (7 / 9 if span.hosts == 1 else 120 / 128)
        rates = (
            min(whole / 3.8, largest * 1e9),
            min(ll128, channels.count * generation.tree_ll128[column] * 1e9),
            whole,
        )
        octave = max(0, int(size_bytes / 64).bit_length() - 1)
        for number, (protocol, rate) in enumerate(zip(PROTOCOLS, rates, strict=True)):
            chain = (span.ranks // span.hosts - 1) * NVLINK_S[TREE][number]
            climb = (span.hosts.bit_length() - 1) * NETWORK_S[TREE][number]
            correction = dict(enumerate(TREE_CORRECTION[protocol])).get(octave, 1.0)
            yield Prediction(
                algorithm=TREE,
                protocol=protocol,
                latency_s=BASE_S[TREE][number] + 2 * (chain + climb),
                bytes_per_s=rate / 2 * correction,
            )

    def _nvls(self) -> Iterator[Prediction]:
        """The switch of the scale-up network adds; between hosts with trees, on one host alone."""
        span, generation, heads = self.span, self.generation, self.span.ranks_per_host
        if generation.nvls is None or self.scale_up is None or heads < 2:
            return
        speeds = generation.inside if span.hosts == 1 else generation.between
        fitting = [speed for speed in speeds if heads * speed * 1e9 <= self.scale_up]
        rates = [2 * max(fitting, default=speeds[-1]) * generation.nvls * (heads - 1) / heads]
        if span.hosts > 1:
            between = max((speed for speed in fitting if speed * 1e9 <= self.nic), default=speeds[-1])
            rates += [between * (2 if span.hosts == 2 else 1), generation.nvls_tree[min(span.hosts, 3) - 1]]
            rates[1:] = [rate * (heads - self.missing) / heads for rate in rates[1:]]
        climb = 2 * (span.hosts.bit_length() - 1) * NETWORK_S[NVLS_TREE][2]
        yield Prediction(
            algorithm=NVLS_TREE,
            protocol="Simple",
            latency_s=NVLINK_S[NVLS_TREE][2] + climb,
            bytes_per_s=heads * min(rates) * 1e9 * span.ranks / ring_steps("allreduce", span.ranks),
        )

    def _pat(self) -> Prediction:
        span = self.span
        climb = (span.hosts.bit_length() - 1) * NETWORK_S[TREE][2] / 3.5
        return Prediction(
            algorithm=PAT,
            protocol="Simple",
            latency_s=BASE_S[PAT][2] + climb + span.ranks * PAT_RANK_S,
            bytes_per_s=PAT_EFFICIENCY * self.ring_channels().total,
        )


def ring_steps(op: str, ranks: int) -> int:
    """Steps of a ring."""
    return {"allreduce": 2 * (ranks - 1), "broadcast": ranks}.get(op, ranks - 1)
