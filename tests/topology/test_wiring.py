"""Laws of wiring, and what pod64 must come out as."""

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railfab.errors import Problems, RailfabError, TopologyError
from railfab.intent import Backend, FabricIntent, Hosts, Profile, Segments, Spines, load_intent
from railfab.topology import Role, Topology, cabling_csv, capacities, findings, switch_model, wire

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
D5 = {"model": "7220-ixr-d5", "platform": "srlinux"}


def fabric(
    *,
    segments: int = 2,
    hosts: int = 4,
    rail_switches: int = 2,
    spines: int = 4,
    links_per_leaf: int | None = None,
    underlay: str = "unnumbered",
    nic_ports: int = 2,
    gpus: int = 8,
) -> FabricIntent:
    return FabricIntent(
        version=1,
        fabric="f",
        profile=Profile(underlay=underlay),  # type: ignore[arg-type]
        hosts=Hosts(gpus=gpus, nic_ports=nic_ports, rate_gbps=100),
        backend=Backend(
            segments=Segments(count=segments, hosts=hosts, rail_switches=rail_switches, **D5),
            spines=Spines(count=spines, rate_gbps=400, links_per_leaf=links_per_leaf, **D5),
        ),
    )


@st.composite
def fabrics(draw: st.DrawFn) -> FabricIntent:
    """Fabrics that can be built: a spine count that divides the uplinks that a rail switch needs."""
    rail_switches, nic_ports = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2]))
    segments, hosts = draw(st.integers(1, 2)), draw(st.integers(1, 3)) * rail_switches
    uplinks = -(-hosts * 8 * nic_ports * 100 // (rail_switches * 400))
    return fabric(
        segments=segments,
        hosts=hosts,
        rail_switches=rail_switches,
        spines=draw(
            st.sampled_from(
                [n for n in range(1, 13) if uplinks % n == 0 and segments * rail_switches * uplinks // n <= 32]
            )
        ),
        underlay=draw(st.sampled_from(["numbered", "unnumbered"])),
        nic_ports=nic_ports,
    )


def ends(topology: Topology) -> dict[tuple[str, str], tuple[str, str, object]]:
    """What each port is joined to, with its own address."""
    return {(port.node, port.name): (peer.node, peer.name, port.address) for port, peer, _ in topology.ports()}


@given(fabrics())
@settings(max_examples=40, deadline=None)
def test_wiring_is_deterministic_and_no_port_name_address_or_as_number_is_used_twice(intent: FabricIntent) -> None:
    topology = wire(intent)
    assert topology == wire(intent)
    ports = Counter((port.node, port.name) for port, _, _ in topology.ports())
    addresses = Counter(port.address.ip for port, _, _ in topology.ports() if port.address)
    loopbacks = Counter(node.loopback for node in topology.switches())
    leaves = Counter(node.asn for node in topology.nodes if node.role is Role.LEAF)
    assert {1} == set(ports.values()) | set(loopbacks.values()) | set(leaves.values())
    assert not addresses or set(addresses.values()) == {1}


@given(fabrics())
@settings(max_examples=40, deadline=None)
def test_both_ends_of_a_numbered_link_share_a_subnet_of_two(intent: FabricIntent) -> None:
    for link in wire(intent).links:
        if link.a.address and link.z.address:
            assert link.a.address.network == link.z.address.network
            assert link.a.address.network.prefixlen == 31


@given(fabrics())
@settings(max_examples=30, deadline=None)
def test_every_nic_port_meets_a_rail_switch_of_its_own_segment_and_rails_never_mix(intent: FabricIntent) -> None:
    topology = wire(intent)
    nodes = {node.name: node for node in topology.nodes}
    for link in topology.links:
        if nodes[link.a.node].role is Role.HOST:
            assert nodes[link.a.node].segment == nodes[link.z.node].segment
            assert link.a.rail == link.z.rail
    expected = len(topology.hosts()) * intent.hosts.gpus * intent.hosts.nic_ports
    assert sum(nodes[link.a.node].role is Role.HOST for link in topology.links) == expected


@given(fabrics())
@settings(max_examples=30, deadline=None)
def test_a_further_host_or_segment_moves_no_cable_name_or_address(intent: FabricIntent) -> None:
    segments = intent.backend.segments
    # links_per_leaf is pinned: it follows from the number of hosts when left out
    spines = intent.backend.spines.model_copy(update={"links_per_leaf": 1})
    before = ends(wire(_with(intent, segments, spines)))
    for grown in (
        segments.model_copy(update={"hosts": segments.hosts + segments.rail_switches}),
        segments.model_copy(update={"count": segments.count + 1}),
    ):
        try:
            after = ends(wire(_with(intent, grown, spines)))
        except RailfabError:
            continue  # the larger fabric does not fit these switches
        assert {port: after[port] for port in before} == before


def _with(intent: FabricIntent, segments: Segments, spines: Spines) -> FabricIntent:
    return intent.model_copy(update={"backend": Backend(segments=segments, spines=spines)})


def test_pod64_is_non_blocking_with_32_host_ports_and_two_links_to_each_of_four_spines() -> None:
    topology = wire(load_intent(POD64))
    roles = Counter(node.role for node in topology.nodes)
    assert roles == {Role.HOST: 8, Role.LEAF: 4, Role.SPINE: 4}
    for capacity in capacities(topology):
        assert (capacity.down_gbps, capacity.up_gbps, capacity.ratio) == (3200, 3200, 1.0)
        ports = topology.ports_of(capacity.node)
        assert Counter(peer.node for port, peer, _ in ports if port.rail is None) == {
            f"pod1-spine{spine}": 2 for spine in range(1, 5)
        }
        assert sum(port.rail is not None for port, _, _ in ports) == 32
    assert findings(topology, load_intent(POD64)) == ()


def test_pod64_breaks_8_cages_out_to_4_x_100G_as_nokia_allows() -> None:
    leaf = wire(load_intent(POD64)).node("pod1-seg1-leaf1")
    assert [(b.cage_name, b.lanes, b.rate_gbps) for b in leaf.breakouts] == [
        (f"ethernet-1/{cage}", 4, 100) for cage in range(1, 9)
    ]
    assert switch_model("7220-ixr-d5").lanes_for(100) == 4
    assert switch_model("7220-ixr-d5").lanes_for(400) == 1
    assert switch_model("7220-ixr-d5").lanes_for(800) is None


def test_pod64_examples_by_hand() -> None:
    topology = wire(load_intent(POD64))
    joined = ends(topology)
    assert joined["pod1-seg1-host1", "rail1-p0"][:2] == ("pod1-seg1-leaf1", "ethernet-1/1/1")
    assert joined["pod1-seg2-host4", "rail8-p1"][:2] == ("pod1-seg2-leaf2", "ethernet-1/8/4")
    assert joined["pod1-seg1-leaf1", "ethernet-1/32"][:2] == ("pod1-spine1", "ethernet-1/1")
    assert str(joined["pod1-seg2-leaf2", "ethernet-1/8/4"][2]) == "10.24.3.6/31"
    leaf, spine = topology.node("pod1-seg2-leaf2"), topology.node("pod1-spine4")
    assert (leaf.asn, str(leaf.loopback)) == (4200001004, "10.255.1.4")
    assert (spine.asn, str(spine.loopback)) == (65001, "10.254.1.4")


def test_the_cabling_plan_has_a_line_for_every_cable() -> None:
    topology = wire(load_intent(POD64))
    rows = list(csv.DictReader(io.StringIO(cabling_csv(topology))))
    assert len(rows) == len(topology.links) == 160
    assert rows[0] == {
        "from_node": "pod1-seg1-host1",
        "from_port": "rail1-p0",
        "to_node": "pod1-seg1-leaf1",
        "to_port": "ethernet-1/1/1",
        "speed_gbps": "100",
        "length_m": "5",
        "rail": "1",
        "label": "pod1-seg1-host1:rail1-p0--pod1-seg1-leaf1:ethernet-1/1/1",
    }


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"spines": 6},
            "backend.spines.count: 6 spines cannot share the 8 uplinks that a rail switch needs evenly. Use a",
        ),
        ({"rail_switches": 3}, "3 rail switches cannot share the 16 NIC ports of a host evenly. Use a divisor of 16."),
        (
            {"hosts": 14},
            "56 ports are needed (28 for hosts and 28 up) and 7220-ixr-d5 has 32. Use fewer or larger ones.",
        ),
        ({"segments": 9}, "18 rail switches in a pod, the address plan has 16. Use fewer."),
    ],
)
def test_a_fabric_that_cannot_be_built_is_refused_with_the_reason(change: dict[str, int], line: str) -> None:
    with pytest.raises(RailfabError) as caught:
        wire(fabric(**change))  # type: ignore[arg-type]
    assert line in str(caught.value)


@pytest.mark.parametrize(
    ("segments", "links", "line"),
    [
        (1, 24, None),
        (1, 25, "backend.segments: 33 ports are needed (8 for hosts and 25 up) and 7220-ixr-d5 has 32."),
        (2, 16, None),
        (3, 11, "backend.spines: 33 ports are needed (one for each link of each leaf) and 7220-ixr-d5 has 32."),
    ],
)
def test_a_switch_is_used_to_its_last_port_and_no_further(segments: int, links: int, line: str | None) -> None:
    intent = fabric(segments=segments, hosts=2, rail_switches=1, spines=1, links_per_leaf=links)
    if line is None:
        assert len(wire(intent).links) == segments * (2 * 16 + links)
    else:
        with pytest.raises(TopologyError) as caught:
            wire(intent)
        assert str(caught.value).startswith(line)


@pytest.mark.parametrize("links", [None, 1])
def test_more_spines_than_a_rail_switch_needs_uplinks_get_one_link_each(links: int | None) -> None:
    small = wire(fabric(gpus=1, hosts=1, spines=4, links_per_leaf=links))
    assert [capacity.up_gbps for capacity in capacities(small)] == [1600] * 4
    assert findings(small) == ()


def test_several_reasons_are_given_together() -> None:
    segments = Segments(count=1, hosts=4, rail_switches=2, model="7220-ixr-d5", platform="eos")
    spines = Spines(count=4, rate_gbps=800, **D5)
    intent = FabricIntent(
        version=1, fabric="f", hosts=Hosts(rate_gbps=33), backend=Backend(segments=segments, spines=spines)
    )
    with pytest.raises(Problems) as caught:
        wire(intent)
    assert str(caught.value).splitlines()[:3] == [
        "backend.segments: 7220-ixr-d5 does not run platform 'eos'. Use srlinux.",
        "hosts.rate_gbps: 7220-ixr-d5 has no port of 33 Gb/s. Use one of 10, 25, 40, 100, 200, 400.",
        "backend.spines.rate_gbps: 7220-ixr-d5 has no port of 800 Gb/s. Use one of 10, 25, 40, 100, 200, 400.",
    ]


def test_an_unknown_switch_is_refused() -> None:
    with pytest.raises(TopologyError, match=r"switch 'x9': is not in the catalogue\. Use .*7220-ixr-d5, .*linux-16.*\."):
        switch_model("x9")


def test_an_oversubscribed_fabric_is_built_and_said_to_be_so() -> None:
    found = findings(wire(fabric(links_per_leaf=1)))
    assert str(found[0]) == (
        "pod1-seg1-leaf1: 3200 Gb/s of hosts share 1600 Gb/s up (2.00:1). "
        "Add spines or links_per_leaf for a non-blocking fabric."
    )
    assert len(found) == 4
