"""Flows that come, go, lose their way and find another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.sim.sim_networks import LOSSLESS, PLAIN, row, star, star_flows

from railfab.sim import QUEUES, Engine, Flow, Path, Strides


def fork() -> tuple[Path, Path]:
    """Two ways of one flow: over link 1 or over link 2, from link 0 to link 3."""
    return tuple(  # type: ignore[return-value]
        Path(links=(0, middle, 3), queues=(LOSSLESS,) * 3, lossless=(True, True), back_ns=1500.0) for middle in (1, 2)
    )


def test_remaining_bytes_take_the_new_way_and_none_is_lost() -> None:
    upper, lower = fork()
    network = row((100.0,) * 4)
    engine = Engine(network, framing=PLAIN)
    engine.start([Flow(id=1, payload_bytes=1e7, path=upper)])
    engine.run(400_000)
    engine.reroute(network, {1: lower})
    while engine.active():
        engine.run(10_000_000)
    sent = engine.counters().sent_bytes.reshape(4, QUEUES).sum(axis=1)
    assert sent[1] > 4e6
    assert sent[2] > 4e6
    assert sent[1] + sent[2] == pytest.approx(1e7, abs=2)
    assert sent[3] == pytest.approx(1e7, abs=2)


def test_what_was_on_a_link_that_broke_is_sent_again() -> None:
    upper, lower = fork()
    network = row((100.0,) * 4)
    engine = Engine(network, framing=PLAIN)
    engine.start([Flow(id=1, payload_bytes=1e7, path=upper)])
    engine.run(400_000)
    broken = replace(network, rate_gbps=np.array([100.0, 0.0, 100.0, 100.0]))
    engine.reroute(broken, {1: lower})
    while engine.active():
        engine.run(10_000_000)
    counters = engine.counters()
    assert counters.dropped_bytes.sum() > 0
    assert counters.sent_bytes.reshape(4, QUEUES).sum(axis=1)[3] == pytest.approx(1e7, abs=2)
    assert counters.sent_bytes[LOSSLESS] == pytest.approx(1e7 + counters.dropped_bytes.sum(), abs=2)


def test_a_flow_without_a_way_waits_and_goes_on_when_there_is_one() -> None:
    upper, _ = fork()
    network = row((100.0,) * 4)
    engine = Engine(network, framing=PLAIN)
    engine.start([Flow(id=1, payload_bytes=1e6, path=None)])
    assert engine.run(1_000_000) == ()
    assert engine.stalled() == (1,)
    engine.reroute(network, {1: upper})
    assert engine.run(10_000_000) == (1,)
    engine.start([Flow(id=2, payload_bytes=1e7, path=upper)])
    engine.run(engine.now_ns + 300_000)
    engine.reroute(network, {2: None})
    sent = engine.counters().sent_bytes.sum()
    engine.run(engine.now_ns + 1_000_000)
    assert engine.counters().sent_bytes.sum() == sent
    engine.reroute(network, {2: upper})
    assert engine.run(engine.now_ns + 10_000_000) == (2,)
    assert engine.counters().sent_bytes.reshape(4, QUEUES).sum(axis=1)[3] == pytest.approx(1.1e7, abs=2)


def test_a_reroute_that_changes_nothing_changes_nothing() -> None:
    def run(reroutes: int) -> tuple[int, float]:
        network = star(4, kmin_bytes=100_000.0, xoff_bytes=200_000.0)
        engine = Engine(network, framing=PLAIN, strides=Strides(longest=0))
        flows = star_flows(4, 1e6)
        engine.start(flows)
        engine.run(50_000)
        for _ in range(reroutes):
            engine.reroute(network, {flow.id: flow.path for flow in flows})
        while engine.active():
            engine.run(10_000_000)
        return engine.now_ns, engine.counters().sent_bytes.sum()

    once, thrice = run(1), run(3)
    assert thrice == once


def test_stopping_ends_all_flows_and_keeps_the_counters() -> None:
    engine = Engine(star(4, xoff_bytes=100_000.0), framing=PLAIN)
    engine.start(star_flows(4, 1e7))
    engine.run(100_000)
    sent = engine.counters().sent_bytes.sum()
    engine.stop()
    assert engine.active() == ()
    assert engine.counters().sent_bytes.sum() >= sent
    engine.run(1_000_000)
    assert engine.now_ns == 1_000_000


def test_strides_over_lasting_congestion_stay_near_the_full_run() -> None:
    def run(strides: Strides) -> tuple[float, float]:
        engine = Engine(star(4, kmin_bytes=150_000.0), framing=PLAIN, strides=strides)
        engine.start(star_flows(4, 1e8))
        while engine.active():
            engine.run(1_000_000_000)
        counters = engine.counters()
        np.testing.assert_allclose(counters.taken_bytes, counters.sent_bytes, rtol=1e-9, atol=4)
        return engine.now_ns, counters.marked_packets.sum()

    full_ns, full_marks = run(Strides(longest=0))
    strided_ns, strided_marks = run(Strides())
    assert strided_ns == pytest.approx(full_ns, rel=0.05)
    assert strided_marks == pytest.approx(full_marks, rel=0.6)


def test_an_idle_hour_costs_nothing() -> None:
    engine = Engine(star(1), framing=PLAIN)
    engine.start(star_flows(1, 12.5e9 * 3600))
    assert engine.run(3_700_000_000_000) == (0,)
    assert engine.now_ns == pytest.approx(3.6e12, rel=1e-6)
