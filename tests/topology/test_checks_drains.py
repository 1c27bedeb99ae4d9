"""Switches that the intent drains."""

from typing import Any

import pytest
from tests.topology.edits import shown
from tests.topology.fabric_intents import fabric

from railfab.topology import findings, wire


def lines(*names: str, **changes: Any) -> list[str]:
    """The findings about the drain of these switches."""
    intent = fabric(drain=list(names), **changes)
    return [shown(found) for found in findings(wire(intent), intent) if found.where.startswith("drain")]


def test_some_spines_and_a_leaf_can_be_drained() -> None:
    assert lines("pod1-spine1", "pod1-spine2", "pod1-seg1-leaf1") == []


def test_a_mistyped_switch_is_said_with_what_was_meant() -> None:
    assert lines("pod1-spin2") == [
        "error drain: pod1-spin2 is not a switch of this fabric. Use a name such as 'pod1-spine2'."
    ]


def test_the_traffic_of_a_whole_tier_stays() -> None:
    assert lines(*(f"pod1-spine{number}" for number in range(1, 5))) == [
        "warning drain: pod1-spine1 and all others of its tier are drained, so that their traffic has no other path."
        " Drain one part of the tier at a time."
    ]


def test_a_leaf_keeps_the_traffic_of_hosts_that_have_no_other_switch() -> None:
    stays = (
        "warning drain: pod1-seg1-leaf1 is drained, but the traffic of 4 hosts such as pod1-seg1-host1 has no other"
        " path, and no alert on pod1-seg1-leaf1 fires meanwhile. End the jobs of these hosts before you work on it."
    )
    assert lines("pod1-seg1-leaf1", hosts__nic_ports=1) == [stays]
    pair = lines("pod1-seg1-leaf1", "pod1-seg1-leaf2")
    assert pair == [stays.replace("drain:", "drain and 1 more:")]


def test_the_only_switch_of_its_tier_is_not_named_with_others() -> None:
    assert lines("pod1-spine1", backend__spines__count=1, backend__spines__links_per_leaf=4) == [
        "warning drain: pod1-spine1 is drained and the only one of its tier, so that its traffic has no other path."
        " End the jobs that use it before you work on it."
    ]


@pytest.mark.parametrize("attach", ["mlag", "esi"])
def test_a_switch_of_a_pair_gets_what_the_lags_of_hosts_hash_to_it(attach: str) -> None:
    paired = {"hosts__attach": attach}
    assert lines("pod1-seg1-leaf1", **paired) == [
        "warning drain: pod1-seg1-leaf1 is drained of routed traffic, but LAGs of 4 hosts such as pod1-seg1-host1 still"
        " send it what they hash to it. Shut its ports to these hosts before you work on it, so that they use the other"
        " switch of the pair."
    ]
    pair = lines("pod1-seg1-leaf1", "pod1-seg1-leaf2", **paired)
    assert [line for line in pair if "LAGs" in line] == []
    assert ["has no other path" in line for line in pair] == [True]
    assert lines("pod1-spine1", **paired) == []
