"""Mistakes that SR Linux accepts: what they change in the model, and which lines the model has no word for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from tests.platforms.srlinux.configuration import (
    bfd,
    bgp,
    binding,
    instance,
    interface,
    ipv4_unicast,
    mapping,
    marking,
    obeyed_pause_frames,
    parsed,
    policies,
    policy,
    qos,
    sent_pause_frames,
    slope,
    tree,
    unit,
)
from tests.platforms.srlinux.switches import rail_switch

from railfab.device import changes
from railfab.platforms.shared.json_tree import Json


def no_ecn_container(configuration: Json) -> None:
    del qos(configuration)["explicit-congestion-notification"]


def slope_disabled(configuration: Json) -> None:
    slope(configuration)["slope-enabled"] = False


def slope_deleted(configuration: Json) -> None:
    del marking(configuration)["wred"]


def kmin_above_kmax(configuration: Json) -> None:
    slope(configuration)["min-threshold"] = "900000"


def marking_unbound(configuration: Json) -> None:
    del binding(configuration, "ethernet-1/10")["output"]["queues"]


def lone_buffers(configuration: Json) -> None:
    queues = {"queue": [{"queue-name": "roce", "maximum-burst-size": 10_000}]}
    qos(configuration)["buffer-management"]["buffer-allocation-profile"].append({"name": "lone", "queues": queues})
    binding(configuration, "ethernet-1/10")["output"]["buffer-allocation-profile"] = "lone"


def other_buffers_of_pause_frames(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9")["input"]["pfc-buffer-allocation-profile"] = "100g-5m"


def marking_of_another_profile(configuration: Json) -> None:
    queue = binding(configuration, "ethernet-1/10")["output"]["queues"]["queue"][0]
    queue["queue-management-profile"] = "100g-5m"


def thresholds_in_percent(configuration: Json) -> None:
    found = slope(configuration)
    for leaf, percent in (("min-threshold", 1), ("max-threshold", 3)):
        del found[leaf]
        found[f"{leaf}-percent"] = percent


def classifier_removed(configuration: Json) -> None:
    entries = qos(configuration)["interfaces"]["interface"]
    entries.remove(binding(configuration, "ethernet-1/9.0"))


def second_classifier(configuration: Json) -> None:
    other = {"name": "other", "dscp": [{"value": 24, "forwarding-class": "roce"}]}
    qos(configuration)["classifiers"]["dscp-policy"].append(other)
    binding(configuration, "ethernet-1/9.0")["input"]["classifiers"]["dscp-policy"] = "other"


def wrong_code_point(configuration: Json) -> None:
    qos(configuration)["classifiers"]["dscp-policy"][0]["dscp"][0]["forwarding-class"] = "default"


def code_points_by_name(configuration: Json) -> None:
    for entry, name in zip(qos(configuration)["classifiers"]["dscp-policy"][0]["dscp"], ("AF31", "CS6"), strict=True):
        entry["value"] = name


def prefix_with_host_bits(configuration: Json) -> None:
    for found in policies(configuration)["prefix-set"]:
        for entry in found["prefix"]:
            entry["ip-prefix"] = entry["ip-prefix"].replace(".0/", ".1/")


def numbers_as_cluster_and_ipv6_as_router(configuration: Json) -> None:
    bgp(configuration)["route-reflector"] = {"cluster-id": 167772161}
    bgp(configuration)["router-id"] = "2001:db8::1"


def code_point_deleted(configuration: Json) -> None:
    del qos(configuration)["classifiers"]["dscp-policy"][0]["dscp"][0]


def pfc_disabled(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9")["pfc"]["pfc-enable"] = False


def another_priority_obeyed(configuration: Json) -> None:
    obeyed_pause_frames(configuration)["pfc-pause-frame-priority"] = 4


def another_priority(configuration: Json) -> None:
    obeyed_pause_frames(configuration)["pfc-pause-frame-priority"] = 4
    sent_pause_frames(configuration)["pfc-pause-frame-priority"] = 4


def another_mapping_of_a_port(configuration: Json) -> None:
    other = {**copy.deepcopy(mapping(configuration)), "name": "other"}
    other["received-pfc-pause-frames"]["queue"][0]["pfc-pause-frame-priority"] = 4
    qos(configuration)["pfc-mapping-profile"].append(other)
    binding(configuration, "ethernet-1/10")["pfc"]["pfc-mapping-profile"] = "other"


def pause_frames_ignored(configuration: Json) -> None:
    obeyed_pause_frames(configuration)["enable-pfc"] = False


def watchdog_off(configuration: Json) -> None:
    mapping(configuration)["received-pfc-pause-frames"]["deadlock"]["enable"] = False


def qos_deleted(configuration: Json) -> None:
    del configuration["srl_nokia-qos:qos"]


def low_queue_limit(configuration: Json) -> None:
    profile = qos(configuration)["buffer-management"]["buffer-allocation-profile"][0]
    profile["queues"]["queue"][0]["maximum-burst-size"] = 10_000


def small_port_mtu(configuration: Json) -> None:
    interface(configuration, "ethernet-1/9")["mtu"] = 1514


def loopback_without_address(configuration: Json) -> None:
    del unit(configuration, "system0")["ipv4"]["address"]


def second_address(configuration: Json) -> None:
    unit(configuration, "ethernet-1/1/1")["ipv4"]["address"].append({"ip-prefix": "10.99.0.0/31"})


def port_disabled(configuration: Json) -> None:
    interface(configuration, "ethernet-1/9")["admin-state"] = "disable"


def subinterface_disabled(configuration: Json) -> None:
    unit(configuration, "ethernet-1/1/1")["admin-state"] = "disable"


def subinterface_detached(configuration: Json) -> None:
    del instance(configuration)["interface"][0]


def advertisements_off(configuration: Json) -> None:
    advertisement = unit(configuration, "ethernet-1/9")["ipv6"]["srl_nokia-interfaces-router-adv:router-advertisement"]
    advertisement["router-role"]["admin-state"] = "disable"


def forward_error_correction(configuration: Json) -> None:
    interface(configuration, "ethernet-1/9")["ethernet"]["forward-error-correction"] = {"fec-option": "disabled"}


def bfd_timers_of_a_port(configuration: Json) -> None:
    for leaf in ("desired-minimum-transmit-interval", "required-minimum-receive"):
        bfd(configuration)[leaf] = 10_000


def bfd_disabled(configuration: Json) -> None:
    bfd(configuration)["admin-state"] = "disable"


def slow_to_receive(configuration: Json) -> None:
    bfd(configuration)["required-minimum-receive"] = 600_000


def bgp_deleted(configuration: Json) -> None:
    del instance(configuration)["protocols"]


def instance_deleted(configuration: Json) -> None:
    del configuration["srl_nokia-network-instance:network-instance"]


def wrong_local_as(configuration: Json) -> None:
    bgp(configuration)["autonomous-system"] = 4200001002


def wrong_peer_as(configuration: Json) -> None:
    bgp(configuration)["dynamic-neighbors"]["interface"][0]["allowed-peer-as"] = ["65002"]


def any_peer_as(configuration: Json) -> None:
    bgp(configuration)["dynamic-neighbors"]["interface"][0]["allowed-peer-as"] = ["65001..65010"]


def group_disabled(configuration: Json) -> None:
    bgp(configuration)["group"][0]["admin-state"] = "disable"


def neighbor_disabled(configuration: Json) -> None:
    bgp(configuration)["neighbor"][0]["admin-state"] = "disable"


def no_multipath_relax(configuration: Json) -> None:
    ipv4_unicast(configuration)["multipath"]["allow-multiple-as"] = False


def no_multipath(configuration: Json) -> None:
    del ipv4_unicast(configuration)["multipath"]


def no_ipv6_next_hops(configuration: Json) -> None:
    ipv4_unicast(configuration)["ipv4-unicast"]["receive-ipv6-next-hops"] = False


def second_group(configuration: Json) -> None:
    bgp(configuration)["group"].append({"group-name": "slow", "timers": {"hold-time": 90, "keepalive-interval": 30}})
    bgp(configuration)["neighbor"][0]["peer-group"] = "slow"


def extra_neighbor(configuration: Json) -> None:
    extra = {"peer-address": "10.77.0.0", "peer-group": "fabric-without-bfd", "peer-as": 65077}
    bgp(configuration)["neighbor"].append(extra)


def peer_without_as(configuration: Json) -> None:
    del bgp(configuration)["neighbor"][0]["peer-as"]


def link_local_neighbor(configuration: Json) -> None:
    extra = {"peer-address": "fe80::1%ethernet-1/10.0", "peer-group": "fabric", "peer-as": 65077}
    bgp(configuration)["neighbor"].append(extra)


def export_policy_removed(configuration: Json) -> None:
    del bgp(configuration)["group"][0]["export-policy"]


def policy_emptied(configuration: Json) -> None:
    del policy(configuration)["statement"]
    policies(configuration)["prefix-set"] = policies(configuration)["prefix-set"][2:]


def rejecting_statement(configuration: Json) -> None:
    policy(configuration)["statement"][0]["action"]["policy-result"] = "reject"


def prepending_statement(configuration: Json) -> None:
    prepend = {"prepend": {"as-number": "auto", "repeat-n": 2}}
    policy(configuration)["statement"][0]["action"]["bgp"] = {"as-path": prepend}


def no_default_action(configuration: Json) -> None:
    del policy(configuration)["default-action"]


def next_policy(configuration: Json) -> None:
    policy(configuration)["default-action"]["policy-result"] = "next-policy"


def preferring_default_action(configuration: Json) -> None:
    policy(configuration)["default-action"] = {
        "policy-result": "accept",
        "bgp": {"local-preference": {"set": 200}},
    }


def policy_of_a_neighbor(configuration: Json) -> None:
    bgp(configuration)["neighbor"][0]["import-policy"] = ["fabric-export"]


def no_host_name(configuration: Json) -> None:
    del configuration["srl_nokia-system:system"]["srl_nokia-system-name:name"]


def lldp_disabled(configuration: Json) -> None:
    configuration["srl_nokia-system:system"]["srl_nokia-lldp:lldp"]["admin-state"] = "disable"


def unicast_check(configuration: Json) -> None:
    instance(configuration)["ip-forwarding"]["receive-ipv4-check"] = True


BGP = "set / network-instance default protocols bgp"
ADVERTISEMENT = "set / interface ethernet-1/9 subinterface 0 ipv6 router-advertisement router-role"


def marking_enabled(profile: str) -> str:
    slope = "wred-slope all drop-probability all enable-ecn true"
    return f"set / qos buffer-management queue-management-profile {profile} wred {slope} slope-enabled true"


Mistake = tuple[Callable[[Json], None], Sequence[str], Sequence[str] | None]
"""What it does, the changes of the model, and the lines that are unmodelled; None for any."""

MISTAKES: tuple[Mistake, ...] = (
    (
        no_ecn_container,
        [
            "qos.ports[ethernet-1/1/1].ecn: roce -> none",
            "qos.ports[ethernet-1/1/2].ecn: roce -> none",
            "qos.ports[ethernet-1/10].ecn: roce -> none",
        ],
        [
            "delete / qos interfaces interface ethernet-1/9 output queues",
            marking_enabled("100g-5m"),
            marking_enabled("400g-40m"),
        ],
    ),
    (
        slope_disabled,
        ["qos.ports[ethernet-1/1/1].ecn: roce -> none", "qos.ports[ethernet-1/1/2].ecn: roce -> none"],
        [],
    ),
    (slope_deleted, ["qos.profiles[100g-5m].thresholds[roce].ecn"], []),
    (kmin_above_kmax, ["qos.profiles[100g-5m].thresholds[roce].ecn.kmin_bytes: 150000 -> 900000"], []),
    (
        marking_unbound,
        ["qos.ports[ethernet-1/10].ecn: roce -> none"],
        [
            "delete / qos interfaces interface ethernet-1/10 output queues",
            "delete / qos interfaces interface ethernet-1/9 output queues",
            marking_enabled("400g-40m"),
        ],
    ),
    (
        lone_buffers,
        [
            "qos.profiles[lone]",
            "qos.profiles[lone pfc:400g-40m roce:400g-40m]",
            "qos.ports[ethernet-1/10].profile: 400g-40m -> lone pfc:400g-40m roce:400g-40m",
        ],
        None,
    ),
    (
        other_buffers_of_pause_frames,
        [
            # The limit of queues is stated where it is not the one that follows from the XOFF thresholds of the ports.
            "qos.profiles[100g-5m].thresholds[roce].limit_bytes: not set -> 10300000",
            "qos.profiles[400g-40m].thresholds[roce].limit_bytes: not set -> 10300000",
            "qos.profiles[400g-40m pfc:100g-5m]",
            "qos.ports[ethernet-1/9].profile: 400g-40m -> 400g-40m pfc:100g-5m",
        ],
        None,
    ),
    (
        marking_of_another_profile,
        [
            "qos.profiles[400g-40m roce:100g-5m]",
            "qos.ports[ethernet-1/10].profile: 400g-40m -> 400g-40m roce:100g-5m",
        ],
        None,
    ),
    (
        thresholds_in_percent,
        [
            "qos.profiles[100g-5m].thresholds[roce].ecn.kmin_bytes: 150000 -> 103000",
            "qos.profiles[100g-5m].thresholds[roce].ecn.kmax_bytes: 450000 -> 309000",
        ],
        None,
    ),
    (classifier_removed, ["qos.ports[ethernet-1/9].classifier: fabric -> not set"], []),
    (
        second_classifier,
        [
            "qos.classifiers[other]: not set -> name other, dscp 24, roce",
            "qos.ports[ethernet-1/9].classifier: fabric -> other",
        ],
        [],
    ),
    (wrong_code_point, ["qos.classifiers[fabric].dscp[26]: roce -> not set"], None),
    (code_points_by_name, [], None),
    (prefix_with_host_bits, [], None),
    (
        numbers_as_cluster_and_ipv6_as_router,
        ["bgp.router_id: 10.255.1.1 -> not set", "bgp.cluster_id: not set -> 10.0.0.1"],
        None,
    ),
    (code_point_deleted, ["qos.classifiers[fabric].dscp[26]: roce -> not set"], []),
    (
        pfc_disabled,
        ["qos.ports[ethernet-1/9].pfc: 3 -> none"],
        [
            "set / qos interfaces interface ethernet-1/9 input pfc-buffer-allocation-profile 400g-40m",
            "set / qos interfaces interface ethernet-1/9 pfc pfc-enable false",
            "set / qos interfaces interface ethernet-1/9 pfc pfc-mapping-profile fabric",
        ],
    ),
    (
        another_priority_obeyed,
        [
            "qos.classes[roce].obeyed_priority: 3 -> 4",
            "qos.ports[ethernet-1/1/1].pfc: 3 -> 3, 4",
            "qos.ports[ethernet-1/9].pfc: 3 -> 3, 4",
            "qos.ports[ethernet-1/10].pfc: 3 -> 3, 4",
        ],
        [],
    ),
    (
        another_priority,
        [
            "qos.classes[roce].pfc_priority: 3 -> 4",
            "qos.classes[roce].obeyed_priority: 3 -> 4",
            "qos.ports[ethernet-1/1/1].pfc: 3 -> 4",
            "qos.ports[ethernet-1/9].pfc: 3 -> 4",
            "qos.ports[ethernet-1/10].pfc: 3 -> 4",
        ],
        ["set / qos queues pfc-queue pfc-roce queue-index 3"],
    ),
    (
        another_mapping_of_a_port,
        [
            "qos.ports[ethernet-1/10].pfc: 3 -> 3, 4",
            "qos.ports[ethernet-1/10].priorities[roce]: not set -> "
            "traffic_class roce, pfc_priority 3, obeyed_priority 4",
        ],
        None,
    ),
    (
        pause_frames_ignored,
        ["qos.classes[roce].obeyed_priority: 3 -> not set"],
        [
            "set / qos pfc-mapping-profile fabric received-pfc-pause-frames queue roce enable-pfc false",
            "set / qos pfc-mapping-profile fabric received-pfc-pause-frames queue roce pfc-pause-frame-priority 3",
        ],
    ),
    (
        watchdog_off,
        ["qos.watchdog: detect_ms 200, recover_ms 400 -> not set"],
        [
            "set / qos pfc-mapping-profile fabric received-pfc-pause-frames deadlock detection-timer 200",
            "set / qos pfc-mapping-profile fabric received-pfc-pause-frames deadlock enable false",
            "set / qos pfc-mapping-profile fabric received-pfc-pause-frames deadlock recovery-timer 400",
        ],
    ),
    (qos_deleted, ["qos"], []),
    (low_queue_limit, ["qos.profiles[100g-5m].thresholds[roce].limit_bytes: not set -> 10000"], []),
    (
        small_port_mtu,
        ["interfaces[ethernet-1/9].mtu_bytes: 9216 -> 1500"],
        ["set / interface ethernet-1/9 subinterface 0 ip-mtu 9216"],
    ),
    (loopback_without_address, ["interfaces[loopback0].addresses: 10.255.1.1/32 -> none"], []),
    (second_address, ["interfaces[ethernet-1/1/1].addresses: 10.16.0.0/31 -> 10.16.0.0/31, 10.99.0.0/31"], []),
    (port_disabled, ["interfaces[ethernet-1/9].enabled: on -> off"], []),
    (
        subinterface_disabled,
        ["interfaces[ethernet-1/1/1].network_instance: default -> not set"],
        [
            "set / interface ethernet-1/1/1 subinterface 0 admin-state disable",
            "set / network-instance default interface ethernet-1/1/1.0",
        ],
    ),
    (subinterface_detached, ["interfaces[ethernet-1/1/1].network_instance: default -> not set"], []),
    (
        advertisements_off,
        ["interfaces[ethernet-1/9].unnumbered: on -> off"],
        [
            "set / interface ethernet-1/9 subinterface 0 ipv6 admin-state enable",
            f"{ADVERTISEMENT} admin-state disable",
            f"{ADVERTISEMENT} max-advertisement-interval 10",
            f"{ADVERTISEMENT} min-advertisement-interval 4",
        ],
    ),
    (forward_error_correction, ["interfaces[ethernet-1/9].fec: not set -> off"], []),
    (bfd_timers_of_a_port, ["bgp.neighbors[ethernet-1/9].bfd.interval_ms: 300 -> 10"], []),
    (
        bfd_disabled,
        ["bgp.neighbors[ethernet-1/9].bfd: interval_ms 300, multiplier 3 -> not set"],
        [
            "set / bfd subinterface ethernet-1/9.0 admin-state disable",
            "set / bfd subinterface ethernet-1/9.0 desired-minimum-transmit-interval 300000",
            "set / bfd subinterface ethernet-1/9.0 detection-multiplier 3",
            "set / bfd subinterface ethernet-1/9.0 required-minimum-receive 300000",
            f"{BGP} dynamic-neighbors interface ethernet-1/9.0 peer-group fabric",
            f"{BGP} group fabric admin-state enable",
            f"{BGP} group fabric export-policy [ fabric-export ]",
            f"{BGP} group fabric failure-detection enable-bfd true",
            f"{BGP} group fabric import-policy [ fabric-import ]",
            f"{BGP} group fabric timers hold-time 9",
            f"{BGP} group fabric timers keepalive-interval 3",
        ],
    ),
    (slow_to_receive, ["bgp.neighbors[ethernet-1/9].bfd.receive_ms: not set -> 600"], []),
    (
        bgp_deleted,
        ["bgp"],
        [
            "set / bfd subinterface ethernet-1/9.0 admin-state enable",
            "set / bfd subinterface ethernet-1/9.0 desired-minimum-transmit-interval 300000",
            "set / bfd subinterface ethernet-1/9.0 detection-multiplier 3",
            "set / bfd subinterface ethernet-1/9.0 required-minimum-receive 300000",
        ],
    ),
    (
        instance_deleted,
        [
            "interfaces[ethernet-1/1/1].network_instance: default -> not set",
            "interfaces[ethernet-1/1/2].network_instance: default -> not set",
            "interfaces[ethernet-1/9].network_instance: default -> not set",
            "interfaces[ethernet-1/10].network_instance: default -> not set",
            "interfaces[loopback0].network_instance: default -> not set",
            "bgp",
        ],
        [
            "set / bfd subinterface ethernet-1/9.0 admin-state enable",
            "set / bfd subinterface ethernet-1/9.0 desired-minimum-transmit-interval 300000",
            "set / bfd subinterface ethernet-1/9.0 detection-multiplier 3",
            "set / bfd subinterface ethernet-1/9.0 required-minimum-receive 300000",
        ],
    ),
    (wrong_local_as, ["bgp.asn: 4200001001 -> 4200001002"], []),
    (wrong_peer_as, ["bgp.neighbors[ethernet-1/9].remote_as: 65001 -> 65002"], []),
    (
        any_peer_as,
        ["bgp.neighbors[ethernet-1/9].remote_as: 65001 -> external"],
        [f"{BGP} dynamic-neighbors interface ethernet-1/9.0 allowed-peer-as [ 65001..65010 ]"],
    ),
    (group_disabled, ["bgp.neighbors[ethernet-1/9].enabled: on -> off"], []),
    (neighbor_disabled, ["bgp.neighbors[10.32.0.0].enabled: on -> off"], []),
    (no_multipath_relax, ["bgp.multiple_as: on -> off"], []),
    (
        no_multipath,
        ["bgp.max_paths: 64 -> 1"],
        ["delete / network-instance default protocols bgp afi-safi ipv4-unicast multipath"],
    ),
    (
        no_ipv6_next_hops,
        ["bgp.receive_ipv6_next_hops: on -> off"],
        [],
    ),
    (
        link_local_neighbor,
        [],
        [
            "set / network-instance default protocols bgp neighbor fe80::1%ethernet-1/10.0 peer-as 65077",
            "set / network-instance default protocols bgp neighbor fe80::1%ethernet-1/10.0 peer-group fabric",
        ],
    ),
    (
        peer_without_as,
        ["bgp.neighbors[10.32.0.0].remote_as: 65001 -> 0"],
        ["delete / network-instance default protocols bgp neighbor 10.32.0.0 peer-as"],
    ),
    (
        second_group,
        [
            "bgp.neighbors[10.32.0.0].timers.keepalive_s: 3 -> 30",
            "bgp.neighbors[10.32.0.0].timers.hold_s: 9 -> 90",
            "bgp.neighbors[10.32.0.0].import_policies: fabric-import -> none",
            "bgp.neighbors[10.32.0.0].export_policies: fabric-export -> none",
        ],
        [
            f"{BGP} group fabric-without-bfd export-policy [ fabric-export ]",
            f"{BGP} group fabric-without-bfd import-policy [ fabric-import ]",
            f"{BGP} group fabric-without-bfd timers hold-time 9",
            f"{BGP} group fabric-without-bfd timers keepalive-interval 3",
            f"{BGP} group slow timers hold-time 90",
            f"{BGP} group slow timers keepalive-interval 30",
            f"{BGP} neighbor 10.32.0.0 peer-group slow",
        ],
    ),
    (extra_neighbor, ["bgp.neighbors[10.77.0.0]"], []),
    (export_policy_removed, ["bgp.neighbors[ethernet-1/9].export_policies: fabric-export -> none"], []),
    (policy_emptied, ["policies[fabric-import].rules[1]", "policies[fabric-import].rules[2]"], []),
    (rejecting_statement, ["policies[fabric-import].rules[1].action: permit -> deny"], []),
    (prepending_statement, ["policies[fabric-import].rules[1].prepend: 0 -> 2"], []),
    (no_default_action, ["policies[fabric-import].default: deny -> not set"], []),
    (
        next_policy,
        ["policies[fabric-import].default: deny -> not set"],
        ["set / routing-policy policy fabric-import default-action policy-result next-policy"],
    ),
    (
        preferring_default_action,
        ["policies[fabric-import].rules[3]", "policies[fabric-import].default: deny -> permit"],
        [],
    ),
    (
        policy_of_a_neighbor,
        ["bgp.neighbors[10.32.0.0].import_policies: fabric-import -> fabric-export"],
        [
            f"{BGP} group fabric-without-bfd import-policy [ fabric-import ]",
            f"{BGP} neighbor 10.32.0.0 import-policy [ fabric-export ]",
        ],
    ),
    (no_host_name, ["name: pod1-seg1-leaf1 -> empty"], []),
    (lldp_disabled, ["lldp.enabled"], []),
    (unicast_check, [], ["set / network-instance default ip-forwarding receive-ipv4-check true"]),
)
"""Mistake, how the model changes (by its paths alone where the values are long), and the unmodelled lines."""


@pytest.mark.parametrize(("spoil", "changed", "unmodelled"), MISTAKES, ids=[row[0].__name__ for row in MISTAKES])
def test_a_mistake_is_a_value_of_the_model(
    spoil: Callable[[Json], None], changed: Sequence[str], unmodelled: Sequence[str] | None
) -> None:
    configuration = tree()
    spoil(configuration)
    model = parsed(configuration)
    found = list(changes(rail_switch(), replace(model, unmodelled=())))
    assert [change.path if change.path in changed else str(change) for change in found] == list(changed)
    if unmodelled is not None:
        assert list(model.unmodelled) == list(unmodelled)


def test_a_port_has_the_thresholds_of_all_profiles_that_it_uses() -> None:
    configuration = tree()
    lone_buffers(configuration)
    found = parsed(configuration).qos
    assert found is not None
    profile = found.profile("lone pfc:400g-40m roce:400g-40m")
    assert profile is not None
    usual = rail_switch().qos.profile("400g-40m")  # type: ignore[union-attr]
    assert profile.thresholds == (replace(usual.thresholds[0], limit_bytes=10_000),)  # type: ignore[union-attr]
