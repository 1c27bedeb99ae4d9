"""Names, ports, AS numbers and addresses that stand for two things."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.edits import between, end, said, with_links, with_node
from tests.topology.fabric_intents import fabric, fabrics

from railfab.intent import FabricIntent
from railfab.topology import Bond, Gateway, Topology, findings, wire

SUPERS = {"count": 4, "links_per_spine": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}


def duplicates(topology: Topology, intent: FabricIntent) -> list[str]:
    """The findings of duplicate addresses, as lines."""
    return [line for line in lines(topology, intent, ": address ") if "is also used by" in line]


def lines(topology: Topology, intent: FabricIntent, word: str) -> list[str]:
    return [line for line in said(topology, intent) if word in line]


def test_two_nodes_of_one_name() -> None:
    intent = fabric()
    topology = wire(intent)
    topology = replace(topology, nodes=(*topology.nodes, topology.node("pod1-spine1")))
    assert lines(topology, intent, "have this name") == ["error pod1-spine1: 2 nodes have this name. Use unique names."]


def test_two_cables_in_one_port() -> None:
    intent = fabric()
    topology = with_links(
        wire(intent),
        lambda link: (
            end(link, z={"name": "ethernet-1/1/1"}) if between(link, "pod1-seg1-host2", "pod1-seg1-leaf1") else link
        ),
    )
    assert lines(topology, intent, "cables") == [
        "error pod1-seg1-leaf1 ethernet-1/1/1 and 7 more: two cables use this port. Use one port per cable."
    ]


AS_REMEDY = "Use one AS number per leaf, one for the spines of each pod and one for the super-spines, or use ibgp."


def as_number(topology: Topology, name: str, like: str) -> Topology:
    return with_node(topology, name, asn=topology.node(like).asn)


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("pod1-seg2-leaf1", "pod1-seg1-leaf1"),
        ("pod1-spine1", "pod1-seg1-leaf1"),
        ("pod2-spine1", "pod1-spine1"),
        ("super1", "pod1-spine1"),
    ],
)
def test_two_that_share_an_as_number_never_hear_of_each_other(name: str, like: str) -> None:
    intent = fabric(backend__pods=2, backend__super_spines=dict(SUPERS), backend__spines__links_per_leaf=2)
    topology = as_number(wire(intent), name, like)
    found = lines(topology, intent, "AS number")
    asn = topology.node(like).asn
    assert len(found) == 1
    assert found[0].endswith(f"with eBGP each rejects the routes of the other. {AS_REMEDY}")
    assert f"AS number {asn} is also used by {like}: " in found[0]


def test_alike_clashes_of_as_numbers_are_one_line() -> None:
    intent = fabric()
    topology = wire(intent)
    for name in ("pod1-seg1-leaf2", "pod1-seg2-leaf1", "pod1-seg2-leaf2"):
        topology = as_number(topology, name, "pod1-seg1-leaf1")
    assert lines(topology, intent, "AS number") == [
        f"error pod1-seg1-leaf2 and 2 more: AS number 4200001001 is also used by pod1-seg1-leaf1: with eBGP "
        f"each rejects the routes of the other. {AS_REMEDY}"
    ]


def test_one_number_for_all_is_what_ibgp_means_and_a_pair_may_share_one() -> None:
    intent = fabric(profile__control_plane="ibgp")
    assert lines(wire(intent), intent, "AS number") == []
    pair = fabric(hosts__attach="mlag", backend__spines=None, backend__segments__count=1)
    assert lines(as_number(wire(pair), "pod1-seg1-leaf2", "pod1-seg1-leaf1"), pair, "AS number") == []


OWN = "Use unique addresses."


def test_duplicate_loopbacks() -> None:
    intent = fabric()
    topology = with_node(wire(intent), "pod1-seg2-leaf1", loopback=IPv4Address("10.255.1.1"))
    assert duplicates(topology, intent) == [
        f"error pod1-seg2-leaf1 loopback: address 10.255.1.1 is also used by pod1-seg1-leaf1 loopback. {OWN}"
    ]


def test_duplicate_host_links_are_one_line() -> None:
    intent = fabric()
    first = IPv4Interface("10.17.0.1/31")
    topology = with_links(
        wire(intent), lambda link: end(link, a={"address": first}) if between(link, "pod1-seg1-host", "") else link
    )
    assert duplicates(topology, intent) == [
        "error pod1-seg1-host1 rail1-p1 and 62 more: address 10.17.0.1 is also used by pod1-seg1-host1 rail1-p0. " + OWN
    ]


def test_a_port_with_the_address_of_a_loopback() -> None:
    intent = fabric(profile__underlay="numbered")
    taken = IPv4Interface("10.255.1.2/31")
    topology = with_links(
        wire(intent),
        lambda link: (
            end(link, z={"address": taken}) if link.a.name == "ethernet-1/32" and "seg1-leaf1" in link.a.node else link
        ),
    )
    assert (
        f"error pod1-seg1-leaf2 loopback: address 10.255.1.2 is also used by pod1-spine1 ethernet-1/1. {OWN}"
        in said(topology, intent)
    )


def gateway(node: str, address: str, vlan: int = 101, **more: object) -> Gateway:
    interface = IPv4Interface(address)
    return Gateway(node=node, vlan=vlan, subnet=interface.network, address=interface, **more)  # type: ignore[arg-type]


def bond(host: str, address: str, vlan: int = 101) -> Bond:
    return Bond(
        host=host,
        name="bond1",
        ports=("rail1-p0", "rail1-p1"),
        switches=("pod1-seg1-leaf1", "pod1-seg1-leaf2"),
        bundle=1001,
        rail=1,
        vlan=vlan,
        address=IPv4Interface(address),
        esi="00:01",
    )


def test_gateways_and_lags_share_addresses_only_where_they_may() -> None:
    intent = fabric()
    topology = replace(
        wire(intent),
        gateways=(
            gateway("pod1-seg1-leaf1", "10.120.0.1/24", anycast=True),
            gateway("pod1-seg1-leaf2", "10.120.0.1/24", anycast=True),
            gateway("pod1-seg2-leaf1", "10.120.1.1/24", 7),
            gateway("pod1-seg2-leaf2", "10.120.1.1/24", 8),
        ),
        bonds=(bond("pod1-seg1-host1", "10.120.0.2/24"), bond("pod1-seg1-host2", "10.120.0.2/24")),
    )
    assert duplicates(topology, intent) == [
        f"error pod1-seg1-host2 bond1: address 10.120.0.2 is also used by pod1-seg1-host1 bond1. {OWN}",
        f"error pod1-seg2-leaf2 VLAN 8: address 10.120.1.1 is also used by pod1-seg2-leaf1 VLAN 7. {OWN}",
    ]


def test_a_vtep_is_of_one_switch_or_of_a_pair() -> None:
    intent = fabric(hosts__attach="esi", profile={"control_plane": "evpn", "data_plane": "vxlan"})
    topology, vtep = wire(intent), IPv4Address("10.255.200.1")
    pair = with_node(with_node(topology, "pod1-seg1-leaf1", vtep=vtep), "pod1-seg1-leaf2", vtep=vtep)
    assert duplicates(pair, intent) == []
    assert duplicates(with_node(pair, "pod1-seg2-leaf1", vtep=vtep), intent) == [
        f"error pod1-seg2-leaf1 VTEP: address 10.255.200.1 is also used by pod1-seg1-leaf1 VTEP. {OWN}"
    ]


def test_addresses_of_two_tenants_are_apart() -> None:
    intent = fabric()
    topology = replace(
        wire(intent),
        gateways=(
            gateway("pod1-seg1-leaf1", "10.120.0.1/24", 101, tenant="red", vni=1),
            gateway("pod1-seg1-leaf1", "10.120.0.1/24", 102, tenant="blue", vni=2),
        ),
        bonds=(bond("pod1-seg1-host1", "10.120.0.2/24", 101), bond("pod1-seg1-host2", "10.120.0.2/24", 102)),
    )
    assert duplicates(topology, intent) == []


def test_pools_of_a_user_that_overlap_make_collisions_seen() -> None:
    pool = IPv4Network("10.255.0.0/16")
    intent = fabric(profile__addresses={"hosts": str(pool), "loopbacks": str(pool)})
    assert duplicates(wire(intent), intent)


@given(fabrics(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_whatever_is_wired_has_no_collision_and_any_copied_loopback_is_seen(
    built: tuple[FabricIntent, Topology], data: st.DataObject
) -> None:
    intent, topology = built
    errors = [str(found) for found in findings(topology, intent) if found.severity == "error"]
    assert not [line for line in errors if "overlap" in line or ": address " in line or "pool" in line]
    assert not [line for line in errors if "AS number" in line or "cables" in line or "is used by" in line]
    switches = topology.switches()
    if len(switches) > 1:
        one, other = data.draw(st.sampled_from(switches)), data.draw(st.sampled_from(switches))
        copied = with_node(topology, one.name, loopback=other.loopback)
        assert bool(duplicates(copied, intent)) == (one != other)
