"""Runs whose outcome can be written down."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sim.sim_networks import LOSSLESS, PLAIN, row, star, star_flows

from railfab.sim import Dcqcn, Engine, Flow, Framing, Path, Strides, marking_probability, max_min_rates

PFC_ONLY = Dcqcn(enabled=False)


def completion_ns(engine: Engine) -> int:
    while engine.active():
        engine.run(10_000_000_000)
    return engine.now_ns


def test_a_lone_flow_takes_its_bytes_at_line_rate_and_one_way() -> None:
    engine = Engine(star(1), framing=PLAIN)
    engine.start(star_flows(1, 1e9))
    assert completion_ns(engine) == pytest.approx(1e9 / 12.5 + 2000, abs=2000)


def test_an_incast_takes_its_bytes_over_the_rate_and_a_round_trip() -> None:
    engine = Engine(star(4, xoff_bytes=200_000.0), framing=PLAIN, dcqcn=PFC_ONLY, strides=Strides(longest=0))
    engine.start(star_flows(4, 2e6))
    assert completion_ns(engine) == pytest.approx(8e6 / 12.5 + 4000, rel=0.01)


def test_headers_and_gaps_take_their_share_of_the_rate() -> None:
    framing = Framing()
    engine = Engine(star(1), framing=framing)
    engine.start(star_flows(1, 4096e5))
    assert completion_ns(engine) == pytest.approx(4178e5 / 12.5 + 2000, abs=2000)
    assert engine.counters().sent_bytes.max() == pytest.approx(4158e5, abs=2)
    assert engine.counters().packets(framing).max() == 1e5


def test_the_pause_period_of_two_into_one_is_the_loop_and_the_hysteresis_four_times() -> None:
    """Each ingress fills and drains at half the rate C. From XOFF it goes on filling for a loop L, and drains as much
    and the gap g; then it goes on draining for a loop, and fills as much and the gap: 4 L + 2 g / (C / 2).
    The fluid meets it in 5 %."""
    network = star(2, xoff_bytes=100_000.0, xon_gap_bytes=2500.0)
    engine = Engine(network, framing=PLAIN, dcqcn=PFC_ONLY, step_ns=100, strides=Strides(longest=0))
    engine.start(star_flows(2, 1e8))
    engine.run(200_000)
    before = engine.counters().xoffs[0]
    engine.run(1_200_000)
    period_ns = 1_000_000 / (engine.counters().xoffs[0] - before)
    assert period_ns == pytest.approx(4 * 2000 + 4 * 2500 / 12.5, rel=0.05)


def test_a_pause_is_repeated_when_half_of_its_quanta_are_over() -> None:
    """65,535 quanta of 512 bit times last 336 us at 100 Gb/s (IEEE 802.1Qbb). The gap to XON is never drained."""
    network = star(2, xoff_bytes=100_000.0, xon_gap_bytes=1e9)
    engine = Engine(network, framing=PLAIN, dcqcn=PFC_ONLY, strides=Strides(longest=0))
    engine.start(star_flows(2, 1e8))
    engine.run(1_000_000)
    counters = engine.counters()
    assert counters.xoffs[0] == 1
    assert counters.pause_frames[0] == 1 + int((1_000_000 - 20_000) / (65_535 / 2 * 512 / 100))


@pytest.mark.parametrize("cnp_interval_ns", [20_000, 200_000])
def test_a_receiver_notifies_a_flow_once_an_interval_at_most(cnp_interval_ns: int) -> None:
    """Every packet is marked from the first queue on, so that each interval has its notification."""
    dcqcn = Dcqcn(cnp_interval_ns=cnp_interval_ns, additive_gbps=0.0, minimum_gbps=50.0)
    engine = Engine(star(4, kmin_bytes=1.0), framing=PLAIN, dcqcn=dcqcn, step_ns=1000, strides=Strides(longest=0))
    engine.start(star_flows(4, 1e9))
    engine.run(2_000_000)
    sent = engine.counters().notification_packets
    assert 0.8 * 2_000_000 / cnp_interval_ns < sent[sent > 0].min()
    assert sent[5 * 8 + 8 :].max() <= 1 + 2_000_000 / cnp_interval_ns


@pytest.mark.parametrize(
    ("paths", "capacity", "rates"),
    [
        ([[0], [0]], [10.0], [5.0, 5.0]),
        ([[0, 1], [0], [1]], [10.0, 4.0], [2.0, 8.0, 2.0]),
        ([[0], [0, 1], [1, 2], [2]], [12.0, 6.0, 100.0], [9.0, 3.0, 3.0, 97.0]),
        ([[0]], [0.0], [0.0]),
        ([[]], [1.0], [np.inf]),
    ],
)
def test_max_min_shares_are_the_ones_found_by_hand(
    paths: list[list[int]], capacity: list[float], rates: list[float]
) -> None:
    np.testing.assert_allclose(max_min_rates(paths, np.array(capacity)), rates)


def test_flows_of_one_port_and_one_bottleneck_settle_at_their_max_min_shares() -> None:
    network = row((100.0, 40.0, 100.0))
    path = Path(links=(0, 1, 2), queues=(LOSSLESS,) * 3, lossless=(True, True), back_ns=1500.0)
    engine = Engine(network, framing=PLAIN, dcqcn=PFC_ONLY)
    engine.start([Flow(id=id, payload_bytes=1e9, path=path) for id in range(4)])
    engine.run(100_000)
    exact = max_min_rates([path.links] * 4, network.rate_gbps)
    sent = engine.counters().sent_bytes.reshape(3, -1).sum(axis=1)
    assert sent[1] / 4 * 8 / 100_000 == pytest.approx(exact[0], rel=0.03)


def test_dcqcn_settles_near_the_max_min_share() -> None:
    """Its shares still swing after milliseconds: 15 % is what two windows of 20 ms of one seed are apart."""
    engine = Engine(star(4, kmin_bytes=150_000.0), framing=PLAIN, step_ns=1000, strides=Strides(longest=0))
    engine.start(star_flows(4, 1e9))
    engine.run(3_000_000)
    before = engine.counters().sent_bytes[: 4 * 8].reshape(4, 8).sum(axis=1).copy()
    engine.run(23_000_000)
    sent = engine.counters().sent_bytes[: 4 * 8].reshape(4, 8).sum(axis=1)
    np.testing.assert_allclose((sent - before) * 8 / 20_000_000, np.full(4, 25.0), rtol=0.15)


def test_the_marking_ramp() -> None:
    depths = np.array([0.0, 100.0, 150.0, 200.0, 201.0])
    chances = marking_probability(depths, kmin_bytes=np.array(100.0), kmax_bytes=np.array(200.0), pmax=np.array(0.2))
    np.testing.assert_allclose(chances, [0.0, 0.0, 0.1, 0.2, 1.0])
