"""Pushes the samples of a collector to its sinks at an interval."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from railfab.telemetry.sinks.contract import SampleBatch, Sink

PUSH_INTERVAL_S = 10.0
CLOSE_WITHIN_S = 5.0


class Push:
    """Takes a batch of samples every interval_s while its context lasts, a last one at the end, and closes the sinks.

    batch: what is true now; called in a thread of the push, each time once for all sinks. A push that takes longer than
    the interval delays the next one, and none is made up for.
    """

    def __init__(
        self, sinks: Sequence[Sink], batch: Callable[[], SampleBatch], *, interval_s: float = PUSH_INTERVAL_S
    ) -> None:
        self._sinks = sinks
        self._batch = batch
        self._interval_s = interval_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-push", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        closing = [threading.Thread(target=sink.close, args=(CLOSE_WITHIN_S,)) for sink in self._sinks]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def _run(self) -> None:
        wait_s = self._interval_s
        while not self._ended.wait(wait_s):
            began_s = time.monotonic()
            self._emit()
            wait_s = max(0.0, self._interval_s - (time.monotonic() - began_s))
        self._emit()

    def _emit(self) -> None:
        batch = self._batch()
        for sink in self._sinks:
            sink.emit(batch)
