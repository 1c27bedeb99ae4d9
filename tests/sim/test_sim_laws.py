"""What holds for every run: octets are neither made nor lost, counters only grow, links carry what they can."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sim.sim_networks import LOSSLESS, PLAIN, star, star_flows

from railfab.sim import QUEUES, Counters, Engine, Network, Strides

GAUGES = {"depth_bytes", "peak_bytes", "headroom_bytes", "headroom_peak_bytes"}
STEPWISE = Strides(longest=0)


def copied(counters: Counters) -> Counters:
    return Counters(*(getattr(counters, field.name).copy() for field in fields(counters)))


def finish(engine: Engine, until_ns: int = 50_000_000) -> None:
    while engine.active() and engine.now_ns < until_ns:
        engine.run(until_ns)


def incast(
    network: Network, *, senders: int, payload_bytes: float = 1e6, seed: int = 1, lossless: bool = True
) -> Engine:
    engine = Engine(network, seed=seed, framing=PLAIN, strides=STEPWISE)
    engine.start(star_flows(senders, payload_bytes, lossless=lossless))
    return engine


networks = st.builds(
    star,
    st.just(4),
    kmin_bytes=st.sampled_from([50_000.0, 200_000.0, np.inf]),
    xoff_bytes=st.sampled_from([30_000.0, 200_000.0, np.inf]),
    headroom_bytes=st.sampled_from([0.0, 20_000.0, 200_000.0]),
    pfc=st.booleans(),
)


@settings(max_examples=25)
@given(network=networks, lossless=st.booleans(), stop_ns=st.integers(10_000, 400_000))
def test_octets_are_neither_made_nor_lost_in_any_queue(network: Network, lossless: bool, stop_ns: int) -> None:
    engine = incast(network, senders=4, lossless=lossless)
    engine.run(stop_ns)
    counters = engine.counters()
    kept = counters.sent_bytes + counters.dropped_bytes + counters.refused_bytes + counters.depth_bytes
    np.testing.assert_allclose(counters.taken_bytes, kept, atol=1.0)
    assert counters.taken_bytes.sum() > 0


@settings(max_examples=10)
@given(network=networks)
def test_what_is_dropped_is_sent_again_until_all_has_arrived(network: Network) -> None:
    engine = incast(network, senders=4, payload_bytes=3e5)
    finish(engine)
    counters = engine.counters()
    assert engine.active() == ()
    assert counters.sent_bytes[4 * QUEUES + LOSSLESS] == pytest.approx(4 * 3e5, abs=4)
    lost = counters.dropped_bytes.sum() + counters.refused_bytes.sum()
    assert counters.sent_bytes[: 4 * QUEUES].sum() == pytest.approx(4 * 3e5 + lost, abs=4)


@settings(max_examples=10)
@given(network=networks)
def test_counters_never_go_back_and_no_link_carries_more_than_its_rate(network: Network) -> None:
    engine = incast(network, senders=4)
    before = copied(engine.counters())
    for _ in range(20):
        began_ns = engine.now_ns
        engine.run(began_ns + 20_000)
        now = copied(engine.counters())
        for field in fields(now):
            if field.name not in GAUGES:
                assert (getattr(now, field.name) >= getattr(before, field.name) - 1e-6).all(), field.name
        carried = (now.sent_bytes - before.sent_bytes).reshape(-1, QUEUES).sum(axis=1)
        room = network.rate_gbps / 8 * max(1, engine.now_ns - began_ns)
        assert (carried <= room * (1 + 1e-9) + 1).all()
        before = now


@settings(max_examples=10)
@given(network=networks)
def test_marks_are_at_most_the_packets(network: Network) -> None:
    engine = incast(network, senders=4)
    finish(engine, 300_000)
    counters = engine.counters()
    assert (counters.marked_packets <= counters.packets(PLAIN)).all()


def test_the_same_seed_gives_the_same_counters_and_another_seed_other_marks() -> None:
    def run(seed: int) -> Counters:
        engine = incast(star(4, kmin_bytes=50_000.0), senders=4, seed=seed)
        finish(engine)
        return engine.counters()

    first, again, other = run(1), run(1), run(2)
    for field in fields(first):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(again, field.name))
    assert not np.array_equal(first.marked_packets, other.marked_packets)


def test_looking_at_the_counters_changes_nothing() -> None:
    watched, unwatched = (incast(star(4, kmin_bytes=50_000.0), senders=4) for _ in range(2))
    for stop_ns in range(10_000, 510_000, 10_000):
        watched.run(stop_ns)
        watched.counters()
    while unwatched.now_ns < watched.now_ns:
        unwatched.run(watched.now_ns)
    np.testing.assert_allclose(watched.counters().marked_packets, unwatched.counters().marked_packets)


def test_a_lower_kmin_gives_more_marks_and_a_shorter_queue() -> None:
    def run(kmin_bytes: float) -> tuple[float, float]:
        engine = incast(star(4, kmin_bytes=kmin_bytes), senders=4, payload_bytes=5e6)
        finish(engine)
        counters = engine.counters()
        return counters.marked_packets.sum(), counters.waiting_byte_ns.sum() / engine.now_ns

    low, high = run(100_000.0), run(800_000.0)
    assert low[0] > high[0] > 0
    assert low[1] < high[1]


def test_pfc_off_turns_pauses_into_drops() -> None:
    def run(pfc: bool) -> Counters:
        engine = incast(star(4, xoff_bytes=100_000.0, pfc=pfc), senders=4)
        finish(engine)
        return engine.counters()

    on, off = run(True), run(False)
    assert on.xoffs.sum() > 0
    assert on.refused_bytes.sum() == 0
    assert off.pause_frames.sum() == 0
    assert off.refused_bytes.sum() > 0


@settings(max_examples=10)
@given(senders=st.integers(2, 8), xoff_bytes=st.floats(20_000, 400_000))
def test_nothing_is_dropped_with_pfc_and_enough_headroom(senders: int, xoff_bytes: float) -> None:
    """Enough is what arrives until a pause works: the loop, and a step for noticing."""
    loop_bytes = 100 / 8 * (1000 + 1000 + 500)
    engine = incast(star(senders, xoff_bytes=xoff_bytes, headroom_bytes=loop_bytes), senders=senders)
    finish(engine)
    counters = engine.counters()
    assert counters.refused_bytes.sum() + counters.dropped_bytes.sum() == 0
    assert counters.headroom_peak_bytes.max() <= loop_bytes


def test_a_pause_that_is_not_obeyed_overflows_the_headroom() -> None:
    network = star(4, xoff_bytes=100_000.0, headroom_bytes=30_000.0)
    network.pfc_honoured[:] = False
    engine = incast(network, senders=4)
    finish(engine)
    counters = engine.counters()
    assert counters.refused_bytes.sum() > 0
    assert counters.xoffs.sum() > 0
    assert counters.paused_ns.sum() == 0


def test_a_lossy_queue_drops_its_tail() -> None:
    network = star(4)
    network.limit_bytes[4, 0] = 100_000.0
    engine = incast(network, senders=4, lossless=False)
    finish(engine)
    counters = engine.counters()
    assert counters.dropped_bytes[4 * QUEUES] > 0
    assert counters.peak_bytes[4 * QUEUES] <= 100_000.0 + 1
    assert counters.pause_frames.sum() == 0


def test_competing_queues_of_a_port_share_it_by_weight() -> None:
    network = star(2)
    network.weight[2, LOSSLESS], network.weight[2, 0] = 90.0, 10.0
    engine = Engine(network, framing=PLAIN, strides=STEPWISE)
    lossless, lossy = star_flows(2, 5e6)[0], star_flows(2, 5e6, lossless=False)[1]
    engine.start([lossless, lossy])
    engine.run(200_000)
    sent = engine.counters().sent_bytes[2 * QUEUES : 3 * QUEUES]
    assert sent[LOSSLESS] / sent.sum() == pytest.approx(0.9, abs=0.01)
    assert sent.sum() == pytest.approx(12.5 * 200_000, rel=0.02)
