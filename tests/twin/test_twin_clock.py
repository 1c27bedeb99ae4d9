"""Simulated time follows the wall clock, and slips rather than race after it."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from railfab.twin.clock import STEP_NS, Clock
from railfab.twin.time_stamps import MOST_BEHIND_NS, OLDEST_NS, TimeStamps


class Simulation:
    """Counts what it is advanced by; each step may take wall time."""

    def __init__(self, step_s: float = 0.0) -> None:
        self.now_ns = 0
        self.steps: list[int] = []
        self._step_s = step_s

    def advance(self, dt_ns: int) -> None:
        time.sleep(self._step_s)
        self.now_ns += dt_ns
        self.steps.append(dt_ns)


ATTEMPTS = 5
"""The clock does not keep up while other processes have the cores."""


def ran(simulation: Simulation, wall_s: float, *, speed: float = 1.0) -> tuple[Clock, float]:
    """A clock that drove the simulation for this long, and how long it really was."""
    clock = Clock(simulation.advance, speed=speed)
    start = time.monotonic()
    clock.start()
    time.sleep(wall_s)
    clock.stop()
    return clock, time.monotonic() - start


def test_a_fast_simulation_keeps_up_with_the_wall() -> None:
    simulation = Simulation()
    clock, wall_s = ran(simulation, 0.6)
    assert abs(simulation.now_ns / 1e9 - wall_s) < 0.2
    assert clock.simulated_ns == simulation.now_ns
    assert clock.slipped_ns == 0
    assert (clock.stopped, clock.failure) == (False, "")


@pytest.mark.parametrize(("speed", "step_ms"), [(0.5, 5), (4.0, 20), (20.0, 100), (200.0, 100)])
def test_a_faster_clock_takes_longer_steps_and_keeps_up(speed: float, step_ms: int) -> None:
    kept = []
    for _ in range(ATTEMPTS):
        simulation = Simulation()
        clock, wall_s = ran(simulation, 1.0, speed=speed)
        assert set(simulation.steps) == {step_ms * 1_000_000}
        assert clock.simulated_ns + clock.slipped_ns == pytest.approx(speed * wall_s * 1e9, rel=0.3)
        kept.append(clock.simulated_ns / (speed * wall_s * 1e9))
        if kept[-1] > 0.3:
            break
    assert max(kept) > 0.3


def test_a_slow_simulation_slips_and_is_never_asked_for_more_than_a_step() -> None:
    simulation = Simulation(step_s=0.015)  # three times slower than real time
    clock, wall_s = ran(simulation, 3.0)
    assert set(simulation.steps) == {STEP_NS}
    assert clock.slipped_ns > 0
    accounted_s = (clock.simulated_ns + clock.slipped_ns) / 1e9
    assert wall_s - MOST_BEHIND_NS / 1e9 - 1.0 < accounted_s <= wall_s


class Computing(Simulation):
    """Each step takes this CPU time."""

    def advance(self, dt_ns: int) -> None:
        until_s = time.thread_time() + 0.02
        while time.thread_time() < until_s:
            sum(range(1000))
        super().advance(dt_ns)


def test_a_slow_simulation_uses_its_share_of_a_core_and_not_more() -> None:
    """Its own CPU time counts, whatever others do with the cores."""
    simulation = Computing()
    clock = Clock(simulation.advance, cpu=0.25)
    start_s = time.monotonic()
    clock.start()
    time.sleep(2.0)
    while len(simulation.steps) < 10 and time.monotonic() < start_s + 30:
        time.sleep(0.1)
    clock.stop()
    wall_s = time.monotonic() - start_s
    assert 0.02 * len(simulation.steps) <= 0.25 * wall_s + 0.05
    assert len(simulation.steps) >= 10


def test_time_that_a_step_waits_for_others_is_not_rested_again() -> None:
    """Steps that take no CPU time but 50 ms of wall time, as on a machine whose cores others use."""
    simulation = Simulation(step_s=0.05)
    _, wall_s = ran(simulation, 2.0)
    assert len(simulation.steps) * 0.05 > 0.7 * wall_s - 0.5


def test_time_stamps_are_further_apart_than_the_time_simulated_between_them_and_not_old() -> None:
    """Also while a slow simulation catches up, and for what was counted long before."""
    stamps, counted_ns = TimeStamps(), 0
    seen: list[tuple[int, int]] = []
    stamps.start()
    for delay_s in (0.0, 0.05, 0.0, 0.0, 1.2, 0.0, 0.0, 0.4, 0.0, 0.0):
        time.sleep(delay_s)
        for _ in range(4):
            asked_ns = time.time_ns()
            seen.append((counted_ns, stamps.stamp_ns(counted_ns)))
            assert asked_ns - OLDEST_NS - 0.1e9 < seen[-1][1] < time.time_ns() + 0.1e9
            while stamps.behind_ns() >= STEP_NS and stamps.simulated_ns < counted_ns + 20 * STEP_NS:
                stamps.pass_time(STEP_NS)
        counted_ns = stamps.simulated_ns
    pairs = list(pairwise(seen))
    assert all(later[1] - earlier[1] >= later[0] - earlier[0] for earlier, later in pairs)
    assert stamps.slipped_ns > 0
