"""Addresses, prefixes and AS numbers as tables: all that the topology has, once."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Address, ip_interface, ip_network

import pytest
from tests.documents.designs import NAMES, intent, topology
from tests.topology.fabric_intents import fabric as built

from railfab.documents import Table
from railfab.documents.addresses import addresses, as_numbers
from railfab.documents.prefixes import subnets
from railfab.topology import Role, wire


def records(table: Table) -> list[dict[str, object]]:
    return [dict(record) for record in table.records()]


@pytest.mark.parametrize("name", NAMES)
def test_every_address_of_the_fabric_stands_there_once(name: str) -> None:
    fabric = topology(name)
    own = [(node.name, "lo", node.loopback) for node in fabric.nodes]
    own += [(node.name, "vtep", node.vtep) for node in fabric.nodes]
    expected = Counter(
        [(port.node, port.name, str(port.address)) for port, _, _ in fabric.ports() if port.address]
        + [(name, what, f"{address}/{address.max_prefixlen}") for name, what, address in own if address]
        + [(gateway.node, f"vlan{gateway.vlan}", str(gateway.address)) for gateway in fabric.gateways]
        + [(bond.host, bond.name, str(bond.address)) for bond in fabric.bonds if bond.address]
    )
    assert Counter((row["node"], row["port"], row["address"]) for row in records(addresses(fabric))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_host_s_gateway_is_in_its_subnet_and_is_another(name: str) -> None:
    for row in records(addresses(topology(name))):
        if row["gateway"] is not None:
            own = ip_interface(str(row["address"]))
            assert ip_interface(str(row["gateway"])).ip in own.network
            assert str(own.ip) != row["gateway"]


@pytest.mark.parametrize("name", NAMES)
def test_every_host_address_of_the_backend_is_from_the_prefix_of_its_rail(name: str) -> None:
    fabric = topology(name)
    rails: dict[object, list[object]] = {}
    for row in records(subnets(fabric, intent(name))):
        if row["rail"] is not None:
            rails.setdefault(row["rail"], []).append(ip_network(str(row["prefix"])))
    for row in records(addresses(fabric)):
        if row["rail"] is not None:
            own = ip_interface(str(row["address"])).network
            assert any(own.subnet_of(prefix) for prefix in rails[row["rail"]])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_as_numbers_are_those_of_the_switches(name: str) -> None:
    rows = records(as_numbers(topology(name)))
    speakers = [node for node in topology(name).switches() if node.asn is not None]
    assert [(row["node"], row["asn"]) for row in rows] == [(node.name, node.asn) for node in speakers]
    assert [row["route_reflector"] == "yes" for row in rows] == [node.reflector for node in speakers]
    assert all(row["pod"] is None for row in rows if row["role"] == Role.SUPER)


def test_a_routed_link_a_gateway_and_a_bond() -> None:
    by_port = {(row["node"], row["port"]): row for row in records(addresses(topology("pod64")))}
    host = by_port["pod1-seg1-host1", "rail1-p1"]
    assert (host["address"], host["what"], host["gateway"]) == ("10.17.1.1/31", "host link", "10.17.1.0")
    assert by_port["pod1-seg1-leaf2", "ethernet-1/1/1"]["gateway"] is None
    vlans = {(row["node"], row["port"]): row for row in records(addresses(topology("multi-rail")))}
    gateway = vlans["pod1-seg1-leaf1", "vlan102"]
    assert (gateway["address"], gateway["what"], gateway["rail"]) == ("10.0.1.17/28", "gateway", 2)
    bonds = [row for row in records(addresses(topology("dual-esi"))) if row["what"] == "host bond"]
    assert len(bonds) == 32
    assert (bonds[0]["node"], bonds[0]["port"], bonds[0]["vlan"]) == ("pod1-seg1-host1", "bond1", 101)
    assert bonds[0]["vni"] is not None


def test_management_ports_of_hosts_and_switches_have_their_gateway() -> None:
    by_port = {(row["node"], row["port"]): row for row in records(addresses(topology("cluster")))}
    for port in (("pod1-seg1-host1", "bmc"), ("pod1-spine1", "mgmt0"), ("store-server1", "mgmt0")):
        assert (by_port[port]["what"], by_port[port]["network"]) == ("management port", "management")
        assert by_port[port]["gateway"] is not None


def test_the_subnets_of_switches_with_several_rails_are_summed_up() -> None:
    rows = records(subnets(topology("multi-rail"), intent("multi-rail")))
    by_prefix = {row["prefix"]: row for row in rows}
    assert (by_prefix["10.0.1.0/24"]["what"], by_prefix["10.0.1.0/24"]["switches"]) == (
        "summary of 8",
        "pod1-seg1-leaf1",
    )
    assert (by_prefix["10.0.1.16/28"]["vlan"], by_prefix["10.0.1.16/28"]["gateway"]) == (102, "10.0.1.17")
    pair = [row for row in records(subnets(topology("dual-esi"), intent("dual-esi"))) if row["what"] == "VLAN"]
    assert pair[0]["switches"] == "pod1-seg1-leaf1 pod1-seg1-leaf2"


def test_a_router_id_has_32_bits_whatever_the_address_family() -> None:
    fabric = wire(built(profile__family="ipv6"))
    found = [row[-1] for row in as_numbers(fabric).rows]
    assert len(set(found)) == len(fabric.switches())
    assert all(IPv4Address(str(router_id)) for router_id in found)
