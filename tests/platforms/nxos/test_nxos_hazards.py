"""Every hazard of NX-OS is found in a configuration that has it, and none in one that has not."""

from __future__ import annotations

from functools import cache, partial

import pytest
from tests.audit.cases import Case, cases
from tests.platforms.hazards import kinds, patterns, without_edit
from tests.platforms.nxos.configurations import NXOS, leaf, paths, with_line, without_line

from railfab.platforms.hazards import Hazard
from railfab.platforms.nxos.lines import FORMAT

PORT = "interface Ethernet1/1"
OUTPUT = ("policy-map type queuing 400g-5m_400g", "class type queuing c-out-8q-q3")
CNP = (OUTPUT[0], "class type queuing c-out-8q-q7")
NETWORK = ("policy-map type network-qos RAILFAB", "class type network-qos c-8q-nq3")
BGP = "router bgp 4200001001"
FAMILY = (BGP, "address-family ipv4 unicast")
NEIGHBOR = (BGP, "neighbor 100.64.0.14")
POLICY = ("policy-map type qos fabric", "class fabric_queue3")
SESSION, UPLINK = (*NEIGHBOR, "address-family ipv4 unicast"), "interface Ethernet1/41"
DEFAULT_QUEUE = "class type queuing c-out-8q-q-default"
RAMP = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight"
PAUSE = "pause buffer-size 300000 pause-threshold 100000 resume-threshold 90000"

ADDED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("pfc-negotiated", (PORT, "priority-flow-control mode auto")),
    ("wrong-pfc-priority", (*NETWORK, "pause pfc-cos 5")),
    ("headroom-differs", (*NETWORK, f"{PAUSE} pfc-cos 3")),
    ("no-lossless-buffer", ("system qos", "service-policy type network-qos default-8q-nq-policy")),
    ("link-pause", (PORT, "flowcontrol receive on")),
    ("watchdog-timers", ("priority-flow-control watch-dog interval 1000",)),
    ("watchdog-timers", ("priority-flow-control fixed-restore multiplier 100",)),
    ("random-drops", (*OUTPUT, f"{RAMP} 0")),
    ("ecn-average", (*OUTPUT, f"{RAMP} 5 ecn")),
    ("ecn-thresholds", (*OUTPUT, f"{RAMP} 0 ecn")),
    ("random-drops", (*OUTPUT, "afd queue-desired 150 kbytes")),
    ("ecn-thresholds", (*OUTPUT, "afd queue-desired 150 kbytes ecn")),
    ("small-queue-limit", (*OUTPUT, "queue-limit 20000 bytes")),
    ("wrong-strict-queue", (OUTPUT[0], "class type queuing c-out-8q-q5", "priority level 2")),
    ("rate-limit", (*OUTPUT, "shape min 0 mbps max 100000 mbps")),
    ("bandwidth-share", (*OUTPUT, "bandwidth remaining percent 10")),
    ("wrong-qos-profile", (PORT, "service-policy type queuing output 400g-40m_400g")),
    ("ecn-off", (PORT, "service-policy type queuing output default-8q-out-policy")),
    ("buffer-shares", (PORT, "service-policy type queuing input PAUSES")),
    ("lossy-in-lossless-class", ("class-map type qos match-any fabric_queue3", "match dscp 24")),
    ("wrong-queue", (*POLICY, "set qos-group 1")),
    ("dscp-rewrite", (*POLICY, "set dscp 0")),
    ("policer", (*POLICY, "police cir 1 gbps bc 200 ms conform transmit violate drop")),
    ("small-mtu", (PORT, "mtu 1500")),
    ("small-mtu", (*NETWORK, "mtu 1500")),
    ("wrong-fec", (PORT, "fec off")),
    ("wrong-speed", (PORT, "speed 100000")),
    ("dead-link-used", (PORT, "link debounce time 1000")),
    ("slow-link-up", ("no errdisable detect cause link-flap",)),
    ("lag-min-links", ("interface port-channel1", "lacp min-links 2")),
    ("hash-fields", ("ip load-sharing address source-destination universal-id 1",)),
    ("dynamic-load-balancing", ("hardware profile dlb", "mode per-packet")),
    ("not-in-effect", ("hardware access-list tcam region ing-l2-qos 0",)),
    ("hash-fields", ("port-channel load-balance src-mac",)),
    ("fewer-paths", (*FAMILY, "maximum-paths 1")),
    ("session-down", (*NEIGHBOR, "shutdown")),
    ("wrong-route-policy", (*NEIGHBOR, "address-family ipv4 unicast", "prefix-list NONE in")),
    ("prefix-limit", (*NEIGHBOR, "address-family ipv4 unicast", "maximum-prefix 10")),
    ("stale-routes", (BGP, "graceful-restart restart-time 300")),
    ("drained", (BGP, "graceful-shutdown activate")),
    ("drained", (BGP, "isolate")),
    ("delayed-routes", (*FAMILY, "nexthop trigger-delay critical 9000 non-critical 9000")),
    ("route-dampening", (*FAMILY, "dampening")),
    ("static-route", ("ip route 10.16.0.0/12 192.0.2.1",)),
    ("wrong-address", (PORT, "ip address 10.99.0.2/31 secondary")),
    ("packet-filter", (PORT, "ip access-group HOSTS in")),
    ("packet-filter", (PORT, "ip verify unicast source reachable-via rx")),
    ("storm-control", (PORT, "storm-control broadcast level 1.00")),
    ("wrong-mlag", ("interface port-channel1", "vpc 5")),
    ("wrong-mlag", ("interface port-channel1", "ethernet-segment", "esi system-mac 0200.0101.0001 5")),
    ("early-xoff", (*NETWORK, f"{PAUSE} pfc-cos 3")),
    ("watchdog-action", (PORT, "priority-flow-control watch-dog-interval on disable-action")),
    ("unplanned-ecn", (OUTPUT[0], DEFAULT_QUEUE, f"{RAMP} 0 ecn")),
    ("buffer-shares", (*OUTPUT, "queue-limit 9000000 bytes")),
    ("buffer-shares", (OUTPUT[0], DEFAULT_QUEUE, "queue-limit dynamic 10")),
    ("buffer-shares", ("hardware qos ns-buffer-profile burst",)),
    ("rate-limit", ("policy-map type queuing RAILFAB", OUTPUT[1], "shape min 0 mbps max 1000 mbps")),
    ("strict-queue-unlimited", (*CNP, "shape min 0 mbps max 400000 mbps")),
    ("bandwidth-share", (OUTPUT[0], "class type queuing other", "bandwidth percent 10")),
    ("wrong-qos-profile", ("system qos", "service-policy type queuing output other")),
    ("wrong-classifier", ("system qos", "service-policy type qos input other")),
    ("wrong-classifier", (PORT, "untagged cos 3")),
    ("lossy-in-lossless-class", (POLICY[0], "class class-default", "set qos-group 3")),
    ("wrong-queue", (POLICY[0], "class class-default", "set qos-group 1")),
    ("policer", (PORT, "service-policy type qos output METER")),
    ("tunnel-qos", ("interface nve1", "qos-mode pipe")),
    ("measurement-off", ("no qos statistics",)),
    ("wrong-speed", ("interface breakout module 1 port 1 map 100g-4x",)),
    ("load-balancing-mode", ("hardware ecmp hash-offset 3",)),
    ("weighted-ecmp", (*SESSION, "link-bandwidth dynamic")),
    ("session-down", (*NEIGHBOR, "update-source loopback0")),
    ("session-mismatch", (BGP, "local-as 65999")),
    ("wrong-route-policy", (*SESSION, "unsuppress-map ALL")),
    ("wrong-route-policy", (BGP, "maxas-limit 2")),
    ("next-hop-unchanged", (*SESSION, "next-hop-third-party")),
    ("inherited-settings", (*NEIGHBOR, "inherit peer ABSENT")),
    ("bfd-detection-time", (UPLINK, "bfd interval 50 min_rx 50 multiplier 5")),
    ("packet-filter", ("vlan filter MAP vlan-list 101",)),
    ("sflow-rate", ("sflow sampling-rate 4096",)),
)
"""Lines that are hazards of a kind: the sections of each, then the line."""

MISSING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("pfc-negotiated", (PORT, "priority-flow-control mode on")),
    ("pfc-off", (*NETWORK, "pause pfc-cos 3")),
    ("watchdog-off", (PORT, "priority-flow-control watch-dog-interval on")),
    ("ecn-off", (*OUTPUT, f"{RAMP} 0 ecn")),
    ("strict-queue-unlimited", (*CNP, "shape min 0 mbps max 40000 mbps")),
    ("wrong-classifier", (PORT, "service-policy type qos input fabric")),
    ("roce-misclassified", ("class-map type qos match-any fabric_queue3", "match dscp 26")),
    ("small-mtu", (PORT, "mtu 9216")),
    ("port-disabled", (PORT, "no shutdown")),
    ("hash-seed", ("ip load-sharing address source-destination port source-destination universal-id 1",)),
    ("fewer-paths", (*FAMILY, "maximum-paths 64")),
    ("no-multipath-relax", (BGP, "bestpath as-path multipath-relax")),
    ("session-down", (BGP, "neighbor 100.64.0.14")),
    ("bfd-off", ("feature bfd",)),
    ("bfd-detection-time", ("interface Ethernet1/41", "no ip redirects")),
    ("session-down", ("feature bgp",)),
    ("wrong-mlag", ("interface port-channel1", "vpc peer-link")),
    ("wrong-mlag", ("vpc domain 1", "peer-keepalive destination 10.0.0.1 vrf default")),
    ("wrong-vlan", (PORT, "switchport trunk allowed vlan 10")),
    ("watchdog-timers", ("priority-flow-control watch-dog shutdown-multiplier 2",)),
    ("dead-link-used", (UPLINK, "evpn multihoming core-tracking")),
    ("cnp-not-strict", ("class-map type qos match-any fabric_queue6", "match dscp 48")),
    ("cnp-not-strict", (POLICY[0], "class fabric_queue6")),
    ("roce-misclassified", POLICY),
    ("small-mtu", (*NETWORK, "mtu 9216")),
    ("port-disabled", (UPLINK,)),
    ("wrong-lacp", ("feature lacp",)),
    ("not-announced", ("route-map RAILFAB-DIRECT permit 10",)),
    ("not-announced", (*FAMILY, "aggregate-address 10.16.0.0/12")),
    ("slow-hold-time", (*NEIGHBOR, "timers 3 9")),
    ("session-down", (UPLINK, "ipv6 address use-link-local-only")),
    ("wrong-vlan", ("vlan 101",)),
    ("wrong-address", ("interface loopback0",)),
    ("wrong-overlay", (BGP, "address-family l2vpn evpn", "retain route-target all")),
)
"""Lines whose lack is a hazard of a kind."""


def matched(text: str, rendered: str) -> list[Hazard]:
    model, _ = leaf()
    return patterns(NXOS, text, rendered, model, NXOS.parse(text))


@cache
def with_more(place: tuple[str, ...]) -> list[Hazard]:
    _, text = leaf()
    return matched(with_line(text, *place), text)


@cache
def with_less(place: tuple[str, ...]) -> list[Hazard]:
    """Hazards of a configuration without a line of the intent, which is added to it where the leaf has it not."""
    _, text = leaf()
    if place in set(paths(FORMAT.tree(text))):
        return matched(without_line(text, *place), text)
    rendered = with_line(text, *place)
    return matched(without_line(rendered, *place), rendered)


def judged(case: Case) -> list[Hazard]:
    """Hazards of an edit of tests/audit/nxos.yml."""
    return patterns(NXOS, case.text, case.design.texts[case.name], case.design.models[case.name], NXOS.parse(case.text))


@pytest.mark.parametrize(("kind", "place"), ADDED)
def test_a_line_that_is_added_is_a_hazard(kind: str, place: tuple[str, ...]) -> None:
    assert kind in kinds(with_more(place))


@pytest.mark.parametrize(("kind", "place"), MISSING)
def test_a_line_that_is_missing_is_a_hazard(kind: str, place: tuple[str, ...]) -> None:
    assert kind in kinds(with_less(place))


@pytest.mark.parametrize(("limit", "above"), [(100_000, True), (100_001, False)])
def test_a_pause_threshold_above_the_limit_of_the_queue_is_a_hazard(limit: int, above: bool) -> None:
    model, rendered = leaf()
    paused = with_line(rendered, *NETWORK, f"{PAUSE} pfc-cos 3")
    text = with_line(paused, *OUTPUT, f"queue-limit {limit} bytes")
    matches = [str(hazard.kind) for hazard in patterns(NXOS, text, rendered, model, NXOS.parse(text))]
    assert matches.count("xoff-above-limit") == (2 if above else 0)


def test_every_pattern_but_those_of_thresholds_is_found_by_a_line_of_its_kind() -> None:
    edits = [(kind, partial(with_more, place)) for kind, place in ADDED]
    edits += [(kind, partial(with_less, place)) for kind, place in MISSING]
    edits += [(case.said["kind"], partial(judged, case)) for case in cases("mistakes", ["nxos"])]
    assert [hazard.lines for hazard in without_edit(NXOS, edits) if hazard.kind != "xoff-above-limit"] == []


def test_a_configuration_as_rendered_has_no_hazard() -> None:
    _, text = leaf()
    assert matched(text, text) == []
