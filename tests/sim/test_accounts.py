"""What holds for every run: packets and octets are neither made nor lost, and how a run is cut changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sampled import sampled
from tests.sim.accounts import assert_all_packets_are_accounted_for
from tests.sim.random_runs import advance, random_run

from railfab.sim import Counters, Engine

RUNS = sampled(range(40), few=range(16))


@pytest.mark.parametrize("seed", RUNS)
def test_packets_are_neither_made_nor_lost(seed: int) -> None:
    run = random_run(seed)
    engine = run.engine()
    before = engine.counters(), 0.0
    for until_ns, network in run.times(np.random.default_rng(seed).uniform(0, run.end_ns, 6).tolist()):
        advance(engine, until_ns, network)
        assert_all_packets_are_accounted_for(engine)
        before = assert_queues_waited_for_what_they_held(engine, *before)
    assert engine.flows().sent_packets.sum() > 0


@pytest.mark.parametrize("seed", RUNS)
def test_a_run_that_is_cut_restored_and_looked_at_is_the_same_run(seed: int) -> None:
    run = random_run(seed)
    whole, cut = run.engine(), run.engine()
    for until_ns, network in run.times([]):
        advance(whole, until_ns, network)
    other = random_run(seed + 1).engine()
    cuts = (np.random.default_rng(seed).uniform(0, run.end_ns, 150)).tolist()
    for number, (until_ns, network) in enumerate(run.times(cuts)):
        advance(cut, until_ns, network)
        cut.counters()
        if number % 20 == 7 and other.network.links == cut.network.links:
            other.restore(cut.snapshot())
            cut.run(until_ns + 5_000.0)
            cut, other = other, cut
    assert cut.fingerprint() == whole.fingerprint()
    assert_same(cut.counters(), whole.counters())


def assert_queues_waited_for_what_they_held(
    engine: Engine, before: Counters, since_ns: float
) -> tuple[Counters, float]:
    """Bytes times their waiting time: at most the longest queue for all the time, whether or not packets left it.

    A packet that begins to be sent counts up to the end of the acknowledgements before it, less than a microsecond.
    """
    counters, span_ns = engine.counters(), engine.now_ns - since_ns
    waited = counters.waiting_byte_ns - before.waiting_byte_ns
    assert (waited >= 0).all()
    assert (waited <= counters.peak_bytes * (span_ns + 1_000.0)).all()
    return counters, engine.now_ns


def assert_same(one: Counters, other: Counters) -> None:
    for name in Counters.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
