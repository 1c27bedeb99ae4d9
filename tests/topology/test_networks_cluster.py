"""What the whole cluster must come out as: 6 hosts of 4 GPUs on five networks."""

import time
from collections import Counter
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

import pytest
from tests.topology.fabric_intents import fabric

from railfab.intent import FabricIntent, load_intent
from railfab.topology import CabledPort, Net, Node, Role, Topology, wire
from railfab.topology.networks import access_networks, add_networks, network_errors, networks_of

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


@pytest.fixture(scope="module")
def intent() -> FabricIntent:
    return load_intent(FABRICS / "cluster.yml")


@pytest.fixture(scope="module")
def cluster(intent: FabricIntent) -> Topology:
    return whole(intent)


def whole(intent: FabricIntent) -> Topology:
    backend = wire(intent.model_copy(update={"frontend": None, "storage": None, "management": None}))
    return add_networks(intent, backend)


def port(topology: Topology, node: str, name: str) -> tuple[CabledPort, CabledPort]:
    """A port and its peer."""
    return next((own, peer) for own, peer, _ in topology.ports_of(node) if own.name == name)


def test_five_networks_have_names_and_a_share_for_every_gpu(intent: FabricIntent) -> None:
    found = {network.name: (network.gbps_per_gpu, network.lossless) for network in networks_of(intent)}
    assert found == {
        "scale-out": (400, True),
        "scale-up": (3600, False),
        "frontend": (50, False),
        "storage": (100, True),
        "management": (0.5, False),
    }


def test_networks_say_what_they_are_for_and_how_hosts_hang_on_them(intent: FabricIntent) -> None:
    assert [network.about for network in networks_of(intent)] == [
        "GPUs of different hosts, each NIC port routed, with a /31",
        "GPUs of one host, over NVLink",
        "users, schedulers and the outside, the ports of a NIC in a LAG to two switches (EVPN multihoming), "
        "tenants research, production in EVPN/VXLAN",
        "datasets and checkpoints by RoCE, each NIC port routed, with a /31",
        "hosts, BMCs and switches in a separate VRF, with ntp, ptp, aaa, syslog, telemetry",
    ]
    assert [network.net for network in networks_of(intent)] == ["backend", None, "frontend", "storage", "management"]
    assert [network.ratio for network in networks_of(intent)] == [1, None, 3, 2, None]
    assert [network.reaches for network in networks_of(intent)] == [(), (), ("enterprise",), (), ()]


def test_a_fabric_of_the_backend_alone_has_scale_out_and_scale_up() -> None:
    assert [network.name for network in networks_of(fabric())] == ["scale-out", "scale-up"]
    assert [network.name for network in networks_of(fabric(hosts__scale_up=False))] == ["scale-out"]


def test_every_network_has_its_nodes(cluster: Topology) -> None:
    assert Counter((node.net, node.role) for node in cluster.nodes) == {
        (Net.BACKEND, Role.HOST): 6,
        (Net.BACKEND, Role.LEAF): 2,
        (Net.BACKEND, Role.SPINE): 2,
        (Net.FRONTEND, Role.LEAF): 2,
        (Net.FRONTEND, Role.SPINE): 2,
        (Net.STORAGE, Role.SERVER): 3,
        (Net.STORAGE, Role.LEAF): 2,
        (Net.STORAGE, Role.SPINE): 2,
        (Net.MANAGEMENT, Role.LEAF): 2,
        (Net.MANAGEMENT, Role.SPINE): 2,
    }
    assert all(node.pod == 0 and node.segment is None for node in cluster.nodes if node.net is not Net.BACKEND)


def test_every_host_has_all_its_links(cluster: Topology) -> None:
    rails = {f"rail{rail}-p{nic_port}" for rail in range(1, 5) for nic_port in range(2)}
    for host in cluster.hosts():
        found = {own.name: link.rate_gbps for own, _, link in cluster.ports_of(host.name)}
        others = {"front-p0": 100, "front-p1": 100, "store-p0": 200, "store-p1": 200, "mgmt0": 1, "bmc": 1}
        assert found == {**dict.fromkeys(rails, 200), **others}


def test_links_by_network(cluster: Topology) -> None:
    nets = Counter(cluster.node(link.z.node).net for link in cluster.links)
    assert nets == {
        Net.BACKEND: 6 * 8 + 2 * 2 * 8,
        Net.FRONTEND: 6 * 2 + 2 * 2,
        Net.STORAGE: 6 * 2 + 3 * 2 + 2 * 2 * 2,
        Net.MANAGEMENT: 6 * 2 + 3 * 2 + 4 + 4 + 4 + 2 * 2,
    }


def test_switches_have_as_numbers_and_loopbacks_of_their_network(cluster: Topology) -> None:
    def numbers(name: str) -> tuple[object, ...]:
        node: Node = cluster.node(name)
        return node.asn, str(node.loopback), node.vtep == node.loopback, node.reflector

    assert numbers("front-leaf1") == (4_294_100_001, "10.192.0.1", True, False)
    assert numbers("front-spine2") == (4_294_100_000, "10.193.255.253", False, True)
    assert numbers("store-leaf2") == (4_294_200_002, "10.208.0.2", False, False)
    assert numbers("store-spine1") == (4_294_200_000, "10.209.255.254", False, False)
    assert numbers("mgmt-leaf1") == (4_294_300_001, "10.224.0.1", False, False)


def test_the_frontend_joins_a_hosts_ports_over_a_pair_in_the_first_tenant(cluster: Topology) -> None:
    second = cluster.bonds[1]
    assert (second.host, second.name, second.ports) == ("pod1-seg1-host2", "front-bond", ("front-p0", "front-p1"))
    assert (second.switches, second.bundle, second.vlan) == (("front-leaf1", "front-leaf2"), 202, 100)
    assert (second.address, second.rail) == (IPv4Interface("172.20.0.3/24"), None)
    assert second.esi == "00:01:00:01:00:01:00:02:00:00"
    assert len({bond.esi for bond in cluster.bonds}) == len(cluster.bonds) == 6
    own, peer = port(cluster, "pod1-seg1-host2", "front-p1")
    assert (own.bundle, own.address) == (100, None)
    assert (peer.node, peer.name, peer.bundle, peer.vlan) == ("front-leaf2", "ethernet-1/2", 202, 100)


def test_every_vlan_of_a_tenant_has_the_same_gateway_on_every_frontend_leaf(cluster: Topology) -> None:
    found = [gateway for gateway in cluster.gateways if cluster.node(gateway.node).net is Net.FRONTEND]
    assert [(one.node, one.tenant, one.vlan, one.vni, str(one.address), one.anycast) for one in found] == [
        (leaf, tenant, vlan, vni, address, True)
        for leaf in ("front-leaf1", "front-leaf2")
        for tenant, vlan, vni, address in (
            ("research", 100, 10100, "172.20.0.1/24"),
            ("production", 200, 10200, "172.20.1.1/24"),
            ("production", 201, 10201, "172.20.2.1/24"),
        )
    ]


def test_storage_is_routed_from_hosts_and_servers_on_the_same_leaves(cluster: Topology) -> None:
    ends = [
        (own.address, peer.node, peer.name, peer.address)
        for own, peer in (
            port(cluster, "pod1-seg1-host6", "store-p0"),
            port(cluster, "pod1-seg1-host6", "store-p1"),
            port(cluster, "store-server1", "store-p1"),
        )
    ]
    assert ends == [
        (IPv4Interface("10.216.0.11/31"), "store-leaf1", "ethernet-1/3/2", IPv4Interface("10.216.0.10/31")),
        (IPv4Interface("10.216.0.139/31"), "store-leaf2", "ethernet-1/3/2", IPv4Interface("10.216.0.138/31")),
        (IPv4Interface("10.216.0.211/31"), "store-leaf2", "ethernet-1/21/2", IPv4Interface("10.216.0.210/31")),
    ]
    broken = [(breakout.cage_name, breakout.lanes) for breakout in cluster.node("store-leaf1").breakouts]
    assert broken == [(f"ethernet-1/{cage}", 2) for cage in (1, 2, 3, 20, 21)]


def test_uplinks_count_down_on_leaves_and_up_on_spines(cluster: Topology) -> None:
    found = [(own.cage, peer.node, peer.cage) for own, peer, _ in cluster.ports_of("store-leaf2") if own.cage > 21]
    assert found == [(29, "store-spine2", 4), (30, "store-spine2", 3), (31, "store-spine1", 4), (32, "store-spine1", 3)]


def test_management_has_an_address_for_every_host_bmc_and_switch(cluster: Topology) -> None:
    assert [
        (str(own.address), peer.vlan, peer.cage, peer.address)
        for own, peer in (
            port(cluster, "pod1-seg1-host1", "mgmt0"),
            port(cluster, "pod1-seg1-host1", "bmc"),
            port(cluster, "pod1-seg1-leaf1", "mgmt0"),
            port(cluster, "pod1-spine1", "mgmt0"),
            port(cluster, "front-spine1", "mgmt0"),
            port(cluster, "store-server1", "bmc"),
        )
    ] == [
        ("10.224.160.3/26", 20, 2, None),
        ("10.224.192.67/26", 30, 2, None),
        ("10.224.128.11/26", 10, 10, None),
        ("10.224.128.2/26", 10, 1, None),
        ("10.224.128.112/26", 10, 47, None),
        ("10.224.192.113/26", 30, 48, None),
    ]
    found = [gateway for gateway in cluster.gateways if gateway.tenant == "management"]
    assert [(gateway.vlan, str(gateway.address), gateway.vni) for gateway in found] == [
        (10, "10.224.128.1/26", None),
        (20, "10.224.160.1/26", None),
        (30, "10.224.192.1/26", None),
        (10, "10.224.128.65/26", None),
        (20, "10.224.160.65/26", None),
        (30, "10.224.192.65/26", None),
    ]


def test_management_by_vlans_keeps_addresses_and_has_one_subnet_for_each_purpose() -> None:
    leaves = {"count": 2, "model": "7215-ixs-a1"}
    spines = {"count": 1, "rate_gbps": 10, "model": "7220-ixr-d2l"}
    one = fabric(management={"isolation": "vrf", "leaves": leaves, "spines": spines})
    other = fabric(management={"isolation": "vlans", "leaves": leaves, "spines": spines})
    by_vrf, by_vlans = whole(one), whole(other)
    host = "pod1-seg2-host4"
    vrf, vlans = port(by_vrf, host, "bmc")[0].address, port(by_vlans, host, "bmc")[0].address
    assert vrf
    assert vlans
    assert (vrf.ip, vrf.network.prefixlen) == (vlans.ip, 26)
    assert vlans.network == IPv4Network("10.224.192.0/19")
    assert {(gateway.vlan, str(gateway.address), gateway.vni, gateway.anycast) for gateway in by_vlans.gateways} == {
        (10, "10.224.128.1/19", 10010, True),
        (20, "10.224.160.1/19", 10020, True),
        (30, "10.224.192.1/19", 10030, True),
    }
    assert by_vlans.node("mgmt-leaf2").vtep == IPv4Address("10.224.0.2")


def test_a_frontend_without_tenants_has_one_of_all_hosts() -> None:
    tiers = {"leaves": {"count": 2, "model": "linux-64"}, "spines": {"count": 1, "rate_gbps": 100, "model": "linux-16"}}
    topology = whole(fabric(frontend=tiers))
    assert {(gateway.tenant, gateway.vlan, str(gateway.subnet)) for gateway in topology.gateways} == {
        ("hosts", 100, "10.200.0.0/13")
    }
    assert topology.bonds[0].address == IPv4Interface("10.200.0.2/13")


def test_a_single_frontend_port_is_in_the_hosts_vlan_without_a_lag() -> None:
    topology = whole(fabric(frontend={"nic_ports": 1, "leaves": {"count": 1, "model": "linux-64"}}))
    own, peer = port(topology, "pod1-seg1-host1", "front-p0")
    assert (own.address, own.bundle, peer.vlan, peer.bundle) == (IPv4Interface("10.200.0.2/13"), None, 100, None)
    assert topology.bonds == ()


def test_a_routed_frontend_has_a_subnet_for_every_port_and_no_overlay() -> None:
    leaves = {"count": 2, "model": "linux-64"}
    topology = whole(fabric(frontend={"attach": "routed", "leaves": leaves}))
    own, peer = port(topology, "pod1-seg1-host1", "front-p1")
    assert (own.address, peer.address) == (IPv4Interface("10.200.0.129/31"), IPv4Interface("10.200.0.128/31"))
    assert topology.node("front-leaf1").vtep is None
    assert (topology.bonds, topology.gateways) == ((), ())


@pytest.mark.matrix
def test_sixteen_thousand_hosts_with_all_networks_are_wired_in_seconds() -> None:
    """On 1,024-port chassis, since two tiers have to join all leaves; CPU time, since machines are busy."""
    chassis = {
        "vendor": "any",
        "silicon": "any",
        "cages": 1024,
        "speeds_gbps": [100, 400],
        "buffer_bytes": 1,
        "names": {"srlinux": {"cage": "ethernet-1/{cage}"}},
    }
    leaf, spines = {"model": "chassis"}, {"count": 2, "rate_gbps": 400, "model": "chassis"}
    document = load_intent(FABRICS / "gpu131072.yml").model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    intent = FabricIntent.model_validate(
        {
            **document,
            "switches": {"chassis": chassis},
            "frontend": {"leaves": {"count": 64, **leaf}, "spines": spines},
            "storage": {"leaves": {"count": 128, **leaf}, "spines": spines, "rate_gbps": 400, "servers": 1000},
            "management": {
                "leaves": {"count": 256, **leaf},
                "spines": spines,
                "rate_gbps": 100,
                "pool": "10.224.0.0/11",
            },
        }
    )
    assert network_errors(intent) == []
    backend = wire(intent.model_copy(update={"frontend": None, "storage": None, "management": None}))
    began = time.process_time()
    topology = add_networks(intent, backend)
    assert time.process_time() - began < 6
    added = len(topology.links) - len(backend.links)
    hosts, switches = 16_384, len(backend.switches()) + 64 + 128 + 4
    assert added == hosts * 6 + 1000 * 4 + switches + 2 * (64 + 128 + 256)
    assert sum(1 for _ in access_networks(intent)) == 3
