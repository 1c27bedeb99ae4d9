"""Where things stand: nothing in the same place, nothing moved by growth."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from tests.documents.designs import NAMES, grown, intent, topology
from tests.laws import examples

from railfab.intent import FabricIntent
from railfab.topology import Role, wire
from railfab.topology.racks import RACK_UNITS, Position, rack_findings, racks


def units_by_rack(positions: dict[str, Position]) -> dict[str, list[tuple[int, int]]]:
    """First and last unit of everything in a rack, upwards."""
    found: dict[str, list[tuple[int, int]]] = {}
    for position in positions.values():
        found.setdefault(position.rack, []).append((position.unit, position.unit + position.units - 1))
    return {rack: sorted(places) for rack, places in found.items()}


@pytest.mark.parametrize("name", NAMES)
def test_everything_stands_somewhere_and_nothing_in_the_same_units(name: str) -> None:
    positions = racks(topology(name), intent(name))
    assert list(positions) == [node.name for node in topology(name).nodes]
    for rack, places in units_by_rack(positions).items():
        assert places[0][0] >= 1, rack
        assert places[-1][1] <= RACK_UNITS, rack
        for below, above in pairwise(places):
            assert below[1] < above[0], rack


@settings(max_examples=examples(60))
@given(grown())
def test_growth_moves_nothing(fabrics: tuple[FabricIntent, FabricIntent]) -> None:
    before, after = fabrics
    now, then = racks(wire(before), before), racks(wire(after), after)
    assert {name: then[name] for name in now} == now


@pytest.mark.parametrize("name", NAMES)
def test_planes_and_roles_have_racks_of_their_own(name: str) -> None:
    """Hosts beside hosts, switches of a plane beside switches of that plane."""
    positions, kinds = racks(topology(name), intent(name)), {}
    for node in topology(name).nodes:
        kind = node.role is Role.HOST, node.role is Role.SERVER, node.net, node.plane
        assert kinds.setdefault(positions[node.name].rack, kind) == kind


def test_hosts_rail_switches_and_spines_of_pod64() -> None:
    positions = racks(topology("pod64"), intent("pod64"))
    assert positions["pod1-seg1-host1"] == Position(rack="pod1-seg1-r1", unit=1, units=8)
    assert positions["pod1-seg2-host4"] == Position(rack="pod1-seg2-r1", unit=25, units=8)
    assert positions["pod1-seg2-leaf2"] == Position(rack="pod1-seg2-net1", unit=2, units=1)
    assert positions["pod1-spine4"] == Position(rack="pod1-net1", unit=4, units=1)


def test_other_networks_have_their_leaves_below_their_spines() -> None:
    positions = racks(topology("cluster"), intent("cluster"))
    assert (positions["front-leaf2"].rack, positions["front-leaf2"].unit) == ("front-net1", 2)
    assert (positions["front-spine1"].rack, positions["front-spine1"].unit) == ("front-net1", RACK_UNITS // 2 + 1)
    assert positions["store-server3"] == Position(rack="store-r1", unit=5, units=2)


def test_a_rack_that_its_hosts_do_not_fit_is_a_finding() -> None:
    pod64 = intent("pod64")
    crowded = pod64.model_copy(update={"hosts": pod64.hosts.model_copy(update={"per_rack": 12, "model": "dgx-b200"})})
    assert list(rack_findings(topology("pod64"), pod64)) == []
    assert list(map(str, rack_findings(topology("pod64"), crowded))) == []
    full = crowded.model_copy(
        update={
            "backend": pod64.backend.model_copy(
                update={"segments": pod64.backend.segments.model_copy(update={"hosts": 12})}
            )
        }
    )
    assert list(map(str, rack_findings(wire(full), full))) == [
        "hosts.per_rack: 12 hosts of 10 U need 120 U, and a rack has 48 U. Use at most 4."
    ]
