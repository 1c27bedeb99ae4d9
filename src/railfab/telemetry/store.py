"""The newest value of every series of one target, bounded, and only as long as it is true."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from railfab.telemetry.decode import Decoded
from railfab.telemetry.health import Drop, Health
from railfab.telemetry.series import Series


@dataclass(slots=True)
class Record:
    """The newest value. arrival_s: when it came [monotonic]. generation: of the session that brought it.

    lasts_s: how long it is true without another arrival [s]; infinite for what is sent on change.
    """

    value: float
    device_ns: int | None
    arrival_s: float
    generation: int
    lasts_s: float


class TargetStore:
    """Series of one target. Written by the collector's loop, read by scrapes from other threads.

    While the session lives, a sampled series vanishes when no sample has come for as long as one lasts; an on-change
    series lives as long as the session. expiry_s: how long the samples of most paths last.
    grace_s: how long after the end of a session its series stay; they vanish together.
    """

    def __init__(self, health: Health, *, expiry_s: float, grace_s: float, max_series: int) -> None:
        self._health = health
        self._expiry_s = expiry_s
        self._grace_s = grace_s
        self._max_series = max_series
        self._records: dict[Series, Record] = {}
        self._lock = threading.Lock()
        self._generation = 0
        self._open = False
        self._down_since_s: float | None = 0.0

    def begin(self) -> None:
        """A new session: what it does not bring again is swept at its sync; its device times start afresh."""
        with self._lock:
            self._generation += 1
            self._open = True

    def synced(self) -> None:
        """The session has sent every leaf once: drop the samples of earlier sessions."""
        with self._lock:
            self._down_since_s = None
            self._drop([key for key, record in self._records.items() if record.generation != self._generation])

    def down(self, now_s: float) -> None:
        """The session ended; the grace begins, unless one runs already."""
        with self._lock:
            self._open = False
            if self._down_since_s is None:
                self._down_since_s = now_s

    def apply(self, decoded: Decoded, now_s: float, *, lasts_s: float) -> bool:
        """Take in one notification; whether it brought anything newer than what is known."""
        fresh = bool(decoded.unmapped or decoded.removed or decoded.undecodable)
        with self._lock:
            self._drop(decoded.removed)
            for series, value in decoded.samples:
                fresh |= self._put(series, value, decoded.device_ns, lasts_s, now_s)
        return fresh

    def read(self, now_s: float) -> list[tuple[Series, float]]:
        """Every living series and its value."""
        with self._lock:
            self._expire(now_s)
            return [(series, record.value) for series, record in self._records.items()]

    def expire(self, now_s: float) -> None:
        """Forget what is no longer true."""
        with self._lock:
            self._expire(now_s)

    def __len__(self) -> int:
        return len(self._records)

    def _put(self, series: Series, value: float, device_ns: int | None, lasts_s: float, now_s: float) -> bool:
        record = self._records.get(series)
        if record is None:
            if len(self._records) >= self._max_series:
                self._health.drops[Drop.SERIES_LIMIT] += 1
                return True
            self._records[series] = Record(value, device_ns, now_s, self._generation, lasts_s)
            return True
        if record.generation == self._generation and _older(device_ns, record.device_ns):
            self._health.drops[Drop.OUT_OF_ORDER] += 1
            return False
        record.value, record.device_ns, record.arrival_s = value, device_ns, now_s
        record.generation, record.lasts_s = self._generation, lasts_s
        return True

    def _expire(self, now_s: float) -> None:
        """After the grace, what an ended session left goes together; a new one, not yet in sync, keeps its own."""
        down_s = self._down_since_s
        if down_s is None:
            items = self._records.items()
            self._drop([key for key, record in items if now_s - record.arrival_s > record.lasts_s])
        elif now_s - down_s > self._grace_s:
            latest_s = max(down_s, now_s - max(self._grace_s, self._expiry_s))
            own = self._generation if self._open else None
            items = self._records.items()
            self._drop([key for key, record in items if record.arrival_s <= latest_s and record.generation != own])

    def _drop(self, gone: Iterable[Series]) -> None:
        for series in gone:
            self._records.pop(series, None)


def _older(device_ns: int | None, known_ns: int | None) -> bool:
    return device_ns is not None and known_ns is not None and device_ns < known_ns
