"""NICs that give the packets of a flow several entropy values, which switches hash; and adaptive switches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.sim.fabrics import OCTETS, engine_of, flow, leaf_spine, lossless, network_of

from railfab.sim import Balancing, Engine, Flow, Framing, Network, Recovery, Transport

SPRAYING = Transport(dcqcn=None, recovery=Recovery.SELECTIVE, reorder_packets=200, entropies=64)
SELECTIVE = replace(SPRAYING, entropies=1)
HALF = 4


def fat_tree() -> Network:
    """Three tiers of switches of 8 ports, each with as much upwards as downwards: 128 hosts."""
    ports, pods = 2 * HALF, range(2 * HALF)
    hosts = ports * HALF * HALF
    edges = [[hosts + pod * HALF + n for n in range(HALF)] for pod in pods]
    uppers = [[hosts + ports * HALF + pod * HALF + n for n in range(HALF)] for pod in pods]
    first_core = hosts + 2 * ports * HALF
    cables = [(host, hosts + host // HALF) for host in range(hosts)]
    for pod in pods:
        cables += [(edge, upper) for edge in edges[pod] for upper in uppers[pod]]
        cables += [(uppers[pod][n], first_core + n * HALF + core) for n in range(HALF) for core in range(HALF)]
    return lossless(network_of(cables, [False] * hosts + [True] * (first_core + HALF * HALF - hosts)))


def sent_up(engine: Engine, node: int) -> np.ndarray:
    """Packets that a switch has sent by each of its links to other switches of a higher number."""
    network = engine.network
    up = (network.near == node) & network.is_switch[network.far] & (network.far > node)
    return np.asarray(engine.counters().sent_packets[up].sum(axis=1))


@pytest.mark.parametrize("entropies", [16, 64])
def test_every_round_takes_each_value_once(entropies: int) -> None:
    """Ten rounds leave ten times the packets of one round on each uplink, which are as many as hash there."""
    rounds = 10
    engine = engine_of(
        leaf_spine(2, 1, 4),
        [flow(0, 0, 1, rounds * entropies * OCTETS.payload_bytes)],
        framing=OCTETS,
        transports=[replace(SPRAYING, entropies=entropies)],
    )
    assert engine.run(1e9)
    sent = sent_up(engine, 2)
    assert sent.sum() == rounds * entropies
    assert (sent % rounds == 0).all()
    assert (sent > 0).sum() > 1
    assert len(set(sent.tolist())) > 1, "a hash divides values unevenly"


def test_packets_of_a_value_take_one_path_through_all_tiers() -> None:
    """Two values know at most two of 16 ways to another pod, however many packets there are."""
    network = fat_tree()
    first_core = network.nodes - HALF * HALF
    for entropies, fewest, most in ((1, 1, 1), (2, 2, 2), (64, 12, HALF * HALF)):
        cores = []
        for word in range(6):
            transport = replace(SPRAYING, entropies=entropies)
            packets = [flow(0, 0, 127, 400_000, entropy=word)]
            engine = engine_of(network, packets, framing=OCTETS, transports=[transport])
            assert engine.run(1e9)
            assert engine.flow_paths().dynamic.tolist() == [entropies > 1]
            cores.append(int((engine.counters().sent_packets.sum(axis=1)[network.near >= first_core] > 0).sum()))
        assert fewest <= max(cores) <= most


def test_a_packet_that_is_sent_again_takes_another_value() -> None:
    """One of two spines loses everything: with one value a flow that hashes to it never ends."""
    network = leaf_spine(2, 1, 2)
    lost = (network.near == 2) & (network.far == 4)
    network = replace(network, loss_per_byte=np.where(lost, 1.0, 0.0))
    quick = replace(SPRAYING, timeout_ns=50_000.0, reorder_packets=16)
    ended = {}
    for entropies in (1, 64):
        engine = engine_of(
            network, [flow(0, 0, 1, 300_000)], framing=OCTETS, transports=[replace(quick, entropies=entropies)]
        )
        ended[entropies] = engine.run(2e6)
        assert engine.flows().retransmitted_packets[0] > 0 or entropies == 1
    assert ended[64]


def test_flows_of_other_transports_keep_their_path_beside_sprayed_ones() -> None:
    network = leaf_spine(2, 2, 4)
    flows = [flow(0, 0, 2, 500_000), flow(1, 1, 3, 500_000, transport=1)]
    engine = engine_of(network, flows, framing=OCTETS, transports=[SPRAYING, SELECTIVE])
    alone = engine_of(network, flows[1:], framing=OCTETS, transports=[SPRAYING, SELECTIVE])
    assert engine.run(1e9)
    assert alone.run(1e9)
    assert engine.flow_paths().dynamic.tolist() == [True, False]
    assert (sent_up(alone, 4) > 0).sum() == 1
    assert engine.flows().out_of_order_packets[1] == 0


@pytest.mark.parametrize("entropies", [0, -2, 3, 48])
def test_the_number_of_values_is_a_power_of_two(entropies: int) -> None:
    with pytest.raises(ValueError, match=f"entropies: {entropies} is no power of two"):
        Transport(entropies=entropies)


def permutation(network: Network) -> list[Flow]:
    hosts = np.arange(int((~network.is_switch).sum()))
    target = np.random.default_rng(3).permutation(len(hosts))
    return [flow(host, host, int(target[host]), 500_000) for host in hosts.tolist() if host != target[host]]


def last_ns(network: Network, balancing: Balancing, transport: Transport) -> float:
    """When the last flow is done; acknowledgements between packets let inputs of a switch drift apart."""
    balanced = replace(network, balancing=np.where(network.is_switch, int(balancing), 0))
    engine = engine_of(balanced, permutation(network), transports=[transport], framing=Framing(ack_every=4))
    assert engine.run(1e9)
    return float(engine.flows().finish_ns.max())


def test_three_tiers_are_as_even_with_adaptive_switches_as_with_random_ones_and_less_so_with_values() -> None:
    """A permutation at the rate of all links. Values divide a flow unevenly, one path far more."""
    network = fat_tree()
    random_ns = last_ns(network, Balancing.SPRAY, SELECTIVE)
    assert last_ns(network, Balancing.ADAPTIVE, SELECTIVE) < 1.05 * random_ns
    values_ns = last_ns(network, Balancing.FLOW, SPRAYING)
    assert random_ns < values_ns < 1.5 * random_ns
    assert last_ns(network, Balancing.FLOW, SELECTIVE) > 2 * random_ns
