"""Switches that the intent drains."""

from tests.topology.edits import shown
from tests.topology.fabric_intents import fabric

from railfab.topology import findings, wire


def lines(*names: str) -> list[str]:
    intent = fabric(drain=list(names))
    return [shown(found) for found in findings(wire(intent), intent)]


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
