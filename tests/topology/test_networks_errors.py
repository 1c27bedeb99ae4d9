"""What cannot be built of the networks beside the backend, and what is said of it."""

from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.errors import Problems
from railfab.topology import wire
from railfab.topology.networks import network_errors

LEAVES = {"count": 2, "model": "7220-ixr-d3l"}
SPINES = {"count": 2, "rate_gbps": 100, "model": "7220-ixr-d3l"}
FRONTEND: dict[str, Any] = {
    "leaves": LEAVES,
    "spines": SPINES,
    "tenants": {"red": {"vlan": 9, "subnet": "172.20.0.0/22"}},
}
STORAGE: dict[str, Any] = {"leaves": {"count": 2, "model": "7220-ixr-d5"}, "servers": 2}
MANAGEMENT: dict[str, Any] = {"leaves": {"count": 4, "model": "7215-ixs-a1"}, "spines": SPINES | {"rate_gbps": 10}}
PLAIN: dict[str, Any] = {
    "vendor": "any",
    "silicon": "any",
    "cages": 16,
    "speeds_gbps": [100, 400],
    "breakouts": {4: [100]},
    "buffer_bytes": 1,
    "names": {"srlinux": {"cage": "ethernet-1/{cage}"}},
}

CASES = {
    "unknown leaf": (
        {"frontend": FRONTEND | {"leaves": {"count": 2, "model": "d99"}}},
        "frontend.leaves.model: switch 'd99' is not in the catalogue. Use ",
    ),
    "unknown spine": (
        {"storage": STORAGE | {"spines": SPINES | {"model": "d99"}}},
        "storage.spines.model: switch 'd99' is not in the catalogue. Use ",
    ),
    "platform": (
        {"frontend": FRONTEND | {"leaves": LEAVES | {"platform": "eos"}}},
        "frontend.leaves.platform: 7220-ixr-d3l does not run platform 'eos'. Use srlinux or a model that runs "
        "eos (7010tx-48, 7050dx4-32s, 7060dx5-64s, 7060x6-64pe and 1 more).",
    ),
    "spines' platform": (
        {"frontend": FRONTEND | {"spines": SPINES | {"platform": "eos"}}},
        "frontend.spines.platform: 7220-ixr-d3l does not run platform 'eos'. Use srlinux or a model that runs "
        "eos (7010tx-48, 7050dx4-32s, 7060dx5-64s, 7060x6-64pe and 1 more).",
    ),
    "host speed": (
        {"frontend": FRONTEND | {"rate_gbps": 200}},
        "frontend.rate_gbps: 7220-ixr-d3l has no port of 200 Gb/s. Use 100, 50, 40, 25 or 10.",
    ),
    "uplink speed": (
        {"management": MANAGEMENT | {"spines": SPINES}},
        "management.spines.rate_gbps: 7215-ixs-a1 has no port of 100 Gb/s. Use 10 or 1.",
    ),
    "no breakout": (
        {"frontend": FRONTEND | {"leaves": {"count": 2, "model": "plain"}}, "switches": {"plain": PLAIN}},
        "frontend.leaves: plain does not support breakout on srlinux. Use speeds without breakout.",
    ),
    "no pairs": (
        {"frontend": FRONTEND | {"leaves": LEAVES | {"count": 3}}},
        "frontend.leaves.count: NICs with several ports need pairs of leaves, and leaves.count is 3. Use 2 or 4.",
    ),
    "nothing joins a pair that shares LAGs": (
        {"frontend": FRONTEND | {"spines": None}},
        "frontend.spines: 2 leaves are not connected. Add spines.",
    ),
    "nothing joins leaves": (
        {"management": MANAGEMENT | {"spines": None}},
        "management.spines: 4 leaves are not connected. Add spines.",
    ),
    "spine ports": (
        {"frontend": FRONTEND | {"leaves": LEAVES | {"count": 40}}},
        "frontend.spines: 40 ports are needed (one for each link of each leaf) and 7220-ixr-d3l has 32. Use a "
        "larger model or fewer leaves.",
    ),
    "leaf ports": (
        {"frontend": FRONTEND | {"spines": SPINES | {"count": 16, "links_per_leaf": 2}}},
        "frontend.leaves: 7220-ixr-d3l has 0 access ports besides 32 uplinks, too few for its hosts and "
        "devices. Use a larger model, faster uplinks or fewer spines.",
    ),
    "too few leaves": (
        {"frontend": FRONTEND, "backend__growth": {"segments": 9, "hosts": 8}, "backend__segments__count": 4},
        "frontend.leaves.count: 2 leaves are too few: with 9 segments per pod with 8 slots each "
        "reserved, the last leaf in use is 4. Use 4, or set backend.growth: {hosts: 4} (if the fabric "
        "will not grow).",
    ),
    "too many servers": (
        {"storage": STORAGE | {"servers": 40, "spines": SPINES | {"rate_gbps": 400, "model": "7220-ixr-d5"}}},
        "storage.leaves.count: 2 leaves are too few: with 8 segments per pod with 4 slots each reserved, the "
        "last leaf in use is 6. Use 6.",
    ),
    "routed pool": (
        {"storage": STORAGE | {"pool": "10.208.0.0/26"}},
        "storage.pool: 10.208.0.0/26 is too small for 2 leaves of 64 ports. Use a /23.",
    ),
    "pool of one address": (
        {"management": MANAGEMENT | {"pool": "10.224.0.0/32"}},
        "management.pool: 10.224.0.0/32 is too small for 4 leaves of 48 ports. Use a /21.",
    ),
    "tiny pool": (
        {"frontend": FRONTEND | {"pool": "10.192.0.0/30"}},
        "frontend.pool: 10.192.0.0/30 is too small for 2 leaves of 24 ports. Use a /26.",
    ),
    "pool of numbered links": (
        {"frontend": FRONTEND | {"pool": "10.192.0.0/26"}, "profile__underlay": "numbered"},
        "frontend.pool: 10.192.0.0/26 is too small for 2 leaves of 24 ports. Use a /25.",
    ),
    "management pool": (
        {"management": MANAGEMENT | {"pool": "10.224.0.0/22"}},
        "management.pool: 10.224.0.0/22 is too small for 4 leaves of 48 ports. Use a /21.",
    ),
    "pool of all hosts": (
        {"frontend": FRONTEND | {"tenants": {}, "pool": "10.192.0.0/27"}},
        "frontend.pool: 10.192.0.0/27 is too small for 2 leaves of 24 ports. Use a /26.",
    ),
    "tenant's subnet": (
        {"frontend": FRONTEND | {"tenants": {"red": {"vlan": 9, "subnet": "172.20.0.0/29"}}}},
        "frontend.tenants.red.subnet: 172.20.0.0/29 is too small for 11 addresses. Use a /28.",
    ),
    "another tenant's subnet": (
        {"frontend": FRONTEND | {"tenants": FRONTEND["tenants"] | {"blue": {"vlan": 10, "subnet": "172.24.0.0/31"}}}},
        "frontend.tenants.blue.subnet: 172.24.0.0/31 is too small for 3 addresses. Use a /30.",
    ),
    "service among devices": (
        {"management": MANAGEMENT | {"services": {"ntp": ["10.224.0.3"]}}},
        "management.services.ntp: 10.224.0.3 is in the part of 10.224.0.0/16 that is assigned to devices. Use "
        "an address in 10.224.32.0/19, or outside 10.224.0.0/16.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_reason_why_a_network_cannot_be_built_is_said(case: str) -> None:
    changes, message = CASES[case]
    (error,) = network_errors(fabric(**{"backend__growth": {"hosts": 4}} | changes))
    assert str(error).startswith(message) if message.endswith("Use ") else str(error) == message


def test_what_grows_beyond_all_bounds_is_told_to_state_them() -> None:
    beyond = {"backend__pods": 2, "backend__growth": {"hosts": 4096, "segments": 4096}}
    assert [str(error) for error in network_errors(fabric(frontend=FRONTEND, **beyond))] == [
        "frontend.leaves.count: 2 leaves are too few: with 4096 segments per pod with 4096 slots each "
        "reserved, the last leaf in use is 1398444. Set backend.growth: {hosts: 4, segments: 2} (if the "
        "fabric will not grow).",
        "frontend.tenants.red.subnet: 172.20.0.0/22 is too small for 16781319 addresses. Limit backend.growth "
        "to the size that the fabric will reach.",
    ]


def test_one_leaf_for_a_small_fabric_wants_its_growth_stated() -> None:
    small: dict[str, Any] = {
        "backend__segments": {"hosts": 8, "rail_switches": 1, "model": "sn5600"},
        "backend__spines": None,
        "management": {"leaves": {"count": 1, "model": "sn2201"}},
    }
    assert [str(error) for error in network_errors(fabric(**small))] == [
        "management.leaves.count: 1 leaf is too few: with 256 segments per pod with 17 slots each "
        "reserved, the last leaf in use is 2. Use 2, or set backend.growth: {hosts: 8} (if the fabric "
        "will not grow)."
    ]
    assert network_errors(fabric(**small, backend__growth={"hosts": 8})) == []


def test_all_networks_can_be_built_of_what_these_cases_begin_with() -> None:
    intent = fabric(backend__growth__hosts=4, frontend=FRONTEND, storage=STORAGE, management=MANAGEMENT)
    assert network_errors(intent) == []
    assert {node.net for node in wire(intent).nodes} == {"backend", "frontend", "storage", "management"}


def test_errors_of_all_networks_and_of_the_backend_are_said_together() -> None:
    wrong = {"frontend": FRONTEND | {"rate_gbps": 200}, "management": MANAGEMENT | {"spines": None}}
    with pytest.raises(Problems) as raised:
        wire(fabric(**wrong, backend__segments__platform="eos"))
    assert [error.where for error in raised.value.errors] == [
        "backend.segments.platform",
        "frontend.rate_gbps",
        "management.spines",
    ]
