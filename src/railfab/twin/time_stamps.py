"""Time stamps of what was counted in simulated time: between two of them never passes less wall than simulated time."""

from __future__ import annotations

import threading
import time

from railfab.units import NS_PER_MS

MOST_BEHIND_NS = 300 * NS_PER_MS
"""Delay that simulated time catches up; a longer one is lost in part, and counted as slip [ns]."""
OLDEST_NS = 800 * NS_PER_MS
"""Greatest age of a time stamp [ns]."""
CLOCK_STEP_NS = 100 * NS_PER_MS
"""From here on, a difference between the system's clock and the monotonic one is a step of the former [ns]."""


class TimeStamps:
    """The wall time of every moment of simulated time: the start, the time simulated since, and the time left out.

    Time is left out where the simulation is slower than real time. A simulation that catches up simulates more than
    the time that passes meanwhile, but not more than lies between the time stamps; so no link shows more than its rate.
    Thread-safe. simulated_ns, slipped_ns: simulated time, and wall time left out [ns]. speed: simulated seconds that
    are due in a second of the wall.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed
        self._lock = threading.Lock()
        self._start_ns: int | None = None
        self._unix_ns = time.time_ns() - time.monotonic_ns()
        self.simulated_ns = self.slipped_ns = 0

    def start(self) -> None:
        """Simulated time begins now."""
        self._start_ns = time.monotonic_ns()

    def pass_time(self, simulated_ns: int) -> None:
        """This much time has been simulated; what it took too long for is left out."""
        with self._lock:
            self._lose(self._passed_ns() - self.simulated_ns - MOST_BEHIND_NS)
            self.simulated_ns += simulated_ns

    def behind_ns(self) -> int:
        """Delay of simulated time that it may catch up [ns]."""
        with self._lock:
            behind_ns = self._passed_ns() - self.simulated_ns
            self._lose(behind_ns - MOST_BEHIND_NS)
            return behind_ns - self.slipped_ns

    def stamp_ns(self, simulated_ns: int) -> int:
        """The time stamp of what had been counted at this simulated time; Unix time, at most OLDEST_NS ago [ns]."""
        with self._lock:
            if self._start_ns is None:
                return time.time_ns()
            passed_ns = self._passed_ns()
            self._lose(max(passed_ns - self.simulated_ns - MOST_BEHIND_NS, passed_ns - simulated_ns - OLDEST_NS))
            self._follow_system_clock()
            return self._unix_ns + self._start_ns + min(simulated_ns + self.slipped_ns, passed_ns)

    def _lose(self, slipped_ns: int) -> None:
        self.slipped_ns = max(self.slipped_ns, slipped_ns)

    def _passed_ns(self) -> int:
        """Wall time since the start [ns]."""
        return 0 if self._start_ns is None else round((time.monotonic_ns() - self._start_ns) * self._speed)

    def _follow_system_clock(self) -> None:
        """Time stamps follow the monotonic clock, until the system's clock is set."""
        unix_ns = time.time_ns() - time.monotonic_ns()
        if abs(unix_ns - self._unix_ns) > CLOCK_STEP_NS:
            self._unix_ns = unix_ns
