"""Lateness of the collector's event loop, and the clock that the silence of targets is measured with."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from railfab.repeated_warnings import RepeatedWarnings

logger = logging.getLogger(__name__)

TICK_S = 0.1
COUNTED_S = 2.5 * TICK_S
"""The most that is counted of the time between two ticks: on a busy machine each of them is a little late."""
LATE_S = 1.0
"""A loop that is this late is logged."""
LAG_OVER_S = 30.0
"""The reported lag is the largest of the last so many seconds, so that a scrape every 15 s misses none."""
ON_TIME_S = 60.0
"""A loop that is late after so long on time is logged at once."""
OVERLOADED_FROM, OVERLOADED_UNTIL = 0.5, 0.25
"""A loop that was late for the first share of the last LAG_OVER_S is overloaded, until that is below the second."""
UNREAD_S = 5.0
"""A loop that is so late may have left a stream unread until its target closed it: servers of gRPC's C core do so with
a connection whose peer reads nothing for 20 s (gRPC proposal A18, TCP_USER_TIMEOUT)."""
WAIT_S = 1.0
"""How often a dial that waits for an overloaded loop looks at it."""


@dataclass(frozen=True, slots=True)
class Overload:
    """The overload of a loop. since_s: Unix time. lag_s: the largest lateness of the last LAG_OVER_S [s]."""

    since_s: float
    lag_s: float


class LoopClock:
    """Counts the time during which the event loop ran nearly on time.

    A loop that is blocked, or that has more work than its core can do, reads messages later than they arrive. That time
    is not counted: a target is silent only while the collector listened. Read from any thread; `run` in the loop.

    monotonic_s: the clock that lateness is measured with [s].
    """

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._last_tick = (0.0, monotonic_s())
        self._lags: deque[tuple[float, float]] = deque()
        self._late_s = float("-inf")
        self._warnings = RepeatedWarnings(logger, now_s=monotonic_s)
        self._overloaded_since_s: float | None = None

    async def run(self) -> None:
        """Tick until cancelled. The time before, in which kernels are compiled, is no lateness."""
        self._last_tick = (self._last_tick[0], self._monotonic_s())
        while True:
            await asyncio.sleep(TICK_S)
            self.tick()

    async def on_time(self) -> None:
        """Wait until the loop has run on time for a tick; what waited to be read is read by then."""
        late = True
        while late:
            due_s = self._monotonic_s() + TICK_S
            await asyncio.sleep(TICK_S)
            late = self._monotonic_s() - due_s > TICK_S

    async def not_overloaded(self) -> None:
        """Wait while the loop is overloaded: what may be left for later is left."""
        while self._overloaded_since_s is not None:
            await asyncio.sleep(WAIT_S)

    def tick(self) -> None:
        """Count the time since the last tick, at most COUNTED_S of it."""
        counted_s, ticked_s = self._last_tick
        now_s = self._monotonic_s()
        lag_s = max(0.0, now_s - ticked_s - TICK_S)
        self._last_tick = (counted_s + min(now_s - ticked_s, COUNTED_S), now_s)
        self._lags.append((now_s, lag_s))
        while now_s - self._lags[0][0] > LAG_OVER_S:
            self._lags.popleft()
        self._log(now_s, lag_s)
        self._judge()

    @property
    def is_overloaded(self) -> bool:
        """Whether the loop has more work than its core can do, or does not run. Any thread."""
        return self.overload() is not None

    def overload(self) -> Overload | None:
        """Return since when the loop is overloaded, and how late it is; None where it is not. Any thread."""
        since_s, blocked_s = self._overloaded_since_s, self.blocked_s()
        if since_s is None and blocked_s > OVERLOADED_FROM * LAG_OVER_S:
            since_s = time.time() - blocked_s
        return None if since_s is None else Overload(since_s, self.lag_s())

    def _judge(self) -> None:
        """Log when the loop becomes overloaded, and when it is no longer."""
        late = sum(lag_s for _, lag_s in self._lags) / LAG_OVER_S
        is_overloaded = self._overloaded_since_s is not None
        if not is_overloaded and late >= OVERLOADED_FROM:
            self._overloaded_since_s = time.time() - late * LAG_OVER_S
            logger.warning(
                "the collector is overloaded: it was late for %.0f s of the last %.0f s. Sessions are kept, no new one"
                " is begun, and no target is judged until it keeps up; give it more cores with --processes, or sample"
                " less often with --interval.",
                late * LAG_OVER_S,
                LAG_OVER_S,
            )
        elif is_overloaded and late < OVERLOADED_UNTIL:
            self._overloaded_since_s = None
            logger.info("the collector keeps up again.")

    def now_s(self) -> float:
        """Return the time counted so far [s]; it never goes back."""
        counted_s, ticked_s = self._last_tick
        return counted_s + min(self._monotonic_s() - ticked_s, COUNTED_S)

    def lag_s(self) -> float:
        """Return the largest lateness of the last LAG_OVER_S, that of a loop which is blocked now included [s]."""
        return max(0.0, self.blocked_s(), *(lag_s for _, lag_s in tuple(self._lags)))

    def explains_end(self) -> bool:
        """Whether a stream may have ended because it was not read in time; logs so, once for all targets."""
        if is_unread := self.lag_s() >= UNREAD_S:
            self._warnings.warning(
                f"streams end while the collector is {self.lag_s():.0f} s late: switches close those that it does not"
                " read in time. They are opened again, and no switch is judged for it.",
                reason="unread",
            )
        return is_unread

    def blocked_s(self) -> float:
        """Return how late the loop is now; negative for one that is on time [s]."""
        _, ticked_s = self._last_tick
        return self._monotonic_s() - ticked_s - TICK_S

    def _log(self, now_s: float, lag_s: float) -> None:
        """Log a late loop, and at once again after it has been on time for ON_TIME_S."""
        if lag_s < LATE_S:
            return
        self._warnings.warning(
            f"the collector is {lag_s:.1f} s late: it reads updates later than they arrive. Collect from fewer"
            " switches, or sample less often.",
            reason="late",
            again=now_s - self._late_s > ON_TIME_S,
        )
        self._late_s = now_s
