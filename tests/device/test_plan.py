"""Planned device models: what every fabric is configured with, by the design that its intent chooses."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_interface, ip_network
from pathlib import Path
from typing import TypeVar

import pytest
from tests.device.planned import LEAF, POD64, SPINE, Models, planned, planned_with, pod64, qos_of
from tests.topology.fabric_intents import fabric

from railfab.device import (
    LOOPBACK,
    AaaServer,
    Aggregate,
    BalancingMode,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    Classifier,
    DeviceModel,
    Family,
    GnmiService,
    HashField,
    IpNetwork,
    Lag,
    LoadBalancing,
    Loopback,
    ManagementAccess,
    NextHop,
    PfcWatchdog,
    Port,
    Remote,
    Svi,
    SyslogServer,
    Vlan,
    VlanMembership,
    disagreements,
    interfaces_of_peers,
    plan,
)
from railfab.intent import load_intent
from railfab.qos import chip_of, port_headroom, profile_name
from railfab.topology import Topology, switch_model, wire

TIMERS = BgpTimers(keepalive_s=3, hold_s=9)
EVPN = {"profile__control_plane": "evpn", "profile__data_plane": "vxlan"}
NETWORK = {
    "leaves": {"count": 2, "model": "7220-ixr-d5"},
    "spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"},
}


T = TypeVar("T")


def interfaces(model: DeviceModel, kind: type[T]) -> list[T]:
    return [interface for interface in model.interfaces if isinstance(interface, kind)]


def announced(model: DeviceModel, prefix: IpNetwork) -> bool:
    """Whether the export policy of the fabric permits a prefix."""
    policy = model.policy("fabric-export")
    assert policy is not None
    return any(found.matches(prefix) for rule in policy.rules for found in rule.prefixes)


def test_every_link_between_switches_has_one_session_with_the_right_as_numbers() -> None:
    models = pod64()[1]
    assert [found.remote_as for found in models[LEAF].neighbors] == [65001] * 8
    assert [found.remote_as for found in models[SPINE].neighbors] == [
        4200001000 + number for number in (1, 1, 2, 2, 3, 3, 4, 4)
    ]


def test_a_numbered_underlay_has_sessions_to_the_far_ends_address() -> None:
    topology, models = planned_with(profile__underlay="numbered")
    assert disagreements(topology, models) == ()
    for port, peer, _ in topology.ports():
        if {port.node, peer.node} <= set(models):
            model, own = models[port.node], models[port.node].interface(port.name)
            over = interfaces_of_peers(model)
            (neighbor,) = (found for found in model.neighbors if over[found.key] == port.name)
            assert own is not None
            assert peer.address is not None
            assert (own.addresses, own.unnumbered, neighbor.peer) == ((port.address,), False, peer.address.ip)


def test_a_peer_is_connected_over_the_interface_with_the_longest_subnet_that_has_it() -> None:
    addresses = {"a": "10.0.0.0/8", "b": "10.1.0.0/31", "c": "2001:db8::/64", "d": "10.1.0.0/24"}
    ports = tuple(Port(name=name, addresses=(ip_interface(text),)) for name, text in addresses.items())
    peers = {"10.1.0.1": "b", "10.1.0.9": "d", "10.2.0.1": "a", "2001:db8::1": "c"}
    neighbors = tuple(BgpNeighbor(peer=ip_address(peer), remote_as=1, timers=TIMERS) for peer in (*peers, "192.0.2.1"))
    speaker = BgpSpeaker(asn=2, router_id=None, max_paths=1, neighbors=neighbors)
    model = DeviceModel(name="leaf", platform="frr", breakouts=(), interfaces=ports, bgp=speaker, qos=None)
    assert interfaces_of_peers(model) == peers


def test_only_loopbacks_and_host_links_are_accepted_and_announced() -> None:
    for model in pod64()[1].values():
        assert [policy.name for policy in model.policies] == ["fabric-export", "fabric-import"]
        for policy in model.policies:
            ranges = [found for rule in policy.rules for found in rule.prefixes]
            assert [(str(found.prefix), found.ge, found.le) for found in ranges] == [
                ("10.254.0.0/15", 32, 32),
                ("10.16.0.0/12", 31, 31),
            ]
        for neighbor in model.neighbors:
            assert (neighbor.import_policies, neighbor.export_policies) == (("fabric-import",), ("fabric-export",))


def test_the_loopback_has_the_router_id() -> None:
    topology, models = pod64()
    for node in topology.switches():
        (loopback,) = interfaces(models[node.name], Loopback)
        assert (loopback.name, str(loopback.addresses[0])) == (LOOPBACK, f"{node.loopback}/32")
        assert models[node.name].loopback == node.loopback


def test_every_port_has_pfc_marking_and_the_classifier_of_the_fabric() -> None:
    for model in pod64()[1].values():
        for port in qos_of(model).ports:
            assert (port.classifier, port.pfc, port.ecn) == ("fabric", (3,), ("roce",))
        assert qos_of(model).classifiers == (Classifier(name="fabric", dscp=((26, "roce"), (48, "cnp"))),)
        for found in qos_of(model).lossless():
            assert (found.name, found.pfc_priority, found.obeyed_priority) == ("roce", 3, 3)


def test_the_headroom_pool_holds_what_all_ports_need() -> None:
    """Here even if all packets are small; and each port may use it, no less than SR Linux gives it by default."""
    topology, models = pod64()
    chip = chip_of("Trident 4")
    for node in topology.switches():
        qos, model = qos_of(models[node.name]), switch_model(node.model or "")
        need = {
            profile_name(link.rate_gbps, link.cable_m): port_headroom(
                rate_gbps=link.rate_gbps, cable_m=link.cable_m, mtu_bytes=9216, chip=chip, default_bytes=132_000
            ).worst_bytes
            for _, _, link in topology.ports_of(node.name)
        }
        ports = [profile_name(link.rate_gbps, link.cable_m) for _, _, link in topology.ports_of(node.name)]
        pool = qos.headroom_pool_percent * model.buffer_bytes / 100
        assert sum(need[name] for name in ports) <= pool <= sum(need[name] for name in ports) + model.buffer_bytes / 100
        for profile in qos.profiles:
            (roce,) = profile.thresholds
            assert (roce.headroom_percent or 0) * pool / 100 >= need[profile.name] >= 132_000


def test_constants_come_from_the_intent_and_have_defaults() -> None:
    leaf = pod64()[1][LEAF]
    assert leaf.bgp is not None
    assert leaf.load_balancing is None
    timers = leaf.neighbors[0].timers
    assert (leaf.bgp.max_paths, timers.keepalive_s, timers.hold_s, timers.connect_retry_s) == (64, 3, 9, None)
    assert {found.name: (found.queue, found.weight) for found in qos_of(leaf).classes} == {
        "default": (0, 10),
        "roce": (3, 90),
        "cnp": (6, None),
    }
    assert qos_of(leaf).watchdog == PfcWatchdog(detect_ms=200, recover_ms=400)


def test_the_cnp_queue_has_a_limit_because_routing_has_its_code_point_too() -> None:
    rates = {found.name: found.rate_percent for found in qos_of(pod64()[1][LEAF]).classes}
    assert rates == {"default": None, "roce": None, "cnp": 10}
    unlimited = planned_with(profile__lossless={"cnp_rate_percent": 100})[1]
    assert all(found.rate_percent is None for found in qos_of(unlimited[LEAF]).classes)


def test_constants_of_the_intent_are_in_every_model() -> None:
    bgp = {"max_paths": 16, "keepalive_s": 10, "hold_s": 30, "connect_retry_s": 5, "advertisement_interval_s": 0}
    lossless = {"weight": 70, "cnp_queue": 7, "watchdog": None}
    for model in planned_with(profile__bgp=bgp, profile__lossless=lossless)[1].values():
        assert model.bgp is not None
        assert model.bgp.max_paths == 16
        for neighbor in model.neighbors:
            assert (neighbor.timers.keepalive_s, neighbor.timers.hold_s) == (10, 30)
            assert (neighbor.timers.connect_retry_s, neighbor.timers.advertisement_interval_s) == (5, 0)
        assert [(found.queue, found.weight) for found in qos_of(model).classes] == [(0, 30), (3, 70), (7, None)]
        assert qos_of(model).watchdog is None


def test_each_tier_has_another_hash_seed() -> None:
    fields = ["source-port", "source-address"]
    _, models = planned_with(profile__hash={"seed": 40, "fields": fields})
    chosen = HashField.SOURCE_ADDRESS, HashField.SOURCE_PORT
    assert models[LEAF].load_balancing == LoadBalancing(fields=chosen, seed=40)
    assert models[SPINE].load_balancing == LoadBalancing(fields=chosen, seed=41)


@pytest.mark.parametrize("mode", ["flowlet", "packet"])
def test_the_unit_of_load_balancing_is_that_of_the_intent(mode: str) -> None:
    _, models = planned_with(profile__ecmp=mode, hosts__reorder=True)
    assert {model.load_balancing for model in models.values()} == {LoadBalancing(mode=BalancingMode(mode))}


def test_an_ipv6_fabric_has_one_family_everywhere_and_router_ids_of_32_bits() -> None:
    topology, models = planned_with(profile__family="ipv6")
    assert disagreements(topology, models) == ()
    for model in models.values():
        assert {address.version for interface in model.interfaces for address in interface.addresses} == {6}
        assert {neighbor.families for neighbor in model.neighbors} == {(Family.IPV6,)}
        assert model.bgp is not None
        assert isinstance(model.bgp.router_id, IPv4Address)
        assert model.loopback is not None
        assert announced(model, ip_network(model.loopback))
        for port in interfaces(model, Port):
            assert all(announced(model, subnet) for subnet in port.subnets)


def test_in_one_as_every_spine_reflects_to_its_leaves_and_is_the_next_hop() -> None:
    topology, models = planned_with(profile__control_plane="ibgp", profile__reflectors=4)
    assert disagreements(topology, models) == ()
    clusters = set()
    for node in topology.switches():
        model, is_spine = models[node.name], node.name.startswith("pod1-spine")
        assert model.bgp is not None
        assert model.bgp.max_paths_internal == 64
        clusters.add(model.bgp.cluster_id)
        for neighbor in model.neighbors:
            assert neighbor.remote_as is Remote.INTERNAL
            assert neighbor.reflector_client is is_spine
            assert neighbor.next_hop is (NextHop.SELF if is_spine else NextHop.DEFAULT)
    first = models[SPINE].bgp
    assert first is not None
    assert clusters == {None, first.router_id}


def test_bundled_links_are_lags_with_one_session_each() -> None:
    topology, models = planned_with(
        backend__spines__bundle=True, backend__spines__links_per_leaf=2, backend__spines__count=2
    )
    assert disagreements(topology, models) == ()
    leaf = models[LEAF]
    lags = interfaces(leaf, Lag)
    assert [(lag.name, len(lag.members), lag.unnumbered) for lag in lags] == [("lag1", 2, True), ("lag2", 2, True)]
    assert [neighbor.peer for neighbor in leaf.neighbors] == ["lag1", "lag2"]
    members = {name for lag in lags for name in lag.members}
    for port in interfaces(leaf, Port):
        assert (port.network_instance is None) is (port.name in members)


def vlan_pod() -> tuple[Topology, Models]:
    return planned_with(hosts__attach="vlan")


def test_hosts_in_vlans_have_a_bridged_port_and_a_gateway() -> None:
    topology, models = vlan_pod()
    assert disagreements(topology, models) == ()
    for gateway in topology.gateways:
        model = models[gateway.node]
        assert Vlan(vlan_id=gateway.vlan, name=f"rail{gateway.rail}") in model.vlans
        svi = model.interface(f"vlan{gateway.vlan}")
        assert isinstance(svi, Svi)
        assert (svi.vlan, svi.addresses, svi.gateways) == (gateway.vlan, (gateway.address,), ())
    for port, _, _ in topology.ports():
        if port.vlan is not None:
            bridged = models[port.node].interface(port.name)
            assert isinstance(bridged, Port)
            assert (bridged.network_instance, bridged.vlans) == (None, VlanMembership(untagged=port.vlan))


def test_a_switch_with_several_rails_announces_its_summary_and_the_policies_permit_it() -> None:
    topology, models = vlan_pod()
    assert topology.summaries
    for summary in topology.summaries:
        model = models[summary.node]
        assert model.bgp is not None
        assert model.bgp.aggregates == (Aggregate(prefix=summary.prefix),)
        assert announced(model, summary.prefix)
        assert all(announced(model, contributor) for contributor in summary.contributors)


@pytest.mark.parametrize("attach", ["mlag", "esi"])
def test_a_host_has_one_lag_to_both_switches_of_its_pair(attach: str) -> None:
    topology, models = planned_with(hosts__attach=attach, **(EVPN if attach == "esi" else {}))
    assert disagreements(topology, models) == ()
    for bond in topology.bonds:
        lags = [models[switch].interface(f"lag{bond.bundle}") for switch in bond.switches]
        assert all(isinstance(lag, Lag) for lag in lags)
        seen = {
            (lag.mlag_id, lag.esi, lag.system_mac, lag.vlans, lag.description) for lag in lags if isinstance(lag, Lag)
        }
        ((mlag_id, esi, mac, vlans, description),) = seen
        assert (mlag_id, esi) == ((bond.bundle, None) if attach == "mlag" else (None, bond.esi))
        assert (mac is None) is (attach == "mlag")
        assert (vlans, description) == (VlanMembership(untagged=bond.vlan), f"{bond.host} {bond.name}")
    for gateway in topology.gateways:
        svi = models[gateway.node].interface(f"vlan{gateway.vlan}")
        assert isinstance(svi, Svi)
        assert svi.gateways == (gateway.address,)
        assert [address.network for address in svi.addresses] == [gateway.subnet]


def test_an_mlag_pair_without_spines_has_addresses_on_its_peer_link_and_no_keepalive() -> None:
    """The loopbacks of two switches that nothing else connects do not reach each other."""
    intent = load_intent(Path(__file__).parents[2] / "inventory" / "fabrics" / "dual-mlag.yml")
    first, second = (found.mlag for found in plan(wire(intent), intent).values())
    assert first is not None
    assert second is not None
    assert (first.keepalive, second.keepalive) == (None, None)
    assert first.address is not None
    assert second.address is not None
    assert (first.peer, second.peer) == (second.address.ip, first.address.ip)
    assert first.address.network == second.address.network


MANAGED = "management:\n  leaves: {count: 1, model: 7215-ixs-a1, cable_m: 5}\n"


def test_an_mlag_pair_without_spines_has_its_keepalive_in_the_vrf_for_management(tmp_path: Path) -> None:
    document = Path(__file__).parents[2] / "inventory" / "fabrics" / "dual-mlag.yml"
    (tmp_path / "managed.yml").write_text(document.read_text() + MANAGED)
    intent = load_intent(tmp_path / "managed.yml")
    models = plan(wire(intent), intent)
    first, second = (models[name].mlag for name in (LEAF, "pod1-seg1-leaf2"))
    assert first is not None
    assert second is not None
    assert first.keepalive is not None
    assert second.keepalive is not None
    assert first.keepalive.network_instance == second.keepalive.network_instance == "mgmt"
    assert (first.keepalive.source, first.keepalive.peer) == (second.keepalive.peer, second.keepalive.source)
    assert first.keepalive.source in intent.management.pool  # type: ignore[union-attr]
    assert first.address is not None


def test_the_switches_of_an_mlag_pair_have_a_peer_link_without_a_session_and_each_other_as_keepalive() -> None:
    _, models = planned_with(hosts__attach="mlag")
    pair = models[LEAF], models["pod1-seg1-leaf2"]
    for own, peer in (pair, pair[::-1]):
        assert own.mlag is not None
        assert own.mlag.keepalive is not None
        assert (own.mlag.keepalive.source, own.mlag.keepalive.peer) == (own.loopback, peer.loopback)
        link = own.interface(own.mlag.peer_link)
        assert isinstance(link, Lag)
        assert link.vlans == VlanMembership(untagged=None, tagged=tuple(vlan.vlan_id for vlan in own.vlans))
        assert own.mlag.peer_link not in {neighbor.peer for neighbor in own.neighbors}
    assert pair[0].mlag is not None
    assert pair[1].mlag is not None
    assert (pair[0].mlag.domain, pair[0].mlag.system_mac) == (pair[1].mlag.domain, pair[1].mlag.system_mac)


def overlay(model: DeviceModel) -> list[BgpNeighbor]:
    return [neighbor for neighbor in model.neighbors if Family.EVPN in neighbor.families]


def test_evpn_runs_between_the_loopbacks_of_leaves_and_the_first_spines() -> None:
    _, models = planned_with(hosts__attach="esi", **EVPN)
    spines = {models[f"pod1-spine{number}"].loopback for number in (1, 2)}
    leaf = models[LEAF]
    assert {neighbor.peer for neighbor in overlay(leaf)} == spines
    assert leaf.vtep is not None
    assert (leaf.vtep.source, leaf.vtep.address) == (LOOPBACK, leaf.loopback)
    assert all(vlan.vni is not None for vlan in leaf.vlans)
    for name, next_hop in ((LEAF, NextHop.DEFAULT), (SPINE, NextHop.UNCHANGED)):
        for neighbor in overlay(models[name]):
            assert (neighbor.update_source, neighbor.multihop_ttl) == (LOOPBACK, 3)
            assert (neighbor.import_policies, neighbor.export_policies) == (("overlay",), ("overlay",))
            assert neighbor.next_hop is next_hop
    assert overlay(models["pod1-spine3"]) == []
    assert models["pod1-spine3"].policy("overlay") is None


def test_two_switches_without_spines_exchange_evpn_routes_with_each_other() -> None:
    _, models = planned_with(hosts__attach="esi", backend__spines=None, backend__segments__count=1, **EVPN)
    pair = models[LEAF], models["pod1-seg1-leaf2"]
    for own, peer in (pair, pair[::-1]):
        assert [neighbor.peer for neighbor in overlay(own)] == [peer.loopback]
        assert [neighbor.peer for neighbor in own.neighbors if neighbor.unnumbered] == ["lag200"]


def cluster() -> tuple[Topology, Models]:
    return planned(fabric(frontend=NETWORK, storage=NETWORK, management={**NETWORK, "rate_gbps": 10}))


def test_other_networks_have_policies_of_their_own_pools_and_no_lossless_class() -> None:
    topology, models = cluster()
    assert disagreements(topology, models) == ()
    for node in topology.switches():
        model = models[node.name]
        assert model.loopback is not None
        assert announced(model, ip_network(model.loopback))
        assert (model.qos is None) is (node.net != "backend")
        assert all(port.name != "mgmt0" for port in interfaces(model, Port))


def test_tenants_of_the_frontend_are_vrfs_with_the_same_targets_on_every_leaf() -> None:
    tenants = {"red": {"vlan": 110, "subnet": "10.64.0.0/20"}, "blue": {"vlan": 120, "subnet": "10.65.0.0/20"}}
    _, models = planned(fabric(frontend={**NETWORK, "tenants": tenants}))
    leaves = models["front-leaf1"], models["front-leaf2"]
    for leaf in leaves:
        assert [instance.name for instance in leaf.network_instances] == ["blue", "red"]
        for instance, vlan in zip(leaf.network_instances, (120, 110), strict=True):
            svi = leaf.interface(f"vlan{vlan}")
            assert svi is not None
            assert svi.network_instance == instance.name
        lags = interfaces(leaf, Lag)
        assert lags
        assert {lag.vlans for lag in lags} == {VlanMembership(untagged=110, tagged=(120,))}
        assert not announced(leaf, ip_network("10.64.0.0/20"))
    first, second = ([(one.import_targets, one.export_targets) for one in leaf.network_instances] for leaf in leaves)
    assert first == second
    assert {one.rd for one in leaves[0].network_instances}.isdisjoint(one.rd for one in leaves[1].network_instances)


def test_a_tenant_with_an_l3vni_is_one_vrf_with_a_gateway_in_each_of_its_vlans() -> None:
    further = {
        "db": {"vlan": 111, "subnet": "10.64.16.0/20"},
        "web": {"vlan": 112, "vni": 7, "subnet": "10.64.32.0/20"},
    }
    tenants = {
        "red": {"vlan": 110, "subnet": "10.64.0.0/20", "l3vni": 50_110, "vlans": further},
        "blue": {"vlan": 120, "subnet": "10.65.0.0/20"},
    }
    _, models = planned(fabric(frontend={**NETWORK, "tenants": tenants}))
    for leaf in (models["front-leaf1"], models["front-leaf2"]):
        blue, red = leaf.network_instances
        assert (blue.name, blue.vni, blue.import_targets) == ("blue", None, ("120:10120",))
        assert (red.name, red.vni, red.import_targets, red.export_targets) == (
            "red",
            50_110,
            ("110:50110",),
            ("110:50110",),
        )
        assert red.rd == f"{leaf.bgp.router_id if leaf.bgp else None}:10110", "no VLAN has this RD"
        assert [(vlan.vlan_id, vlan.name, vlan.vni) for vlan in leaf.vlans] == [
            (110, "red", 10_110),
            (111, "red-db", 10_111),
            (112, "red-web", 7),
            (120, "blue", 10_120),
        ]
        gateways = {svi.vlan: (svi.network_instance, str(svi.gateways[0])) for svi in interfaces(leaf, Svi)}
        assert gateways[111] == ("red", "10.64.16.1/20")
        assert {lag.vlans for lag in interfaces(leaf, Lag)} == {VlanMembership(untagged=110, tagged=(111, 112, 120))}


def test_the_management_network_is_one_vrf() -> None:
    _, models = cluster()
    for name in ("mgmt-leaf1", "mgmt-spine1"):
        model = models[name]
        assert [instance.name for instance in model.network_instances] == ["management"]
        assert {neighbor.network_instance for neighbor in model.neighbors} == {"management"}
        routed = {found.network_instance for found in model.interfaces if found.addresses or found.unnumbered}
        assert routed == {"management"}
        assert [found.name for found in interfaces(model, Loopback)] == ["loopback1"], "the first is never in a VRF"


SERVICES = {"ntp": ["10.0.0.10", "10.0.0.9"], "aaa": ["10.0.0.2"], "syslog": ["10.0.0.3"]}


def test_management_without_leaves_configures_every_switch_and_designs_no_network() -> None:
    management = {"services": SERVICES, "gnmi": {"tls_profile": "fabric"}, "banner": "authorised users only"}
    topology, models = planned_with(management=management)
    assert topology == planned_with()[0]
    assert {model.management for model in models.values()} == {
        ManagementAccess(
            network_instance="mgmt",
            ntp=("10.0.0.9", "10.0.0.10"),
            aaa=(AaaServer(address="10.0.0.2", protocol="tacacs"),),
            syslog=(SyslogServer(address="10.0.0.3", port=514, protocol="udp", level="informational"),),
            gnmi=GnmiService(port=57400, tls_profile="fabric"),
            banner="authorised users only",
        )
    }


@pytest.mark.parametrize("service", ["ntp", "aaa", "syslog"])
def test_each_part_of_the_management_access_can_be_left_out(service: str) -> None:
    management = planned_with(management={"services": {service: SERVICES[service]}})[1][LEAF].management
    assert management is not None
    assert [name for name in ("ntp", "aaa", "syslog", "gnmi", "banner") if getattr(management, name)] == [service]
    for nothing in (None, {}, {"services": {"ptp": ["10.0.0.1"], "telemetry": ["10.0.0.1"]}}):
        assert planned_with(management=nothing)[1][LEAF].management is None


def test_the_settings_of_a_service_are_those_of_the_intent() -> None:
    found = planned_with(
        management={
            "services": SERVICES,
            "vrf": "oob",
            "syslog": {"protocol": "tcp", "port": 601, "level": "error"},
            "aaa": {"protocol": "radius"},
            "gnmi": {"port": 57401, "tls_profile": "fabric"},
        }
    )[1][LEAF].management
    assert found is not None
    assert found.network_instance == "oob"
    assert found.syslog == (SyslogServer(address="10.0.0.3", port=601, protocol="tcp", level="error"),)
    assert found.aaa == (AaaServer(address="10.0.0.2", protocol="radius"),)
    assert found.gnmi == GnmiService(port=57401, tls_profile="fabric")


def test_switches_of_the_management_network_have_their_servers_in_its_vrf_and_keep_their_gnmi_server() -> None:
    leaves = {"count": 1, "model": "7215-ixs-a1"}
    management = {"services": {"ntp": ["10.224.32.11"]}, "gnmi": {"tls_profile": "fabric"}, "leaves": leaves}
    models = planned_with(management=management, backend__growth={"hosts": 4})[1]
    assert models["mgmt-leaf1"].management == ManagementAccess(network_instance="management", ntp=("10.224.32.11",))
    own = models[LEAF].management
    assert own is not None
    assert (own.network_instance, own.ntp) == ("mgmt", ("10.224.32.11",))


def test_storage_with_roce_has_the_lossless_class() -> None:
    _, models = planned(fabric(storage={**NETWORK, "protocol": "roce"}))
    assert qos_of(models["store-leaf1"]).lossless()


def test_a_fabric_without_bfd_or_lossless_class_has_none() -> None:
    intent = load_intent(POD64)
    plain = intent.model_copy(update={"profile": intent.profile.model_copy(update={"bfd": None, "lossless": None})})
    for model in planned(plain)[1].values():
        assert model.qos is None
        assert {neighbor.bfd for neighbor in model.neighbors} == {None}


def test_models_of_chosen_switches_are_those_of_the_whole_fabric() -> None:
    topology, models = pod64()
    assert plan(topology, load_intent(POD64), only={SPINE}) == {SPINE: models[SPINE]}


def test_a_session_of_a_cluster_is_with_an_address_that_a_switch_has() -> None:
    """A management leaf has ports of hosts where other switches are managed, and no session with them."""
    _, models = cluster()
    owned = {address.ip for model in models.values() for one in model.interfaces for address in one.addresses}
    peers = {found.peer for model in models.values() for found in model.neighbors}
    assert {peer for peer in peers if not isinstance(peer, str)} <= owned
    assert {found.peer for found in models["mgmt-leaf1"].neighbors} == {"ethernet-1/31", "ethernet-1/32"}
