"""Counters that went back, by reason: their own reset, 32 bits that were full, or a reboot of the device."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

BOOT_TIME = "fabric_device_boot_timestamp_seconds"
MOVED_S = 10.0
"""A boot time that differs by less is the same boot: devices that work it out from their uptime round it."""


class Reset(StrEnum):
    """Reason why a counter went back; the label `reason` of fabric_collector_resets_total."""

    RESET = "reset"
    WRAP = "wrap"
    REBOOT = "reboot"


class Resets:
    """Tells the reboots of a device by its boot time, which may be read earlier or later than its counters.

    counts: by reason. wait_s: how long before or after a counter a boot time that has moved explains it.
    """

    def __init__(self, counts: Counter[Reset], wait_s: float) -> None:
        self._counts, self._wait_s = counts, wait_s
        self._boot_s: float | None = None
        self._moved_s = float("-inf")
        self._open: list[tuple[float, int]] = []

    def add(self, resets: int, wraps: int, now_s: float, boot_s: float | None) -> None:
        """Count counters that went back now. boot_s: the boot time as last read [s]; None where there is none."""
        self._counts[Reset.WRAP] += wraps
        if resets:
            self._open.append((now_s, resets))
        self.settle(now_s, boot_s)

    def settle(self, now_s: float, boot_s: float | None) -> None:
        """Count those that a boot time explains, and those that none will."""
        if boot_s is not None and self._boot_s is not None and abs(boot_s - self._boot_s) > MOVED_S:
            self._moved_s = now_s
        self._boot_s = self._boot_s if boot_s is None else boot_s
        for at_s, count in self._open[:]:
            if abs(self._moved_s - at_s) <= self._wait_s:
                self._count(Reset.REBOOT, at_s, count)
            elif self._boot_s is None or now_s - at_s > self._wait_s:
                self._count(Reset.RESET, at_s, count)

    def _count(self, reason: Reset, at_s: float, count: int) -> None:
        self._open.remove((at_s, count))
        self._counts[reason] += count
