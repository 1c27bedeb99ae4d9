"""A fabric without flows publishes what it has counted without making it again; a job counts from there on."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from tests.twin.test_live_concurrency import MS, TRANSMITTED, deployed, incast, totals

from railfab.sim.counters import Counters


def test_an_engine_without_flows_makes_its_counters_once() -> None:
    running = deployed()
    engine = running._engine
    before = engine.counters()
    running.advance(10 * MS)
    assert engine.counters() is before
    fresh = Counters.of(engine.engine.state, before.ack_packets, before.cnp_packets)
    for field in fields(Counters):
        assert np.array_equal(getattr(before, field.name), getattr(fresh, field.name)), field.name


def test_a_job_after_a_quiet_time_is_counted() -> None:
    running = deployed()
    running.advance(10 * MS)
    quiet = totals(running)
    running.start(incast())
    running.advance(10 * MS)
    assert totals(running)[TRANSMITTED] > quiet[TRANSMITTED]
    assert running._engine.counters() is not running._engine.counters()


def test_a_change_of_the_network_makes_them_again() -> None:
    running = deployed()
    engine = running._engine.engine
    before = engine.counters()
    engine.reroute(engine.network, engine.routing)
    assert engine.counters() is not before
