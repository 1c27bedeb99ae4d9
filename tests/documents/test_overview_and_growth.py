"""A fabric at a glance counts everything once; what it says of growth can be wired."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.designs import NAMES, intent, sized, topology
from tests.laws import examples
from tests.topology.fabric_intents import fabrics

from railfab.documents import overview
from railfab.documents.growth import growth, largest_gpus
from railfab.errors import RailfabError
from railfab.intent import FabricIntent, Subnets
from railfab.topology import Net, wire
from railfab.topology.buildable import check_buildable
from railfab.topology.dimensions import Dimensions

QUICK_GPUS = 5_000


@pytest.mark.parametrize("name", NAMES)
def test_every_cable_and_every_port_of_a_switch_is_counted_once(name: str) -> None:
    fabric = topology(name)
    seen = overview(fabric, intent(name))
    assert sum(seen.cables.values()) == len(fabric.links)
    assert [found.node for found in seen.switches] == list(fabric.switches())
    for found in seen.switches:
        ports = [port for port, _, _ in fabric.ports_of(found.node.name) if port.cage]
        assert found.hosts + found.fabric == len(ports)
        assert found.down_gbps + found.up_gbps <= sum(port.rate_gbps for port in ports)


@pytest.mark.parametrize("name", NAMES)
def test_rails_hold_every_host_port_of_the_backend(name: str) -> None:
    fabric, blocks = topology(name), overview(topology(name), intent(name)).rails
    hosts = sum(link.z.rail is not None for link in fabric.links)
    assert sum(block.ports for block in blocks) == hosts
    assert all(block.prefix is not None for block in blocks)
    assert [block.rail for block in blocks] == sorted(block.rail for block in blocks)


def test_to_the_management_network_a_switch_is_a_host() -> None:
    seen = {found.node.name: found for found in overview(topology("cluster"), intent("cluster")).switches}
    assert seen["mgmt-leaf1"].fabric == 2
    access = [link for link in topology("cluster").links if link.z.node == "mgmt-leaf1"]
    assert seen["mgmt-leaf1"].hosts == len(access)
    assert seen["mgmt-leaf1"].node.net is Net.MANAGEMENT


def backend_only(name: str) -> FabricIntent:
    return intent(name).model_copy(update={"frontend": None, "storage": None, "management": None})


@pytest.mark.parametrize("name", NAMES)
def test_what_a_fabric_may_grow_to_can_be_wired(name: str) -> None:
    before = backend_only(name)
    hosts, segments, pods = (room.room for room in growth(before))
    assert largest_gpus(before) == hosts * segments * pods * before.hosts.gpus
    if largest_gpus(before) > QUICK_GPUS:
        segments, pods = min(segments, 3), min(pods, 2)
    after = sized(before, hosts=hosts, segments=segments, pods=pods)
    assert len(wire(after).hosts()) == hosts * segments * pods


def test_pod64_may_have_768_gpus() -> None:
    found = [(room.what, room.now, room.room) for room in growth(intent("pod64"))]
    assert found == [("hosts of a segment", 4, 12), ("segments of a pod", 2, 8), ("pods", 1, 1)]


@st.composite
def attached(draw: st.DrawFn) -> FabricIntent:
    """A fabric of any design, its subnets from a pool that may be tight."""
    before, _ = draw(fabrics())
    subnets = Subnets.model_validate(
        {
            "pool": draw(st.sampled_from(["10.0.0.0/16", "10.0.0.0/20", "10.0.0.0/22"])),
            "switch_prefix": draw(st.sampled_from([24, 25, 26])),
            "rails": draw(st.sampled_from(["divide", "own"])),
        }
    )
    return before.model_copy(update={"backend": before.backend.model_copy(update={"subnets": subnets})})


@settings(max_examples=examples(150))
@given(attached())
def test_a_fabric_may_grow_in_all_directions_at_once_and_not_beyond(before: FabricIntent) -> None:
    if not _can_be_built(before):
        return
    hosts, segments, pods = (room.room for room in growth(before))
    assert _can_be_built(sized(before, hosts=hosts, segments=segments, pods=pods))
    assert not _can_be_built(sized(before, hosts=hosts + 1, segments=segments, pods=pods))
    assert not _can_be_built(sized(before, hosts=hosts, segments=segments + 1, pods=pods))


def _can_be_built(fabric: FabricIntent) -> bool:
    try:
        check_buildable(Dimensions(fabric))
    except RailfabError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "subnets", "rooms"),
    [
        ("multi-rail", {"switch_prefix": 24, "rail_prefix": 28}, [4, 8, 1]),
        ("multi-rail", {"switch_prefix": 24, "rail_prefix": 28, "pool": "10.0.0.0/21"}, [4, 7, 1]),
        ("dual-vlan", {}, [16, 127, 1]),
        ("dual-vlan", {"rail_prefix": 29}, [5, 127, 1]),
    ],
)
def test_subnets_limit_growth_where_ports_do_not(name: str, subnets: dict[str, object], rooms: list[int]) -> None:
    """A /21 has eight /24, the first of which no switch has; a /29 has six addresses, one of them the gateway's."""
    backend = intent(name).backend.model_copy(update={"subnets": Subnets.model_validate(subnets)})
    assert [room.room for room in growth(intent(name).model_copy(update={"backend": backend}))] == rooms
