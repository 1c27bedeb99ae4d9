"""Fluid flows: max-min fair at every moment, and each begins when what it waits for has ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sim.fluid_flows import fluid_flows, rows
from tests.sim.progressive_filling import max_min_rates

from railfab.sim.fluid import fluid_ends, fluid_rates

LINKS = 6


some_paths = st.lists(st.lists(st.integers(0, LINKS - 1), min_size=1, max_size=3, unique=True), min_size=1, max_size=8)
some_rates = st.lists(st.floats(1.0, 100.0), min_size=LINKS, max_size=LINKS)


@given(paths=some_paths, rates=some_rates)
def test_rates_are_those_of_progressive_filling(paths: list[list[int]], rates: list[float]) -> None:
    capacity = np.array(rates)
    assert fluid_rates(rows(paths), capacity).tolist() == pytest.approx(max_min_rates(paths, capacity).tolist())


@given(paths=some_paths, rates=some_rates, sizes=st.lists(st.floats(1.0, 1e3), min_size=8, max_size=8))
def test_a_run_is_a_sequence_of_fair_shares(paths: list[list[int]], rates: list[float], sizes: list[float]) -> None:
    """The same by hand: until the next flow ends, all of those that are left have their fair share."""
    capacity, left = np.array(rates), np.array(sizes[: len(paths)])
    ends, now, there = np.zeros(len(paths)), 0.0, list(range(len(paths)))
    while there:
        share = max_min_rates([paths[flow] for flow in there], capacity)
        passed = float((left[there] / share).min())
        now += passed
        left[there] -= passed * share
        ended = [flow for flow in there if left[flow] <= 1e-9 * sizes[flow]]
        ends[ended] = now
        there = [flow for flow in there if flow not in ended]
    assert fluid_ends(fluid_flows(paths, sizes[: len(paths)]), capacity).tolist() == pytest.approx(
        ends.tolist(), rel=1e-6
    )


@given(paths=some_paths, rates=some_rates, sizes=st.lists(st.floats(1.0, 1e3), min_size=8, max_size=8))
def test_three_links_with_a_third_of_each_flow_are_one_with_three_times_the_rate(
    paths: list[list[int]], rates: list[float], sizes: list[float]
) -> None:
    whole = fluid_flows(paths, sizes[: len(paths)])
    width = 3 * whole.paths.shape[1]
    thirds = np.where(whole.paths[:, :, None] >= 0, 3 * whole.paths[:, :, None] + np.arange(3), -1).reshape(-1, width)
    shares = np.full(thirds.shape, 1 / 3)
    capacity, third = np.array(rates), np.repeat(rates, 3) / 3
    assert fluid_rates(thirds, third, shares=shares).tolist() == pytest.approx(
        fluid_rates(whole.paths, capacity).tolist()
    )
    spread = replace(whole, paths=thirds, shares=shares)
    assert fluid_ends(spread, third).tolist() == pytest.approx(fluid_ends(whole, capacity).tolist(), rel=1e-6)


def test_a_flow_takes_only_its_share_of_a_link() -> None:
    """All packets of the first flow and half of those of the second cross link 0; the third has the rest of link 1."""
    paths, shares = rows([[0], [0, 1], [1]]), np.array([[1.0, 1.0], [0.5, 0.5], [1.0, 1.0]])
    rates = fluid_rates(paths, np.array([15.0, 25.0]), shares=shares)
    assert rates.tolist() == pytest.approx([10.0, 10.0, 20.0])


def test_a_link_that_is_full_soon_is_passed_by_another_one_whose_rate_does_not_rise() -> None:
    """Link 1 has 16 / 3 for each flow, and 6 for the last one when link 0 is full; link 2 has 5.7 all the time."""
    paths = rows([[0, 1], [0, 1], [1, 2], [2]])
    assert fluid_rates(paths, np.array([10.0, 16.0, 11.4])).tolist() == pytest.approx([5.0, 5.0, 5.7, 5.7])


def test_a_flow_that_no_link_limits_has_an_infinite_rate_and_is_in_nobodys_way() -> None:
    paths = rows([[0], [1], [1, 2]])
    assert fluid_rates(paths, np.array([np.inf, 10.0, np.inf])).tolist() == [np.inf, 5.0, 5.0]


def test_a_flow_begins_when_all_it_waits_for_have_ended_and_after_its_latency() -> None:
    held = fluid_flows([[0], [1], [0, 1]], [10, 40, 20], [(0, 2), (1, 2)], latency_s=1.0)
    assert fluid_ends(held, np.array([10.0, 10.0])).tolist() == pytest.approx([2.0, 5.0, 8.0])


def test_a_flow_that_crosses_no_link_joins_others() -> None:
    held = fluid_flows([[0], [0], [], [0]], [10, 20, 0, 10], [(0, 2), (1, 2), (2, 3)])
    assert fluid_ends(held, np.array([10.0])).tolist() == pytest.approx([2.0, 3.0, 3.0, 4.0])


def test_what_waits_for_itself_and_what_has_no_rate_never_ends() -> None:
    held = fluid_flows([[0], [0], [0], [1]], [10, 10, 10, 10], [(1, 2), (2, 1)])
    assert fluid_ends(held, np.array([10.0, 0.0])).tolist() == [1.0, np.inf, np.inf, np.inf]


def test_events_within_a_quantum_are_one() -> None:
    held = fluid_flows([[0], [1]], [10, 10.5])
    assert fluid_ends(held, np.array([10.0, 10.0]), quantum_s=0.1).tolist() == [1.0, 1.0]


def test_a_flow_that_stands_for_several_is_each_of_them() -> None:
    """Three flows share link 0 with another one, which goes on when they have ended."""
    apart = fluid_flows([[0], [0], [0], [0, 1]], [10, 10, 10, 30])
    merged = fluid_flows([[0], [0, 1]], [10, 30], alike=[3, 1])
    capacity = np.array([10.0, 10.0])
    ends = fluid_ends(apart, capacity).tolist()
    assert ends == pytest.approx([4.0, 4.0, 4.0, 6.0])
    assert fluid_ends(merged, capacity).tolist() == pytest.approx([ends[0], ends[3]])
    assert fluid_rates(merged.paths, capacity, merged.alike).tolist() == pytest.approx([2.5, 2.5])
