"""Simulated time that follows the wall clock, and falls behind where the simulation is slower."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from railfab.twin.time_stamps import TimeStamps
from railfab.units import NS_PER_MS, NS_PER_S

logger = logging.getLogger(__name__)

TICK_NS = 50 * NS_PER_MS
"""Interval in which simulated time catches up with the wall clock [ns]."""
STEP_NS = 5 * NS_PER_MS
"""Length of one step at the speed of wall time and below [simulated ns]; at higher speeds steps are longer."""
LONGEST_STEP_NS = 100 * NS_PER_MS
"""Length of one step at any speed: less than the delay that is caught up [simulated ns]."""
LEAST_REST_NS = NS_PER_MS
"""Shorter rests are put off until they add up [ns]."""


class Clock:
    """Moves a simulation along with wall time, in its own thread.

    advance: lets this much simulated time pass [ns]. recover: called after an exception of `advance`; the simulation
    continues from there. An exception in the first step after it stops simulated time for good.
    cpu: share of a core that the simulation may use, above 0 and at most 1. What counts is its own CPU time: other
    programs that compete for the cores take nothing from the share. speed: simulated seconds that are due in a second.

    Time moves in equal steps.
    simulated_ns: simulated time. stamps: the time stamps of what was counted. failure: what `advance` raised last,
    empty when nothing.
    """

    def __init__(
        self,
        advance: Callable[[int], None],
        recover: Callable[[], None] = lambda: None,
        *,
        cpu: float = 1.0,
        speed: float = 1.0,
    ) -> None:
        self._advance, self._recover = advance, recover
        self._cpu = cpu
        self._tick_s = TICK_NS / NS_PER_S / speed
        self._step_ns = min(round(STEP_NS * max(1.0, speed)), LONGEST_STEP_NS)
        self._stop_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-clock", daemon=True)
        self._recovered = self._stopped = False
        self._free_ns = 0
        self.stamps = TimeStamps(speed)
        self.failure = ""

    @property
    def simulated_ns(self) -> int:
        return self.stamps.simulated_ns

    @property
    def slipped_ns(self) -> int:
        """Wall time that was left out [ns]."""
        return self.stamps.slipped_ns

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

    def wait(self, simulated_s: float) -> bool:
        """Wait until this much simulated time has passed; false where it ends before."""
        over_ns = self.simulated_ns + round(simulated_s * NS_PER_S)
        while self.simulated_ns < over_ns and not self._stopped:
            if self._stop_requested.wait(self._tick_s):
                break
        return self.simulated_ns >= over_ns

    def _run(self) -> None:
        self.stamps.start()
        while not self._stop_requested.wait(self._tick_s):
            while self.stamps.behind_ns() >= self._step_ns and not self._stop_requested.is_set():
                if not self._step():
                    return

    def _step(self) -> bool:
        """Pass one step, and rest for the share of a core; false when simulated time has stopped for good."""
        began_ns, cpu_ns = time.monotonic_ns(), time.thread_time_ns()
        try:
            self._advance(self._step_ns)
        except Exception as error:  # noqa: BLE001 - any defect: it ends the job, not the thread; logged there
            if not self._take_failure(error):
                return False
        else:
            self._recovered = False
        self.stamps.pass_time(self._step_ns)
        self._rest(began_ns, time.thread_time_ns() - cpu_ns)
        return True

    def _rest(self, began_ns: int, cpu_ns: int) -> None:
        """Wait until this CPU time, used since then, is the share of the wall time."""
        self._free_ns = max(self._free_ns, began_ns) + round(cpu_ns / self._cpu)
        rest_ns = self._free_ns - time.monotonic_ns()
        if rest_ns > LEAST_REST_NS:
            self._stop_requested.wait(rest_ns / NS_PER_S)

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
        except Exception:  # any defect of the recovery: the switches keep answering, and `stopped` says so
            logger.exception("the simulation could not continue after its failure; simulated time has stopped")
            self._stopped = True
        return not self._stopped
