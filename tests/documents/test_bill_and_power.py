"""What is bought and what it takes: nothing lost, nothing twice."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.documents.designs import NAMES, intent, topology

from railfab.documents import Table, bill_of_materials, power
from railfab.topology import Role
from railfab.topology.equipment import host_model
from railfab.topology.optics import SERVER_W, link_media
from railfab.topology.racks import racks


def column(table: Table, name: str, item: str | None = None) -> list[int]:
    place = table.columns.index(name)
    return [int(row[place] or 0) for row in table.rows if item is None or row[0] == item]


@pytest.mark.parametrize("name", NAMES)
def test_cables_serve_every_link_and_optics_both_ends_of_every_optical_one(name: str) -> None:
    fabric = topology(name)
    bill, media = bill_of_materials(fabric, intent(name)), link_media(fabric, intent(name))
    optical = sum(1 for link in fabric.links if (kind := media(link)) and kind.pluggables_per_end)
    assert sum(column(bill, "serves", "cable")) == len(fabric.links)
    assert sum(column(bill, "serves", "optic")) == 2 * optical
    bought = zip(column(bill, "quantity", "optic"), column(bill, "serves", "optic"), strict=True)
    assert all(1 <= quantity <= serves for quantity, serves in bought)


@pytest.mark.parametrize("name", NAMES)
def test_hosts_and_switches_are_those_of_the_fabric(name: str) -> None:
    fabric, bill = topology(name), bill_of_materials(topology(name), intent(name))
    models = Counter(node.model for node in fabric.switches())
    counted: Counter[object] = Counter()
    for item, part, _, quantity, *_ in bill.rows:
        if item == "switch":
            counted[part] += int(quantity or 0)
    assert counted == models
    servers = sum(node.role is Role.SERVER for node in fabric.nodes)
    assert sum(column(bill, "quantity", "host")) == len(fabric.hosts()) + servers


@pytest.mark.parametrize("name", NAMES)
def test_racks_take_what_their_devices_take(name: str) -> None:
    fabric = topology(name)
    table = power(fabric, intent(name), racks(fabric, intent(name)))
    hosts_w = host_model(intent(name).hosts.model).power_w
    servers = sum(node.role is Role.SERVER for node in fabric.nodes)
    devices_w = hosts_w * len(fabric.hosts()) + SERVER_W * servers
    devices_w += sum(fabric.model_of(node).power_w for node in fabric.switches())
    assert sum(column(table, "power_w")) == devices_w + sum(column(table, "optics_w"))
    for row in table.rows:
        rack = dict(zip(table.columns, row, strict=True))
        parts = (int(rack[part] or 0) for part in ("hosts_w", "servers_w", "switches_w", "optics_w"))
        assert abs(int(rack["power_w"] or 0) - sum(parts)) <= 1


def test_the_bill_of_pod64() -> None:
    """32 cages of 4 x 100G on copper: a breakout cable each; 32 uplinks of 40 m: fibre with an optic at both ends."""
    rows = bill_of_materials(topology("pod64"), intent("pod64")).rows
    assert ("host", "gpu-server-8", None, 8, None, "GPU server, 8 GPUs") in rows
    assert ("switch", "7220-ixr-d5", None, 4, None, "backend leaf, srlinux") in rows
    assert ("optic", "400GBASE-SR8", None, 64, 64, "one per port") in rows
    assert ("cable", "fibre for 400GBASE-SR8", 40, 32, 32, "one per link") in rows
    assert ("cable", "400G breakout cable of 4 x 100G AEC 2 x 50G", 5, 32, 128, "one per breakout cage") in rows


def test_the_power_of_pod64() -> None:
    """Four servers of 10.2 kW and the ends of their 64 cables, of 2 W."""
    fabric = topology("pod64")
    first = power(fabric, intent("pod64"), racks(fabric, intent("pod64"))).rows[0]
    assert first == ("pod1-seg1-r1", 4, 0, 0, 40_800, 0, 0, 128, 40_928)
