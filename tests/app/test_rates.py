"""Rates are per simulated second, between samples of one switch, and stale ones are known as such."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.app.rates import MOST_POINTS, FabricRates, Rates, SimulatedClock
from railfab.app.reading import Intended, SwitchTotals, Totals

INTENDED = Intended(
    switches=frozenset(("a", "b", "c")),
    host_rails={("a", "e1"): 1, ("b", "e1"): 1, ("c", "e1"): 2},
    sessions=frozenset(),
)
GBPS = 1e9 / 8


def totals(at_s: float, **switches: SwitchTotals) -> Totals:
    return Totals(
        at_s=1000 + at_s, switches={"a": SwitchTotals(), "b": SwitchTotals(), "c": SwitchTotals(), **switches}
    )


def sampled(
    at_s: float, *, gigabits: float = 0.0, rail: int = 1, marks: float = 0.0, pace: float = 1.0
) -> SwitchTotals:
    return SwitchTotals(
        sampled_s=1000 + at_s, counted_s=50 + pace * at_s, rail_bytes={rail: gigabits * GBPS}, marks=marks
    )


@given(st.floats(0.05, 1.5))
def test_rates_are_those_of_the_fabric_however_slow_the_machine_simulates(pace: float) -> None:
    """Three samples a second of wall time apart: a switch at 100 Gb/s and 40 marks/s has simulated less meanwhile."""
    rates = Rates(INTENDED, window_s=2.5)
    for second in range(4):
        counted_s = pace * second
        switch = sampled(second, gigabits=100 * counted_s, marks=40 * counted_s, pace=pace)
        found = rates.add(totals(second, a=switch))
    assert found.rail_gbps[1] == pytest.approx(100)
    assert found.marks_per_s == pytest.approx(40)


def test_samples_that_arrive_late_and_together_give_the_same_rate() -> None:
    """The collector had no time for 4 s: what counts is when a switch took its samples."""
    rates = Rates(INTENDED, window_s=2.5)
    rates.add(totals(1.0, a=sampled(0.9, gigabits=90)))
    assert rates.add(totals(5.0, a=sampled(4.9, gigabits=490))).rail_gbps[1] == pytest.approx(100)


def test_counters_count_once_they_are_there_also_where_the_time_of_their_sample_was_before_them() -> None:
    """The collector notes when something arrived before a snapshot shows it."""
    rates = Rates(INTENDED, window_s=2.5)
    rates.add(totals(1.0, a=sampled(1.0, gigabits=100)))
    early = sampled(1.0, gigabits=100)
    assert rates.add(totals(2.0, a=replace(early, sampled_s=1002.0))).rail_gbps[1] is None
    assert rates.add(totals(2.5, a=sampled(2.0, gigabits=200))).rail_gbps[1] == pytest.approx(100)


def test_a_rail_is_the_sum_of_its_switches() -> None:
    rates = Rates(INTENDED, window_s=2.5)
    for second in (0, 1):
        found = rates.add(
            totals(
                second,
                a=sampled(second, gigabits=100 * second),
                b=sampled(second, gigabits=60 * second),
                c=sampled(second, gigabits=7 * second, rail=2),
            )
        )
    assert found.rail_gbps == {1: pytest.approx(160), 2: pytest.approx(7)}


def test_nothing_is_said_before_the_second_sample() -> None:
    found = Rates(INTENDED, window_s=2.5).add(totals(1.0, a=sampled(0.5)))
    assert (found.rail_gbps, found.marks_per_s) == ({1: None, 2: None}, None)
    assert found.stale == {"b": None, "c": None}
    assert found.stale_rails == {1, 2}


def after_silence(silent_s: float) -> FabricRates:
    """Switches a, b and c sampled for two seconds; then c alone does not."""
    rates = Rates(INTENDED, window_s=2.5)
    for second in (0.0, 1.0, 2.0, 2.0 + silent_s):
        last = sampled(min(second, 2.0), gigabits=50 * min(second, 2.0), rail=2)
        found = rates.add(totals(second, a=sampled(second), b=sampled(second), c=last))
    return found


def test_the_last_rates_of_a_silent_switch_stay_and_are_stale() -> None:
    assert after_silence(2.0).stale == {}
    found = after_silence(5.0)
    assert found.stale == {"c": 5.0}
    assert found.stale_rails == {2}
    assert found.rail_gbps[2] == pytest.approx(50)


def test_rates_do_not_reach_back_over_a_restart() -> None:
    """1,000 marks of one job are none of the next, which begins between two samples."""
    rates = Rates(INTENDED, window_s=2.5)
    rates.add(totals(0.0, a=sampled(0.0)))
    assert rates.add(totals(1.0, a=sampled(1.0, marks=1000))).marks_per_s == pytest.approx(1000)
    rates.restart()
    assert rates.add(totals(1.5, a=sampled(1.0, marks=1000))).marks_per_s is None
    assert rates.add(totals(2.0, a=sampled(2.0, marks=1000))).marks_per_s == 0


def test_the_pace_is_simulated_time_over_wall_time_recently_or_since_the_start() -> None:
    found = SimulatedClock()
    assert found.pace() == 1.0
    for at_s, simulated_s in ((0, 0), (10, 10), (12, 11), (14, 12)):
        found.add(1000 + at_s, simulated_s)
    assert found.pace(4.0) == pytest.approx(0.5)
    assert found.pace() == pytest.approx(12 / 14)


def test_the_pace_begins_with_the_last_reading_before_its_time() -> None:
    """Readings at 0, 4, 5 and 9 s: over 5 s it is the one at 4 s, over 4 s that at 5 s, over 4.5 s that at 4 s."""
    found = SimulatedClock()
    for at_s, simulated_s in ((0, 0), (4, 40), (5, 42), (9, 43)):
        found.add(1000 + at_s, simulated_s)
    assert found.pace(5.0) == pytest.approx(3 / 5)
    assert found.pace(4.5) == pytest.approx(3 / 5)
    assert found.pace(4.0) == pytest.approx(1 / 4)
    assert found.pace(8.0) == pytest.approx(43 / 9)
    assert found.pace(100.0) == pytest.approx(43 / 9)


def test_readings_of_the_clock_are_bounded_and_the_pace_of_the_run_is_not() -> None:
    found = SimulatedClock()
    for second in range(5000):
        found.add(float(second), second / 2)
    assert len(found._at_s) <= MOST_POINTS
    assert found.pace() == pytest.approx(0.5)
