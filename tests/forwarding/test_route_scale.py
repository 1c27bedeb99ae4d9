"""Prefixes and next-hop groups of a fabric, counted from its design, are those of its converged switches."""

from __future__ import annotations

import numpy as np
import pytest
from tests.forwarding.test_spreading import converged, paths
from tests.topology.edits import shown
from tests.topology.fabric_intents import fabric

from railfab.errors import TopologyError
from railfab.forwarding import FabricChange, ForwardingState, converge
from railfab.forwarding.attributes import UNREACHED
from railfab.forwarding.next_hop_groups import NO_HOPS
from railfab.intent import FabricIntent
from railfab.topology import Role, Topology, findings, wire
from railfab.topology.route_scale import table_use

SUPERS = {"count": 2, "rate_gbps": 400, "links_per_spine": 2, "model": "7220-ixr-d5"}
SHAPES = {
    "one pod": {},
    "two pods": {"backend__pods": 2, "backend__super_spines": SUPERS},
    "groups": {"backend__pods": 2, "backend__spines__count": 2, "backend__super_spines": SUPERS | {"groups": 2}},
}
AGGREGATED = {"profile__bgp": {"aggregate_hosts": True}}


def held(state: ForwardingState, switch: str) -> tuple[int, int]:
    """Prefixes that a switch has a route to, announced or not, and its distinct next-hop groups."""
    routes = state.routes
    row = routes.rows[switch]
    hops = routes.hops[row]
    unannounced = sum(prefix not in routes.groups.numbers for prefix in routes.connected[switch])
    learned = int(routes.groups.sizes[routes.cost[row] < UNREACHED].sum())
    return learned + unannounced, len(np.unique(hops[hops != NO_HOPS]))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("hosts", [{}, AGGREGATED], ids=["a /31 for each link", "aggregated"])
def test_what_a_tier_holds_is_what_its_switches_learn(shape: str, hosts: dict[str, object]) -> None:
    intent = fabric(**{"backend__spines__links_per_leaf": 2, **SHAPES[shape], **hosts})
    topology = wire(intent)
    state = converged(topology, intent)
    switches = {Role.LEAF: "pod1-seg1-leaf1", Role.SPINE: "pod1-spine1", Role.SUPER: "super1"}
    uses = table_use(topology, intent)
    assert {use.role for use in uses} >= {Role.LEAF, Role.SPINE}
    for use in uses:
        prefixes, groups = held(state, switches[use.role])
        above_leaves = sum(node.role is not Role.LEAF for node in topology.switches())
        assert use.prefixes - above_leaves <= prefixes <= use.prefixes, use.role
        assert use.groups - above_leaves <= groups <= use.groups, use.role


def reached(topology: Topology, state: ForwardingState) -> set[tuple[str, str]]:
    """Each leaf, and each host port that its packets reach."""
    leaves = [node.name for node in topology.switches() if node.role is Role.LEAF]
    ports = [link.a for link in topology.links if link.a.rail is not None]
    return {
        (leaf, f"{port.node} {port.name}")
        for leaf in leaves
        for port in ports
        if port.address is not None and sum(share for share, _ in paths(state, leaf, port.address.ip)) > 1 - 1e-9
    }


def test_aggregates_reach_what_single_prefixes_reach_also_after_the_failure_of_a_host_link() -> None:
    """The two ports of a NIC have addresses of their own: no route leads around a failed link, aggregated or not."""
    after: dict[bool, set[tuple[str, str]]] = {}
    for aggregated in (False, True):
        intent = fabric(backend__spines__links_per_leaf=2, profile__bgp={"aggregate_hosts": aggregated})
        topology = wire(intent)
        state = converged(topology, intent)
        failed = next(link for link in topology.links if link.a.rail is not None)
        assert len(reached(topology, state)) == 4 * 128
        after[aggregated] = reached(topology, _without_host(state, failed.a.node, failed.a.name))
    assert after[True] == after[False]
    assert len(after[True]) == 4 * 127


def _without_host(state: ForwardingState, host: str, port: str) -> ForwardingState:
    return converge(state, FabricChange({}, cut=frozenset({(host, port)})))


def test_a_rail_switch_announces_one_prefix_for_each_of_its_rails() -> None:
    intent = fabric(**AGGREGATED)
    topology = wire(intent)
    own = [str(summary.prefix) for summary in topology.summaries if summary.node == "pod1-seg1-leaf1"]
    assert own == [f"10.{16 + rail}.0.0/24" for rail in range(1, 9)]
    assert findings(topology, intent) == ()
    assert wire(fabric()).links == topology.links


def limited(**sizes: int) -> FabricIntent:
    model = {
        "vendor": "any",
        "silicon": "any",
        "cages": 32,
        "speeds_gbps": [400],
        "breakouts": {4: [100]},
        "buffer_bytes": 132_000_000,
        "lane_gbps": 50,
        "names": {"srlinux": {"cage": "ethernet-1/{cage}", "lane": "ethernet-1/{cage}/{lane}"}},
    }
    return fabric(
        switches={"small": model | sizes},
        backend__segments__model="small",
        backend__spines__model="small",
        backend__spines__links_per_leaf=2,
    )


def test_tables_that_are_too_small_are_errors_and_aggregates_are_proposed() -> None:
    intent = limited(routes=100, next_hop_groups=4)
    found = [shown(one) for one in findings(wire(intent), intent) if one.code == "table-size"]
    assert found == [
        "error every leaf: holds 136 prefixes, and small has room for 100. Set profile.bgp.aggregate_hosts: true, or "
        "use a model with larger tables.",
        "error every leaf: holds 5 next-hop groups, and small has room for 4. Use a model with larger tables.",
        "error every spine: holds 136 prefixes, and small has room for 100. Set profile.bgp.aggregate_hosts: true, or "
        "use a model with larger tables.",
    ]
    large = limited(routes=136, next_hop_groups=5)
    assert [one for one in findings(wire(large), large) if one.code == "table-size"] == []


def test_hosts_that_are_not_routed_have_nothing_to_aggregate() -> None:
    with pytest.raises(TopologyError, match="hosts with attach: vlan have no routed links"):
        wire(fabric(hosts__attach="vlan", **AGGREGATED))
