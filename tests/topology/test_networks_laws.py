"""Laws of the networks beside the backend, over random clusters."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import grown, wired

from railfab.intent import FabricIntent
from railfab.topology import Net, Role, Topology
from railfab.topology.networks import access_networks, add_networks, network_errors

OTHERS = ("frontend", "storage", "management")
Ports = dict[tuple[str, str], tuple[object, ...]]


@st.composite
def backends(draw: st.DrawFn, *, joins_pods: bool) -> dict[str, Any]:
    """The document of a small fabric of one to three tiers, most of which can be built."""
    own = {"model": "7220-ixr-d5", "rate_gbps": 400}
    segments = {"count": draw(st.integers(1, 2)), "hosts": draw(st.integers(1, 3)), "model": "7220-ixr-d5"}
    backend: dict[str, Any] = {"segments": segments | {"rail_switches": draw(st.sampled_from([1, 2]))}}
    tiers = 3 if joins_pods else draw(st.integers(1, 3))
    if tiers > 1:
        backend["spines"] = {"count": draw(st.integers(1, 3)), "links_per_leaf": 1, **own}
    if tiers > 2:
        backend["super_spines"] = {"count": draw(st.integers(1, 2)), "links_per_spine": 1, **own}
        backend["pods"] = draw(st.integers(1, 2))
    if joins_pods or draw(st.booleans()):
        backend["growth"] = {"hosts": draw(st.integers(3, 7)), "segments": draw(st.integers(2, 5)), "pods": 3}
    profile = {"underlay": draw(st.sampled_from(["numbered", "unnumbered"]))}
    nic_ports = draw(st.sampled_from([1, 2]))
    planes = draw(st.sampled_from([1, nic_ports]))
    hosts = {"gpus": 4, "nic_ports": nic_ports, "rate_gbps": 200}
    return {"version": 1, "fabric": "f", "profile": profile, "hosts": hosts, "backend": backend | {"planes": planes}}


@st.composite
def clusters(draw: st.DrawFn, *needed: str, joins_pods: bool = False) -> dict[str, Any]:
    """The document of an intent with some of the other networks, the needed ones among them; few cannot be built."""
    document = draw(backends(joins_pods=joins_pods))
    for key in {*needed, *draw(st.lists(st.sampled_from(OTHERS), min_size=1, unique=True))}:
        document[key] = draw({"frontend": frontends(), "storage": storages(), "management": managements()}[key])
    return document


@st.composite
def tiers(draw: st.DrawFn, models: list[str], rates: list[int]) -> dict[str, Any]:
    links = draw(st.integers(1, 2))
    spines = {"count": draw(st.integers(1, 3)), "links_per_leaf": links, "model": "linux-256"}
    return {
        "leaves": {"count": draw(st.sampled_from([12, 80])), "model": draw(st.sampled_from(models))},
        "spines": {**spines, "rate_gbps": draw(st.sampled_from(rates))},
    }


@st.composite
def frontends(draw: st.DrawFn) -> dict[str, Any]:
    tenants = {"red": {"vlan": 100, "subnet": "172.20.0.0/14"}, "blue": {"vlan": 200, "subnet": "172.24.0.0/24"}}
    return {
        "nic_ports": draw(st.integers(1, 4)),
        "rate_gbps": draw(st.sampled_from([25, 100])),
        "attach": draw(st.sampled_from(["esi", "routed"])),
        "tenants": draw(st.sampled_from([{}, tenants])),
        **draw(tiers(["7050dx4-32s", "sn4700", "linux-64"], [100, 400])),
    }


@st.composite
def storages(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "protocol": draw(st.sampled_from(["roce", "nvme-tcp"])),
        "nic_ports": draw(st.integers(1, 3)),
        "servers": draw(st.integers(0, 9)),
        "server_ports": draw(st.integers(1, 4)),
        **draw(tiers(["7220-ixr-d5", "sn4700", "linux-64"], [200, 400])),
    }


@st.composite
def managements(draw: st.DrawFn) -> dict[str, Any]:
    isolation = draw(st.sampled_from(["vrf", "vlans"]))
    return {"isolation": isolation, **draw(tiers(["7215-ixs-a1", "sn2201", "linux-16"], [1, 10]))}


def whole(intent: FabricIntent) -> Topology | None:
    """None when it cannot be built."""
    backend = wired(intent.model_copy(update=dict.fromkeys(OTHERS)))
    return None if backend is None or network_errors(intent) else add_networks(intent, backend)


def built(document: dict[str, Any]) -> tuple[FabricIntent, Topology]:
    intent = FabricIntent.model_validate(document)
    topology = whole(intent)
    assume(topology is not None)
    assert topology is not None
    return intent, topology


def with_one_more(intent: FabricIntent, what: str) -> FabricIntent:
    """One more host, segment, pod or storage server, a spine, or a pair of leaves."""
    if what in ("host", "segment", "pod"):
        return grown(intent, what)
    key, _, _ = what.partition(".")
    network = getattr(intent, key)
    if what == "storage.servers":
        return intent.model_copy(update={key: network.model_copy(update={"servers": network.servers + 1})})
    tier = what.partition(".")[2]
    own = getattr(network, tier)
    more = own.model_copy(update={"count": own.count + {"leaves": 2, "spines": 1}[tier]})
    return intent.model_copy(update={key: network.model_copy(update={tier: more})})


def uplink_room(intent: FabricIntent) -> list[int]:
    return [network.uplink_room for network in access_networks(intent)]


def ports_of(topology: Topology) -> Ports:
    """What each port is joined to, and all that its own configuration says."""
    return {
        (port.node, port.name): (peer.node, peer.name, port.address, port.vlan, port.bundle, port.cage, port.lane)
        for port, peer, _ in topology.ports()
    }


@given(clusters())
@settings(max_examples=examples(30), deadline=None)
def test_every_host_has_every_link_and_no_port_name_cage_or_address_is_used_twice(document: dict[str, Any]) -> None:
    intent, topology = built(document)
    ports = Counter((port.node, port.name) for port, _, _ in topology.ports())
    spots = Counter((port.node, port.cage, port.lane) for port, _, _ in topology.ports() if port.cage)
    addresses = Counter(port.address.ip for port, _, _ in topology.ports() if port.address)
    addresses += Counter(bond.address.ip for bond in topology.bonds if bond.address)
    addresses += Counter(node.loopback for node in topology.switches() if node.loopback)
    addresses += Counter({gateway.address.ip: 1 for gateway in topology.gateways})
    assert {1} == set(ports.values()) | set(spots.values()) | set(addresses.values())
    wanted = {port for network in access_networks(intent) for port in network.host_ports}
    for host in topology.hosts():
        assert wanted <= {port.name for port, _, _ in topology.ports_of(host.name)}


@given(clusters())
@settings(max_examples=examples(30), deadline=None)
def test_the_ports_of_a_host_or_server_meet_both_leaves_of_a_pair(document: dict[str, Any]) -> None:
    _, topology = built(document)
    for node in topology.nodes:
        for prefix in ("front-p", "store-p"):
            leaves = [peer.node for port, peer, _ in topology.ports_of(node.name) if port.name.startswith(prefix)]
            if len(leaves) > 1:
                numbers = sorted({topology.node(leaf).index for leaf in leaves})
                assert numbers[0] % 2 == 1
                assert numbers == [numbers[0], numbers[0] + 1]
                assert abs(leaves.count(leaves[0]) * 2 - len(leaves)) <= 1


@given(clusters("management"))
@settings(max_examples=examples(30), deadline=None)
def test_every_switch_of_another_network_and_every_bmc_is_on_management(document: dict[str, Any]) -> None:
    _, topology = built(document)
    for node in topology.nodes:
        peers = {port.name: topology.node(peer.node) for port, peer, _ in topology.ports_of(node.name)}
        wanted = {"mgmt0", "bmc"} if node.role in (Role.HOST, Role.SERVER) else {"mgmt0"}
        if node.net is Net.MANAGEMENT:
            assert not wanted & set(peers)
        else:
            assert {(peers[port].net, peers[port].role) for port in wanted} == {(Net.MANAGEMENT, Role.LEAF)}


@given(clusters())
@settings(max_examples=examples(30), deadline=None)
def test_networks_meet_only_on_hosts_and_on_management(document: dict[str, Any]) -> None:
    _, topology = built(document)
    for link in topology.links:
        low, high = topology.node(link.a.node), topology.node(link.z.node)
        if low.role is not Role.HOST and low.net is not high.net:
            assert high.net is Net.MANAGEMENT


@given(clusters())
@settings(max_examples=examples(30), deadline=None)
def test_every_address_is_in_the_pool_of_its_network_or_in_a_tenants_subnet(document: dict[str, Any]) -> None:
    intent, topology = built(document)
    networks = {network.net: network for network in access_networks(intent)}
    tenants = [gateway.subnet for gateway in topology.gateways if gateway.tenant in ("red", "blue")]
    for node in topology.switches():
        assert node.net is Net.BACKEND or node.loopback in networks[node.net].pools.loopbacks
    for link in topology.links:
        net = topology.node(link.z.node).net
        for address in (port.address for port in (link.a, link.z) if port.address and net is not Net.BACKEND):
            assert any(address.ip in pool for pool in (networks[net].pool, *tenants))
            assert address.ip not in networks[net].pools.servers


ADDED = ("host", "segment", "pod", *(f"{key}.leaves" for key in OTHERS), "storage.servers")


@given(clusters(*OTHERS))
@settings(max_examples=examples(15), deadline=None)
def test_spines_may_be_added_up_to_what_the_stated_ratio_asks_for(document: dict[str, Any]) -> None:
    before, standing = built(document)
    after = with_one_more(with_one_more(before, "frontend.spines"), "storage.spines")
    more = whole(after)
    assume(more is not None and uplink_room(before) == uplink_room(after))
    assert more is not None
    old, new = ports_of(standing), ports_of(more)
    assert {port: new.get(port) for port in old} == old


@pytest.mark.parametrize("what", ADDED)
@given(data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_what_is_added_changes_no_name_port_or_address_of_what_stood(what: str, data: st.DataObject) -> None:
    before, standing = built(data.draw(clusters(*OTHERS, joins_pods=what == "pod")))
    more = whole(with_one_more(before, what))
    assume(more is not None)
    assert more is not None
    old, new = ports_of(standing), ports_of(more)
    assert {port: new.get(port) for port in old} == old
    for node in standing.nodes:
        now = more.node(node.name)
        assert (node.asn, node.loopback, node.vtep, node.reflector) == (now.asn, now.loopback, now.vtep, now.reflector)
        assert set(node.breakouts) <= set(now.breakouts)
    assert set(standing.bonds) <= set(more.bonds)
    assert set(standing.gateways) <= set(more.gateways)


@given(clusters())
@settings(max_examples=examples(30), deadline=None)
def test_without_other_networks_the_backend_stays_as_it_is(document: dict[str, Any]) -> None:
    intent = FabricIntent.model_validate({key: value for key, value in document.items() if key not in OTHERS})
    backend = wired(intent)
    assume(backend is not None)
    assert backend is not None
    assert add_networks(intent, backend) is backend


@pytest.mark.parametrize("key", ["frontend", "storage", "management"])
@given(data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_a_network_that_comes_later_moves_nothing(key: str, data: st.DataObject) -> None:
    after, more = built(data.draw(clusters(*OTHERS)))
    standing = whole(after.model_copy(update={key: None}))
    assert standing is not None
    old, new = ports_of(standing), ports_of(more)
    assert {port: new.get(port) for port in old} == old
