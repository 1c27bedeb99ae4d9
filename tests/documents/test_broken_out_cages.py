"""A cage takes one plug: what links are made of where switches are broken out at both ends."""

import pytest
from tests.topology.fabric_intents import fabric

from railfab.documents import bill_of_materials
from railfab.documents.cabling import cabling
from railfab.documents.table import Cell
from railfab.intent import FabricIntent
from railfab.topology import findings, wire
from railfab.topology.optics import link_media
from railfab.topology.racks import racks

MODEL = "qfx5240-64od"
HOST_CABLES = ("cable", "800G breakout cable of 2 x 400G-CR4 DAC", 3, 64, 128, "one per breakout cage")


def split(spines: int, *, segments: int = 1, cable_m: float = 20) -> FabricIntent:
    """Two rail switches a segment, each with 64 uplinks of 400G, two a cage, to spines with two ports a cage."""
    return fabric(
        hosts={"gpus": 8, "rate_gbps": 400},
        backend__segments={"count": segments, "hosts": 16, "rail_switches": 2, "model": MODEL, "cable_m": 3},
        backend__spines={"count": spines, "rate_gbps": 400, "breakout": True, "model": MODEL, "cable_m": cable_m},
    )


def bought(intent: FabricIntent) -> list[tuple[Cell, ...]]:
    return [row for row in bill_of_materials(wire(intent), intent).rows if row[0] in ("cable", "optic")]


@pytest.mark.parametrize("spines", [1, 4, 32])
def test_lanes_that_pair_up_are_one_cable_from_cage_to_cage(spines: int) -> None:
    trunks = ("cable", "800G cable of 2 x 400G AOC 4 x 100G", 20, 64, 128, "one per pair of breakout cages")
    assert bought(split(spines)) == [HOST_CABLES, trunks]


def test_lanes_of_a_cage_that_lead_to_two_spines_are_led_apart_by_fibres() -> None:
    intent = split(64)
    assert bought(intent) == [
        ("optic", "800G module of 2 x 400GBASE-VR4", None, 128, 256, "one per breakout cage"),
        ("cable", "fibre for 400GBASE-VR4", 20, 128, 128, "one per link"),
        HOST_CABLES,
    ]
    assert findings(wire(intent), intent) == ()


@pytest.mark.parametrize("spines", [1, 4, 32, 64])
def test_a_cable_with_attached_ends_leads_from_a_cage_to_one_other(spines: int) -> None:
    intent = split(spines, segments=2 if spines > 1 else 1)
    topology = wire(intent)
    media, partners = link_media(topology, intent), dict[tuple[str, int], set[tuple[str, int]]]()
    for link in topology.links:
        kind, a, z = media(link), (link.a.node, link.a.cage), (link.z.node, link.z.cage)
        if kind and not kind.pluggables_per_end and link.a.lane and link.z.lane:
            partners.setdefault(a, set()).add(z)
            partners.setdefault(z, set()).add(a)
    assert all(len(others) == 1 for others in partners.values())
    assert bool(partners) == (spines < 64)


@pytest.mark.parametrize("spines", [2, 64])
def test_a_further_segment_changes_no_cable(spines: int) -> None:
    plans = []
    for segments in (1, 2):
        intent = split(spines, segments=segments)
        topology = wire(intent)
        plans.append(cabling(topology, intent, racks(topology, intent)).rows)
    assert set(plans[0]) <= set(plans[1])
