"""Time until a target is dialled again, and the other times of a session."""

from __future__ import annotations

import random
from dataclasses import dataclass

SILENT_INTERVALS = 3
"""After this many sample intervals without a sample a target is stalled, and its samples expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Times and bounds of the collector.

    first_s, most_s: exponential backoff with full jitter, its first and its largest bound. refused_first_s,
    refused_most_s: the same where the target refuses us (login, certificate, request), which waiting does not repair.
    healthy_s: after a session that was up for so long the backoff begins again at first_s; None is SILENT_INTERVALS
    sample intervals. grace_s: see TargetStore; None is the expiry of a sample. dial_timeout_s: for one connection.
    dials: connections being made at one time. dials_per_s: dials that begin in a second. max_series: of all targets
    together; None is what `most_series` gives. max_series_per_target: of one. skew_s: a time stamp of a device that is
    further from our clock is not used; 0 for any.
    """

    first_s: float = 1.0
    most_s: float = 60.0
    refused_first_s: float = 30.0
    refused_most_s: float = 300.0
    healthy_s: float | None = None
    grace_s: float | None = None
    dial_timeout_s: float = 10.0
    dials: int = 32
    dials_per_s: float = 50.0
    max_series: int | None = None
    max_series_per_target: int = 100_000
    skew_s: float = 300.0

    def delay_s(self, failures: int, *, refused: bool, draw: random.Random) -> float:
        """The wait before another attempt; failures: how many in a row, from 1.

        Full jitter: uniform between zero and the exponential bound. Source: M. Brooker, "Exponential Backoff And
        Jitter", AWS Architecture Blog, 2015.
        """
        first_s, most_s = (self.refused_first_s, self.refused_most_s) if refused else (self.first_s, self.most_s)
        return draw.uniform(0.0, min(most_s, first_s * 2 ** min(failures - 1, 32)))
