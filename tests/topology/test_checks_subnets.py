"""Pools, subnets and VLANs."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

import pytest
from tests.topology.edits import between, end, said, with_links, with_node
from tests.topology.fabric_intents import fabric

from railfab.intent import FabricIntent
from railfab.topology import Gateway, Net, Summary, Topology, findings, wire

ROUTES = "Use a larger pool, or an address in it: routing policies accept no other."


def lines(topology: Topology, intent: FabricIntent, word: str) -> list[str]:
    return [line for line in said(topology, intent) if word in line]


def pool_lines(**changes: object) -> list[str]:
    """Of a fabric whose pools clash; what else they bring about is asked elsewhere."""
    intent = fabric(**changes)
    return [line for line in said(wire(intent), intent) if "Use disjoint prefixes" in line]


FRONTEND = {"leaves": {"count": 2, "model": "7220-ixr-d5"}}
MANAGEMENT = {"leaves": {"count": 2, "model": "7220-ixr-d5"}}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"profile__addresses": {"hosts": "10.0.0.0/9", "loopbacks": "10.64.0.0/12"}},
            "error profile.addresses.loopbacks: 10.64.0.0/12 overlaps profile.addresses.hosts 10.0.0.0/9. ",
        ),
        (
            {"profile__addresses": {"hosts": "10.0.0.0/9", "fabric_links": "10.16.0.0/12"}},
            "error profile.addresses.fabric_links: 10.16.0.0/12 overlaps profile.addresses.hosts 10.0.0.0/9. ",
        ),
        (
            {"hosts__attach": "vlan", "backend__subnets": {"pool": "10.254.0.0/16"}},
            "error profile.addresses.loopbacks: 10.254.0.0/15 overlaps backend.subnets.pool 10.254.0.0/16. ",
        ),
    ],
)
def test_pools_of_the_backend_that_overlap(changes: dict[str, object], line: str) -> None:
    assert pool_lines(**changes) == [line + "Use disjoint prefixes."]


def test_pools_of_other_networks_that_overlap_and_tenants_in_them() -> None:
    """Held against a topology of the backend alone: pools are the intent's."""
    topology = wire(fabric())
    intent = fabric(
        frontend=FRONTEND | {"pool": "10.16.0.0/16", "tenants": {"red": {"vlan": 5, "subnet": "10.224.8.0/24"}}},
        management=MANAGEMENT,
    )
    assert [line for line in said(topology, intent) if "Use disjoint prefixes" in line] == [
        "error frontend.pool: 10.16.0.0/16 overlaps profile.addresses.hosts 10.16.0.0/12. Use disjoint prefixes.",
        "error frontend.tenants.red.subnet: 10.224.8.0/24 overlaps management.pool 10.224.0.0/16. Use disjoint "
        "prefixes.",
    ]


def test_tenants_that_overlap_are_warned_of_where_they_meet() -> None:
    tenants = {"red": {"vlan": 5, "subnet": "172.20.0.0/16"}, "blue": {"vlan": 6, "subnet": "172.20.3.0/24"}}
    intent = fabric(frontend=FRONTEND | {"tenants": tenants})
    assert [line for line in said(wire(fabric()), intent) if "both tenants reach" in line] == [
        "warning frontend.tenants.blue.subnet: 172.20.3.0/24 overlaps frontend.tenants.red.subnet "
        "172.20.0.0/16, which conflicts in a network that both tenants reach. Use disjoint prefixes, or "
        "translate addresses."
    ]


def test_a_loopback_outside_its_pool() -> None:
    intent = fabric()
    topology = with_node(wire(intent), "pod1-spine1", loopback=IPv4Address("192.0.2.1"))
    assert lines(topology, intent, "outside") == [
        "error pod1-spine1 loopback: address 192.0.2.1 is outside profile.addresses.loopbacks 10.254.0.0/15. " + ROUTES
    ]


def test_host_links_outside_their_pool_are_one_line() -> None:
    intent = fabric()
    topology = with_links(
        wire(intent),
        lambda link: (
            end(link, a={"address": IPv4Interface(int(link.a.address or 0) + 2**28)})
            if between(link, "pod1-seg1-host1", "pod1-seg1-leaf1")
            else link
        ),
    )
    assert lines(topology, intent, "outside") == [
        "error pod1-seg1-host1 rail1-p0 and 7 more: address 26.17.0.1 is outside profile.addresses.hosts 10.16.0.0/12. "
        + ROUTES
    ]


def test_a_numbered_link_outside_its_pool_and_a_switch_of_another_network() -> None:
    intent = fabric(profile__underlay="numbered", frontend=FRONTEND)
    topology = with_links(
        wire(fabric(profile__underlay="numbered")),
        lambda link: (
            end(link, z={"address": IPv4Interface("198.51.100.0/31")})
            if (link.a.node, link.a.name) == ("pod1-seg1-leaf1", "ethernet-1/32")
            else link
        ),
    )
    topology = with_node(topology, "pod1-spine4", net=Net.FRONTEND)
    found = lines(topology, intent, "outside")
    assert found[0].startswith(
        "error pod1-spine4 loopback: address 10.254.1.4 is outside frontend.pool 10.192.0.0/12. "
    )
    assert found[1:] == [
        "error pod1-spine1 ethernet-1/1: address 198.51.100.0 is outside profile.addresses.fabric_links 100.64.0.0/10. "
        + ROUTES
    ]


def gateway(node: str, subnet: str, vlan: int = 101, **more: object) -> Gateway:
    network = IPv4Network(subnet)
    address = IPv4Interface((int(network.network_address) + 1 + (0 if more else vlan % 3), network.prefixlen))
    return Gateway(node=node, vlan=vlan, subnet=network, address=address, **more)  # type: ignore[arg-type]


def with_gateways(*gateways: Gateway) -> tuple[Topology, FabricIntent]:
    """On the four leaves of a fabric whose subnets are in 10.0.0.0/16; the first two leaves are a pair."""
    intent = fabric(hosts__attach="mlag", backend__spines__count=4)
    return replace(wire(intent), gateways=gateways, summaries=()), intent


PAIR = ("pod1-seg1-leaf1", "pod1-seg1-leaf2")


def test_a_pair_and_an_overlay_share_a_subnet() -> None:
    shared = [gateway(node, "10.0.1.0/24", anycast=True) for node in PAIR]
    overlaid = [gateway(node, "10.0.2.0/24", 7, vni=10) for node in ("pod1-seg1-leaf1", "pod1-seg2-leaf1")]
    assert [line for line in said(*with_gateways(*shared, *overlaid)) if line.startswith("error")] == []


def test_two_gateways_of_one_subnet_that_are_no_pair() -> None:
    apart = [gateway(f"pod1-seg{segment}-leaf1", "10.0.1.0/24", vlan) for segment, vlan in ((1, 101), (2, 102))]
    assert lines(*with_gateways(*apart), "neither a pair nor") == [
        "error pod1-seg2-leaf1 VLAN 102: subnet 10.0.1.0/24 is also used by pod1-seg1-leaf1 VLAN 101, but the "
        "switches are neither a pair nor connected by an overlay. Use a different subnet on each switch, or "
        "connect them by an overlay."
    ]


@pytest.mark.parametrize(("other", "anycast"), [("pod1-seg2-leaf1", True), ("pod1-seg1-leaf2", False)])
def test_one_subnet_needs_both_a_pair_and_an_address_that_it_shares(other: str, anycast: bool) -> None:
    paired = wire(intent := fabric(hosts__attach="mlag"))
    gateways = tuple(gateway(node, "10.0.1.0/24", anycast=anycast) for node in ("pod1-seg1-leaf1", other))
    assert len(lines(replace(paired, gateways=gateways, summaries=()), intent, "neither a pair nor")) == 1


def test_subnets_that_overlap_even_across_a_smaller_one_between() -> None:
    found = lines(
        *with_gateways(
            gateway("pod1-seg1-leaf1", "10.0.0.0/22", 5),
            gateway("pod1-seg2-leaf1", "10.0.1.0/24", 6),
            gateway("pod1-seg2-leaf2", "10.0.3.0/24", 7),
            gateway("pod1-seg2-leaf2", "10.0.4.0/24", 8),
        ),
        "overlaps",
    )
    assert found == [
        "error pod1-seg2-leaf1 VLAN 6 and 1 more: 10.0.1.0/24 overlaps 10.0.0.0/22 of pod1-seg1-leaf1 VLAN 5. "
        "Use disjoint subnets."
    ]


def test_subnets_of_two_tenants_may_overlap() -> None:
    """Each tenant is in a separate VRF."""
    found = with_gateways(
        gateway("pod1-seg1-leaf1", "10.0.0.0/22", 5, tenant="blue"),
        gateway("pod1-seg2-leaf1", "10.0.1.0/24", 6, tenant="red"),
    )
    assert lines(*found, "overlaps") == []


def test_a_vlan_with_two_subnets_on_a_switch_and_an_identifier_of_two() -> None:
    found = with_gateways(
        gateway("pod1-seg1-leaf1", "10.0.1.0/24", 101),
        gateway("pod1-seg1-leaf1", "10.0.2.0/24", 101, tenant="red", vni=10),
        gateway("pod1-seg2-leaf1", "10.0.3.0/24", 101, tenant="blue", vni=10),
    )
    assert lines(*found, "is used by") == [
        "error pod1-seg1-leaf1: VLAN 101 is used by 10.0.2.0/24 (tenant red) and by 10.0.1.0/24. Use a different "
        "VLAN for each subnet.",
        "error pod1-seg2-leaf1: VNI 10 is used by 10.0.3.0/24 (tenant blue) and by 10.0.2.0/24 (tenant red) on "
        "pod1-seg1-leaf1. Use a different VNI for each subnet.",
    ]


def test_an_l3vni_that_is_also_that_of_a_vlan_or_of_another_tenant() -> None:
    spines = {"spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}}
    tenants = {
        "red": {"vlan": 100, "subnet": "172.20.0.0/24", "l3vni": 10_200},
        "blue": {"vlan": 200, "subnet": "172.21.0.0/24", "l3vni": 50_000},
        "green": {"vlan": 300, "subnet": "172.22.0.0/24", "l3vni": 50_000},
    }
    intent = fabric(frontend=FRONTEND | spines | {"tenants": tenants})
    remedy = "Use a VNI that no VLAN and no other tenant has."
    assert lines(wire(intent), intent, "is also that of") == [
        f"error frontend.tenants.red.l3vni: VNI 10200 is also that of VLAN 200 (tenant blue). {remedy}",
        f"error frontend.tenants.green.l3vni: VNI 50000 is also that of tenant blue. {remedy}",
    ]


def test_subnets_of_a_tenant_that_overlap_are_an_error_on_the_switch_alone() -> None:
    spines = {"spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"}}
    vlans = {"db": {"vlan": 101, "subnet": "172.20.0.128/25"}}
    tenants = {"red": {"vlan": 100, "subnet": "172.20.0.0/24", "l3vni": 50_000, "vlans": vlans}}
    intent = fabric(frontend=FRONTEND | spines | {"tenants": tenants})
    assert lines(wire(intent), intent, "overlaps") == [
        "error front-leaf1 VLAN 101 and 1 more: 172.20.0.128/25 overlaps 172.20.0.0/24 of front-leaf1 VLAN 100. "
        "Use disjoint subnets."
    ]


def test_overlays_of_two_networks_never_meet_and_may_have_the_same_identifiers() -> None:
    """Rail 1 of the first pair and a tenant in VLAN 100 both come to 10100."""
    intent = fabric(
        hosts__attach="esi",
        profile={"control_plane": "evpn", "data_plane": "vxlan"},
        frontend=FRONTEND
        | {
            "tenants": {"red": {"vlan": 100, "subnet": "172.20.0.0/24"}},
            "spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"},
        },
    )
    topology = wire(intent)
    both = {topology.node(gateway.node).net for gateway in topology.gateways if gateway.vni == 10_100}
    assert both == {Net.BACKEND, Net.FRONTEND}
    assert lines(topology, intent, "VNI") == []


def test_a_gateway_outside_the_pool_of_subnets() -> None:
    assert lines(*with_gateways(gateway("pod1-seg1-leaf1", "172.16.0.0/24")), "outside") == [
        "error pod1-seg1-leaf1 VLAN 101: address 172.16.0.3 is outside backend.subnets.pool 10.0.0.0/16. " + ROUTES
    ]


def test_two_switches_that_announce_one_prefix() -> None:
    topology, intent = with_gateways()
    part = (IPv4Network("10.0.1.0/28"),)
    summaries = [
        Summary(node=node, prefix=IPv4Network(prefix), contributors=part)
        for node, prefix in ((PAIR[0], "10.0.1.0/24"), (PAIR[1], "10.0.1.0/24"), ("pod1-seg2-leaf1", "10.0.1.128/25"))
    ]
    assert lines(replace(topology, summaries=tuple(summaries)), intent, "announces") == [
        "error pod1-seg2-leaf1: announces 10.0.1.128/25, which overlaps 10.0.1.0/24 of pod1-seg1-leaf2. Use "
        "disjoint prefixes."
    ]


def test_a_topology_that_names_no_pools_is_not_held_to_any() -> None:
    intent = fabric()
    assert findings(replace(wire(intent), pools=None), intent) == ()
