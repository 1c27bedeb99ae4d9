"""Every reason why a fabric cannot be built, in its words; several are given together."""

from ipaddress import IPv4Network
from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.errors import Problems, RailfabError
from railfab.topology import wire

RAILS = {rail: [rail] for rail in range(1, 9)}


def refusal(**changes: Any) -> list[str]:
    with pytest.raises(RailfabError) as caught:
        wire(fabric(**changes))
    return str(caught.value).splitlines()


CASES: list[tuple[dict[str, Any], str]] = [
    (
        {"backend__spines__model": "x9"},
        "backend.spines.model: switch 'x9' is not in the catalogue. Use 7010tx-48, 7050dx4-32s, 7060dx5-64s, "
        "7060x6-64pe, 7215-ixs-a1, 7220-ixr-d2l, 7220-ixr-d3l, 7220-ixr-d5, 7220-ixr-h4, 7220-ixr-h5-64d, 7280dr3-24,"
        " ais800-64d, ais800-64o, as9736-64d, ds5000, linux-128, linux-16, linux-256, linux-64, n9364e-sg2-o, "
        "n9k-c9348d-gx2a, n9k-c9364d-gx2a, qfx5130-32cd, qfx5220-32cd, qfx5230-64cd, qfx5240-64od, "
        "sn2201, sn4700, sn5400, sn5600, sn5610, z9864f-on.",
    ),
    (
        {"backend__planes": 3},
        "backend.planes: the 2 ports of a NIC do not divide evenly among 3 planes. Use 1 or 2.",
    ),
    (
        {"hosts__nic_ports": 1, "backend__planes": 2},
        "backend.planes: the 1 ports of a NIC do not divide evenly among 2 planes. Use 1.",
    ),
    (
        {"backend__segments__rail_switches": 3},
        "backend.segments.rail_switches: the 16 NIC ports of a host do not divide evenly among 3 rail "
        "switches. Use 1, 2, 4, 8 or 16.",
    ),
    (
        {"hosts__nic_ports": 3, "backend__segments__rail_switches": 8},
        "backend.segments.rail_switches: 8 rails of 3 ports do not divide evenly among 8 rail switches. "
        "Use 3, 6, 12 or 24.",
    ),
    (
        {"hosts__attach": "mlag", "hosts__nic_ports": 1},
        "hosts.attach: mlag needs NICs with 2 ports, and nic_ports is 1. Set hosts.nic_ports: 2, "
        "hosts.attach: routed or hosts.attach: vlan.",
    ),
    (
        {"hosts__attach": "esi", "backend__segments__rail_switches": 1},
        "backend.segments.rail_switches: esi needs pairs of rail switches, and a segment has 1. Use 2.",
    ),
    (
        {"hosts__attach": "mlag", "backend__planes": 2},
        "hosts.attach: the ports of a NIC are in 2 planes, and a LAG cannot span planes. Set "
        "hosts.attach: routed, hosts.attach: vlan or backend.planes: 1.",
    ),
    (
        {"backend__pods": 2},
        "backend.pods: 2 pods are not connected. Add super_spines, or set backend.pods: 1.",
    ),
    (
        {"profile__ecmp": "packet"},
        "profile.ecmp: packet spraying needs NICs that reorder packets, and hosts.reorder is false. Set "
        "hosts.reorder: true, profile.ecmp: flow or profile.ecmp: flowlet.",
    ),
    (
        {"profile__family": "ipv6", "hosts__attach": "vlan"},
        "profile.family: attach: vlan supports only IPv4. Set profile.family: ipv4 or hosts.attach: routed.",
    ),
    (
        {"profile__addresses__loopbacks": "fd00::/64"},
        "profile.addresses.loopbacks: fd00::/64 is not an ipv4 prefix. Use an ipv4 prefix.",
    ),
    (
        {"backend__segments__ports": {1: [1], 2: [2]}},
        "backend.segments.ports: no ports are assigned to rails 3, 4, 5, 6, 7, 8. Add them.",
    ),
    (
        {"backend__segments__ports": {**RAILS, 9: [9]}},
        "backend.segments.ports: ports are assigned to rail 9, and hosts have 8. Remove them.",
    ),
    (
        {"backend__segments__ports": {**RAILS, 8: [40]}},
        "backend.segments.ports: 7220-ixr-d5 has ports 1 to 32, and no port 40. Use ports that it has.",
    ),
    (
        {"backend__segments__ports": {**RAILS, 8: [7]}},
        "backend.segments.ports: rail switch 1 has more than one use of port 7. Assign each port to one rail.",
    ),
    (
        {"backend__segments__ports": RAILS, "backend__segments__hosts": 5},
        "backend.segments.hosts: the ports of a rail are enough for 4 hosts, and a segment has 5. Use at"
        " most 4 hosts or more ports per rail.",
    ),
    (
        {"backend__segments__platform": "eos"},
        "backend.segments.platform: 7220-ixr-d5 does not run platform 'eos'. Use srlinux or a model that runs "
        "eos (7010tx-48, 7050dx4-32s, 7060dx5-64s, 7060x6-64pe and 1 more).",
    ),
    (
        {"hosts__rate_gbps": 800},
        "hosts.rate_gbps: 7220-ixr-d5 has no port of 800 Gb/s. Use 400, 200, 100, 40, 25 or 10.",
    ),
    (
        {"backend__spines__rate_gbps": 25},
        "backend.spines.rate_gbps: 7220-ixr-d5 has no unsplit port of 25 Gb/s. Use 400, 200, 100 or 40.",
    ),
    (
        {"backend__spines__count": 6},
        "backend.spines.count: the 16 uplinks of a full rail switch do not divide evenly among 6 spines."
        " Use 1, 2, 4 or 8.",
    ),
    (
        {"backend__segments__hosts": 14},
        "backend.segments: 44 ports are needed (28 for hosts and 16 for uplinks) and 7220-ixr-d5 has 32."
        " Use at most 8 hosts, 4 rail_switches or a larger model.",
    ),
    (
        {"backend__segments__count": 5},
        "backend.spines: 40 ports are needed (one for each link of each leaf) and 7220-ixr-d5 has 32. Use 8 "
        "spines, at most 4 segments, growth.hosts: 4 (if segments will not grow) or a larger model.",
    ),
    (
        {"hosts__attach": "mlag", "backend__segments__hosts": 16, "backend__spines": None},
        "backend.segments: 34 ports are needed (32 for hosts and 0 for uplinks and 2 for peer links) and"
        " 7220-ixr-d5 has 32. Use at most 15 hosts, 4 rail_switches or a larger model.",
    ),
    (
        {
            "backend__pods": 9,
            "backend__super_spines": {"count": 4, "links_per_spine": 1, "rate_gbps": 400, "model": "7220-ixr-d5"},
        },
        "backend.super_spines: 36 ports are needed (one for each link of each spine) and 7220-ixr-d5 has "
        "32. Use at most 8 pods or a larger model.",
    ),
    (
        {
            "backend__super_spines": {"count": 40, "links_per_spine": 1, "rate_gbps": 400, "model": "7220-ixr-d5"},
            "backend__spines__links_per_leaf": 1,
        },
        "backend.spines: 44 ports are needed (4 for leaves and 40 for uplinks) and 7220-ixr-d5 has 32. Use "
        "a larger model.",
    ),
    (
        {"backend__spines__count": 3, "backend__segments__hosts": 6},
        "backend.spines.count: the 16 uplinks of a full rail switch do not divide evenly among 3 spines."
        " Use 1, 2, 4 or 8, or set backend.growth.hosts: 6 (if segments will not grow).",
    ),
    (
        {"hosts__attach": "vlan", "profile__addresses__hosts": "10.0.0.0/9"},
        "profile.addresses.hosts: hosts with attach: vlan use backend.subnets.pool, not this pool. Set "
        "backend.subnets.pool: 10.0.0.0/9 in its place.",
    ),
    (
        {"backend__growth": {"hosts": 2}},
        "backend.growth.hosts: 4 hosts exceed the limit of 2 hosts that the fabric may grow to. Set "
        "backend.growth.hosts: 4 (this changes addresses and ports).",
    ),
    (
        {"backend__spines": None, "backend__segments__count": 257},
        "backend.segments.count: 257 segments exceed the limit of 256 segments that the fabric may grow to. "
        "Set backend.growth.segments: 257.",
    ),
    (
        {"backend__growth": {"hosts": 19}, "backend__segments__ports": "by-rail"},
        "backend.growth.hosts: the fabric cannot grow to 19 hosts: its switches have ports for 0. Use larger switches.",
    ),
    (
        {"backend__growth": {"segments": 5}},
        "backend.growth.segments: the fabric cannot grow to 5 segments: its switches have ports for 4. "
        "Use 4 or larger switches.",
    ),
    (
        {"profile__addresses__hosts": "10.0.0.0/24"},
        "profile.addresses.hosts: 10.0.0.0/24 has 8 bits for addresses, and the largest size of the "
        "fabric needs 10. Remove it, since the default is large enough, or limit backend.growth, or use "
        "a larger pool.",
    ),
    (
        {"hosts__attach": "vlan", "backend__subnets__first_vlan": 4090},
        "backend.subnets.first_vlan: the VLAN of the last rail exceeds 4094. Use at most 3987.",
    ),
    (
        {"hosts__attach": "vlan", "backend__subnets__rail_prefix": 30},
        "backend.subnets.rail_prefix: a /30 has addresses for 1 hosts, and a segment has 4. Use a /29.",
    ),
    (
        {"hosts__attach": "vlan", "backend__subnets__rail_prefix": 26},
        "backend.subnets.rail_prefix: a /24 does not contain a /26 per rail. Use a /27, or set "
        "backend.subnets.switch_prefix: 23.",
    ),
    (
        {"hosts__attach": "vlan", "backend__subnets__switch_prefix": 30},
        "backend.subnets.switch_prefix: a /30 is too small for the rails of a switch. Use a /26.",
    ),
    (
        {"hosts__attach": "vlan", "backend__subnets__pool": "10.0.0.0/23"},
        "backend.subnets.pool: 10.0.0.0/23 has no prefix left for the last rail switch. Use 10.0.0.0/21.",
    ),
]


@pytest.mark.parametrize(("changes", "line"), CASES)
def test_the_reason_is_said(changes: dict[str, Any], line: str) -> None:
    assert any(found.startswith(line) for found in refusal(**changes)), refusal(**changes)


def test_more_leaves_than_private_as_numbers_are_refused() -> None:
    lines = refusal(backend__growth={"pods": 4096, "segments": 4096}, backend__segments__rail_switches=16)
    assert any(
        line == "backend.growth: the largest size of the fabric has more leaves than there are private AS "
        "numbers. Limit it, or set profile.control_plane: ibgp."
        for line in lines
    ), lines


def test_what_is_wrong_with_shape_and_what_is_wrong_with_sizes_are_each_given_together() -> None:
    assert len(refusal(backend__planes=3, backend__pods=2, profile__ecmp="packet")) == 3
    assert len(refusal(hosts__rate_gbps=800, backend__segments__platform="eos", backend__growth={"hosts": 1})) >= 3
    with pytest.raises(Problems):
        wire(fabric(backend__planes=3, backend__pods=2))


@pytest.mark.parametrize(
    ("attach", "switches", "most"), [("vlan", 1, 6), ("vlan", 2, 13), ("mlag", 2, 13), ("esi", 2, 13)]
)
def test_a_subnet_is_used_to_its_last_address(attach: str, switches: int, most: int) -> None:
    """A /28 has 13 beside network, gateway and broadcast; on one switch without a LAG, a NIC takes two of them."""
    changes = {
        "hosts": {"gpus": 2, "nic_ports": 2, "rate_gbps": 100, "attach": attach},
        "backend__segments__rail_switches": switches,
        "backend__segments__count": 1,
        "backend__subnets": {"switch_prefix": 27, "rail_prefix": 28},
        "backend__spines": None,
    }
    topology = wire(fabric(**changes, backend__segments__hosts=most))
    last = [bond.address for bond in topology.bonds] or [link.a.address for link in topology.links if link.a.rail]
    assert {int(address) & 15 for address in last if address} == set(range(2, 15 if most == 13 else 14))
    assert any("a /28 has addresses for" in line for line in refusal(**changes, backend__segments__hosts=most + 1))


@pytest.mark.parametrize(("rails", "pool"), [("divide", "10.0.0.0/22"), ("own", "10.0.0.0/20")])
def test_a_pool_is_used_to_its_last_prefix(rails: str, pool: str) -> None:
    """Four /24, the first of which stays free; or eight of them for each of two switches, of four rails."""
    changes = {
        "hosts": {"gpus": 4, "nic_ports": 1, "rate_gbps": 100, "attach": "vlan"},
        "backend__segments__rail_switches": 1,
        "backend__subnets": {"pool": pool, "rails": rails},
    }
    most = 3 if rails == "divide" else 2
    last = wire(fabric(**changes, backend__segments__count=most)).gateways[-1].subnet
    assert last.subnet_of(IPv4Network(pool))
    assert any("has no prefix left" in line for line in refusal(**changes, backend__segments__count=most + 1))


@pytest.mark.parametrize(("spines", "links", "hosts"), [(3, 4, 6), (4, 3, 5), (3, 1, 4)])
def test_stated_links_divide_by_themselves(spines: int, links: int, hosts: int) -> None:
    intent = fabric(
        backend__spines__count=spines, backend__spines__links_per_leaf=links, backend__segments__hosts=hosts
    )
    assert wire(intent).links


def test_stated_links_that_neither_today_nor_a_full_switch_would_divide_are_refused() -> None:
    (line,) = refusal(backend__spines__count=6, backend__spines__links_per_leaf=2)
    assert line.startswith(
        "backend.spines.count: the 16 uplinks of a full rail switch do not divide evenly among 6 spines"
    )


def test_growth_that_was_said_makes_room_for_a_count_of_spines() -> None:
    assert wire(fabric(backend__spines__count=3, backend__segments__hosts=6, backend__growth={"hosts": 6})).links
