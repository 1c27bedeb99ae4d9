"""Routes and next-hop groups from sessions and policy, and the paths of flows over them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Address
from itertools import pairwise

import pytest
from tests.forwarding.fabrics import (
    LEAF,
    SPINE,
    model,
    permitting,
    planned,
    with_bgp,
    with_interface,
    with_neighbors,
    with_policy,
)

from railfab.device import BalancingMode, DeviceModel, HashField, LoadBalancing, Policy
from railfab.forwarding import (
    FabricChange,
    ForwardingState,
    LinkTable,
    Marking,
    converge,
    flow,
    obstacle,
    unconfigured,
)
from railfab.forwarding.flows import source_port
from railfab.forwarding.sessions import PrefixCounts
from railfab.sim import Balancing, Engine, Framing

FAR_HOST = IPv4Address("10.17.2.1")
"""Rail 1, first port, first host of the second segment: behind pod1-seg2-leaf1."""

NEAR, FAR = ("pod1-seg1-host1", "rail1-p0"), ("pod1-seg2-host1", "rail1-p0")


def converged(
    changed: dict[str, DeviceModel | None] | None = None, cut: set[tuple[str, str]] | None = None
) -> ForwardingState:
    topology, models = planned()
    start = unconfigured(LinkTable(topology), framing=Framing(), marking=Marking())
    return converge(start, FabricChange({**models, **(changed or {})}, cut=frozenset(cut or ())))


def next_hops(state: ForwardingState, switch: str, address: IPv4Address = FAR_HOST) -> list[str]:
    """The interfaces by which a switch sends packets to this address."""
    near = state.links.near
    return [near[link].name for link in state.routes.egress(switch, address)]


def test_a_leaf_uses_all_uplinks_and_a_spine_only_the_links_to_the_leaf() -> None:
    state = converged()
    assert next_hops(state, LEAF) == [f"ethernet-1/{port}" for port in range(25, 33)]
    assert next_hops(state, SPINE) == ["ethernet-1/5", "ethernet-1/6"]
    assert next_hops(state, "pod1-seg2-leaf1") == ["ethernet-1/1/1"]
    assert next_hops(state, LEAF, IPv4Address("10.17.0.1")) == ["ethernet-1/1/1"]
    assert next_hops(state, LEAF, IPv4Address("10.255.1.3")) == [f"ethernet-1/{port}" for port in range(25, 33)]
    assert next_hops(state, LEAF, IPv4Address("192.0.2.1")) == []


def test_no_route_goes_down_and_up_again_when_a_spine_loses_a_leaf() -> None:
    """Spines share an AS number, so a route that a leaf has from one spine is refused by the others."""
    cut = {(SPINE, "ethernet-1/5"), (SPINE, "ethernet-1/6")}
    state = converged(cut=cut)
    assert next_hops(state, SPINE) == []
    assert next_hops(state, LEAF) == [f"ethernet-1/{port}" for port in range(25, 31)]


def test_max_paths_bounds_the_group() -> None:
    leaf = model(LEAF)
    assert len(next_hops(converged({LEAF: with_bgp(leaf, lambda bgp: replace(bgp, max_paths=3))}), LEAF)) == 3


def test_a_removed_neighbour_leaves_the_group() -> None:
    leaf = with_neighbors(model(LEAF), lambda found: None if found.peer == "ethernet-1/27" else found)
    assert next_hops(converged({LEAF: leaf}), LEAF) == [f"ethernet-1/{port}" for port in (25, 26, 28, 29, 30, 31, 32)]


def loopbacks_only(found: DeviceModel, *, direction: str) -> DeviceModel:
    rules = (permitting("10.254.0.0/15", ge=32),)
    return with_policy(found, direction, Policy(name="loopbacks", rules=rules))


def test_policy_decides_what_is_announced_and_what_is_taken() -> None:
    no_export = converged({"pod1-seg2-leaf1": loopbacks_only(model("pod1-seg2-leaf1"), direction="export")})
    assert next_hops(no_export, LEAF) == []
    assert len(next_hops(no_export, LEAF, IPv4Address("10.255.1.3"))) == 8
    no_import = converged({LEAF: loopbacks_only(model(LEAF), direction="import")})
    assert next_hops(no_import, LEAF) == []
    session = no_import.session(LEAF, "ethernet-1/32")
    assert session.total == PrefixCounts(received=100, accepted=4, sent=33, installed=4)
    silent_spine = converged({SPINE: loopbacks_only(model(SPINE), direction="export")})
    assert next_hops(silent_spine, LEAF) == [f"ethernet-1/{port}" for port in range(25, 31)]


def test_prefixes_are_counted_as_a_switch_would() -> None:
    """A leaf sends its 32 host links and its loopback; a spine passes on those of the other three leaves."""
    state = converged()
    up, down = state.session(LEAF, "ethernet-1/32"), state.session(SPINE, "ethernet-1/1")
    assert up.total == PrefixCounts(received=100, accepted=100, sent=33, installed=100)
    assert down.total == PrefixCounts(received=33, accepted=33, sent=100, installed=33)


def test_a_host_port_that_goes_down_withdraws_its_prefix() -> None:
    state = converged(cut={("pod1-seg2-leaf1", "ethernet-1/1/1")})
    assert next_hops(state, LEAF) == []
    assert state.session(LEAF, "ethernet-1/32").total.received == 99


def walked(state: ForwardingState, streams: int = 1) -> list[tuple[list[int], list[int]]]:
    """The links of queue pairs of two NICs, and of their acknowledgements, as far as they lead."""
    engine = Engine(state.network, state.routing)
    engine.add([flow(state.links, stream, NEAR, FAR, 1, stream=stream) for stream in range(streams)])
    engine.run(1, stop_when_done=False)
    paths = engine.flow_paths()

    pairs = zip(paths.links, paths.back, strict=True)
    return [(there[there >= 0].tolist(), back[back >= 0].tolist()) for there, back in pairs]


def test_a_path_goes_from_port_to_port_and_back_over_working_links() -> None:
    state = converged()
    links = state.links
    ((there, back),) = walked(state)
    for path, (first, last) in ((there, (NEAR, FAR)), (back, (FAR, NEAR))):
        assert (links.keys[path[0]], links.far_key(path[-1])) == (first, last)
        assert all(links.far(a).node == links.near[b].node for a, b in pairwise(path))
        assert all(state.port(links.keys[link]).oper_up for link in path)
    assert obstacle(state, NEAR, FAR, there) == obstacle(state, FAR, NEAR, back) == ""


def test_the_simulator_has_the_routes_of_every_switch_to_every_host_port() -> None:
    """With a link cut, a switch without configuration, and weights."""
    cut = {(SPINE, "ethernet-1/5")}
    state = converged({"pod1-seg1-leaf2": None}, cut)
    found = state.routing
    for name, row in state.links.switches.items():
        for column, nic in enumerate(state.links.nics):
            address = state.links.near[nic].address
            assert address is not None
            group = found.group[row, column]
            members = found.members[found.begin[group] : found.begin[group + 1]].tolist() if group >= 0 else []
            assert members == list(state.routes.egress(name, address.ip)), (name, nic)


def with_narrow_ports(*names: str) -> DeviceModel:
    found = model(LEAF)
    for name in names:
        found = with_interface(found, name, lambda port: replace(port, mtu_bytes=1500))
    return found


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({LEAF: None}, "pod1-seg1-leaf1 ethernet-1/1/1 is not configured"),
        ({"pod1-seg2-leaf1": None}, "pod1-seg1-leaf1 has no route to 10.17.2.1"),
        (
            {LEAF: with_interface(model(LEAF), "ethernet-1/1/1", lambda port: replace(port, mtu_bytes=1500))},
            "pod1-seg1-leaf1 ethernet-1/1/1 has MTU 1500, packets have 4140 bytes",
        ),
        (
            {LEAF: with_narrow_ports(*(f"ethernet-1/{port}" for port in range(25, 33)))},
            "pod1-seg1-leaf1 ethernet-1/25 has MTU 1500, packets have 4140 bytes",
        ),
    ],
)
def test_a_missing_path_has_a_reason(changed: dict[str, DeviceModel | None], reason: str) -> None:
    state = converged(changed)
    ((there, _),) = walked(state)
    assert obstacle(state, NEAR, FAR, there) == reason


def test_the_hash_spreads_evenly_and_tiers_do_not_polarise() -> None:
    """Of what takes one uplink at the leaf, the spine still uses both its links: the seeds differ by switch."""
    state = converged()
    paths = [there for there, _ in walked(state, 2000)]
    leaf = Counter(path[1] for path in paths)
    assert len(leaf) == 8
    assert all(190 < count < 310 for count in leaf.values())
    for uplink in leaf:
        after = Counter(path[2] for path in paths if path[1] == uplink)
        assert len(after) == 2
        assert min(after.values()) > 0.3 * leaf[uplink]


def fabric_links(balancing: LoadBalancing | None) -> list[tuple[str, str]]:
    """The links out of the leaf and out of the spine of 64 queue pairs of two NICs, with this load balancing."""
    state = converged({name: replace(found, load_balancing=balancing) for name, found in planned()[1].items()})
    near = state.links.near
    return [(near[links[1]].name, near[links[2]].name) for links, _ in walked(state, 64)]


def test_a_hash_without_ports_keeps_the_flows_between_two_nics_on_one_link() -> None:
    addresses = LoadBalancing(fields=(HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS))
    assert len(set(fabric_links(addresses))) == 1
    assert len(set(fabric_links(LoadBalancing(fields=(*addresses.fields, HashField.SOURCE_PORT))))) > 8
    assert fabric_links(LoadBalancing()) == fabric_links(None)


def test_one_seed_on_all_switches_makes_tiers_polarise() -> None:
    """The choice of the leaf among eight links decides that of the spine between two."""
    one_seed = set(fabric_links(LoadBalancing(seed=7)))
    assert len({leaf for leaf, _ in one_seed}) == len(one_seed) == 8
    assert len(set(fabric_links(None))) > 8


def test_another_seed_moves_flows_and_only_hashes_are_otherwise() -> None:
    state = converged()
    other = replace(model(LEAF), load_balancing=LoadBalancing(seed=7))
    after = converge(state, FabricChange({LEAF: other}))
    assert after.routes is state.routes
    assert after.rows is state.rows
    assert not after.same_network(state)
    assert walked(state, 8) != walked(after, 8)
    same = converge(after, FabricChange({LEAF: other}))
    assert same.same_network(after)


@pytest.mark.parametrize(
    ("mode", "simulated"),
    [
        ("flow", Balancing.FLOW),
        ("flowlet", Balancing.FLOWLET),
        ("adaptive", Balancing.ADAPTIVE),
        ("packet", Balancing.SPRAY),
    ],
)
def test_each_mode_of_load_balancing_is_one_of_the_simulator(mode: str, simulated: Balancing) -> None:
    balancing = LoadBalancing(mode=BalancingMode(mode), flowlet_gap_us=20)
    state = converged({LEAF: replace(model(LEAF), load_balancing=balancing)})
    leaf, spine = state.links.switches[LEAF], state.links.switches[SPINE]
    assert (state.network.balancing[leaf], state.network.flowlet_gap_ns[leaf]) == (simulated, 20_000)
    assert state.network.balancing[spine] == Balancing.FLOW


def test_source_ports_are_dynamic_and_tell_streams_apart() -> None:
    ports = {source_port(NEAR, FAR, stream) for stream in range(50)}
    assert len(ports) > 45
    assert all(49152 <= port <= 65535 for port in ports)
