"""Addresses of switches that the fabric has not."""

from tests.topology.edits import shown
from tests.topology.fabric_intents import fabric

from railfab.topology import findings, wire


def lines(*names: str) -> list[str]:
    intent = fabric(inventory={name: {"host": "192.0.2.1"} for name in names})
    return [shown(found) for found in findings(wire(intent), intent)]


def test_switches_that_are_there() -> None:
    assert lines("pod1-seg1-leaf1", "pod1-spine4") == []


def test_a_mistyped_switch_is_said_with_what_was_meant() -> None:
    assert lines("pod1-spine1", "pod1-spin2") == [
        "error inventory.pod1-spin2: is not a switch of this fabric. Use a name such as 'pod1-spine2'."
    ]


def test_many_that_are_not_there_are_one_line_and_hosts_are_no_switches() -> None:
    assert lines("tor1", "tor2", "pod1-seg1-host1") == [
        "error inventory.pod1-seg1-host1 and 2 more: is not a switch of this fabric. Use a name such as "
        "'pod1-seg1-leaf1'."
    ]
