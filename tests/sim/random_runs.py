"""Runs drawn at random, with all that a network and its flows can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from tests.sim.fabrics import LOSSLESS, flow, leaf_spine, limited, lossless, marking, routes, without_cables

from railfab.sim import QUEUES, Balancing, Dcqcn, Engine, Flow, Network, Recovery, Transport

LEAVES, HOSTS, SPINES = 2, 3, 3
NODES = LEAVES * HOSTS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomRun:
    """A network, its flows, and the networks that follow at their times."""

    seed: int
    network: Network
    flows: list[Flow]
    transports: list[Transport]
    changes: list[tuple[float, Network]]
    end_ns: float

    def engine(self) -> Engine:
        engine = Engine(self.network, routes(self.network), seed=self.seed, transports=self.transports)
        engine.add(self.flows)
        return engine

    def times(self, cuts: list[float]) -> Iterator[tuple[float, Network | None]]:
        """Times to run to, and the network from then on."""
        stops: list[tuple[float, Network | None]] = [(cut, None) for cut in cuts]
        stops += [*self.changes, (self.end_ns, None)]
        return iter(sorted(stops, key=lambda stop: stop[0]))


def advance(engine: Engine, until_ns: float, network: Network | None) -> None:
    engine.run(until_ns, stop_when_done=False)
    if network is not None:
        engine.reroute(network, routes(network))


def random_run(seed: int) -> RandomRun:
    random = np.random.default_rng(seed)
    network = _network(random)
    end_ns = 600_000.0
    changes = [(float(random.uniform(1_000, 400_000)), _changed(network, random)) for _ in range(random.integers(0, 4))]
    return RandomRun(
        seed=seed,
        network=network,
        flows=_flows(random),
        transports=_transports(random),
        changes=sorted(changes, key=lambda change: change[0]),
        end_ns=end_ns,
    )


def _network(random: np.random.Generator) -> Network:
    rate = float(random.choice([10, 100, 400]))
    network = leaf_spine(LEAVES, HOSTS, SPINES, rate, delay_ns=float(random.choice([300, 1000, 2500])), classes=2)
    if random.random() < 0.75:
        network = lossless(network, xoff_bytes=float(random.choice([9_000, 50_000])), xon_gap_bytes=5_000.0)
        if random.random() < 0.4:
            alpha = float(random.choice([0.125, 1.0, 8.0]))
            network = replace(network, xoff_alpha=np.where(network.pfc_sent, alpha, 0.0))
        if random.random() < 0.5:
            network = replace(network, headroom_bytes=network.headroom_bytes * float(random.choice([0.0, 0.3])))
    if random.random() < 0.5:
        network = marking(network, 20_000.0, 80_000.0, 0.2)
    if random.random() < 0.5:
        network = limited(network, float(random.choice([20_000, 60_000])))
    return replace(network, **_settings(network, random))


def _settings(network: Network, random: np.random.Generator) -> dict[str, np.ndarray]:
    links, nodes = network.links, network.nodes
    endless = np.full(nodes, np.inf)
    slow = np.where(np.arange(nodes) == 1, float(random.choice([np.inf, np.inf, 5.0, 40.0])), np.inf)
    queues = (links, QUEUES)
    slow_pfc = network.pfc_sent.copy()
    slow_pfc[network.far == 1, LOSSLESS] = random.random() < 0.7
    return {
        "balancing": np.full(nodes, int(random.choice(list(Balancing)))),
        "flowlet_gap_ns": np.full(nodes, 2_000.0),
        "loss_per_byte": np.full(links, float(random.choice([0.0, 0.0, 1e-6]))),
        "shared_bytes": np.where(network.is_switch, float(random.choice([np.inf, 60_000, 200_000])), np.inf),
        "limit_alpha": np.full(queues, float(random.choice([0.0, 0.0, 0.5]))),
        "strict": np.tile(np.arange(QUEUES) == int(random.choice([0, LOSSLESS])), (links, 1)) & (random.random() < 0.5),
        "weight": np.tile(random.integers(1, 4, QUEUES).astype(float), (links, 1)),
        "watchdog_detect_ns": np.full(queues, float(random.choice([0.0, 8_000.0]))),
        "watchdog_restore_ns": np.full(queues, 15_000.0),
        "watchdog_drops": np.full(queues, random.random() < 0.5),
        "pause_refresh_ns": np.full(queues, float(random.choice([0.0, 5_000.0]))),
        "rx_gbps": slow,
        "rx_buffer_bytes": np.where(np.isfinite(slow), 60_000.0, endless),
        "pfc_sent": slow_pfc if network.pfc_sent.any() else network.pfc_sent,
        "xoff_bytes": np.where(slow_pfc & ~network.pfc_sent, 25_000.0, network.xoff_bytes),
        "xon_gap_bytes": np.where(slow_pfc & ~network.pfc_sent, 9_000.0, network.xon_gap_bytes),
    }


def _changed(network: Network, random: np.random.Generator) -> Network:
    """The network with cables down, other rates, or a slow host; or as it was."""
    first_uplink = NODES
    cables = [first_uplink + int(c) for c in random.integers(0, LEAVES * SPINES, random.integers(0, 3))]
    if random.random() < 0.3:
        cables.append(int(random.integers(0, NODES)))
    changed = without_cables(network, cables)
    if random.random() < 0.3:
        changed = replace(changed, rate_gbps=network.rate_gbps * 0.5)
    if random.random() < 0.3:
        changed = replace(changed, pfc_sent=np.zeros_like(network.pfc_sent))
    if random.random() < 0.3:
        changed = replace(changed, pause_queue=np.full_like(network.pause_queue, -1))
    return changed


def _flows(random: np.random.Generator) -> list[Flow]:
    found = []
    for number in range(12):
        source, target = random.choice(NODES, 2, replace=False).tolist()
        target = target if random.random() < 0.5 else (0 if source else 1)
        after = (int(random.integers(0, number)),) if number and random.random() < 0.3 else ()
        found.append(
            flow(
                number,
                source,
                target,
                int(random.integers(1, 600_000)),
                traffic_class=int(random.random() < 0.3),
                transport=int(random.integers(0, 3)),
                start_ns=int(random.integers(0, 100_000)),
                after=after,
            )
        )
    return found


def _transports(random: np.random.Generator) -> list[Transport]:
    dcqcn = Dcqcn(alpha_interval_ns=5e3, cut_interval_ns=4e3, increase_interval_ns=20e3, increase_bytes=150_000)
    timeout = float(random.choice([20_000.0, 100_000.0]))
    return [
        Transport(dcqcn=dcqcn, recovery=Recovery.GO_BACK_N, timeout_ns=timeout),
        Transport(
            dcqcn=None,
            recovery=Recovery.SELECTIVE,
            timeout_ns=timeout,
            reorder_packets=int(random.choice([0, 16])),
            entropies=int(random.choice([1, 2, 64])),
        ),
        Transport(dcqcn=None, recovery=Recovery.NONE, rate_gbps=3.0),
    ]
