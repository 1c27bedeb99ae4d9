"""Switches with a few fast ports beside many slow ones."""

import pytest
from tests.topology.edits import said
from tests.topology.fabric_intents import fabric

from railfab.topology import catalogue, wire


def pod(uplinks: int) -> list[str]:
    """Two rail switches with eight ports of 100G beside 48 of 25G."""
    intent = fabric(
        hosts={"gpus": 8, "nic_ports": 2, "rate_gbps": 25},
        backend__segments={"hosts": 1, "rail_switches": 2, "model": "7220-ixr-d2l"},
        backend__spines={"count": 1, "links_per_leaf": uplinks, "rate_gbps": 100, "model": "7060dx5-64s"},
    )
    return [line for line in said(wire(intent), intent) if "ports of this speed" in line]


def test_as_many_links_as_there_are_fast_ports() -> None:
    assert pod(8) == []


def test_more_links_than_there_are_fast_ports() -> None:
    assert pod(9) == [
        "error pod1-seg1-leaf1 and 1 more: 9 links of 100 Gb/s exceed the 8 ports of this speed on "
        "7220-ixr-d2l. Use fewer links of this speed, or another model."
    ]


@pytest.mark.parametrize(
    "model", [model for model in catalogue().values() if model.at_most], ids=lambda model: model.name
)
def test_what_is_limited_is_a_speed_that_fewer_cages_run(model) -> None:  # type: ignore[no-untyped-def]
    assert set(model.at_most) <= set(model.speeds_gbps)
    assert all(0 < count < model.cages for count in model.at_most.values())
