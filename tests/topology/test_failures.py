"""Failure domains: laws, and figures by hand."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.edits import between, with_links
from tests.topology.fabric_intents import fabric, fabrics

from railfab.intent import FabricIntent, load_intent
from railfab.topology import FailureDomain, FailureKind, Net, Role, Topology, failure_domains, wire
from railfab.topology.services import Service, Unit
from railfab.topology.spreading import Spread

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
Row = tuple[int, int, float, int]
"""Elements alike, units hit, share lost [%], units cut off."""


def rows(intent: FabricIntent, topology: Topology | None = None, net: Net = Net.BACKEND) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for domain in failure_domains(topology or wire(intent), intent):
        if domain.net is net:
            row = domain.count, domain.affected, domain.lost_percent, domain.cut_off
            found.setdefault(domain.kind, []).append(row)
    return found


def test_pod64_by_hand() -> None:
    """A GPU has 2 x 100G, one on each of its segment's two leaves; a leaf takes in 3.2 Tb/s and hands up 8 x 400G."""
    intent = load_intent(FABRICS / "pod64.yml")
    assert failure_domains(wire(intent), intent) == (
        domain(FailureKind.NIC, "pod1-seg1-host1 rail1", 64, (1, 100.0, 1), 0.0),
        domain(
            FailureKind.HOST_LINK,
            "pod1-seg1-host1:rail1-p0--pod1-seg1-leaf1:ethernet-1/1/1",
            128,
            (1, 50.0, 0),
            50.0,
        ),
        domain(FailureKind.LEAF, "pod1-seg1-leaf1", 4, (32, 50.0, 0), 50.0),
        domain(
            FailureKind.LEAF_LINK,
            "pod1-seg1-leaf1:ethernet-1/32--pod1-spine1:ethernet-1/1",
            32,
            (32, 6.25, 0),
            50.0,
            Service.OTHER_LEAVES,
            Spread(next_hops=8, slowed=2, slowest=0.5, weighted=0.875, channel=False),
        ),
        domain(FailureKind.SPINE, "pod1-spine1", 4, (64, 25.0, 0), 75.0, Service.OTHER_LEAVES),
    )


def domain(
    kind: FailureKind,
    example: str,
    count: int,
    cost: tuple[int, float, int],
    slowest: float,
    service: Service = Service.EVERY_GPU,
    spread: Spread | None = None,
) -> FailureDomain:
    return FailureDomain(
        net=Net.BACKEND,
        kind=kind,
        example=example,
        count=count,
        unit=Unit.GPU,
        affected=cost[0],
        lost_percent=cost[1],
        cut_off=cost[2],
        service=service,
        slowest_percent=slowest,
        spread=spread,
    )


def test_two_such_pods_under_super_spines_by_hand() -> None:
    """A spine takes in 4 leaves x 2 x 400G and hands up 8 x 400G; a super-spine has 2 of these of every spine."""
    found = rows(load_intent(FABRICS / "multi-pod.yml"))
    assert found[FailureKind.SPINE] == [(8, 64, 25.0, 0)]
    assert found[FailureKind.SPINE_LINK] == [(64, 64, 3.125, 0)]
    assert found[FailureKind.SUPER] == [(4, 128, 25.0, 0)]


def test_a_nic_of_one_port_hangs_on_its_leaf() -> None:
    found = rows(load_intent(FABRICS / "single-rail.yml"))
    assert found[FailureKind.HOST_LINK] == [(512, 1, 100.0, 1)]
    assert found[FailureKind.LEAF] == [(16, 32, 100.0, 32)]


def test_gpus_that_share_a_nic_fall_together() -> None:
    """8 GPUs on two NICs of one port."""
    found = rows(load_intent(FABRICS / "shared-nic.yml"))
    assert found[FailureKind.NIC] == [(32, 4, 100.0, 4)]
    assert found[FailureKind.HOST_LINK] == [(32, 4, 100.0, 4)]
    assert found[FailureKind.LEAF] == [(2, 64, 100.0, 64)]


def test_a_pair_without_spines_survives_everything_but_a_nic() -> None:
    found = rows(load_intent(FABRICS / "dual-mlag.yml"))
    assert {kind: row[0][3] for kind, row in found.items()} == {"NIC": 1, "host link": 0, "leaf": 0, "peer link": 0}
    assert found[FailureKind.PEER_LINK] == [(2, 0, 0.0, 0)]
    assert found[FailureKind.LEAF] == [(2, 32, 50.0, 0)]


@pytest.mark.parametrize("stem", ["dual-plane", "pod64", "multi-pod", "dual-esi", "dual-vlan"])
def test_two_planes_or_two_leaves_leave_every_gpu_connected(stem: str) -> None:
    found = rows(load_intent(FABRICS / f"{stem}.yml"))
    switches = (FailureKind.LEAF, FailureKind.SPINE, FailureKind.SUPER)
    assert sum(row[3] for kind in switches for row in found.get(kind, ())) == 0


def test_spare_uplinks_cover_a_loss_before_bandwidth_does() -> None:
    """A leaf takes in 16 x 100G and hands up 8 x 400G: two of four spines (800G each) carry it."""
    intent = fabric(backend__segments__hosts=2, backend__spines__links_per_leaf=2)
    assert rows(intent)[FailureKind.SPINE] == [(4, 0, 0.0, 0)]
    fewer = with_links(wire(intent), lambda link: None if link.z.node in ("pod1-spine3", "pod1-spine4") else link)
    assert rows(intent, fewer)[FailureKind.SPINE] == [(2, 32, 50.0, 0), (2, 0, 0.0, 0)]


def test_what_an_oversubscribed_leaf_never_had_is_not_lost_again() -> None:
    """2:1: a spine less takes a quarter of what got through, not of what hosts send."""
    assert rows(fabric(backend__spines__links_per_leaf=1))[FailureKind.SPINE] == [(4, 64, 25.0, 0)]


def test_super_spines_in_groups_serve_the_spines_of_their_group() -> None:
    """Each group of two super-spines carries what one of four spines of a pod hands up: a quarter of the traffic."""
    supers = {"count": 8, "groups": 4, "links_per_spine": 4, "rate_gbps": 400, "model": "7220-ixr-d5"}
    intent = fabric(backend__pods=2, backend__spines__links_per_leaf=2, backend__super_spines=supers)
    assert rows(intent)[FailureKind.SUPER] == [(8, 128, 12.5, 0)]


def test_a_host_without_the_second_cable_is_a_row_of_its_own() -> None:
    intent = fabric()
    odd = with_links(wire(intent), lambda link: None if between(link, "pod1-seg1-host1", "pod1-seg1-leaf2") else link)
    found = rows(intent, odd)
    assert found[FailureKind.HOST_LINK] == [(8, 1, 100.0, 1), (112, 1, 50.0, 0)]
    assert found[FailureKind.LEAF] == [(1, 32, 62.5, 8), (1, 24, 50.0, 0), (2, 32, 50.0, 0)]


def test_every_network_of_a_cluster_has_its_own_table() -> None:
    """6 hosts of 4 GPUs, 2 leaves and 2 spines in each other network."""
    intent = load_intent(FABRICS / "cluster.yml")
    topology = wire(intent)
    frontend, storage = (rows(intent, topology, net) for net in (Net.FRONTEND, Net.STORAGE))
    assert frontend[FailureKind.NIC] == storage[FailureKind.NIC] == [(6, 4, 100.0, 4)]
    assert frontend[FailureKind.LEAF] == [(2, 24, 50.0, 0)]
    assert storage[FailureKind.LEAF] == [(2, 24, 50.0, 0), (2, 3, 50.0, 0)]
    assert storage[FailureKind.SERVER_LINK] == [(6, 1, 50.0, 0)]
    assert FailureKind.NIC not in rows(intent, topology, Net.MANAGEMENT)


def test_the_operating_system_and_the_bmc_of_a_host_are_two_services_and_neither_is_half_of_the_other() -> None:
    """Two management leaves for 6 hosts, 3 storage servers and all other switches; what is above them loses nothing."""
    intent = load_intent(FABRICS / "cluster.yml")
    topology = wire(intent)
    managed = sum(node.net is not Net.MANAGEMENT for node in topology.switches())
    found = [domain for domain in failure_domains(topology, intent) if domain.net is Net.MANAGEMENT]
    links = {(one.kind, one.unit): one for one in found if one.kind is not FailureKind.LEAF and one.affected}
    assert {
        key: (one.count, one.affected, one.lost_percent, one.service.partition("(")[2]) for key, one in links.items()
    } == {
        (FailureKind.MGMT0_LINK, Unit.HOST): (6, 1, 100.0, "mgmt0)"),
        (FailureKind.BMC_LINK, Unit.HOST): (6, 1, 100.0, "BMC)"),
        (FailureKind.MGMT0_LINK, Unit.SERVER): (3, 1, 100.0, "mgmt0)"),
        (FailureKind.BMC_LINK, Unit.SERVER): (3, 1, 100.0, "BMC)"),
        (FailureKind.MANAGED_LINK, Unit.SWITCH): (managed, 1, 100.0, "mgmt0)"),
    }
    leaf = {(one.example, one.affected, one.unit, one.service) for one in found if one.kind is FailureKind.LEAF}
    assert {one for one in leaf if one[2] is Unit.HOST and one[1]} == {
        ("mgmt-leaf1", 6, Unit.HOST, Service.OPERATING_SYSTEM),
        ("mgmt-leaf2", 6, Unit.HOST, Service.BMC),
    }
    assert ("mgmt-leaf1", managed // 2, Unit.SWITCH, Service.SWITCH_CPU) in leaf
    assert {one.slowest_percent for one in found} == {None}


def test_each_network_is_measured_in_its_own_words() -> None:
    intent = load_intent(FABRICS / "cluster.yml")
    found: dict[Net, set[str]] = {}
    for one in failure_domains(wire(intent), intent):
        found.setdefault(one.net, set()).add(one.service)
    assert found[Net.STORAGE] == {
        Service.STORAGE,
        Service.STORAGE_LEAVES,
        Service.HOSTS,
        Service.HOSTS_LEAVES,
    }
    assert found[Net.FRONTEND] == {Service.FRONTEND, Service.FRONTEND_LEAVES}
    gpus = {Service.EVERY_GPU, Service.OTHER_LEAVES, Service.OTHER_PODS}
    assert found[Net.BACKEND] <= gpus
    assert all(gpus.isdisjoint(services) for net, services in found.items() if net is not Net.BACKEND)


def total_shares(found: dict[str, list[Row]], kind: FailureKind) -> float:
    """GPUs' shares that all elements of a kind take together: 1 for each GPU whose all is shared out among them."""
    return sum(count * gpus * lost / 100 for count, gpus, lost, _ in found.get(kind, ()))


@given(fabrics())
@settings(max_examples=examples(60), deadline=None)
def test_what_all_leaves_or_links_or_nics_take_is_what_all_gpus_have(built: tuple[FabricIntent, Topology]) -> None:
    intent, topology = built
    found, gpus = rows(intent, topology), len(topology.hosts()) * intent.hosts.gpus
    assert total_shares(found, FailureKind.LEAF) == pytest.approx(gpus)
    assert total_shares(found, FailureKind.HOST_LINK) == pytest.approx(gpus)
    assert total_shares(found, FailureKind.NIC) == pytest.approx(gpus)


@given(fabrics())
@settings(max_examples=examples(60), deadline=None)
def test_every_element_is_in_the_table_once_and_alike_ones_in_one_row(built: tuple[FabricIntent, Topology]) -> None:
    intent, topology = built
    found = failure_domains(topology, intent)
    count = {kind: sum(one.count for one in found if one.kind is kind) for kind in FailureKind}
    roles = {role: sum(node.role is role for node in topology.nodes) for role in Role}
    assert count[FailureKind.LEAF] == roles[Role.LEAF]
    assert (count[FailureKind.SPINE], count[FailureKind.SUPER]) == (roles[Role.SPINE], roles[Role.SUPER])
    assert count[FailureKind.NIC] == roles[Role.HOST] * intent.hosts.nics
    links = (kind for kind in FailureKind if kind.endswith("link"))
    assert sum(count[kind] for kind in links) == len(topology.links)
    per_kind = {kind: sum(one.kind is kind for one in found) for kind in FailureKind}
    assert max(per_kind.values()) <= 2, "wire is symmetric: uneven only where links do not divide"


@given(fabrics(), st.randoms(use_true_random=False))
@settings(max_examples=examples(30), deadline=None)
def test_the_order_of_nodes_links_and_ends_decides_nothing(
    built: tuple[FabricIntent, Topology], random: Random
) -> None:
    intent, topology = built
    nodes, links = list(topology.nodes), list(topology.links)
    random.shuffle(nodes)
    random.shuffle(links)
    links = [replace(link, a=link.z, z=link.a) if random.random() < 0.5 else link for link in links]
    mixed = replace(topology, nodes=tuple(nodes), links=tuple(links))
    plain, shuffled = rows(intent, topology), rows(intent, mixed)
    assert {kind: sorted(row) for kind, row in plain.items()} == {kind: sorted(row) for kind, row in shuffled.items()}


@given(fabrics())
@settings(max_examples=examples(40), deadline=None)
def test_a_failure_of_more_costs_more_and_cuts_off_only_whom_it_hits(built: tuple[FabricIntent, Topology]) -> None:
    intent, topology = built
    gpus = len(topology.hosts()) * intent.hosts.gpus
    for one in failure_domains(topology, intent):
        assert 0 <= one.lost_percent <= 100
        assert 0 <= one.cut_off <= one.affected <= gpus
        assert (one.lost_percent == 100) == (one.cut_off == one.affected > 0)
        assert one.slowest_percent is not None
        assert 0 <= one.slowest_percent <= 100 - one.lost_percent + 1e-4
        assert (one.spread is None) or one.slowest_percent == round(100 * one.spread.slowest, 6)
    found = rows(intent, topology)
    if FailureKind.SPINE in found and FailureKind.LEAF_LINK in found:
        spine, link = (
            max(row[1] * row[2] for row in found[kind]) for kind in (FailureKind.SPINE, FailureKind.LEAF_LINK)
        )
        assert spine >= link - 1e-6
