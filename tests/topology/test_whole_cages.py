"""A NIC port on a whole cage: explicit blocks whose cages are not split, planned, cabled, drawn and checked."""

from __future__ import annotations

import pytest
from tests.topology.fabric_intents import BLOCKS, fabric

from railfab.device import Port, plan
from railfab.documents import bill_of_materials
from railfab.documents.cabling import cabling
from railfab.draw import topology_svg
from railfab.errors import TopologyError
from railfab.intent import FabricIntent
from railfab.topology import Topology, findings, wire
from railfab.topology.racks import racks

PAIR = ("pod1-seg1-leaf1", "pod1-seg1-leaf2")


def blocks(**segments: object) -> FabricIntent:
    """Four hosts on an MLAG pair: rail 1 on cages 1, 4, 7 and 10 at 200G, each on a cage of 400G of its own."""
    stated = {"hosts": 4, "rail_switches": 2, "model": "n9k-c9348d-gx2a", "ports": BLOCKS, "breakout": False}
    return fabric(
        hosts={"gpus": 8, "nic_ports": 2, "rate_gbps": 200, "attach": "mlag"},
        backend={"survives": "switch", "segments": {**stated, "cable_m": 3, **segments}},
    )


@pytest.fixture(scope="module")
def topology() -> Topology:
    return wire(blocks())


@pytest.mark.parametrize("leaf", PAIR)
def test_each_host_has_the_cage_of_its_turn_and_no_cage_is_split(topology: Topology, leaf: str) -> None:
    assert topology.node(leaf).breakouts == ()
    ports = [(port, peer, link) for port, peer, link in topology.ports_of(leaf) if port.rail is not None]
    assert {(port.lane, link.rate_gbps) for port, _, link in ports} == {(None, 200)}
    hosts = [f"pod1-seg1-host{host}" for host in range(1, 5)]
    for rail, cages in BLOCKS.items():
        assert {port.cage: peer.node for port, peer, _ in ports if port.rail == rail} == dict(
            zip(cages, hosts, strict=True)
        )


def test_the_pair_has_its_peer_links_on_cages_of_no_rail_and_survives_a_switch(topology: Topology) -> None:
    peers = [link for link in topology.links if link.a.node == PAIR[0] and link.z.node == PAIR[1]]
    assert [(link.a.cage, link.rate_gbps) for link in peers] == [(48, 400), (45, 400)]
    assert {bond.switches for bond in topology.bonds} == {PAIR}
    assert [finding.code for finding in findings(topology, blocks())] == ["mlag-without-backup"]


def test_it_is_cabled_bought_and_drawn_port_by_port(topology: Topology) -> None:
    intent = blocks()
    rows = cabling(topology, intent, racks(topology, intent)).records()
    first = [str(row["to_port"]) for row in rows if row["from_port"] == "rail1-p0" and row["to_node"] == PAIR[0]]
    assert first == ["Ethernet1/1", "Ethernet1/4", "Ethernet1/7", "Ethernet1/10"]
    cables = [row for row in bill_of_materials(topology, intent).rows if row[0] == "cable"]
    assert {row[-1] for row in cables} == {"one per link"}
    assert sum(int(row[3] or 0) for row in cables) == 66
    assert all(name in topology_svg(topology, intent.hosts) for name in PAIR)


def test_the_device_runs_the_whole_cage_at_the_speed_of_the_nic(topology: Topology) -> None:
    model = plan(topology, blocks())[PAIR[0]]
    speeds = {port.name: port.rate_gbps for port in model.interfaces if isinstance(port, Port)}
    assert model.breakouts == ()
    assert [speeds[f"Ethernet1/{cage}"] for cage in BLOCKS[1]] == [200] * 4


def test_the_same_blocks_with_breakout_need_half_of_the_cages() -> None:
    split = wire(blocks(breakout=True))
    ports = [port for port, _, _ in split.ports_of(PAIR[0]) if port.rail == 1]
    assert [(port.cage, port.lane) for port in ports] == [(1, 1), (1, 2), (4, 1), (4, 2)]


def test_a_speed_that_only_a_split_cage_has_is_refused() -> None:
    with pytest.raises(TopologyError) as raised:
        wire(blocks(model="as9736-64d"))
    assert str(raised.value) == ("hosts.rate_gbps: as9736-64d has no unsplit port of 200 Gb/s. Use 400, 100 or 40.")


def test_a_fifth_host_has_no_cage() -> None:
    with pytest.raises(TopologyError, match="the ports of a rail are enough for 4 hosts, and a segment has 5"):
        wire(blocks(hosts=5))


def test_blocks_with_a_cage_for_each_port_are_noted_where_cages_are_split_and_others_stay_empty() -> None:
    _pair_alone, found = findings(wire(blocks(breakout=True)), blocks(breakout=True))
    assert (found.severity, found.code, found.where) == ("note", "empty-cages", "backend.segments.ports.1")
    assert found.problem == (
        "the 4 ports of the rail use the cages 1, 4, each split into 2; the cages 7, 10 stay empty, and likewise 7 "
        "other rails"
    )
    assert "backend.segments.breakout: false" in found.remedy
