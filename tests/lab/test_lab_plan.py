"""Names, addresses and `ip` commands of an embedded lab."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.fabrics import CLUSTER, FRR_POD, SMALL, VLANS, lab_plan, written

from railfab.device import Port
from railfab.errors import LabError
from railfab.lab import LabPlace, backend
from railfab.lab.containerlab import Settings, check, lab_files
from railfab.lab.netns.addresses import POOLS, management
from railfab.lab.netns.ip_commands import (
    cable_commands,
    device_commands,
    management_commands,
    node_commands,
    uncabled_commands,
)
from railfab.lab.netns.names import INTERFACE_NAME_CHARACTERS, LabNames, check_names, interface_problem, lab_names
from railfab.lab.netns.state import topology_digest
from railfab.topology import CabledPort, Topology

NAMES = LabNames("rf012345")


@given(index=st.integers(0, 99_999))
def test_names_of_interfaces_fit_linux(index: int) -> None:
    assert len(NAMES.management_port(index)) <= INTERFACE_NAME_CHARACTERS
    assert len(NAMES.bridge) <= INTERFACE_NAME_CHARACTERS


def test_a_lab_owns_what_has_its_tag_and_nothing_of_another_lab() -> None:
    assert all(map(NAMES.owns, (NAMES.bridge, NAMES.namespace("leaf1"), NAMES.management_port(7))))
    other = LabNames("rf0123ff")
    assert not any(map(NAMES.owns, (other.bridge, other.namespace("leaf1"), "rf012345", "rf0123456-br", "eth0")))


@given(fabrics=st.lists(st.text(min_size=1), min_size=2, max_size=5, unique=True))
def test_no_two_labs_share_a_tag(fabrics: list[str]) -> None:
    tags = {lab_names(LabPlace(fabric=name, folder=Path(), state=Path("/s"))).tag for name in fabrics}
    tags |= {lab_names(LabPlace(fabric=name, folder=Path(), state=Path("/t"))).tag for name in fabrics}
    assert len(tags) == 2 * len(fabrics)


def test_the_tag_of_a_lab_does_not_depend_on_the_spelling_of_its_state_directory(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    places = [LabPlace(fabric="f", folder=Path(), state=state) for state in (tmp_path, tmp_path / "a" / "..")]
    assert len({lab_names(place).tag for place in places}) == 1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("swp1", ""),
        ("ethernet-1/1/1", "contains a slash or a space, which Linux does not allow in an interface name"),
        ("abcdefghijklmnop", "is longer than the 15 characters of a Linux interface name"),
        ("mgmt0", "is a name that the lab reserves"),
    ],
)
def test_ports_must_have_valid_linux_names(name: str, problem: str) -> None:
    assert interface_problem(name) == problem


def test_a_port_that_linux_cannot_name_is_refused_by_name(tmp_path: Path) -> None:
    topology = lab_plan(FRR_POD, tmp_path).topology
    link = topology.links[0]
    broken = replace(topology, links=(replace(link, z=replace(link.z, name="ethernet-1/1")), *topology.links[1:]))
    with pytest.raises(LabError) as raised:
        check_names(broken)
    assert str(raised.value) == (
        "pod1-seg1-leaf1 ethernet-1/1: contains a slash or a space, which Linux does not allow in an interface name. "
        "Use a platform with Linux interface names, such as frr."
    )


networks = st.builds(
    lambda address, prefix: IPv4Network((address, prefix), strict=False),
    st.one_of([st.integers(int(pool[0]), int(pool[-1])) for pool in POOLS]),
    st.integers(12, 32),
)


@given(taken=st.lists(networks, max_size=4), switches=st.integers(1, 600))
def test_the_management_network_is_free_and_has_an_address_for_every_switch(
    taken: list[IPv4Network], switches: int
) -> None:
    names = [f"leaf{index}" for index in range(switches)]
    try:
        found = management(names, taken)
    except LabError:
        assert taken
        return
    network = found.gateway.network
    assert not any(network.overlaps(other) for other in taken)
    addresses = [found.gateway, *found.addresses.values()]
    assert len({address.ip for address in addresses}) == switches + 1
    assert all(address.network == network for address in addresses)
    assert not {network.network_address, network.broadcast_address} & {address.ip for address in addresses}


def test_no_free_management_network_is_an_error() -> None:
    with pytest.raises(LabError) as raised:
        management(["leaf1"], [IPv4Network("128.0.0.0/1")])
    assert str(raised.value) == (
        "management network: no free range in 172.31.0.0/16, 172.30.0.0/16, 198.18.0.0/15. "
        "Remove an address or a route that overlaps them."
    )


def test_every_link_is_one_veth_pair_with_the_mtu_of_the_intent(tmp_path: Path) -> None:
    plan = lab_plan(FRR_POD, tmp_path)
    lines = cable_commands(plan.topology, plan.models, NAMES)
    assert len(lines) == len(plan.topology.links) == 24
    assert lines[0] == (
        "link add name rail1-p0 mtu 9000 netns rf012345-pod1-seg1-host1 "
        "type veth peer name swp1 mtu 9000 netns rf012345-pod1-seg1-leaf1"
    )
    assert all(line.count("mtu 9000") == 2 for line in lines)


def test_the_management_bridge_has_one_port_per_switch() -> None:
    switches = {"leaf1": IPv4Interface("172.31.0.2/24"), "spine1": IPv4Interface("172.31.0.3/24")}
    assert management_commands(NAMES, IPv4Interface("172.31.0.1/24"), switches) == [
        "link add name rf012345-br type bridge",
        "addr add 172.31.0.1/24 dev rf012345-br",
        "link add name rf012345-m0 type veth peer name mgmt0 netns rf012345-leaf1",
        "link set rf012345-m0 master rf012345-br up",
        "link add name rf012345-m1 type veth peer name mgmt0 netns rf012345-spine1",
        "link set rf012345-m1 master rf012345-br up",
        "link set rf012345-br up",
    ]


def test_a_host_replies_through_the_port_that_received_the_request(tmp_path: Path) -> None:
    lines = node_commands(lab_plan(FRR_POD, tmp_path).topology, "pod1-seg1-host1", None)[4]
    assert "addr add 10.17.1.1/31 dev rail1-p1" in lines
    for address, port, gateway in (("10.17.0.1", "rail1-p0", "10.17.0.0"), ("10.18.1.1", "rail2-p1", "10.18.1.0")):
        rule = next(line for line in lines if line.startswith(f"rule add from {address} table "))
        assert f"route add default via {gateway} dev {port} table {rule.split()[-1]}" in lines
    default = next(line for line in lines if line.startswith("route add default nexthop"))
    assert default.count("nexthop") == 4


def test_a_host_of_an_ipv6_fabric_has_ipv6_routes(tmp_path: Path) -> None:
    """onlink: the kernel refuses an IPv6 next hop behind a link that has no carrier yet."""
    intent = written(tmp_path, SMALL.replace("mtu: 9000", "mtu: 9000, family: ipv6"))
    topology = lab_plan(intent, tmp_path).topology
    assert list(node_commands(topology, "pod1-spine1", None)) == [4]
    lines = node_commands(topology, "pod1-seg1-host1", None)[6]
    assert "addr add fd00:10::1/127 dev rail1-p0" in lines
    assert "rule add from fd00:10::1 table 100" in lines
    assert "route add default via fd00:10:: dev rail1-p0 onlink table 100" in lines


def test_a_vlan_is_a_bridge_named_as_its_svi_and_the_gateway_of_its_hosts(tmp_path: Path) -> None:
    plan = lab_plan(written(tmp_path, VLANS), tmp_path)
    topology, devices = plan.topology, device_commands(plan.models["pod1-seg1-leaf1"])
    assert devices == [
        "link add vlan101 type bridge",
        "link set dev swp1 master vlan101",
        "link set dev swp3 master vlan101",
        "link set dev vlan101 up",
        "link add vlan102 type bridge",
        "link set dev swp2 master vlan102",
        "link set dev swp4 master vlan102",
        "link set dev vlan102 up",
    ]
    switch = node_commands(topology, "pod1-seg1-leaf1", None, devices)[4]
    assert switch[-len(devices) :] == devices
    host = node_commands(topology, "pod1-seg1-host1", None)[4]
    assert "addr add 10.0.1.2/25 dev rail1-p0" in host
    assert "route add 10.0.1.0/25 dev rail1-p0 table 100" in host
    assert "route add default via 10.0.1.1 dev rail1-p0 table 100" in host


def test_a_switch_gets_no_fabric_address_from_the_lab(tmp_path: Path) -> None:
    """Fabric addresses are configuration, applied by a deploy."""
    lines = node_commands(lab_plan(FRR_POD, tmp_path).topology, "pod1-seg1-leaf1", IPv4Interface("172.31.0.2/24"))[4]
    assert [line for line in lines if line.startswith("addr")] == ["addr add 172.31.0.2/24 dev mgmt0"]


def test_a_cluster_has_storage_servers_and_no_management_cables_of_switches(tmp_path: Path) -> None:
    """A lab has its own management network, to which every switch is connected already."""
    topology = lab_plan(CLUSTER, tmp_path).topology
    cabled = {(port.node, port.name) for port, _, _ in topology.ports()}
    assert ("store-leaf1", "mgmt0") not in cabled
    assert {("store-server1", "mgmt0"), ("store-server1", "bmc"), ("pod1-seg1-host1", "mgmt0")} <= cabled
    files = lab_files(lab_plan(CLUSTER, tmp_path), Settings())
    assert list(check(files.topology.document(), files.name, exists=files.files.__contains__)) == []
    server = files.topology.nodes["store-server1"]
    assert server.group == "host"
    assert "ip route replace default nexthop via 10.216.0.82 dev store-p0 nexthop via 10.216.0.210 dev store-p1" in (
        server.exec
    )


def test_a_port_without_a_cable_in_the_lab_is_there_with_a_carrier(tmp_path: Path) -> None:
    """A management switch has ports to which the management ports of other switches would be connected."""
    plan = lab_plan(CLUSTER, tmp_path)
    model = plan.models["mgmt-leaf1"]
    commands = uncabled_commands(plan.topology, model)
    assert "link add ethernet-1/10 type veth peer name ethernet-1/10-end" in commands
    ports = sum(isinstance(found, Port) for found in model.interfaces)
    assert len(commands) == 3 * (ports - len(plan.topology.ports_of("mgmt-leaf1")))
    assert uncabled_commands(plan.topology, plan.models["pod1-seg1-leaf1"]) == []


def test_a_host_may_have_a_port_with_the_name_that_the_lab_has_on_switches(tmp_path: Path) -> None:
    document = yaml.safe_load(SMALL)
    document["backend"]["growth"] = {"hosts": 1, "segments": 1, "pods": 1}
    leaves = {"count": 1, "model": "linux-16", "platform": "frr"}
    document["management"] = {
        "isolation": "vlans",
        "switch_vlan": 10,
        "host_vlan": 20,
        "bmc_vlan": 30,
        "rate_gbps": 100,
    }
    document["management"]["leaves"] = leaves
    plan = lab_plan(written(tmp_path, yaml.safe_dump(document)), tmp_path)
    assert "mgmt0" in {port.name for port, _, _ in plan.topology.ports_of("pod1-seg1-host1")}
    check_names(plan.topology)


def test_a_host_reaches_each_network_over_its_own_ports(tmp_path: Path) -> None:
    """The networks of a cluster never meet: a route over the ports of all of them loses most packets."""
    lines = node_commands(lab_plan(CLUSTER, tmp_path).topology, "pod1-seg1-host1", None)[4]
    routes = [line for line in lines if line.startswith("route add") and " nexthop " in line]
    assert routes[0] == "route add default nexthop via 172.20.0.1 dev front-bond"
    assert "route add 10.216.0.0/29 nexthop via 10.216.0.0 dev store-p0 nexthop via 10.216.0.128 dev store-p1" in routes
    for route in routes:
        assert len({word.partition("-")[0].rstrip("1234") for word in route.split() if "-p" in word}) <= 1


def test_a_host_of_an_ipv6_backend_and_an_ipv4_frontend_has_routes_of_both(tmp_path: Path) -> None:
    document = yaml.safe_load(CLUSTER.read_text())
    document["profile"]["family"] = "ipv6"
    document["frontend"] = {**document["frontend"], "attach": "routed"}
    del document["frontend"]["tenants"]
    intent = written(tmp_path, yaml.safe_dump(document))
    commands = node_commands(lab_plan(intent, tmp_path).topology, "pod1-seg1-host1", None)
    assert "rule add from fd00:10::1 table 100" in commands[6]
    assert "rule add from 10.200.0.1 table 101" in commands[4]
    assert all(("fd00" in line) is (version == 6) for version in (4, 6) for line in commands[version] if "via" in line)


def test_an_unnumbered_port_of_a_host_gets_no_route(tmp_path: Path) -> None:
    topology = lab_plan(FRR_POD, tmp_path).topology

    def bare(port: CabledPort) -> CabledPort:
        return replace(port, address=None)

    links = tuple(replace(link, a=bare(link.a), z=bare(link.z)) for link in topology.links)
    lines = node_commands(Topology(fabric="f", nodes=topology.nodes, links=links), "pod1-seg1-host1", None)[4]
    assert all(line.startswith("link set") for line in lines)


def test_the_topology_digest_depends_on_links_and_mtu_and_not_on_startup_configurations(tmp_path: Path) -> None:
    plan = lab_plan(FRR_POD, tmp_path)
    leaf = plan.models["pod1-seg1-leaf1"]
    other_mtu = replace(leaf, interfaces=tuple(replace(port, mtu_bytes=1500) for port in leaf.interfaces))
    assert topology_digest(plan) == topology_digest(replace(plan, configurations={"pod1-seg1-leaf1": "hostname x\n"}))
    assert topology_digest(plan) != topology_digest(replace(plan, models={**plan.models, leaf.name: other_mtu}))
    fewer = replace(plan.topology, links=plan.topology.links[1:])
    assert topology_digest(plan) != topology_digest(replace(plan, topology=fewer))


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(LabError) as raised:
        backend("docker")
    assert str(raised.value) == "backend 'docker': does not exist. Use one of netns, containerlab."
