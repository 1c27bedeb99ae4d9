"""ECN thresholds in Junos's unit, percent of the largest queue, and back to bytes.

The largest queue is what one queue alone may take of the buffer that lossless queues share: with the largest dynamic
threshold, 8, eight ninths of it (Choudhury and Hahne, IEEE/ACM ToN 1998: a queue may be `alpha` times what is free).
Juniper does not publish what a percent is in bytes; the assumption is in `capabilities.yml`.
"""

from __future__ import annotations

from dataclasses import dataclass

from railfab.device import EcnRamp

ALPHA = 8
DEFAULT_POOL_BYTES = 108_900_000
"""Shared buffer where none is stated: 66 percent (Juniper/jvd) of the 165 MB of Tomahawk 5."""
MOST_PERCENT = 99
"""The last fill level may not be 100 (Juniper, fill-level)."""


def queue_bytes(shared_pool_bytes: int | None) -> int:
    """The size to which fill levels refer [bytes]."""
    pool = DEFAULT_POOL_BYTES if shared_pool_bytes is None else shared_pool_bytes
    return pool * ALPHA // (1 + ALPHA)


@dataclass(frozen=True, slots=True)
class Levels:
    """The two fill levels of a drop profile [percent]; low is below high, as Junos demands."""

    low: int
    high: int

    @classmethod
    def of(cls, ramp: EcnRamp, size: int) -> Levels:
        """The levels of a ramp, rounded to the nearest percent; one that is above 0 is at least 1."""
        low = min(_percent(ramp.kmin_bytes, size), MOST_PERCENT - 1)
        return cls(low, min(max(_percent(ramp.kmax_bytes, size), low + 1), MOST_PERCENT))

    def ramp(self, pmax_percent: int, size: int) -> EcnRamp:
        """The ramp of these levels, without knowledge of exact values."""
        return EcnRamp(kmin_bytes=self.low * size // 100, kmax_bytes=self.high * size // 100, pmax_percent=pmax_percent)


def _percent(value: int, size: int) -> int:
    return max((200 * value + size) // max(2 * size, 1), min(value, 1))
