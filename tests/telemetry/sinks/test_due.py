"""Which samples are sent: each once, in order, with a time that receivers take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.telemetry.sinks.samples import BYTES, NOW_MS, batch, labels

from railfab.telemetry.sinks.contract import SampleBatch
from railfab.telemetry.sinks.due import REPEAT_MS, SKEW_MS, STALE_BITS, DueSamples


def interfaces() -> DueSamples[str]:
    return DueSamples(lambda _metric, labels: dict(labels)["interface"].removeprefix("ethernet-1/"))


def taken(due: DueSamples[str], given: SampleBatch) -> list[tuple[str, float | str, int]]:
    """Series, value and time; the value of a stale marker is `stale`."""
    found = due.take(given)
    values = [
        "stale" if bits == STALE_BITS else value
        for bits, value in zip(found.values.view(np.uint64).tolist(), found.values.tolist(), strict=True)
    ]
    return list(zip(found.series, values, found.at_ms.tolist(), strict=True))


def test_a_sample_is_sent_once_with_its_time_and_the_first_of_a_series_with_that_of_the_batch() -> None:
    due = interfaces()
    assert taken(due, batch({7: (1.5, NOW_MS - 300), 3: (2.0, NOW_MS - 200)})) == [
        ("7", 1.5, NOW_MS),
        ("3", 2.0, NOW_MS),
    ]
    later = NOW_MS + 10_000
    again = {7: (1.5, NOW_MS - 300), 3: (4.0, later - 100), 1: (9.0, later - 50)}
    assert taken(due, batch(again, now_ms=later)) == [("3", 4.0, later - 100), ("1", 9.0, later)]


def test_what_does_not_change_is_repeated_before_a_query_would_miss_it() -> None:
    due = interfaces()
    steps = [batch({1: (5.0, NOW_MS)}, now_ms=NOW_MS + step * 10_000) for step in range(13)]
    times = [at_ms for step in steps for _, _, at_ms in taken(due, step)]
    assert times == [NOW_MS, NOW_MS + REPEAT_MS, NOW_MS + 2 * REPEAT_MS]


@pytest.mark.parametrize("off_ms", [-SKEW_MS - 1, -86_400_000, -NOW_MS - 10_000, 1, 86_400_000])
def test_a_time_that_receivers_may_refuse_becomes_that_of_the_batch(off_ms: int) -> None:
    due = interfaces()
    taken(due, batch([1]))
    now_ms = NOW_MS + 10_000
    assert taken(due, batch({1: (2.0, now_ms + off_ms)}, now_ms=now_ms)) == [("1", 2.0, now_ms)]


def test_a_sample_from_before_what_was_sent_is_sent_with_the_time_of_the_batch() -> None:
    due = interfaces()
    taken(due, batch({1: (1.0, NOW_MS)}))
    assert taken(due, batch({1: (2.0, NOW_MS - 3)})) == [], "nothing later is to be had yet"
    assert taken(due, batch({1: (2.0, NOW_MS - 3)}, now_ms=NOW_MS + 9)) == [("1", 2.0, NOW_MS + 9)]


def test_a_series_that_has_gone_gets_a_stale_marker_after_its_last_sample_and_is_forgotten() -> None:
    due = interfaces()
    taken(due, batch([1, 2]))
    assert taken(due, batch([], gone=[1, 99])) == [("1", "stale", NOW_MS + 1)]
    assert taken(due, batch([], gone=[1], now_ms=NOW_MS + 20)) == []
    assert taken(due, batch([], gone=[2], now_ms=NOW_MS + 20)) == [("2", "stale", NOW_MS + 20)]
    assert len(due) == 0


def test_a_series_that_comes_back_within_one_batch_goes_on() -> None:
    def describe(number: int) -> tuple:
        return BYTES, labels(number % 100)

    due = interfaces()
    taken(due, batch([1, 2], describe=describe))
    found = taken(
        due, batch({2: (2.0, NOW_MS), 101: (1.0, NOW_MS + 4)}, gone=[1], now_ms=NOW_MS + 5, describe=describe)
    )
    assert found == [("1", 1.0, NOW_MS + 4)]
    assert taken(due, batch([], gone=[101], now_ms=NOW_MS + 6)) == [("1", "stale", NOW_MS + 6)]


def test_a_series_is_described_once() -> None:
    described = []
    due = DueSamples(lambda _metric, labels: described.append(labels))
    for step in range(3):
        due.take(batch([1, 2], now_ms=NOW_MS + step))
    assert len(described) == 2


Step = st.tuples(st.dictionaries(st.integers(0, 5), st.integers(-400_000, 400_000)), st.integers(1, 90_000))


@settings(max_examples=examples(25))
@given(st.lists(Step, max_size=6))
def test_the_times_of_a_series_only_rise(steps: list[tuple[dict[int, int], int]]) -> None:
    due, now_ms, last_ms = interfaces(), NOW_MS, {}
    for offsets, wait_ms in steps:
        now_ms += wait_ms
        given = batch({number: (1.0, now_ms + offset) for number, offset in offsets.items()}, now_ms=now_ms)
        for series, _, at_ms in taken(due, given):
            assert at_ms > last_ms.get(series, 0)
            assert now_ms - SKEW_MS <= at_ms <= now_ms
            last_ms[series] = at_ms
