"""Simulated time follows the wall clock, and slips rather than race after it."""

from __future__ import annotations

import time

from railfab.twin.clock import MOST_BEHIND_NS, STEP_NS, Clock


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


def ran(simulation: Simulation, wall_s: float) -> tuple[Clock, float]:
    """A clock that drove the simulation for this long, and how long it really was."""
    clock = Clock(simulation.advance)
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


def test_a_slow_simulation_slips_and_is_never_asked_for_more_than_a_step() -> None:
    simulation = Simulation(step_s=0.015)  # three times slower than real time
    clock, wall_s = ran(simulation, 3.0)
    assert set(simulation.steps) == {STEP_NS}
    assert clock.slipped_ns > 0
    accounted_s = (clock.simulated_ns + clock.slipped_ns) / 1e9
    assert wall_s - MOST_BEHIND_NS / 1e9 - 1.0 < accounted_s <= wall_s


def test_a_slow_simulation_leaves_half_the_time_to_others() -> None:
    simulation = Simulation(step_s=0.1)
    _, wall_s = ran(simulation, 3.0)
    assert len(simulation.steps) * 0.1 < 0.7 * wall_s + 1.0
