"""Simulated time that follows the wall clock, and falls behind where the simulation is slower."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from railfab.units import NS_PER_MS, NS_PER_S

logger = logging.getLogger(__name__)

TICK_NS = 50 * NS_PER_MS
"""Interval in which simulated time catches up with the wall clock [ns]."""
STEP_NS = 5 * NS_PER_MS
"""Length of one step of simulated time [ns]."""
MOST_BEHIND_NS = 500 * NS_PER_MS
"""Delay that simulated time catches up; a longer one is lost in part, and counted [ns]."""


class Clock:
    """Moves a simulation along with wall time, in its own thread.

    advance: lets this much simulated time pass [ns]. recover: called after an exception of `advance`; the simulation
    continues from there. An exception in the first step after it stops simulated time for good.

    Time moves in equal steps. After a step that was slower than real time the clock rests as long as the step took: a
    simulation that is slower than real time takes half a core and slips, instead of a whole one.
    simulated_ns, slipped_ns: simulated time, and wall time left out. failure: what `advance` raised last, empty when
    nothing.
    """

    def __init__(self, advance: Callable[[int], None], recover: Callable[[], None] = lambda: None) -> None:
        self._advance, self._recover = advance, recover
        self._stop_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-clock", daemon=True)
        self._start_ns = 0
        self._recovered = self._stopped = False
        self.simulated_ns = 0
        self.slipped_ns = 0
        self.failure = ""

    @property
    def stopped(self) -> bool:
        """Whether simulated time has stopped for good."""
        return self._stopped

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the step that is being computed."""
        self._stop_requested.set()
        self._thread.join()

    def _run(self) -> None:
        self._start_ns = time.monotonic_ns()
        while not self._stop_requested.wait(TICK_NS / NS_PER_S):
            while self._behind_ns() >= STEP_NS and not self._stop_requested.is_set():
                took_ns = self._step()
                if took_ns is None:
                    return
                if took_ns > STEP_NS:
                    self._stop_requested.wait(took_ns / NS_PER_S)

    def _behind_ns(self) -> int:
        """Delay of simulated time against the wall clock, at most MOST_BEHIND_NS: the rest is lost here."""
        behind_ns = time.monotonic_ns() - self._start_ns - self.simulated_ns - self.slipped_ns
        lost_ns = max(0, behind_ns - MOST_BEHIND_NS)
        self.slipped_ns += lost_ns
        return behind_ns - lost_ns

    def _step(self) -> int | None:
        """Pass one step; how long it took on the wall [ns], None when simulated time has stopped for good."""
        began_ns = time.monotonic_ns()
        try:
            self._advance(STEP_NS)
        except Exception as error:  # noqa: BLE001 - whatever it is, the switches go on answering
            if not self._take_failure(error):
                return None
        else:
            self._recovered = False
        self.simulated_ns += STEP_NS
        return time.monotonic_ns() - began_ns

    def _take_failure(self, error: Exception) -> bool:
        """Note what the simulation raised, and have it recover; false when it did not."""
        self.failure = f"{type(error).__name__}: {error}"
        logger.error("the simulation failed, its job has stopped", exc_info=error)
        if self._recovered:
            logger.error("the simulation failed again after its job had stopped; simulated time has stopped")
            self._stopped = True
            return False
        self._recovered = True
        try:
            self._recover()
        except Exception:
            logger.exception("the simulation could not go on after its failure; simulated time has stopped")
            self._stopped = True
        return not self._stopped
