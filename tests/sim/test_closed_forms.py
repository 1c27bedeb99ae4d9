"""What a run must give where the answer can be calculated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.sim.fabrics import (
    LOSSLESS,
    OCTETS,
    engine_of,
    flow,
    incast,
    leaf_spine,
    limited,
    lossless,
    marking,
    network_of,
    routes,
    star,
)
from tests.sim.fluid_flows import fluid_flows

from railfab.sim import QUEUES, Dcqcn, Engine, Flow, Framing, Network, Recovery, Transport
from railfab.sim.fluid import fluid_ends
from railfab.sim.replay.run import scenario_engine
from railfab.sim.replay.scenario import load

SCENARIOS = Path(__file__).parents[1] / "reference" / "simulator" / "scenarios"

FIXED = Transport(dcqcn=None)
FRAME_NS = 80.0
"""1000 octets at 100 Gb/s."""


# Time of one flow


@pytest.mark.parametrize("rate_gbps", [10, 25, 100, 400, 800, 1600])
@pytest.mark.parametrize("payload_bytes", [1, 4096, 1_000_000])
def test_a_single_flow_takes_its_octets_over_the_rate_and_a_round_trip(rate_gbps: int, payload_bytes: int) -> None:
    framing = Framing()
    engine = engine_of(
        star(2, rate_gbps, delay_ns=777.0), [flow(0, 0, 1, payload_bytes)], framing=framing, transports=[FIXED]
    )
    engine.run(1e9)
    packets = -(-payload_bytes // framing.payload_bytes)
    wire = payload_bytes + packets * (framing.header_bytes + framing.gap_bytes)
    last = (payload_bytes - (packets - 1) * framing.payload_bytes) + framing.header_bytes + framing.gap_bytes
    largest = wire if packets == 1 else framing.frame_bytes + framing.gap_bytes
    behind = max(largest - last, 0)  # the last packet waits at the switch for the one before it
    ack = framing.ack_bytes + framing.gap_bytes
    expected_ps = 8000 // rate_gbps * (wire + behind + last + 2 * ack) + 4 * 777_000
    assert round(engine.flows().finish_ns[0] * 1000) == expected_ps


def test_flows_of_one_nic_take_turns() -> None:
    engine = engine_of(star(4), [flow(n, 0, 1 + n, 300_000) for n in range(3)], framing=OCTETS, transports=[FIXED])
    engine.run(1e9)
    finish_ns = np.sort(engine.flows().finish_ns)
    np.testing.assert_allclose(finish_ns, [4000 + FRAME_NS * (900 + place - 1) for place in range(3)], atol=1e-6)


@pytest.mark.parametrize("ack_every", [1, 4, 16])
def test_data_and_acknowledgements_fill_every_port_of_a_ring_and_no_queue_grows(ack_every: int) -> None:
    """Each port carries data of one neighbour and acknowledgements for the other: all are exactly full."""
    framing, hosts, span_ns = Framing(ack_every=ack_every), 6, 2_000_000.0
    engine = engine_of(
        leaf_spine(2, hosts // 2, hosts, delay_ns=100.0),
        [flow(n, n, (n + 1) % hosts, 10**9) for n in range(hosts)],
        framing=framing,
        transports=[FIXED],
    )
    engine.run(span_ns)
    counters = engine.counters()
    data, ack = framing.frame_bytes + framing.gap_bytes, (framing.ack_bytes + framing.gap_bytes) / ack_every
    frames = counters.sent_packets[: 2 * hosts].sum(axis=1)
    np.testing.assert_allclose(frames, span_ns * 100.0 / 8 / (data + ack), rtol=2e-3)
    assert counters.peak_bytes.max() <= 4 * framing.frame_bytes


def test_queues_share_a_link_by_their_weights() -> None:
    network = star(3, classes=2)
    weight = network.weight.copy()
    weight[:, 1] = 3.0
    flows = [flow(0, 0, 2, 10**9, traffic_class=0), flow(1, 1, 2, 10**9, traffic_class=1)]
    engine = engine_of(replace(network, weight=weight), flows, framing=OCTETS, transports=[FIXED])
    engine.run(2_000_000.0)
    sent = engine.counters().sent_bytes[5]
    assert sent[1] / sent[0] == pytest.approx(3.0, rel=0.01)


def test_a_queue_that_was_alone_owes_nothing_to_one_that_comes_later() -> None:
    flows = [flow(0, 0, 3, 10**9), flow(1, 1, 3, 10**9), flow(2, 2, 3, 10**9, traffic_class=1, start_ns=1_000_000)]
    engine = engine_of(star(4, classes=2), flows, framing=OCTETS, transports=[FIXED])
    engine.run(1_010_000.0)
    before = engine.counters().sent_bytes[7]
    engine.run(1_510_000.0)
    np.testing.assert_allclose((engine.counters().sent_bytes[7] - before)[:2], 500_000 / FRAME_NS * 500, rtol=0.01)


def test_of_strict_queues_the_higher_one_is_first() -> None:
    network = replace(star(3, classes=2), strict=np.ones((6, QUEUES), bool))
    transports = [FIXED, replace(FIXED, rate_gbps=70.0)]
    flows = [flow(0, 0, 2, 10**9), flow(1, 1, 2, 10**9, traffic_class=1, transport=1)]
    engine = engine_of(network, flows, framing=OCTETS, transports=transports)
    engine.run(1_000_000.0)
    np.testing.assert_allclose(engine.counters().sent_bytes[5, :2] * 8 / 1e6, [30.0, 70.0], rtol=0.01)


def test_a_strict_queue_leaves_the_others_what_it_does_not_need() -> None:
    network = star(3, classes=2)
    strict = network.strict.copy()
    strict[:, 1] = True
    transports = [FIXED, replace(FIXED, rate_gbps=70.0)]
    flows = [flow(0, 0, 2, 10**9), flow(1, 1, 2, 10**9, traffic_class=1, transport=1)]
    engine = engine_of(replace(network, strict=strict), flows, framing=OCTETS, transports=transports)
    engine.run(1_000_000.0)
    sent_gbps = engine.counters().sent_bytes[5, :2] * 8 / 1e6
    np.testing.assert_allclose(sent_gbps, [30.0, 70.0], rtol=0.01)


# PFC


@pytest.mark.parametrize(("delay_ns", "gap_bytes"), [(500.0, 2_000.0), (1000.0, 2_496.0), (2000.0, 20_000.0)])
def test_two_senders_pause_with_the_period_of_the_control_loop(delay_ns: float, gap_bytes: float) -> None:
    """Each ingress rises and falls at half the rate C. From XOFF on it rises for a round trip 2d, falls to XOFF less
    the gap, falls for another round trip and rises to XOFF again: 8d + 4 gap / C, and up to a frame at each turn."""
    network = lossless(star(3, delay_ns=delay_ns), xoff_bytes=200_000.0, xon_gap_bytes=gap_bytes)
    engine = engine_of(network, incast(2, 50_000_000), framing=OCTETS, transports=[FIXED], pause_log=10_000)
    engine.run(2_000_000.0)
    log = engine.pauses()
    sent_ns = log.sent_ns[log.is_xoff & (log.link == 2)][3:]
    period_ns = 8 * delay_ns + 4 * gap_bytes / 12.5
    assert np.diff(sent_ns).mean() == pytest.approx(period_ns, abs=4 * FRAME_NS)
    paused = engine.counters().paused_ns[2, LOSSLESS] / engine.now_ns
    assert paused == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("rate_gbps", [10.0, 100.0, 800.0])
def test_headroom_of_a_round_trip_and_two_frames_at_each_end_is_enough_and_half_is_not(rate_gbps: float) -> None:
    def run(share: float) -> Engine:
        network = lossless(star(9, rate_gbps, delay_ns=2000.0), xoff_bytes=30_000.0)
        network = replace(network, headroom_bytes=share * network.headroom_bytes)
        engine = engine_of(network, incast(8, 10**9), transports=[FIXED])
        engine.run(1_000_000.0)
        return engine

    enough, half = run(1.0).counters(), run(0.5).counters()
    assert enough.refused_packets.sum() + enough.dropped_packets.sum() == 0
    assert enough.headroom_peak_bytes.max() > 2 * rate_gbps / 8 * 2000.0
    assert half.refused_packets.sum() > 0


def _fluid_finish_ns(flows: Sequence[Flow], paths: Sequence[Sequence[int]], network: Network) -> np.ndarray:
    """When each flow has sent all, at max-min fair rates that change whenever a flow ends."""
    sizes = [each.payload_bytes for each in flows]
    return fluid_ends(fluid_flows(paths, sizes), network.rate_gbps / 8)


def test_two_senders_of_the_reference_pause_every_8_96_us() -> None:
    """ns-3: docs of the scenario, and `seeds.csv` (129 pauses a sender)."""
    scenario = load(SCENARIOS / "incast2_pfconly")
    engine = scenario_engine(scenario, seed=1, pause_log=10_000)
    assert engine.run(scenario.stop_ns)
    log = engine.pauses()
    for link in set(log.link.tolist()):
        sent_ns = log.sent_ns[log.is_xoff & (log.link == link)]
        assert len(sent_ns) == 129
        assert np.diff(sent_ns[5:-5]).mean() == pytest.approx(8_960, rel=0.005)


def test_an_incast_with_a_victim_under_pfc_alone_ends_when_max_min_fair_flows_end() -> None:
    network = lossless(leaf_spine(3, 4, 2), xoff_bytes=30_000.0)
    flows = [flow(n, 4 + n, 0, 3_000_000) for n in range(6)] + [flow(6, 10, 5, 1_000_000), flow(7, 4, 1, 500_000)]
    engine = engine_of(network, flows, framing=OCTETS, transports=[FIXED])
    assert engine.run(1e9)
    expected_ns = _fluid_finish_ns(flows, engine.paths(), network).max()
    assert expected_ns == pytest.approx(18_000_000 / 12.5)
    assert engine.flows().finish_ns.max() == pytest.approx(expected_ns + 8_000, rel=0.005)


@pytest.mark.parametrize("seed", range(3))
def test_no_job_under_pfc_ends_before_its_fullest_link_has_carried_all(seed: int) -> None:
    network = lossless(leaf_spine(3, 4, 2), xoff_bytes=20_000.0)
    targets = np.random.default_rng(seed).permutation(12)
    flows = [flow(n, n, int(t), 2_000_000) for n, t in enumerate(targets) if n != t]
    engine = engine_of(network, flows, framing=OCTETS, transports=[FIXED])
    assert engine.run(1e9)
    load = np.bincount([link for path in engine.paths() for link in path]).max() * 2_000_000 / 12.5
    assert load <= engine.flows().finish_ns.max() < 1.35 * load


def test_incast_under_pfc_alone_takes_all_octets_over_the_rate() -> None:
    sizes = (1_000_000, 2_000_000, 4_000_000)
    flows = [flow(n + 1, n + 1, 0, size) for n, size in enumerate(sizes)]
    network = lossless(star(4))
    engine = engine_of(network, flows, framing=OCTETS, transports=[FIXED])
    engine.run(1e9)
    finish_ns = engine.flows().finish_ns
    assert finish_ns.max() == pytest.approx(sum(sizes) / 12.5 + 4_000 + FRAME_NS, abs=2 * FRAME_NS)
    expected_ns = _fluid_finish_ns(flows, engine.paths(), network)
    np.testing.assert_allclose(finish_ns - 4_000, expected_ns, rtol=0.03)


# DCQCN


def _bisected(surplus: Callable[[float], float]) -> float:
    """Where a function that falls has its root, between 1e-6 and 0.5."""
    low, high = 1e-6, 0.5
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if surplus(middle) > 0 else (low, middle)
    return low


def _fluid_fixed_point(rate_pps: float, constants: Dcqcn, frame_bytes: int) -> float:
    """Probability of marks at which senders of this rate neither rise nor fall, by the fluid model.

    Zhu et al., SIGCOMM 2015, section 5: dR_T/dt = dR_C/dt = dalpha/dt = 0, R_T eliminated; timer only.
    """
    cnp, alpha_s, timer = (ns * 1e-9 for ns in _intervals(constants))
    additive = constants.additive_gbps * 1e9 / 8 / frame_bytes

    def surplus(p: float) -> float:
        kept = np.log1p(-p)
        events = p / np.expm1(-timer * rate_pps * kept)
        late = events * np.exp(constants.fast_recovery_rounds * timer * rate_pps * kept)
        cuts = -np.expm1(cnp * rate_pps * kept) / cnp
        alpha = -np.expm1(alpha_s * rate_pps * kept)
        distance = additive * rate_pps * late / cuts
        return float(distance / 2 * rate_pps * events - rate_pps * alpha / 2 * cuts)

    return _bisected(surplus)


def _renewal_fixed_point(rate_pps: float, constants: Dcqcn, frame_bytes: int) -> float:
    """The same without averages over time: a cut begins a cycle of the CNP interval and the wait for a mark, with
    increases at each timer interval in it. The rate returns to what it was if R alpha / 2 E[2^-K] = R_AI E[n - 1 +
    2^-n], K being the increases in a cycle and n those of them after fast recovery."""
    cnp, alpha_s, timer = (ns * 1e-9 for ns in _intervals(constants))
    additive = constants.additive_gbps * 1e9 / 8 / frame_bytes
    increases = np.arange(4000)
    late = np.maximum(increases - constants.fast_recovery_rounds, 0)

    def surplus(p: float) -> float:
        marks = -np.log1p(-p) * rate_pps
        at_least = np.exp(-marks * np.maximum(increases * timer - cnp, 0.0))
        chance = at_least - np.append(at_least[1:], 0.0)
        alpha = min(1.0, alpha_s / (cnp + 1 / marks))
        gained = additive * (chance * (late - 1 + 0.5**late)).sum()
        return float(gained - rate_pps * alpha / 2 * (chance * 0.5**increases).sum())

    return _bisected(surplus)


def _intervals(constants: Dcqcn) -> tuple[float, float, float]:
    return constants.cnp_interval_ns, constants.alpha_interval_ns, constants.increase_interval_ns


@pytest.mark.parametrize("senders", [4, 20])
def test_dcqcn_settles_at_its_fixed_point(senders: int) -> None:
    """Marks are within 8 % of the fixed point of the cycles, and 15 to 40 % above that of the fluid model, which takes
    the distance to the target rate as constant within a cycle."""
    constants = Dcqcn(cut_interval_ns=1_000.0, hyper_gbps=0.04, increase_bytes=0, minimum_gbps=0.01, clamp_target=True)
    network = marking(star(senders + 1, 40.0, delay_ns=500.0), 5_000.0, 1_005_000.0, 0.05)
    engine = engine_of(network, incast(senders, 10**10), framing=OCTETS, transports=[Transport(dcqcn=constants)])
    engine.run(80e6)
    before = engine.counters()
    engine.run(240e6)
    after = engine.counters()
    sent = after.sent_packets[1].sum() - before.sent_packets[1].sum()
    marked = after.marked_packets[1].sum() - before.marked_packets[1].sum()
    assert sent * 8_000 / 160e6 == pytest.approx(40.0, rel=0.01)
    rate_pps = 40e9 / 8_000 / senders
    assert marked / sent == pytest.approx(_renewal_fixed_point(rate_pps, constants, 1000), rel=0.08)
    assert 1.15 < marked / sent / _fluid_fixed_point(rate_pps, constants, 1000) < 1.4


@pytest.mark.parametrize("cnp_interval_ns", [0.0, 4_000.0, 50_000.0])
def test_a_receiver_notifies_at_most_once_in_an_interval(cnp_interval_ns: float) -> None:
    """All packets are marked: the first is notified of, and then one in each interval."""
    network = marking(star(3), 0.0, 0.0, 1.0)
    constants = Dcqcn(cnp_interval_ns=cnp_interval_ns, cut_interval_ns=1e9)
    engine = engine_of(network, incast(2, 5_000_000), framing=OCTETS, transports=[Transport(dcqcn=constants)])
    engine.run(1e9)
    results = engine.flows()
    assert results.marked_packets.min() > 4_900
    expected = results.marked_packets if not cnp_interval_ns else (results.finish_ns // cnp_interval_ns + 1)
    np.testing.assert_allclose(results.cnps, expected, rtol=0.08, atol=1)


def _notified_senders(constants: Dcqcn) -> Engine:
    """Two senders that begin at 60 Gb/s into 100 Gb/s, and a queue that marks every packet above 20 kB."""
    network = marking(star(3), 20_000.0, 20_000.0, 1.0)
    transports = [Transport(dcqcn=constants, rate_gbps=60.0)]
    return engine_of(network, incast(2, 10**9), framing=OCTETS, transports=transports)


def _rates_gbps(constants: Dcqcn, end_ns: float) -> list[float]:
    """The rates that the first of these senders has each microsecond, without repetition."""
    engine = _notified_senders(constants)
    rates = []
    for until_ns in np.arange(5_000.0, end_ns, 1_000.0):
        engine.run(until_ns)
        rates.append(float(engine.flows().rate_gbps[0]))
    return list(dict.fromkeys(rates))


def test_a_notification_halves_the_rate_and_the_timer_brings_it_back() -> None:
    """The first cut is by alpha / 2 = 1/2; increases halve what is missing to the old rate; then the target rises."""
    constants = Dcqcn(
        alpha_interval_ns=1e9,
        cut_interval_ns=10_000.0,
        increase_interval_ns=20_000.0,
        increase_bytes=0,
        cnp_interval_ns=1e9,
        fast_recovery_rounds=3,
        additive_gbps=0.5,
        hyper_gbps=5.0,
    )
    steps = list(dict.fromkeys(round(rate, 6) for rate in _rates_gbps(constants, 250_000.0)))
    expected = [60.0, 30.0, 45.0, 52.5, 56.25]
    target = 60.0
    for rise in (0.5, *[5.0] * 4):
        target += rise
        expected.append(round((expected[-1] + target) / 2, 6))
    assert steps[: len(expected)] == expected


def test_the_byte_counter_raises_the_rate_too() -> None:
    def rate(increase_bytes: int) -> float:
        constants = Dcqcn(cut_interval_ns=10_000.0, cnp_interval_ns=1e9, increase_interval_ns=1e9)
        constants = replace(constants, increase_bytes=increase_bytes)
        engine = _notified_senders(constants)
        engine.run(100_000.0)
        return float(engine.flows().rate_gbps[0])

    assert rate(0) == 30.0
    assert rate(100_000) == 60.0 - 30.0 / 2**4  # 100 kB at 30, 45, 52.5 and 56.25 Gb/s take 74 us


def test_the_byte_counter_alone_never_raises_the_target_fast() -> None:
    """Both counters must have passed fast recovery for hyper increases (Zhu et al. 2015, section 3.2)."""
    constants = Dcqcn(
        cut_interval_ns=10_000.0,
        cnp_interval_ns=1e9,
        increase_interval_ns=1e9,
        increase_bytes=100_000,
        fast_recovery_rounds=1,
        additive_gbps=1.0,
        hyper_gbps=10.0,
    )
    assert _rates_gbps(constants, 110_000.0)[:6] == [60.0, 30.0, 45.0, 53.0, 57.5, 60.25]


# Loss


@pytest.mark.parametrize("loss", [1e-4, 1e-3, 4e-3])
def test_go_back_n_loses_a_round_trip_of_packets_for_each_lost_one(loss: float) -> None:
    """Goodput (1 - p) / (1 - p + p W), W packets being sent from the lost one until its NAK is there (go-back-N ARQ,
    Bertsekas and Gallager, Data Networks, 2.4). W: the round trip 4d, a frame at the switch, and the next frame, whose
    arrival shows the gap, behind the lost one. A retransmission that is lost too waits for the timeout."""
    timeout_ns = 30_000.0
    network = star(2)
    network = replace(network, loss_per_byte=np.where(np.arange(network.links) == 0, loss / 1000, 0.0))
    transport = Transport(dcqcn=None, recovery=Recovery.GO_BACK_N, timeout_ns=timeout_ns)
    engine = engine_of(network, [flow(0, 0, 1, 200_000_000)], framing=OCTETS, transports=[transport])
    assert engine.run(1e9)
    results = engine.flows()
    window = 4_000.0 / FRAME_NS + 3
    losses = loss / (1 - loss)
    expected_ns = 200_000 * FRAME_NS * (1 + losses * window + losses * loss * timeout_ns / FRAME_NS)
    spread = 4 * window * np.sqrt(loss * 200_000) / 200_000 / (1 + losses * window)
    assert results.finish_ns[0] == pytest.approx(expected_ns, rel=0.01 + spread)
    gaps = results.dropped_packets[0] / (1 + losses * window)  # the others are lost behind a gap
    assert results.retransmitted_packets[0] == pytest.approx(gaps * window, rel=0.05)


def test_selective_recovery_sends_each_lost_packet_once_more() -> None:
    network = star(2)
    network = replace(network, loss_per_byte=np.where(np.arange(network.links) == 0, 2e-6, 0.0))
    transport = Transport(dcqcn=None, recovery=Recovery.SELECTIVE, timeout_ns=50_000.0)
    engine = engine_of(network, [flow(0, 0, 1, 100_000_000)], framing=OCTETS, transports=[transport])
    assert engine.run(1e9)
    results = engine.flows()
    assert results.retransmitted_packets[0] == results.dropped_packets[0] > 100
    assert results.received_packets[0] == 100_000
    assert results.finish_ns[0] < 1.02 * 100_000 * FRAME_NS


def test_the_last_packets_of_a_flow_are_sent_again_after_the_timeout() -> None:
    """The switch sends one packet and keeps one: a third is lost, and nothing comes after it."""
    network = limited(star(2, [100.0, 10.0]), 1_000.0)
    for recovery in (Recovery.GO_BACK_N, Recovery.SELECTIVE):
        transport = Transport(dcqcn=None, recovery=recovery, timeout_ns=500_000.0)
        engine = engine_of(network, [flow(0, 0, 1, 2_000)], framing=OCTETS, transports=[transport])
        assert engine.run(1e9)
        assert engine.flows().timeouts[0] == 0
        engine = engine_of(network, [flow(0, 0, 1, 3_000)], framing=OCTETS, transports=[transport])
        assert engine.run(1e9)
        assert engine.flows().timeouts[0] == 1
        assert 500_000.0 < engine.flows().finish_ns[0] < 515_000.0


def test_an_incast_that_loses_packets_takes_longer_than_one_that_pauses() -> None:
    def job_ns(network: Network) -> float:
        engine = engine_of(network, incast(8, 8_000_000), transports=[Transport(timeout_ns=4_000_000.0)])
        assert engine.run(1e9)
        return float(engine.flows().finish_ns.max())

    marked = marking(star(9), 100_000.0, 400_000.0, 0.2)
    assert job_ns(limited(marked, 300_000.0)) > 1.2 * job_ns(lossless(marked, xoff_bytes=300_000.0))


# Hosts


def test_a_slow_host_pauses_its_switch_and_gets_what_it_takes() -> None:
    network = lossless(star(3))
    slow = network.far == 0
    network = replace(
        network,
        rx_gbps=np.where(np.arange(network.nodes) == 0, 20.0, np.inf),
        rx_buffer_bytes=np.full(network.nodes, 200_000.0),
        pfc_sent=network.pfc_sent | (slow[:, None] & (np.arange(8) == LOSSLESS)),
        xoff_bytes=np.where(slow[:, None], 100_000.0, network.xoff_bytes),
        xon_gap_bytes=np.where(slow[:, None], 5_000.0, network.xon_gap_bytes),
    )
    engine = engine_of(network, incast(1, 5_000_000), framing=OCTETS, transports=[FIXED])
    assert engine.run(1e9)
    counters = engine.counters()
    assert counters.rx_dropped_packets.sum() == 0
    assert counters.xoff_received[slow, LOSSLESS].sum() > 10
    assert engine.flows().finish_ns[0] == pytest.approx(4_900_000 / 2.5, rel=0.02)
    without_pfc = replace(network, pfc_sent=network.pfc_sent & ~slow[:, None])
    engine = engine_of(without_pfc, incast(1, 5_000_000), framing=OCTETS, transports=[FIXED])
    engine.run(400_000.0)
    assert engine.counters().rx_dropped_packets[0] > 1000


# Routes


def test_two_tiers_with_the_same_hash_use_a_part_of_the_links() -> None:
    """Host 0, a leaf, two spines, four supers, and host 1: the second tier chooses by the same bits as the first."""
    cables = [(0, 2), (2, 3), (2, 4), *[(spine, sup) for spine in (3, 4) for sup in (5, 6)], (5, 7), (6, 7), (7, 1)]
    network = network_of(cables, [False, False] + [True] * 6)

    def links_used(seeds: np.ndarray) -> int:
        flows = [flow(number, 0, 1, 1) for number in range(200)]
        engine = engine_of(replace(network, hash_seed=seeds), flows)
        engine.run(1e9)
        return len({path[2] for path in engine.paths()})

    assert links_used(np.zeros(8, np.int64)) == 2
    assert links_used(np.arange(8)) == 4


def test_routes_lead_where_they_should() -> None:
    network = leaf_spine(2, 2, 2)
    found = routes(network)
    assert found.members.size
    assert set(np.unique(network.near[found.members])) <= set(np.flatnonzero(network.is_switch))
