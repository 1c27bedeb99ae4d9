"""What each committed design must come out as, by hand."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from tests.topology.fabric_intents import BLOCKS, fabric

from railfab.intent import FabricIntent, load_intent
from railfab.topology import Role, Topology, findings, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
SMALL = sorted(path.stem for path in FABRICS.glob("*.yml") if path.stem not in ("gpu16384", "gpu32768", "gpu131072"))


def wired(name: str) -> Topology:
    return wire(load_intent(FABRICS / f"{name}.yml"))


def counts(topology: Topology) -> dict[Role, int]:
    return dict(Counter(node.role for node in topology.nodes))


def places(topology: Topology, node: str) -> dict[int, list[tuple[int, int | None]]]:
    """Cage and lane of the host ports of a switch, by rail."""
    found: dict[int, list[tuple[int, int | None]]] = {}
    for port, _, _ in topology.ports_of(node):
        if port.rail is not None:
            found.setdefault(port.rail, []).append((port.cage, port.lane))
    return found


def up_gbps(topology: Topology, node: str, peer_role: Role) -> int:
    return sum(
        link.rate_gbps for _, peer, link in topology.ports_of(node) if topology.node(peer.node).role is peer_role
    )


NOTES = {"dual-mlag": ["mlag-without-backup"]}
"""Notes of designs: a pair alone has no path beside its peer link."""


@pytest.mark.parametrize("name", SMALL)
def test_a_committed_design_has_no_finding_but_the_note_of_a_pair_alone(name: str) -> None:
    intent = load_intent(FABRICS / f"{name}.yml")
    assert intent.fabric == name
    said = findings(wire(intent), intent)
    assert [str(finding.code) for finding in said] == NOTES.get(name, [])
    assert all(finding.severity == "note" for finding in said)


def test_single_switch_has_24_ports_of_200g_and_port_n_of_each_host_is_in_the_vlan_of_rail_n() -> None:
    topology = wired("single-switch")
    ports = topology.ports_of("pod1-seg1-leaf1")
    assert (len(topology.hosts()), len(ports), {link.rate_gbps for _, _, link in ports}) == (3, 24, {200})
    for place, (port, _, _) in enumerate(ports):
        assert port.vlan == 101 + place % 8
    assert [(str(gateway.address), gateway.vlan) for gateway in topology.gateways[:2]] == [
        ("10.0.1.1/27", 101),
        ("10.0.1.33/27", 102),
    ]
    assert len(topology.gateways) == 8


@pytest.mark.parametrize("name", ["dual-mlag", "dual-esi", "dual-vlan"])
def test_dual_switches_serve_32_gpus_with_two_ports_of_200g_each_and_no_spine(name: str) -> None:
    topology = wired(name)
    assert counts(topology) == {Role.HOST: 4, Role.LEAF: 2}
    hosts = [link for link in topology.links if link.a.rail is not None]
    assert (len(hosts), {link.rate_gbps for link in hosts}) == (64, {200})
    for host in topology.hosts():
        assert Counter(peer.node for _, peer, _ in topology.ports_of(host.name)) == {
            "pod1-seg1-leaf1": 8,
            "pod1-seg1-leaf2": 8,
        }


def test_an_mlag_pair_is_joined_and_each_nic_is_one_lag_with_one_address() -> None:
    topology = wired("dual-mlag")
    assert sum(link.a.rail is None for link in topology.links) == 2
    assert len(topology.bonds) == 32
    bond = topology.bonds[0]
    assert (bond.host, bond.name, bond.ports) == ("pod1-seg1-host1", "bond1", ("rail1-p0", "rail1-p1"))
    assert (bond.switches, str(bond.address), bond.esi) == (("pod1-seg1-leaf1", "pod1-seg1-leaf2"), "10.0.1.2/27", None)
    first, second = (gateway for gateway in topology.gateways if gateway.rail == 1)
    assert first.address == second.address
    assert first.anycast
    assert second.anycast
    assert len({port.bundle for port, _, _ in topology.ports_of("pod1-seg1-leaf1") if port.rail}) == 32


def test_esi_multihoming_gives_each_lag_an_ethernet_segment_of_its_own_and_each_subnet_a_vni() -> None:
    topology = wired("dual-esi")
    assert len({bond.esi for bond in topology.bonds}) == 32
    assert topology.bonds[0].esi == "00:00:00:01:00:01:00:01:00:01"
    vnis = {gateway.vni for gateway in topology.gateways}
    assert len(vnis) == 8
    assert None not in vnis
    assert all(node.vtep for node in topology.switches())


def test_two_vlans_without_a_lag_are_two_subnets_and_two_addresses() -> None:
    topology = wired("dual-vlan")
    first, second = (port for port, _, _ in topology.ports_of("pod1-seg1-host1") if port.rail == 1)
    assert (str(first.address), str(second.address)) == ("10.0.1.2/27", "10.0.2.2/27")
    assert {gateway.vlan for gateway in topology.gateways if gateway.rail == 1} == {101, 201}
    assert topology.bonds == ()


def test_explicit_blocks_put_each_rail_on_its_ports() -> None:
    topology = wired("rail-blocks")
    assert {
        rail: sorted({cage for cage, _ in spots}) for rail, spots in places(topology, "pod1-seg1-leaf1").items()
    } == BLOCKS
    leaf = topology.node("pod1-seg1-leaf1")
    assert topology.model_of(leaf).cages == 48
    assert {(breakout.lanes, breakout.rate_gbps) for breakout in leaf.breakouts} == {(2, 200)}


@pytest.mark.parametrize(
    ("name", "links", "gbps"), [("pod64", 2, 400), ("pod64-800g", 1, 800), ("pod64-bundle", 2, 400)]
)
def test_a_pod_has_32_ports_of_100g_down_and_3_2_tbps_up(name: str, links: int, gbps: int) -> None:
    topology = wired(name)
    assert counts(topology) == {Role.HOST: 8, Role.LEAF: 4, Role.SPINE: 4}
    leaves = [node.name for node in topology.nodes if node.role is Role.LEAF]
    for leaf in leaves:
        assert sum(len(spots) for spots in places(topology, leaf).values()) == 32
        assert up_gbps(topology, leaf, Role.SPINE) == 3200
    to_spine = [link for link in topology.links if (link.a.node, link.z.node) == (leaves[0], "pod1-spine1")]
    assert (len(to_spine), {link.rate_gbps for link in to_spine}) == (links, {gbps})


def test_the_links_between_two_switches_form_one_port_channel_where_the_intent_says_so() -> None:
    bundles = {
        (port.node, port.bundle): {peer.node}
        for port, peer, _ in wired("pod64-bundle").ports_of("pod1-seg2-leaf1")
        if port.rail is None
    }
    assert bundles == {("pod1-seg2-leaf1", spine): {f"pod1-spine{spine}"} for spine in range(1, 5)}
    assert not any(port.bundle for port, _, _ in wired("pod64").ports())


def test_two_pods_meet_in_four_super_spines_without_blocking_and_the_first_is_pod64() -> None:
    topology, pod64 = wired("multi-pod"), wired("pod64")
    assert counts(topology) == {Role.HOST: 16, Role.LEAF: 8, Role.SPINE: 8, Role.SUPER: 4}
    for spine in (node.name for node in topology.nodes if node.role is Role.SPINE):
        assert up_gbps(topology, spine, Role.SUPER) == up_gbps(topology, spine, Role.LEAF) == 3200
        supers = {peer.node for _, peer, _ in topology.ports_of(spine)} & {f"super{n}" for n in range(1, 5)}
        assert len(supers) == 4
    assert set(pod64.links) <= set(topology.links)
    assert set(pod64.nodes) <= set(topology.nodes)
    assert {node.asn for node in topology.nodes if node.role is Role.SUPER} == {65000}


def test_multi_rail_puts_four_ports_and_a_28_of_each_rail_on_a_switch_and_announces_a_24() -> None:
    topology = wired("multi-rail")
    spots = places(topology, "pod1-seg1-leaf1")
    assert {rail: [cage for cage, _ in found] for rail, found in spots.items()} == {
        rail: list(range(4 * rail - 3, 4 * rail + 1)) for rail in range(1, 9)
    }
    gateways = [gateway for gateway in topology.gateways if gateway.node == "pod1-seg1-leaf1"]
    assert [(str(gateway.subnet), gateway.vlan) for gateway in gateways[:3]] == [
        ("10.0.1.0/28", 101),
        ("10.0.1.16/28", 102),
        ("10.0.1.32/28", 103),
    ]
    summary = topology.summaries[0]
    assert (summary.node, str(summary.prefix)) == ("pod1-seg1-leaf1", "10.0.1.0/24")
    assert summary.contributors == tuple(gateway.subnet for gateway in gateways)


def test_multi_rail_with_a_24_for_each_rail_announces_what_covers_them() -> None:
    topology = wired("multi-rail-own")
    subnets = [str(gateway.subnet) for gateway in topology.gateways if gateway.node == "pod1-seg1-leaf1"]
    assert subnets == [f"10.0.{rail}.0/28" for rail in range(1, 9)]
    assert str(topology.summaries[0].prefix) == "10.0.0.0/20"
    assert str(topology.summaries[1].prefix) == "10.0.16.0/20"


def test_dual_rail_puts_16_ports_and_a_25_of_each_of_two_rails_on_a_switch() -> None:
    topology = wired("dual-rail")
    spots = places(topology, "pod1-seg1-leaf1")
    assert {rail: [cage for cage, _ in found] for rail, found in spots.items()} == {
        1: list(range(1, 17)),
        2: list(range(17, 33)),
    }
    gateways = [gateway for gateway in topology.gateways if gateway.node == "pod1-seg1-leaf1"]
    assert [(str(gateway.subnet), gateway.vlan) for gateway in gateways] == [
        ("10.0.1.0/25", 101),
        ("10.0.1.128/25", 102),
    ]
    assert str(topology.summaries[0].prefix) == "10.0.1.0/24"


def test_single_rail_puts_one_rail_on_ports_1_to_32_with_a_24_and_needs_no_summary() -> None:
    topology = wired("single-rail")
    assert {rail: [cage for cage, _ in found] for rail, found in places(topology, "pod1-seg1-leaf1").items()} == {
        1: list(range(1, 33))
    }
    first = topology.gateways[0]
    assert (str(first.subnet), str(first.address), first.vlan) == ("10.0.1.0/24", "10.0.1.1/24", 101)
    assert topology.summaries == ()


def test_routed_gives_every_nic_port_a_31_and_no_vlan() -> None:
    topology = wired("routed")
    hosts = [link for link in topology.links if link.a.rail is not None]
    assert len(hosts) == 512
    assert {link.a.address and link.a.address.network.prefixlen for link in hosts} == {31}
    assert not topology.gateways
    assert all(link.a.address and link.z.address for link in topology.links)


def test_eight_gpus_share_two_nics() -> None:
    topology = wired("shared-nic")
    assert Counter(port.rail for port, _, _ in topology.ports_of("pod1-seg1-host1")) == {1: 1, 2: 1}
    assert len(topology.hosts()) * 8 == 128


@pytest.mark.parametrize("rate_gbps", [100, 200, 400, 800])
@pytest.mark.parametrize("nic_ports", [1, 2, 4])
@pytest.mark.parametrize("nic_per", ["gpu", 4])
def test_nics_with_one_two_and_four_ports_at_every_speed(rate_gbps: int, nic_ports: int, nic_per: str | int) -> None:
    intent = fabric(
        hosts={"gpus": 8, "nic_per": nic_per, "nic_ports": nic_ports, "rate_gbps": rate_gbps},
        backend__segments={"hosts": 2, "rail_switches": nic_ports, "model": "7060x6-64pe"},
        backend__spines={"count": 2, "rate_gbps": 800, "model": "7060x6-64pe"},
    )
    topology = wire(intent)
    ports = topology.ports_of("pod1-seg1-host1")
    assert Counter(port.rail for port, _, _ in ports) == dict.fromkeys(range(1, intent.hosts.nics + 1), nic_ports)
    assert {port.rate_gbps for port, _, _ in ports} == {rate_gbps}


def test_the_planes_of_a_dual_plane_fabric_never_meet() -> None:
    topology = wired("dual-plane")
    reached: dict[int, set[str]] = {}
    for link in topology.links:
        reached.setdefault(topology.node(link.z.node).plane, set()).add(link.z.node)
    assert reached[1].isdisjoint(reached[2])
    for port, peer, _ in topology.ports_of("pod1-seg1-host1"):
        assert topology.node(peer.node).plane == int(port.name[-1]) + 1
    assert counts(topology) == {Role.HOST: 64, Role.LEAF: 32, Role.SPINE: 16}


@pytest.mark.parametrize(
    ("name", "hosts", "leaves", "spines", "supers"),
    [("gpu1024", 128, 32, 16, 0), ("gpu16384", 2048, 512, 512, 256), ("gpu32768", 4096, 512, 512, 256)],
)
def test_the_large_fabrics_are_scalable_units_of_32_hosts(
    name: str, hosts: int, leaves: int, spines: int, supers: int
) -> None:
    intent = load_intent(FABRICS / f"{name}.yml")
    topology = wire(intent)
    found = counts(topology)
    assert intent.backend.segments.hosts == 32
    assert len(topology.hosts()) * intent.hosts.gpus == int(name.removeprefix("gpu"))
    assert (found[Role.HOST], found[Role.LEAF], found[Role.SPINE], found.get(Role.SUPER, 0)) == (
        hosts,
        leaves,
        spines,
        supers,
    )


def ten_lines() -> FabricIntent:
    text = """
version: 1
fabric: pod
backend:
  segments: {count: 4, hosts: 32, rail_switches: 8, model: sn5400}
  spines: {count: 16, rate_gbps: 400, model: sn5400}
"""
    assert len(text.strip().splitlines()) < 10
    return FabricIntent.model_validate(yaml.safe_load(text))


def test_a_common_pod_needs_less_than_ten_lines_and_is_the_committed_one() -> None:
    assert wire(ten_lines()).links == wired("gpu1024").links
