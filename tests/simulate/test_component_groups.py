"""Groups of components that are not simulated, by those that are."""

from __future__ import annotations

import numpy as np
import pytest

from railfab.simulate.component_groups import ComponentGroups, FairTimes


def groups_of(members: list[int]) -> ComponentGroups:
    """Of six carriers of three groups. Group 0 is late with carrier 1, and group 2 ends before its last carrier would,
    as equal rounds that are not followed are counted for each carrier."""
    fair = FairTimes(
        seconds=np.array([9.0, 4.0, 5.0]), carrier_s=np.array([2.0, 9.0, 3.0, 4.0, 1.0, 6.0]), peak=np.zeros(0)
    )
    return ComponentGroups.of(np.array(members), np.array([0, 0, 1, 1, 2, 2]), fair)


def test_a_component_is_measured_against_its_own_flows_at_max_min_fair_rates() -> None:
    """Group 0 ends after 2 s here, although carrier 1 of another component takes 9 s."""
    held = groups_of([0, 2, 3, 5])
    assert held.numbers.tolist() == [0, 1, 2]
    assert held.place.tolist() == [0, 1, 1, 2]
    assert held.fair_s.tolist() == [2.0, 4.0, 5.0]
    assert held.slowest_s == 5.0


def test_a_component_like_a_simulated_one_ends_as_that_did() -> None:
    """Whichever of its groups are the slow ones."""
    first, second = groups_of([0, 3, 5]), ComponentGroups(np.arange(3), np.arange(3), np.array([5.0, 2.0, 4.0]))
    ratios = first.ratios(np.array([2.2, 6.0, 4.0]))
    assert ratios.tolist() == pytest.approx([1.1, 1.0, 1.2])
    assert second.expected([ratios]).tolist() == pytest.approx([6.0, 2.2, 4.0])


def test_groups_take_the_mean_of_the_ratios_at_their_rank() -> None:
    """Components may have other numbers of groups; a single group is as the slowest ones."""
    ratios = [np.array([1.0, 1.5]), np.array([1.2, 1.3, 1.9]), np.array([1.1])]
    three = ComponentGroups(np.arange(3), np.arange(3), np.array([1.0, 2.0, 3.0]))
    alone = ComponentGroups(np.arange(1), np.arange(1), np.array([2.0]))
    assert three.expected(ratios).tolist() == pytest.approx([1.1, 2 * (1.25 + 1.3 + 1.1) / 3, 3 * 1.5])
    assert alone.expected(ratios).tolist() == pytest.approx([2 * 1.5])
