"""Simulated time that follows the wall clock, and falls behind rather than race after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from railfab.units import NS_PER_MS, NS_PER_S

TICK_NS = 50 * NS_PER_MS
"""How often simulated time catches up with the wall [ns]."""
STEP_NS = 5 * NS_PER_MS
"""By how much it moves at once: whoever wants to read the simulation waits for one step at most [ns]."""
MOST_BEHIND_NS = 500 * NS_PER_MS
"""What simulated time makes good after a delay; a longer one is lost, and counted [ns]."""


class Clock:
    """Moves a simulation along with wall time, in a thread of its own.

    It moves in equal steps. After a step that was slower than real time it rests as long as the step took: a simulation
    that cannot keep up takes half a core and slips, instead of a whole one. slipped_ns: wall time left out.
    """

    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-clock", daemon=True)
        self._start_ns = 0
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
        self._start_ns = time.monotonic_ns()
        while not self._ended.wait(TICK_NS / NS_PER_S):
            while self._behind_ns() >= STEP_NS and not self._ended.is_set():
                took_ns = self._step()
                if took_ns > STEP_NS:
                    self._ended.wait(took_ns / NS_PER_S)

    def _behind_ns(self) -> int:
        """How far simulated time is behind the wall; what is too much to make good is lost here."""
        behind_ns = time.monotonic_ns() - self._start_ns - self.simulated_ns - self.slipped_ns
        lost_ns = max(0, behind_ns - MOST_BEHIND_NS)
        self.slipped_ns += lost_ns
        return behind_ns - lost_ns

    def _step(self) -> int:
        """One step; how long it took on the wall [ns]."""
        began_ns = time.monotonic_ns()
        self._advance(STEP_NS)
        self.simulated_ns += STEP_NS
        return time.monotonic_ns() - began_ns
