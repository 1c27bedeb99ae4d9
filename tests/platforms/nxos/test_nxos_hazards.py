"""Every hazard of NX-OS is found in a configuration that has it, and none in one that has not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.platforms.nxos.configurations import NXOS, leaf, paths, with_line, without_line

from railfab.platforms.hazards import harms
from railfab.platforms.nxos.lines import FORMAT

PORT = "interface Ethernet1/1"
OUTPUT = ("policy-map type queuing 400g-5m_400g", "class type queuing c-out-8q-q3")
CNP = (OUTPUT[0], "class type queuing c-out-8q-q7")
NETWORK = ("policy-map type network-qos RAILFAB", "class type network-qos c-8q-nq3")
BGP = "router bgp 4200001001"
FAMILY = (BGP, "address-family ipv4 unicast")
NEIGHBOR = (BGP, "neighbor 100.64.0.14")
POLICY = ("policy-map type qos fabric", "class fabric_queue3")
RAMP = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight"
PAUSE = "pause buffer-size 300000 pause-threshold 100000 resume-threshold 90000"

ADDED: Mapping[str, tuple[str, ...]] = {
    "pfc-negotiated": (PORT, "priority-flow-control mode auto"),
    "pfc-priority": (*NETWORK, "pause pfc-cos 5"),
    "pause-threshold": (*NETWORK, f"{PAUSE} pfc-cos 3"),
    "network-qos-missing": ("system qos", "service-policy type network-qos default-8q-nq-policy"),
    "link-level-pause": (PORT, "flowcontrol receive on"),
    "watchdog-time": ("priority-flow-control watch-dog interval 1000",),
    "watchdog-restore": ("priority-flow-control fixed-restore multiplier 100",),
    "wred-without-ecn": (*OUTPUT, f"{RAMP} 0"),
    "ecn-average": (*OUTPUT, f"{RAMP} 5 ecn"),
    "ecn-thresholds": (*OUTPUT, f"{RAMP} 0 ecn"),
    "approximate-fair-drop": (*OUTPUT, "afd queue-desired 150 kbytes ecn"),
    "queue-limit": (*OUTPUT, "queue-limit 20000 bytes"),
    "other-strict-queue": (OUTPUT[0], "class type queuing c-out-8q-q5", "priority level 2"),
    "shaped-queue": (*OUTPUT, "shape min 0 mbps max 100000 mbps"),
    "bandwidth-share": (*OUTPUT, "bandwidth remaining percent 10"),
    "queuing-policy": (PORT, "service-policy type queuing output default-8q-out-policy"),
    "input-queuing": (PORT, "service-policy type queuing input PAUSES"),
    "code-point-added": ("class-map type qos match-any fabric_queue3", "match dscp 24"),
    "qos-group": (*POLICY, "set qos-group 1"),
    "remarked": (*POLICY, "set dscp 0"),
    "policed": (*POLICY, "police cir 1 gbps bc 200 ms conform transmit violate drop"),
    "mtu": (PORT, "mtu 1500"),
    "network-qos-mtu": (*NETWORK, "mtu 1500"),
    "fec": (PORT, "fec off"),
    "speed": (PORT, "speed 100000"),
    "debounce": (PORT, "link debounce time 1000"),
    "errdisable": ("errdisable recovery interval 30",),
    "lag-minimum": ("interface port-channel1", "lacp min-links 2"),
    "hash": ("ip load-sharing address source-destination universal-id 1",),
    "dynamic-load-balancing": ("hardware profile dlb", "mode per-packet"),
    "tcam-region": ("hardware access-list tcam region ing-racl 256",),
    "lag-hash": ("port-channel load-balance src-mac",),
    "paths": (*FAMILY, "maximum-paths 1"),
    "session-shut": (*NEIGHBOR, "shutdown"),
    "session-filtered": (*NEIGHBOR, "address-family ipv4 unicast", "prefix-list NONE in"),
    "prefix-limit": (*NEIGHBOR, "address-family ipv4 unicast", "maximum-prefix 10"),
    "graceful-restart": (BGP, "graceful-restart restart-time 300"),
    "drained": (BGP, "graceful-shutdown activate"),
    "isolated": (BGP, "isolate"),
    "next-hop-delay": (*FAMILY, "nexthop trigger-delay critical 9000 non-critical 9000"),
    "dampening": (*FAMILY, "dampening"),
    "static-route": ("ip route 10.16.0.0/12 192.0.2.1",),
    "access-list": (PORT, "ip access-group HOSTS in"),
    "reverse-path": (PORT, "ip verify unicast source reachable-via rx"),
    "storm-control": (PORT, "storm-control broadcast level 1.00"),
    "vpc-member": ("interface port-channel1", "vpc 5"),
    "ethernet-segment": ("interface port-channel1", "ethernet-segment 5"),
}
"""A line that each hazard is; its sections, then the line."""

MISSING: Mapping[str, tuple[str, ...]] = {
    "pfc-off": (PORT, "priority-flow-control mode on"),
    "pfc-without-class": (*NETWORK, "pause pfc-cos 3"),
    "watchdog-off": (PORT, "priority-flow-control watch-dog-interval on"),
    "ecn-off": (*OUTPUT, f"{RAMP} 0 ecn"),
    "strict-queue-unlimited": (*CNP, "shape min 0 mbps max 40000 mbps"),
    "classifier-missing": (PORT, "service-policy type qos input fabric"),
    "code-point-missing": ("class-map type qos match-any fabric_queue3", "match dscp 26"),
    "mtu-missing": (PORT, "mtu 9216"),
    "shutdown": (PORT, "no shutdown"),
    "hash-missing": ("ip load-sharing address source-destination port source-destination universal-id 1",),
    "one-path": (*FAMILY, "maximum-paths 64"),
    "no-multipath-relax": (BGP, "bestpath as-path multipath-relax"),
    "session-missing": (BGP, "neighbor 100.64.0.14"),
    "bfd-off": ("feature bfd",),
    "bfd-redirects": ("interface Ethernet1/33", "no ip redirects"),
    "bgp-off": ("feature bgp",),
    "peer-link": ("interface port-channel1", "vpc peer-link"),
    "peer-keepalive": ("vpc domain 1", "peer-keepalive destination 10.0.0.1 vrf default"),
    "vlan-not-carried": ("interface port-channel1", "switchport trunk allowed vlan 10"),
}
"""A line whose lack each hazard is."""


def found(text: str, rendered: str) -> set[str]:
    """Hazards of a configuration, by their names."""
    model, _ = leaf()
    return {hazard.name for hazard, _ in harms(NXOS.hazards(), NXOS.differences(text, rendered), model)}


@pytest.mark.parametrize("name", ADDED)
def test_a_line_that_is_added_is_a_hazard(name: str) -> None:
    _, text = leaf()
    assert name in found(with_line(text, *ADDED[name]), text)


@pytest.mark.parametrize("name", MISSING)
def test_a_line_that_is_missing_is_a_hazard(name: str) -> None:
    _, text = leaf()
    place = MISSING[name]
    if place in set(paths(FORMAT.tree(text))):
        assert name in found(without_line(text, *place), text)
    else:
        assert name in found(text, with_line(text, *place))


@pytest.mark.parametrize(("limit", "above"), [(100_000, True), (100_001, False)])
def test_a_pause_threshold_above_the_limit_of_the_queue_is_a_hazard(limit: int, above: bool) -> None:
    model, rendered = leaf()
    paused = with_line(rendered, *NETWORK, f"{PAUSE} pfc-cos 3")
    text = with_line(paused, *OUTPUT, f"queue-limit {limit} bytes")
    names = [
        hazard.name for hazard, _ in harms(NXOS.hazards(), NXOS.differences(text, rendered), model, NXOS.parse(text))
    ]
    assert names.count("xoff-above-limit") == (2 if above else 0)


def test_every_hazard_has_an_example_and_a_configuration_as_rendered_has_none() -> None:
    assert {hazard.name for hazard in NXOS.hazards()} == {*ADDED, *MISSING, "xoff-above-limit"}
    _, text = leaf()
    assert found(text, text) == set()
