"""How much later the last flow of a permutation is done with one path a flow than with spray, at 1,024 hosts.

    python benchmarks/bench_load_balancing.py [--permutations 20]

The network of htsim's benchmarks (`tests/reference/simulator/htsim_bench.csv`): a fat tree of k = 16, three tiers, all
100G, 1 us a hop, packets of 4000 B, 2 MB a flow, all flows at once. PFC, no ECN, senders at line rate (RoCE+PFC there).
Spray, flowlets and adaptive routing have receivers with selective recovery and a window for reordering.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import process_time

import numpy as np

from railfab.sim import Balancing, Engine, Flow, Framing, Network, Recovery, Routing, Transport, plain_network
from railfab.sim.replay.routes import shortest_paths

PORTS = 16
HALF = PORTS // 2
HOSTS = PORTS**3 // 4
EDGES = PORTS * HALF
CORES = HALF * HALF
FLOW_BYTES, PAYLOAD_BYTES, HEADER_BYTES = 2_000_000, 4000, 64
FRAMING = Framing(
    payload_bytes=PAYLOAD_BYTES, header_bytes=HEADER_BYTES, gap_bytes=0, ack_bytes=HEADER_BYTES, ack_every=1
)
RATE_GBPS, DELAY_NS = 100.0, 1000.0
SHARED_BYTES, ALPHA, XON_GAP_BYTES, PRIORITY = 32e6, 0.125, 2 * 4064.0, 3
REORDER_PACKETS = 1024
LEAST_RATIO = 3.5
HTSIM = "htsim at 1024 hosts: spray 203 (NSCC) and 223 us (EQDS), one path 1088 (EQDS) and 1371 us (RoCE+PFC): 5 to 6"


@dataclass(frozen=True, slots=True)
class Way:
    """How switches choose, and how senders recover."""

    name: str
    balancing: Balancing
    transport: Transport


ONE_PATH = Transport(dcqcn=None, recovery=Recovery.GO_BACK_N)
MANY_PATHS = Transport(dcqcn=None, recovery=Recovery.SELECTIVE, reorder_packets=REORDER_PACKETS)
WAYS = (
    Way("one path (ECMP)", Balancing.FLOW, ONE_PATH),
    Way("flowlets", Balancing.FLOWLET, MANY_PATHS),
    Way("adaptive", Balancing.ADAPTIVE, MANY_PATHS),
    Way("spray", Balancing.SPRAY, MANY_PATHS),
)


def cables() -> list[tuple[int, int]]:
    """Hosts, then edge switches pod by pod, then aggregation switches, then cores."""
    first_edge, first_up, first_core = HOSTS, HOSTS + EDGES, HOSTS + 2 * EDGES
    found = [(host, first_edge + host // HALF) for host in range(HOSTS)]
    for pod in range(PORTS):
        for a in range(HALF):
            found += [(first_edge + pod * HALF + e, first_up + pod * HALF + a) for e in range(HALF)]
            found += [(first_up + pod * HALF + a, first_core + a * HALF + c) for c in range(HALF)]
    return found


def fat_tree() -> tuple[Network, Routing]:
    ends = np.array(cables())
    near, far = ends.ravel(), ends[:, ::-1].ravel()
    is_switch = np.arange(HOSTS + 2 * EDGES + CORES) >= HOSTS
    plain = plain_network(near, far, is_switch, np.full(len(near), RATE_GBPS), delay_ns=DELAY_NS)
    lossless = np.zeros_like(plain.pfc_sent)
    lossless[:, PRIORITY] = True
    headroom = 3 * RATE_GBPS / 8 * DELAY_NS + 4 * FRAMING.frame_bytes
    network = replace(
        plain,
        queue_of=np.full((len(near), 1), PRIORITY),
        priority_of=np.full((len(near), 1), PRIORITY),
        nic_queue=np.array([PRIORITY]),
        shared_bytes=np.where(is_switch, SHARED_BYTES, np.inf),
        xoff_alpha=np.where(lossless & is_switch[far][:, None], ALPHA, 0.0),
        xon_gap_bytes=np.where(lossless, XON_GAP_BYTES, 0.0),
        headroom_bytes=np.where(lossless, headroom, 0.0),
        pfc_sent=lossless & is_switch[far][:, None],
        pause_queue=np.where(lossless, PRIORITY, -1),
    )
    return network, shortest_paths(near, far, is_switch)


def flows(seed: int) -> list[Flow]:
    """A permutation without fixed points, drawn until there are none."""
    rng = np.random.default_rng(seed)
    target = rng.permutation(HOSTS)
    while (target == np.arange(HOSTS)).any():
        target = rng.permutation(HOSTS)
    words = rng.integers(1, 1 << 32, (HOSTS, 2))
    return [
        Flow(
            id=host,
            source=host,
            target=int(target[host]),
            payload_bytes=FLOW_BYTES,
            source_word=host + 1,
            target_word=int(target[host]) + 1,
            entropy=int(words[host, 0]),
            back_entropy=int(words[host, 1]),
        )
        for host in range(HOSTS)
    ]


def last_us(network: Network, routing: Routing, way: Way, seed: int) -> tuple[float, float]:
    """When the last flow is done, and CPU seconds."""
    chosen = replace(network, balancing=np.full(network.nodes, int(way.balancing)))
    engine = Engine(chosen, routing, seed=seed, framing=FRAMING, transports=[way.transport])
    engine.add(flows(seed))
    began = process_time()
    if not engine.run(50e6):
        raise SystemExit(f"{way.name}, permutation {seed}: flows are left after 50 ms")
    return float(engine.flows().finish_ns.max()) / 1e3, process_time() - began


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permutations", type=int, default=20)
    seeds = range(1, parser.parse_args(arguments).permutations + 1)
    network, routing = fat_tree()
    found = {way.name: [last_us(network, routing, way, seed) for seed in seeds] for way in WAYS}
    spray = [last for last, _ in found["spray"]]
    print(f"{HOSTS} hosts, {len(seeds)} permutations: last completion [us], times spray, CPU s")
    for name, runs in found.items():
        last = [one for one, _ in runs]
        ratio = [one / base for one, base in zip(last, spray, strict=True)]
        print(
            f"  {name:16} median {median(last):7.1f} ({min(last):.1f} to {max(last):.1f})   "
            f"{median(ratio):4.2f} ({min(ratio):.2f} to {max(ratio):.2f})   {median(cpu for _, cpu in runs):.2f}"
        )
    ratio = median(one / base for (one, _), base in zip(found["one path (ECMP)"], spray, strict=True))
    print(f"  {'pass' if ratio >= LEAST_RATIO else 'FAIL'}  one path at least {LEAST_RATIO} times spray: {ratio:.2f}")
    print(f"  {HTSIM}")


if __name__ == "__main__":
    main()
