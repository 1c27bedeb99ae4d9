"""Permutations on the networks of htsim's benchmarks: one path, spray, adaptive routing and flowlets.

There is PFC and no ECN. Senders send at line rate (RoCE with PFC). Those whose packets take several paths have
receivers with selective recovery and a window for reordering. NICs spray by 64 entropy values, which switches hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import process_time

import numpy as np

from railfab.sim import Balancing, Engine, Flow, Framing, Network, Recovery, Routing, Transport, plain_network
from railfab.sim.replay.routes import shortest_paths

SHARED_BYTES, ALPHA, PRIORITY = 32e6, 0.125, 3
REORDER_PACKETS = 1024
ENTROPIES = 64
LIMIT_NS = 50e6
Cables = Iterator[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Balance:
    """How switches choose, and how senders recover."""

    name: str
    balancing: Balancing
    transport: Transport


ONE_PATH = Transport(dcqcn=None, recovery=Recovery.GO_BACK_N)
MANY_PATHS = Transport(dcqcn=None, recovery=Recovery.SELECTIVE, reorder_packets=REORDER_PACKETS)
BALANCES = (
    Balance("one path (ECMP)", Balancing.FLOW, ONE_PATH),
    Balance("flowlets", Balancing.FLOWLET, MANY_PATHS),
    Balance("adaptive", Balancing.ADAPTIVE, MANY_PATHS),
    Balance("spray at switches", Balancing.SPRAY, MANY_PATHS),
    Balance("spray", Balancing.FLOW, replace(MANY_PATHS, entropies=ENTROPIES)),
)


def leaf_spine_cables(leaves: int, hosts: int, spines: int) -> Cables:
    """Hosts of each leaf in turn, then leaves, then spines."""
    first_leaf = leaves * hosts
    for host in range(first_leaf):
        yield host, first_leaf + host // hosts
    for leaf in range(leaves):
        for spine in range(spines):
            yield first_leaf + leaf, first_leaf + leaves + spine


def fat_tree_cables(ports: int) -> Cables:
    """Hosts, then edge switches pod by pod, then aggregation switches, then cores."""
    half, edges = ports // 2, ports * ports // 2
    first_edge = ports * half * half
    first_up, first_core = first_edge + edges, first_edge + 2 * edges
    for host in range(first_edge):
        yield host, first_edge + host // half
    for pod in range(ports):
        for a in range(half):
            for edge in range(half):
                yield first_edge + pod * half + edge, first_up + pod * half + a
            for core in range(half):
                yield first_up + pod * half + a, first_core + a * half + core


@dataclass(frozen=True, kw_only=True)
class Permutation:
    """A network with a flow from each host to another one. header_bytes: of data and of acknowledgements, one for each
    `ack_every` packets; slow: switches all of whose links have a quarter of their rate."""

    cables: tuple[tuple[int, int], ...]
    hosts: int
    rate_gbps: float
    payload_bytes: int
    header_bytes: int = 64
    ack_every: int = 1
    flow_bytes: int = 2_000_000
    delay_ns: float = 1000.0
    slow: tuple[int, ...] = ()
    _routing: list[Routing] = field(default_factory=list)

    @property
    def framing(self) -> Framing:
        """Octets of packets."""
        return Framing(
            payload_bytes=self.payload_bytes,
            header_bytes=self.header_bytes,
            gap_bytes=0,
            ack_bytes=self.header_bytes,
            ack_every=self.ack_every,
        )

    def network(self, balancing: Balancing) -> Network:
        """The network, with PFC for its only class."""
        ends = np.array(self.cables)
        near, far = ends.ravel(), ends[:, ::-1].ravel()
        is_switch = np.arange(int(ends.max()) + 1) >= self.hosts
        rate_gbps = np.full(len(near), self.rate_gbps)
        rate_gbps[np.isin(near, self.slow) | np.isin(far, self.slow)] /= 4
        plain = plain_network(near, far, is_switch, rate_gbps, delay_ns=self.delay_ns)
        lossless = np.zeros_like(plain.pfc_sent)
        lossless[:, PRIORITY] = True
        headroom = 3 * self.rate_gbps / 8 * self.delay_ns + 4 * self.framing.frame_bytes
        return replace(
            plain,
            queue_of=np.full((len(near), 1), PRIORITY),
            priority_of=np.full((len(near), 1), PRIORITY),
            nic_queue=np.array([PRIORITY]),
            shared_bytes=np.where(is_switch, SHARED_BYTES, np.inf),
            xoff_alpha=np.where(lossless & is_switch[far][:, None], ALPHA, 0.0),
            xon_gap_bytes=np.where(lossless, 2.0 * self.framing.frame_bytes, 0.0),
            headroom_bytes=np.where(lossless, headroom, 0.0),
            pfc_sent=lossless & is_switch[far][:, None],
            pause_queue=np.where(lossless, PRIORITY, -1),
            balancing=np.full(len(is_switch), int(balancing)),
        )

    def flows(self, seed: int) -> list[Flow]:
        """A permutation without fixed points, drawn until there are none."""
        rng, hosts = np.random.default_rng(seed), np.arange(self.hosts)
        target = rng.permutation(self.hosts)
        while (target == hosts).any():
            target = rng.permutation(self.hosts)
        words = rng.integers(1, 1 << 32, (self.hosts, 2))
        return [
            Flow(
                id=host,
                source=host,
                target=int(target[host]),
                payload_bytes=self.flow_bytes,
                source_word=host + 1,
                target_word=int(target[host]) + 1,
                entropy=int(words[host, 0]),
                back_entropy=int(words[host, 1]),
            )
            for host in hosts.tolist()
        ]

    def ends(self, balance: Balance, seed: int) -> tuple[np.ndarray, float]:
        """(flow,) when each flow is done [us], and CPU seconds of the engine's run."""
        network = self.network(balance.balancing)
        if not self._routing:
            self._routing.append(shortest_paths(network.near, network.far, network.is_switch))
        engine = Engine(network, self._routing[0], seed=seed, framing=self.framing, transports=[balance.transport])
        engine.add(self.flows(seed))
        began = process_time()
        if not engine.run(LIMIT_NS):
            raise SystemExit(f"{balance.name}, permutation {seed}: flows are left after {LIMIT_NS / 1e6:.0f} ms")
        return engine.flows().finish_ns / 1e3, process_time() - began
