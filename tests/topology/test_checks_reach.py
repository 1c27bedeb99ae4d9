"""Which network reaches which."""

from dataclasses import replace
from ipaddress import IPv4Interface, IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.topology.edits import said, with_node
from tests.topology.fabric_intents import fabric

from railfab.intent import FabricIntent
from railfab.topology import CabledPort, Gateway, Link, Net, Node, Role, Topology, wire

LEAVES = {"leaves": {"count": 2, "model": "7220-ixr-d5"}}
NETWORKS = ("backend", "frontend", "storage", "management")
BACKEND = wire(fabric())
"""The networks beside it are the intent's: who reaches whom is asked of that alone."""


def reaching(**reaches: list[str]) -> FabricIntent:
    """All networks; who is not named reaches nothing."""
    changes: dict[str, Any] = {name: LEAVES | {"reaches": reaches.get(name, [])} for name in NETWORKS[1:]}
    return fabric(**changes, backend__reaches=reaches.get("backend", []))


def lines(intent: FabricIntent, *words: str, topology: Topology = BACKEND) -> list[str]:
    return [line for line in said(topology, intent) if any(word in line for word in words)]


APART = "Remove one of these steps: the backend must carry only GPU traffic."


@pytest.mark.parametrize(
    ("reaches", "where", "chain"),
    [
        ({"backend": ["enterprise"]}, "backend", "backend -> enterprise"),
        (
            {"backend": ["storage"], "storage": ["frontend"], "frontend": ["enterprise"]},
            "backend",
            "backend -> storage -> frontend -> enterprise",
        ),
        ({"frontend": ["enterprise", "backend"]}, "frontend", "enterprise -> frontend -> backend"),
        (
            {"frontend": ["storage", "enterprise"], "storage": ["backend"]},
            "storage",
            "enterprise -> frontend -> storage -> backend",
        ),
    ],
)
def test_a_backend_that_carries_enterprise_traffic(reaches: dict[str, list[str]], where: str, chain: str) -> None:
    assert lines(reaching(**reaches), "not isolated") == [
        f"error {where}.reaches: backend and enterprise are not isolated: {chain}. {APART}"
    ]


def test_a_storage_that_both_reach_is_no_way_from_one_to_the_other() -> None:
    intent = reaching(backend=["storage"], frontend=["enterprise", "storage"])
    assert [line for line in said(BACKEND, intent) if "reach" in line] == []


def test_management_leads_into_no_network_and_is_not_opened_to_jobs() -> None:
    into = reaching(management=["storage", "enterprise"])
    assert lines(into, "bypasses") == [
        "error management.reaches: management reaches storage (management -> storage), which bypasses the "
        "isolation of every network. Let management reach no network, or only enterprise."
    ]
    opened = reaching(backend=["storage"], storage=["management"])
    assert lines(opened, "consoles") == [
        "warning backend.reaches: backend reaches management (backend -> storage -> management), so jobs can "
        "access consoles and BMCs. Remove it, or restrict it to the hosts that need it.",
        "warning storage.reaches: storage reaches management (storage -> management), so jobs can access consoles "
        "and BMCs. Remove it, or restrict it to the hosts that need it.",
    ]


def test_management_and_enterprise_may_meet() -> None:
    assert lines(reaching(management=["enterprise"], frontend=["enterprise"]), "reaches") == []


def test_networks_that_are_not_there_or_the_same() -> None:
    assert lines(fabric(backend__reaches=["storage", "backend"]), "backend.reaches") == [
        "warning backend.reaches: this intent has no storage network. Add storage, or remove it.",
        "warning backend.reaches: backend lists itself. Remove it.",
    ]


@given(st.fixed_dictionaries({name: st.lists(st.sampled_from([*NETWORKS, "enterprise"])) for name in NETWORKS}))
def test_isolation_is_reachability(reaches: dict[str, list[str]]) -> None:
    """Held against a closure computed another way: fixed point of pairs."""
    edges = {(one, other) for one, others in reaches.items() for other in others}
    edges |= {("enterprise", one) for one, other in edges if other == "enterprise"}
    pairs = set(edges)
    while more := {(a, d) for a, b in pairs if b != "enterprise" for c, d in edges if c == b} - pairs:
        pairs |= more
    joined = ("backend", "enterprise") in pairs or ("enterprise", "backend") in pairs
    assert bool(lines(reaching(**reaches), "not isolated")) == joined


def test_servers_that_devices_cannot_reach() -> None:
    services = {"services": {"ntp": ["10.224.32.1", "192.0.2.7"]}}
    alone, reached = (fabric(management=LEAVES | services | more) for more in ({}, {"reaches": ["enterprise"]}))
    assert lines(alone, "services") == [
        "warning management.services.ntp: 192.0.2.7 is outside management.pool 10.224.0.0/16, and management "
        "reaches no network. Use an address of the pool, or add enterprise to reaches."
    ]
    assert lines(reached, "services") == []


def test_purposes_of_management_that_share_a_vlan() -> None:
    assert lines(fabric(management=LEAVES | {"host_vlan": 30}), "the two are not isolated") == [
        "warning management.bmc_vlan: VLAN 30 is also host_vlan, so the two are not isolated. Use different VLANs."
    ]


def port(node: str, name: str, vlan: int | None = None) -> CabledPort:
    return CabledPort(node=node, name=name, cage=0, lane=None, rate_gbps=1, rail=None, address=None, vlan=vlan)


def joined(a: CabledPort, z: CabledPort) -> Topology:
    return replace(BACKEND, links=(*BACKEND.links, Link(a=a, z=z, rate_gbps=1, cable_m=1)))


def test_a_link_that_joins_two_networks_against_what_they_say() -> None:
    """Both networks have a spine here."""
    topology = joined(port("pod1-spine1", "ethernet-1/9"), port("pod1-spine4", "ethernet-1/9"))
    topology = with_node(topology, "pod1-spine4", net=Net.FRONTEND)
    found = lines(reaching(), "connects backend and frontend", topology=topology)
    assert len(found) == 1
    assert found[0].startswith("error pod1-seg1-leaf1 ethernet-1/")
    assert found[0].endswith(
        "a link to pod1-spine4 connects backend and frontend, but neither network reaches the other. Remove the "
        "link, or add frontend to backend.reaches."
    )
    assert lines(reaching(backend=["frontend"]), "connects backend and frontend", topology=topology) == []
    assert lines(reaching(frontend=["backend"]), "connects backend and frontend", topology=topology) == []


def test_a_tenant_in_the_vlan_of_management_on_one_switch() -> None:
    tenants = {"red": {"vlan": 20, "subnet": "172.20.0.0/24"}}
    intent = fabric(frontend=LEAVES | {"tenants": tenants}, management=LEAVES)
    topology = joined(port("pod1-seg1-host1", "mgmt0"), port("front-leaf1", "ethernet-1/1", vlan=20))
    red = Gateway(
        node="front-leaf1",
        vlan=20,
        subnet=IPv4Network("172.20.0.0/24"),
        address=IPv4Interface("172.20.0.1/24"),
        tenant="red",
    )
    leaf = Node(name="front-leaf1", role=Role.LEAF, pod=0, segment=None, index=1, net=Net.FRONTEND)
    topology = replace(topology, nodes=(*topology.nodes, replace(BACKEND.node("pod1-spine1"), **_of(leaf))))
    clash = "error front-leaf1: VLAN 20 of tenant red is the management VLAN of pod1-seg1-host1 on the same switch. "
    shared = replace(topology, gateways=(red,))
    assert lines(intent, "management VLAN", topology=shared) == [clash + "Use another VLAN for the tenant."]
    assert lines(intent, "management VLAN", topology=replace(topology, gateways=(replace(red, vlan=21),))) == []


def _of(node: Node) -> dict[str, Any]:
    return {"name": node.name, "role": node.role, "pod": 0, "net": node.net, "asn": None, "loopback": None}
