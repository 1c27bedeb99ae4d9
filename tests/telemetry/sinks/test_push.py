"""Samples are pushed at the interval, once more at the end, and sinks are closed side by side."""

from __future__ import annotations

import time
from itertools import pairwise

from tests.telemetry.sinks.samples import NOW_MS, batch, eventually

from railfab.telemetry.sinks.contract import SampleBatch
from railfab.telemetry.sinks.outbox import Outbox
from railfab.telemetry.sinks.push import Push


class Noted:
    """A sink that notes what happens to it. slow_s: of its close."""

    def __init__(self, slow_s: float = 0.0) -> None:
        self.outbox = Outbox("noted", 1_000)
        self.emitted: list[SampleBatch] = []
        self.closed = False
        self._slow_s = slow_s

    def emit(self, batch: SampleBatch) -> None:
        self.emitted.append(batch)

    def close(self, within_s: float = 5.0) -> None:
        time.sleep(self._slow_s)
        self.closed = True


def test_all_sinks_get_each_batch() -> None:
    sinks = Noted(), Noted()
    made: list[SampleBatch] = []

    def now() -> SampleBatch:
        made.append(batch([1], now_ms=NOW_MS + len(made)))
        return made[-1]

    with Push(sinks, now, interval_s=0.01):
        eventually(lambda: len(made) >= 3)
    for sink in sinks:
        assert sink.emitted == made
        assert sink.closed


def test_what_is_true_at_the_end_is_pushed() -> None:
    sink = Noted()
    with Push([sink], lambda: batch([1]), interval_s=60.0):
        assert sink.emitted == []
    assert len(sink.emitted) == 1


def test_a_push_that_takes_long_is_not_followed_by_several() -> None:
    times: list[float] = []

    def slow() -> SampleBatch:
        times.append(time.monotonic())
        time.sleep(0.1 if len(times) == 1 else 0.0)
        return batch([1])

    with Push([Noted()], slow, interval_s=0.03):
        eventually(lambda: len(times) >= 4)
    assert all(later - earlier >= 0.03 for earlier, later in pairwise(times[:-1]))


def test_sinks_are_closed_side_by_side() -> None:
    sinks = [Noted(slow_s=0.5) for _ in range(3)]
    began_s = time.monotonic()
    with Push(sinks, lambda: batch([1])):
        pass
    assert time.monotonic() - began_s < 1.4
    assert all(sink.closed for sink in sinks)
