"""Laws of wiring, and what pod64 must come out as."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import fabric, fabrics, grown, wired

from railfab.errors import Problems, RailfabError, TopologyError
from railfab.intent import Backend, FabricIntent, Hosts, Segments, Spines, load_intent
from railfab.topology import Role, Topology, capacities, findings, switch_model, wire

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
FABRICS = POD64.parent
SPLIT = {"count": 2, "rate_gbps": 100, "model": "7220-ixr-d5", "breakout": True}
ALL_SPLIT = fabric(backend__spines=SPLIT | {"links_per_leaf": 2}, backend__super_spines=SPLIT, backend__pods=2)
"""Broken out on every tier."""


def ends(topology: Topology) -> dict[tuple[str, str], tuple[object, ...]]:
    """What each port is joined to, and all that its own configuration says."""
    return {
        (port.node, port.name): (peer.node, peer.name, port.address, port.vlan, port.bundle, port.rail, port.cage)
        for port, peer, _ in topology.ports()
    }


def own(topology: Topology) -> dict[str, tuple[object, ...]]:
    """What belongs to each node."""
    return {node.name: (node.asn, node.loopback, node.vtep, node.reflector, node.plane) for node in topology.nodes}


@given(fabrics())
@settings(max_examples=examples(60), deadline=None)
def test_wiring_is_deterministic_and_no_port_name_address_or_as_number_is_used_twice(
    built: tuple[FabricIntent, Topology],
) -> None:
    intent, topology = built
    assert topology == wire(intent)
    ports = Counter((port.node, port.name) for port, _, _ in topology.ports())
    spots = Counter((port.node, port.cage, port.lane) for port, _, _ in topology.ports() if port.cage)
    addresses = Counter(port.address.ip for port, _, _ in topology.ports() if port.address)
    addresses += Counter(bond.address.ip for bond in topology.bonds if bond.address)
    addresses += Counter(node.loopback for node in topology.switches() if node.loopback)
    addresses += Counter({gateway.address.ip: 1 for gateway in topology.gateways})
    assert {1} == set(ports.values()) | set(spots.values()) | set(addresses.values())
    if intent.profile.control_plane != "ibgp":
        leaves = Counter(node.asn for node in topology.nodes if node.role is Role.LEAF)
        assert set(leaves.values()) == {1}


@given(fabrics())
@settings(max_examples=examples(40), deadline=None)
def test_every_address_is_in_its_pool_and_both_ends_of_a_numbered_link_share_a_subnet_of_two(
    built: tuple[FabricIntent, Topology],
) -> None:
    intent, topology = built
    pools = topology.pools
    assert pools is not None
    assert all(node.loopback in pools.loopbacks for node in topology.switches())
    for link in topology.links:
        is_host_link = link.a.rail is not None
        for port in (link.a, link.z):
            if port.address:
                assert port.address.ip in (pools.hosts if is_host_link else pools.fabric_links)
        if link.a.address and link.z.address:
            assert link.a.address.network == link.z.address.network
            assert link.a.address.network.num_addresses == 2
    assert intent.hosts.attach == "routed" or all(
        gateway.subnet.subnet_of(pools.hosts) for gateway in topology.gateways
    )  # type: ignore[arg-type]


@given(fabrics())
@settings(max_examples=examples(40), deadline=None)
def test_every_nic_port_meets_a_rail_switch_of_its_own_segment_and_plane_and_rails_never_mix(
    built: tuple[FabricIntent, Topology],
) -> None:
    intent, topology = built
    nodes = topology.by_name
    hosts = [link for link in topology.links if nodes[link.a.node].role is Role.HOST]
    for link in hosts:
        assert nodes[link.a.node].segment == nodes[link.z.node].segment
        assert link.a.rail == link.z.rail
        port = int(link.a.name.rpartition("-p")[2])
        assert nodes[link.z.node].plane == port * intent.backend.planes // intent.hosts.nic_ports + 1
    assert len(hosts) == len(topology.hosts()) * intent.hosts.nics * intent.hosts.nic_ports
    served = Counter(link.z.node for link in hosts)
    assert len(set(served.values())) == 1


@given(fabrics())
@settings(max_examples=examples(40), deadline=None)
def test_planes_never_meet_and_every_leaf_has_equal_links_to_each_spine_of_its_pod(
    built: tuple[FabricIntent, Topology],
) -> None:
    intent, topology = built
    nodes = topology.by_name
    links = Counter()
    for link in topology.links:
        a, z = nodes[link.a.node], nodes[link.z.node]
        if a.role is not Role.HOST:
            assert a.plane == z.plane
        if (a.role, z.role) == (Role.LEAF, Role.SPINE):
            assert a.pod == z.pod
            links[a.name, z.name] += 1
    spines = intent.backend.spines
    assert len(links) == (spines.count if spines else 0) * sum(node.role is Role.LEAF for node in topology.nodes)
    assert len(set(links.values())) <= 1


@given(fabrics(), st.sampled_from(["host", "segment", "pod"]))
@settings(max_examples=examples(120), deadline=None)
def test_a_further_host_segment_or_pod_changes_no_cable_name_address_or_as_number(
    built: tuple[FabricIntent, Topology], what: str
) -> None:
    intent, before = built
    after = wired(grown(intent, what))
    assume(after is not None)
    assert after is not None
    now = ends(after)
    assert {port: now.get(port) for port in ends(before)} == ends(before)
    assert own(before).items() <= own(after).items()
    assert set(before.gateways) <= set(after.gateways)
    assert set(before.bonds) <= set(after.bonds)
    assert set(before.summaries) <= set(after.summaries)
    assert before.pools == after.pools


@pytest.mark.parametrize("name", sorted(path.stem for path in FABRICS.glob("*.yml") if not path.stem.startswith("gpu")))
@pytest.mark.parametrize("what", ["host", "segment", "pod"])
def test_the_designs_grow_without_moving_anything(name: str, what: str) -> None:
    intent = load_intent(FABRICS / f"{name}.yml")
    after = wired(grown(intent, what))
    if after is not None:
        before, now = ends(wire(intent)), ends(after)
        assert {port: now.get(port) for port in before} == before


@given(st.sampled_from(["by-host", "by-rail"]), st.integers(1, 5), st.integers(1, 2), st.integers(1, 4), st.booleans())
@settings(max_examples=examples(40))
def test_a_further_spine_moves_no_cable_where_links_and_hosts_are_stated(
    ports: str, spines: int, links: int, hosts: int, breakout: bool
) -> None:
    tier = {
        "links_per_leaf": links,
        "rate_gbps": 100 if breakout else 400,
        "model": "7220-ixr-d5",
        "breakout": breakout,
    }
    before, after = (
        fabric(
            backend__segments__ports=ports,
            backend__segments__hosts=hosts,
            backend__oversubscription=1.3,
            backend__growth={"hosts": hosts} if ports == "by-rail" else None,
            backend__spines={**tier, "count": count},
        )
        for count in (spines, spines + 1)
    )
    was, is_now = ({end: peer[:2] for end, peer in ends(wire(found)).items()} for found in (before, after))
    assert was.items() <= is_now.items()


@given(fabrics())
@settings(max_examples=examples(40))
@example((ALL_SPLIT, wire(ALL_SPLIT)))
def test_the_cages_that_a_switch_splits_are_those_whose_ports_have_lanes(built: tuple[FabricIntent, Topology]) -> None:
    _, topology = built
    for node in topology.switches():
        model, split = topology.model_of(node), {breakout.cage_name: breakout for breakout in node.breakouts}
        cages = model.interface_names(node.platform or "", 1)
        laned = [(cages[port.cage - 1], port) for port, _, _ in topology.ports_of(node.name) if port.lane is not None]
        assert {cage for cage, _ in laned} == set(split)
        assert all(split[cage].rate_gbps == port.rate_gbps for cage, port in laned)
        assert all(1 <= (port.lane or 0) <= split[cage].lanes for cage, port in laned)
        assert all(model.lanes_for(breakout.rate_gbps) == breakout.lanes for breakout in split.values())


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


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"backend__spines__count": 6},
            "backend.spines.count: the 16 uplinks of a full rail switch do not divide evenly among 6 "
            "spines. Use 1, 2, 4 or 8",
        ),
        (
            {"backend__segments__rail_switches": 3},
            "the 16 NIC ports of a host do not divide evenly among 3 rail switches. Use 1, 2, 4, 8 or 16.",
        ),
        (
            {"backend__segments__hosts": 14},
            "44 ports are needed (28 for hosts and 16 for uplinks) and 7220-ixr-d5 has 32. Use at most "
            "8 hosts, 4 rail_switches",
        ),
    ],
)
def test_a_fabric_that_cannot_be_built_is_refused_with_the_reason(change: dict[str, int], line: str) -> None:
    with pytest.raises(RailfabError) as caught:
        wire(fabric(**change))
    assert line in str(caught.value)


@pytest.mark.parametrize(
    ("segments", "links", "line"),
    [
        (1, 24, None),
        (1, 25, "backend.segments: 33 ports are needed (8 for hosts and 25 for uplinks) and 7220-ixr-d5 has 32."),
        (2, 16, None),
        (3, 11, "backend.spines: 33 ports are needed (one for each link of each leaf) and 7220-ixr-d5 has 32."),
    ],
)
def test_a_switch_is_used_to_its_last_port_and_no_further(segments: int, links: int, line: str | None) -> None:
    intent = fabric(
        backend__segments__count=segments,
        backend__segments__hosts=2,
        backend__segments__rail_switches=1,
        backend__spines__count=1,
        backend__spines__links_per_leaf=links,
    )
    if line is None:
        assert len(wire(intent).links) == segments * (2 * 16 + links)
    else:
        with pytest.raises(TopologyError) as caught:
            wire(intent)
        assert str(caught.value).startswith(line)


def test_more_spines_than_a_rail_switch_needs_uplinks_get_one_link_each() -> None:
    intent = fabric(
        hosts__gpus=1, backend__segments__hosts=1, backend__spines__count=4, backend__spines__links_per_leaf=1
    )
    assert [capacity.up_gbps for capacity in capacities(wire(intent))] == [1600] * 4


def test_uplinks_that_nobody_states_suffice_for_a_full_rail_switch() -> None:
    few, many = fabric(backend__segments__hosts=1), fabric(backend__segments__hosts=8)
    for intent in (few, many):
        assert {capacity.up_gbps for capacity in capacities(wire(intent))} == {16 * 400}
    assert {capacity.down_gbps for capacity in capacities(wire(many))} == {16 * 400}


@pytest.mark.parametrize(
    ("growth", "links"),
    [({}, 4), ({"segments": 1}, 2), ({"segments": 2}, 4)],
)
def test_uplinks_of_a_spine_that_nobody_states_suffice_for_as_many_rail_switches_as_may_come(
    growth: dict[str, int], links: int
) -> None:
    """Four links of 400G from each rail switch, and four super-spines."""
    top = {"count": 4, "rate_gbps": 400, "model": "7220-ixr-d5"}
    topology = wire(
        fabric(backend__super_spines=top, backend__pods=2, backend__growth=growth, backend__segments__count=1)
    )
    between = Counter((link.a.node, link.z.node) for link in topology.links if link.z.node.startswith("super"))
    assert set(between.values()) == {links}


def test_uplinks_that_nobody_states_follow_from_a_stated_growth() -> None:
    intent = fabric(backend__growth__hosts=4, backend__segments__hosts=1)
    assert {capacity.up_gbps for capacity in capacities(wire(intent))} == {3200}


@pytest.mark.parametrize("cages", [(1, 2, 3, 4, 1, 2, 3, 4), (1, 2, 3, 4, 5, 6, 7, 8)])
def test_uplinks_that_nobody_states_follow_from_the_ports_that_one_rail_switch_gives_its_own_rails(
    cages: tuple[int, ...],
) -> None:
    """Rails 1 to 4 are on the first of two switches, a port of 400G for each."""
    ports = {rail: [cage] for rail, cage in enumerate(cages, 1)}
    hosts = {"gpus": 8, "nic_ports": 1, "rate_gbps": 400}
    intent = fabric(hosts=hosts, backend__segments__ports=ports, backend__segments__hosts=1)
    assert {(found.down_gbps, found.up_gbps) for found in capacities(wire(intent))} == {(1600, 1600)}


def test_several_reasons_are_given_together() -> None:
    segments = Segments(count=1, hosts=4, rail_switches=2, model="7220-ixr-d5", platform="eos")
    spines = Spines(count=4, rate_gbps=800, model="7220-ixr-d5", platform="srlinux")
    intent = FabricIntent(
        version=1, fabric="f", hosts=Hosts(rate_gbps=33), backend=Backend(segments=segments, spines=spines)
    )
    with pytest.raises(Problems) as caught:
        wire(intent)
    assert str(caught.value).splitlines()[:3] == [
        "backend.segments.platform: 7220-ixr-d5 does not run platform 'eos'. Use srlinux or a model that runs "
        "eos (7010tx-48, 7050dx4-32s, 7060dx5-64s, 7060x6-64pe and 1 more).",
        "hosts.rate_gbps: 7220-ixr-d5 has no port of 33 Gb/s. Use 400, 200, 100, 40, 25 or 10.",
        "backend.spines.rate_gbps: 7220-ixr-d5 has no unsplit port of 800 Gb/s. Use 400, 200, 100 or 40.",
    ]


def test_an_unknown_switch_is_refused() -> None:
    with pytest.raises(
        TopologyError, match=r"switch 'x9': is not in the catalogue\. Use .*7220-ixr-d5, .*linux-16.*\."
    ):
        switch_model("x9")


def test_an_oversubscribed_fabric_is_built_and_said_to_be_so() -> None:
    intent = fabric(backend__spines__links_per_leaf=1)
    found = findings(wire(intent), intent)
    assert str(found[0]) == (
        "pod1-seg1-leaf1 and 3 more: 3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1). Set "
        "backend.spines.links_per_leaf: 2, backend.spines.count: 8 or backend.oversubscription: 2 (if "
        "blocking is intended)."
    )
    assert len(found) == 1


@pytest.mark.parametrize("role", [Role.LEAF, Role.SPINE])
def test_numbered_links_have_addresses_of_their_own_however_many_uplinks_a_switch_has(role: Role) -> None:
    """The classic plan has room for 64 uplinks of a switch."""
    many = {"count": 16, "links_per_leaf": 8, "rate_gbps": 100, "model": "7060x6-64pe", "breakout": True}
    few = {"count": 4, "links_per_leaf": 1, "rate_gbps": 800, "model": "7060x6-64pe"}
    top = {"count": 16, "links_per_spine": 8, "rate_gbps": 100, "model": "7060x6-64pe", "breakout": True}
    topology = wire(
        fabric(
            hosts__rate_gbps=400,
            backend__segments__model="7060x6-64pe",
            backend__spines=many if role is Role.LEAF else few,
            backend__super_spines=None if role is Role.LEAF else top,
            profile__underlay="numbered",
        )
    )
    ends = [port.address for port, _, _ in topology.ports() if port.rail is None]
    assert None not in ends
    assert len(set(ends)) == len(ends)
