"""The cabling plan: a line a cable, from where to where."""

from __future__ import annotations

import csv
import io

import pytest
from tests.documents.designs import NAMES, intent, topology

from railfab.documents import bill_of_materials
from railfab.documents.cabling import COLUMNS, cabling
from railfab.topology import wire
from railfab.topology.racks import racks


def rows(name: str) -> list[dict[str, str]]:
    table = cabling(topology(name), intent(name), racks(topology(name), intent(name)))
    return list(csv.DictReader(io.StringIO(table.csv())))


@pytest.mark.parametrize("name", NAMES)
def test_every_cable_has_a_line_with_both_ends_where_they_stand(name: str) -> None:
    positions = racks(topology(name), intent(name))
    found = rows(name)
    assert len(found) == len(topology(name).links)
    assert len({row["label"] for row in found}) == len(found)
    for row, link in zip(found, topology(name).links, strict=True):
        for end, port in (("from", link.a), ("to", link.z)):
            place = positions[port.node]
            assert (row[f"{end}_node"], row[f"{end}_port"]) == (port.node, port.name)
            assert (row[f"{end}_rack"], row[f"{end}_unit"]) == (place.rack, str(place.unit))
        assert float(row["length_m"]) == link.cable_m
        assert row["media"]


def test_the_first_cable_of_pod64() -> None:
    assert tuple(rows("pod64")[0]) == COLUMNS
    assert rows("pod64")[0] == {
        "from_node": "pod1-seg1-host1",
        "from_rack": "pod1-seg1-r1",
        "from_unit": "1",
        "from_port": "rail1-p0",
        "to_node": "pod1-seg1-leaf1",
        "to_rack": "pod1-seg1-net1",
        "to_unit": "1",
        "to_port": "ethernet-1/1/1",
        "speed_gbps": "100",
        "media": "100G AEC 2 x 50G",
        "length_m": "5",
        "network": "backend",
        "plane": "1",
        "rail": "1",
        "label": "pod1-seg1-host1:rail1-p0--pod1-seg1-leaf1:ethernet-1/1/1",
    }


def test_networks_and_planes_are_named() -> None:
    assert {row["network"] for row in rows("cluster")} == {"backend", "frontend", "storage", "management"}
    assert {row["plane"] for row in rows("dual-plane")} == {"1", "2"}
    ends = {(row["from_node"], row["from_port"]): row["network"] for row in rows("cluster")}
    assert ends["pod1-spine1", "mgmt0"] == ends["pod1-seg1-host1", "bmc"] == "management"


def test_a_length_that_no_medium_reaches_is_unknown() -> None:
    """The checks say so; the plan is still written."""
    single = intent("single-switch")
    segments = single.backend.segments.model_copy(update={"cable_m": 30_000.0})
    far = single.model_copy(update={"backend": single.backend.model_copy(update={"segments": segments})})
    table = cabling(wire(far), far, racks(wire(far), far))
    assert {row[table.columns.index("media")] for row in table.rows} == {"unknown"}
    bill = bill_of_materials(wire(far), far)
    assert [row[1] for row in bill.rows if row[0] == "cable"] == [f"unknown, for {far.hosts.rate_gbps}G"]
