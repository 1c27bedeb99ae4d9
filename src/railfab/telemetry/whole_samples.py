"""Samples of a virtual switch that other threads read as a whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from railfab.metrics import metric
from railfab.telemetry.kernel.columns import At
from railfab.telemetry.series import Series
from railfab.telemetry.store import Sample, TargetStore

_SIMULATED_TIME = Series(metric("fabric_twin_simulated_seconds_total"), {})


class WholeSamples:
    """What readers in other threads get of a store: of a virtual switch, never a part of a sample.

    Such a switch sends its counters in several notifications with one time stamp, and in the last of them the simulated
    time at which it read them. Until that has arrived, readers get what was true before the first one, so that counters
    and simulated time are of one moment. Where the session ends first, they get it until the series of the store end,
    or another session has brought a whole sample.
    """

    def __init__(self, store: TargetStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._before: Sample | None = None
        self._broken = False

    def sample(self, now_s: float) -> Sample:
        """Copies of what is true now, or was before the sample that is arriving. Any thread."""
        with self._lock:
            if self._before is not None and not self._broken:
                return self._before
            now = self._store.sample(now_s)
            return now if self._before is None or not now.count else self._before

    @contextmanager
    def arriving(self, now_s: float) -> Iterator[None]:
        """Hold readers off while a batch of the RPC that ends with the simulated time is stored."""
        with self._lock:
            if self._before is None:
                self._before = self._store.sample(now_s)
            yield
            if self._is_whole():
                self._before, self._broken = None, False

    def end(self) -> None:
        """The session has ended: what has arrived of a sample is all of it, and of another moment than the rest."""
        with self._lock:
            self._broken = self._before is not None

    def begin(self, now_s: float) -> None:
        """A session begins; after the grace of the last one nothing of that is read again."""
        with self._lock:
            if self._broken and not self._store.sample(now_s).count:
                self._before, self._broken = None, False

    def synced(self) -> None:
        """A session is in sync: the store has what it brought, also where that has no simulated time."""
        with self._lock:
            if self._broken:
                self._before, self._broken = None, False

    def _is_whole(self) -> bool:
        """Whether the simulated time has the time stamp of the last notification; also where one of them has none."""
        table, stamp_ns = self._store.table, int(self._store.at[At.DEVICE_NS])
        row = table.find(_SIMULATED_TIME)
        if not stamp_ns or row is None or not table.series.present[row]:
            return True
        return int(table.series.device_ns[row]) in (0, stamp_ns)
