"""Simulated time that follows the wall clock, and falls behind rather than race after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from railfab.units import NS_PER_MS

TICK_NS = 50 * NS_PER_MS
"""How often simulated time moves, and by how much at once [ns]."""
MOST_BEHIND_NS = 500 * NS_PER_MS
"""What simulated time makes good after a delay; a longer one is lost, and counted [ns]."""


class Clock:
    """Moves a simulation along with wall time, in a thread of its own.

    After each turn it rests at least as long as the turn took: a simulation that is slower than real time takes half a
    core and slips, instead of taking a whole one. slipped_ns: wall time that was not simulated.
    """

    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-clock", daemon=True)
        self.simulated_ns = 0
        self.slipped_ns = 0

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the step that is being computed."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        start_ns = time.monotonic_ns()
        rest_ns = TICK_NS
        while not self._ended.wait(rest_ns / 1e9):
            began_ns = time.monotonic_ns()
            self._turn(began_ns - start_ns - self.simulated_ns - self.slipped_ns)
            rest_ns = max(TICK_NS, time.monotonic_ns() - began_ns)

    def _turn(self, behind_ns: int) -> None:
        """Make good what is behind, in small steps so that others get at the simulation between them."""
        lost_ns = max(0, behind_ns - MOST_BEHIND_NS)
        self.slipped_ns += lost_ns
        left_ns = behind_ns - lost_ns
        while left_ns > 0 and not self._ended.is_set():
            step_ns = min(left_ns, TICK_NS)
            self._advance(step_ns)
            self.simulated_ns += step_ns
            left_ns -= step_ns
