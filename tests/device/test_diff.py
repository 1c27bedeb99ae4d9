"""Differences between two models: one per field with its path, and short lines for a change record."""

from __future__ import annotations

from dataclasses import replace

from tests.device.planned import (
    LEAF,
    pod64,
    qos_of,
    with_bgp,
    with_class,
    with_neighbor,
    with_port,
    with_port_qos,
    with_qos,
)

from railfab.device import (
    BgpNeighbor,
    Classifier,
    DeviceModel,
    Loopback,
    SyslogServer,
    change_lines,
    changes,
    deviations,
)
from railfab.device.system import ManagementAccess
from railfab.findings import Severity

LEAF_MODEL = pod64()[1][LEAF]
UPLINK = LEAF_MODEL.neighbors[0]
FACTORY = replace(LEAF_MODEL, breakouts=(), interfaces=(), bgp=None, qos=None, policies=())


def paths(before: DeviceModel, after: DeviceModel) -> list[str]:
    return [change.path for change in changes(before, after)]


def test_equal_models_have_no_changes() -> None:
    assert changes(LEAF_MODEL, LEAF_MODEL) == ()
    assert change_lines(LEAF_MODEL, LEAF_MODEL) == ()


def test_a_change_names_its_path_with_the_key_of_each_element() -> None:
    other = with_neighbor(LEAF_MODEL, remote_as=65009)
    assert [str(change) for change in changes(LEAF_MODEL, other)] == [
        "bgp.neighbors[ethernet-1/25].remote_as: 65001 -> 65009"
    ]
    profile = qos_of(LEAF_MODEL).profiles[0]
    (roce,) = profile.thresholds
    shifted = with_qos(
        LEAF_MODEL,
        profiles=(replace(profile, thresholds=(replace(roce, xoff_bytes=9),)), *qos_of(LEAF_MODEL).profiles[1:]),
    )
    assert [str(change) for change in changes(LEAF_MODEL, shifted)] == [
        f"qos.profiles[{profile.name}].thresholds[roce].xoff_bytes: {roce.xoff_bytes} -> 9"
    ]


def test_a_neighbour_in_a_vrf_is_another_neighbour() -> None:
    moved = with_neighbor(LEAF_MODEL, network_instance="tenant1")
    assert paths(LEAF_MODEL, moved) == ["bgp.neighbors[ethernet-1/25]", "bgp.neighbors[tenant1 ethernet-1/25]"]


def test_each_code_point_of_a_classifier_is_a_change() -> None:
    remapped = with_qos(LEAF_MODEL, classifiers=(Classifier(name="fabric", dscp=((24, "roce"), (48, "roce"))),))
    assert [str(change) for change in changes(LEAF_MODEL, remapped)] == [
        "qos.classifiers[fabric].dscp[26]: roce -> not set",
        "qos.classifiers[fabric].dscp[48]: cnp -> roce",
        "qos.classifiers[fabric].dscp[24]: not set -> roce",
    ]


def test_the_rules_of_a_policy_are_told_apart_by_their_position() -> None:
    policy, *others = LEAF_MODEL.policies
    fewer = replace(LEAF_MODEL, policies=(replace(policy, rules=policy.rules[:1]), *others))
    assert paths(LEAF_MODEL, fewer) == [f"policies[{policy.name}].rules[2]"]


def test_another_order_is_a_change() -> None:
    turned = replace(LEAF_MODEL, interfaces=LEAF_MODEL.interfaces[::-1])
    assert paths(LEAF_MODEL, turned) == ["interfaces order"]
    assert change_lines(LEAF_MODEL, turned) == ("switch: interfaces order",)


def test_elements_with_the_same_key_are_compared_separately() -> None:
    twice = with_bgp(LEAF_MODEL, neighbors=(replace(UPLINK, remote_as=65009), *LEAF_MODEL.neighbors))
    assert paths(twice, LEAF_MODEL) == ["bgp.neighbors[ethernet-1/25].remote_as", "bgp.neighbors[ethernet-1/25#2]"]


def test_a_problem_says_what_is_there_and_what_the_intent_has() -> None:
    fewer = with_bgp(LEAF_MODEL, neighbors=LEAF_MODEL.neighbors[1:])
    assert [change.problem for change in changes(fewer, LEAF_MODEL)] == ["is missing"]
    assert [change.problem for change in changes(LEAF_MODEL, fewer)] == ["is not in the intent"]
    assert [change.problem for change in changes(with_bgp(LEAF_MODEL, max_paths=1), LEAF_MODEL)] == [
        "is 1, the intent says 64"
    ]


def test_a_line_has_all_changes_of_an_element_in_words() -> None:
    other = with_neighbor(LEAF_MODEL, remote_as=65002, bfd=None)
    assert change_lines(LEAF_MODEL, other) == ("bgp neighbor ethernet-1/25: remote AS 65001 -> 65002, BFD removed",)
    assert change_lines(other, LEAF_MODEL) == ("bgp neighbor ethernet-1/25: remote AS 65002 -> 65001, BFD added",)
    assert change_lines(LEAF_MODEL, with_port_qos(LEAF_MODEL, ecn=(), classifier=None)) == (
        "qos of port ethernet-1/1/1: classifier fabric -> not set, ECN roce -> none",
    )


def test_elements_that_change_alike_share_a_line() -> None:
    smaller = replace(
        LEAF_MODEL,
        interfaces=tuple(replace(port, mtu_bytes=1500) for port in LEAF_MODEL.interfaces[:-1])
        + LEAF_MODEL.interfaces[-1:],
    )
    (line,) = change_lines(LEAF_MODEL, smaller)
    more = len(smaller.interfaces) - 4
    assert line == f"interface ethernet-1/1/1, ethernet-1/1/2, ethernet-1/1/3 and {more} more: MTU 9216 -> 1500"


def test_a_first_deploy_is_a_line_per_section() -> None:
    lines = change_lines(FACTORY, LEAF_MODEL)
    assert [line.partition(":")[2] for line in lines if line.startswith(("bgp", "QoS", "policy"))] == [
        " added, 8 neighbors",
        " added, 3 classes, 1 classifier, 2 profiles, 40 ports",
        " added",
    ]
    assert len(lines) < 8
    assert max(map(len, lines)) <= 78  # two spaces, and a terminal of 80 columns


def test_what_is_no_element_of_a_section_is_a_setting_of_the_switch() -> None:
    managed = replace(LEAF_MODEL, drain=True, management=ManagementAccess(syslog=(SyslogServer(address="10.0.0.1"),)))
    assert change_lines(LEAF_MODEL, managed) == ("switch: management added, drain off -> on",)
    renamed = with_class(LEAF_MODEL, "roce", weight=50)
    assert change_lines(LEAF_MODEL, renamed) == ("traffic class roce: weight 90 -> 50",)
    assert change_lines(LEAF_MODEL, with_bgp(LEAF_MODEL, max_paths=8)) == ("bgp: max paths 64 -> 8",)


def test_a_neighbour_by_address_has_its_address_as_key() -> None:
    peer = BgpNeighbor(peer=LEAF_MODEL.loopback or "", remote_as=1, timers=UPLINK.timers)
    more = with_bgp(LEAF_MODEL, neighbors=(*LEAF_MODEL.neighbors, peer))
    assert change_lines(LEAF_MODEL, more) == ("bgp neighbor 10.255.1.1: added",)


def test_ports_are_shut_down_in_a_readable_line() -> None:
    assert change_lines(LEAF_MODEL, with_port(LEAF_MODEL, enabled=False)) == (
        "interface ethernet-1/1/1: enabled on -> off",
    )


def test_lines_that_no_value_stands_for_are_counted_with_the_first_one() -> None:
    running = replace(LEAF_MODEL, unmodelled=("ip route 10.0.0.0/8 blackhole", "ntp server 10.0.0.1"))
    assert change_lines(running, LEAF_MODEL) == ("switch: 2 other lines removed (ip route 10.0.0.0/8 blackhole)",)
    lacking = replace(LEAF_MODEL, unmodelled=("delete / system lldp", "set / interface lo5"))
    assert change_lines(lacking, LEAF_MODEL) == (
        "switch: 1 other line added (/ system lldp), 1 other line removed (set / interface lo5)",
    )
    assert list(deviations(running, LEAF_MODEL)) == []


def test_a_line_that_only_gets_a_value_in_the_model_is_neither_added_nor_removed() -> None:
    kept = ("set / bfd subinterface ethernet-1/32.0 admin-state enable", "delete / system lldp", "router bgp 1: bfd")
    gone = ("set / system banner login-banner none", "router bgp 1: neighbor a shutdown")
    running = replace(LEAF_MODEL, unmodelled=(*kept, *gone))
    diff = "--- running\n+++ candidate\n-set / system banner login-banner none\n-  neighbor a shutdown\n+set / vlan 3"
    assert change_lines(running, LEAF_MODEL, diff) == (f"switch: 2 other lines removed ({gone[0]})",)
    assert change_lines(LEAF_MODEL, running, diff) == (f"switch: 2 other lines added ({gone[0]})",)
    assert change_lines(running, LEAF_MODEL, "--- running\n+++ candidate\n+set / vlan 3") == ()


def test_a_line_of_a_change_shows_no_secret() -> None:
    running = replace(LEAF_MODEL, unmodelled=("router bgp 1: neighbor a password 7 hidden",))
    removed = ("switch: 1 other line removed (router bgp 1: neighbor a password 7 ...)",)
    assert change_lines(running, LEAF_MODEL) == removed
    assert change_lines(running, LEAF_MODEL, "--- running\n+++ candidate\n-  neighbor a password 7 ...") == removed


def test_a_deviation_of_a_value_has_its_path_and_both_values() -> None:
    assert [str(found) for found in deviations(with_bgp(LEAF_MODEL, max_paths=8), LEAF_MODEL)] == [
        f"{LEAF}: bgp.max_paths: is 8, the intent says 64. Deploy the intent."
    ]


def test_drops_in_place_of_marks_are_a_deviation_of_each_profile_and_port() -> None:
    qos = LEAF_MODEL.qos
    assert qos is not None
    profiles = tuple(
        replace(found, thresholds=tuple(replace(held, ecn=None, wred=held.ecn) for held in found.thresholds))
        for found in qos.profiles
    )
    ports = tuple(replace(port, ecn=(), wred=port.ecn) for port in qos.ports)
    running = replace(LEAF_MODEL, qos=replace(qos, profiles=profiles, ports=ports))
    places = [f"{LEAF}: qos.profiles[{found.name}].thresholds[roce].ecn" for found in profiles]
    places += [f"{LEAF}: qos.ports[{port.interface}].ecn" for port in ports]
    found = list(deviations(running, LEAF_MODEL))
    assert [one.where for one in found] == places
    assert {one.problem for one in found} == {"drops by WRED what the intent marks by ECN"}
    lowered = replace(ports[0], wred=("default",)), *ports[1:]  # of another class
    others = deviations(replace(running, qos=replace(qos, profiles=profiles, ports=lowered)), LEAF_MODEL)
    assert [str(one).partition(": ")[2] for one in others if ports[0].interface + "]" in one.where] == [
        f"qos.ports[{ports[0].interface}].ecn: is none, the intent says roce. Deploy the intent.",
        f"qos.ports[{ports[0].interface}].wred: is default, the intent says none. Deploy the intent.",
    ]


def test_a_label_and_a_spare_loopback_are_notes() -> None:
    labelled = with_port(LEAF_MODEL, description="spare")
    spare = replace(labelled, interfaces=(*labelled.interfaces, Loopback(name="loopback9")))
    found = list(deviations(spare, LEAF_MODEL))
    assert [(one.severity, one.where.partition(": ")[2]) for one in found] == [
        (Severity.NOTE, "interfaces[ethernet-1/1/1].description"),
        (Severity.NOTE, "interfaces[loopback9]"),
    ]
    assert [one.severity for one in deviations(LEAF_MODEL, spare)] == [Severity.NOTE, Severity.ERROR]
