"""Every hazard of Cumulus Linux is found by the audit in a configuration with it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from railfab.device import LOOPBACK, BalancingMode, DeviceModel, HashField, LoadBalancing, Vtep
from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.hazards import harms
from railfab.platforms.shared.json_tree import Json

CUMULUS = platform("cumulus")
GONE = None
PORT, UPLINK = "interface swp1", "interface swp33"
PFC, MARKS = "qos pfc p-400g-5m", "qos congestion-control p-400g-5m traffic-class"
SCHEDULER, SHAPER = "qos egress-scheduler default-global traffic-class", "qos egress-shaper rate-400g"
BGP = "vrf default router bgp"
SESSION = f"{BGP} neighbor swp33"
ADAPTIVE = "router adaptive-routing state"

CHANGES: dict[str, tuple[str, Any]] = {
    "lossy-mode": ("qos roce mode", "lossy"),
    "roce-off": ("qos roce state", "disabled"),
    "single-pool": ("qos roce mode", "lossless-single-ipool"),
    "lossless-priority-in-a-lossy-pool": ("qos traffic-pool default-lossy switch-priority 3", {}),
    "lossy-priority-in-the-lossless-pool": ("qos traffic-pool roce-lossless switch-priority 5", {}),
    "size-of-a-pool": ("qos traffic-pool roce-lossless memory-percent", 10),
    "manual-buffers": ("qos advance-buffer-config default-global ingress-pool 0 memory-percent", 20),
    "pause-not-sent": (f"{PFC} tx", "disable"),
    "pause-not-obeyed": (f"{PFC} rx", "disable"),
    "no-pause-of-the-lossless-priority": (f"{PFC} switch-priority 3", GONE),
    "pause-of-another-priority": (f"{PFC} switch-priority 4", {}),
    "short-cable-length": (f"{PFC} cable-length", 1),
    "long-cable-length": (f"{PFC} cable-length", 1000),
    "hand-made-headroom": (f"{PFC} xoff-threshold", 10000),
    "port-without-pfc": (f"{PORT} qos pfc profile", GONE),
    "link-pause": (f"{PORT} qos link-pause profile", "every"),
    "watchdog-off": (f"{PORT} qos pfc-watchdog state", GONE),
    "quick-watchdog": ("qos pfc-watchdog robustness", 1),
    "slow-watchdog": ("qos pfc-watchdog polling-interval", 5000),
    "shared-headroom": (f"{PORT} qos shared-headroom-pool", "enabled"),
    "ecn-off": (f"{MARKS} 3 ecn", "disable"),
    "marks-of-another-queue": (f"{MARKS} 0 ecn", "enable"),
    "random-drops": (f"{MARKS} 3 red", "enable"),
    "late-marks": (f"{MARKS} 3 max-threshold", 90_000_000),
    "early-marks": (f"{MARKS} 3 min-threshold", 1500),
    "no-thresholds": (f"{MARKS} 3 min-threshold", GONE),
    "swapped-thresholds": (f"{MARKS} 3 min-threshold", 2_000_000),
    "share-of-marks": (f"{MARKS} 3 probability", 100),
    "port-without-thresholds": (f"{PORT} qos congestion-control profile", GONE),
    "trust": ("qos mapping fabric trust", "l2"),
    "lossless-code-point": ("qos mapping fabric dscp 26 switch-priority", 0),
    "lossy-code-point": ("qos mapping fabric dscp 48 switch-priority", 3),
    "class-of-a-code-point": ("qos mapping fabric dscp 48 switch-priority", 1),
    "priority-of-a-port": ("qos mapping fabric port-default-sp", 3),
    "port-without-map": (f"{PORT} qos mapping profile", GONE),
    "remark": (f"{PORT} qos remark profile", "every"),
    "queue-of-a-priority": ("qos egress-queue-mapping default-global switch-priority 3 traffic-class", 0),
    "strict-bulk": (f"{SCHEDULER} 0 mode", "strict"),
    "not-strict": (f"{SCHEDULER} 6 mode", "dwrr"),
    "share-of-the-lossless-queue": (f"{SCHEDULER} 3 bw-percent", 10),
    "share-of-a-lossy-queue": (f"{SCHEDULER} 0 bw-percent", 90),
    "queues-of-one-port": (f"{PORT} qos egress-scheduler profile", "other"),
    "slow-port": (f"{SHAPER} port-max-rate", 400_000),
    "slow-lossless-queue": (f"{SHAPER} traffic-class 3 max-rate", 400_000),
    "rate-of-the-strict-queue": (f"{PORT} qos egress-shaper profile", GONE),
    "filter": (f"{PORT} acl police inbound", {}),
    "storm-control": (f"{PORT} storm-control broadcast", 100),
    "trimming": ("system forwarding packet-trim state", "enabled"),
    "small-mtu": (f"{PORT} link mtu", 1500),
    "fec-off": (f"{PORT} link fec", "off"),
    "other-fec": (f"{PORT} link fec", "rs"),
    "other-speed": (f"{PORT} link speed", GONE),
    "negotiation": (f"{PORT} link auto-negotiate", "disabled"),
    "breakout": (f"{PORT} link breakout", "4x"),
    "port-down": (f"{PORT} link state", "down"),
    "not-routed": (f"{UPLINK} ipv4 forward", "disabled"),
    "another-vrf": (f"{UPLINK} vrf", "tenant"),
    "no-address": ("interface lo ipv4 address 10.255.1.1/32", GONE),
    "no-router-advertisement": (f"{UPLINK} ipv6 neighbor-discovery router-advertisement state", "disabled"),
    "another-vlan": (f"{PORT} bridge domain br_default access", 5),
    "lacp": ("interface bond1 bond lacp-bypass", "enabled"),
    "short-hash": ("system forwarding ecmp-hash source-port", "disabled"),
    "other-hash": ("system forwarding hash-seed", 9),
    "adaptive-routing-of-one-port": (f"{UPLINK} router adaptive-routing state", GONE),
    "adaptive-routing-off": (ADAPTIVE, GONE),
    "adaptive-routing-on": (f"{PORT} router adaptive-routing state", "enabled"),
    "weights-of-paths": ("system forwarding ecmp-weight-normalisation mode", "enabled"),
    "drained": ("router bgp graceful-shutdown", "enabled"),
    "drained-session": (f"{SESSION} graceful-shutdown", "enabled"),
    "maintenance": ("maintenance unit all-protocols state", "maintenance"),
    "session-shut": (f"{SESSION} shutdown", "enabled"),
    "session": (f"{SESSION} remote-as", 65000),
    "fewer-paths": (f"{BGP} address-family ipv4-unicast multipaths ebgp", 1),
    "one-path": (f"{BGP} path-selection multipath aspath-ignore", GONE),
    "chosen-path": (f"{SESSION} address-family ipv4-unicast weight", 10),
    "not-announced": (f"{BGP} address-family ipv4-unicast redistribute connected state", GONE),
    "family-off": (f"{SESSION} address-family ipv4-unicast state", "disabled"),
    "route-map": (f"{SESSION} address-family ipv4-unicast policy inbound route-map", GONE),
    "rib-filter": (f"{BGP} address-family ipv4-unicast rib-filter", "none-of-them"),
    "policy": ("router policy prefix-list fabric-import_10 rule 10 action", "deny"),
    "static-route": ("vrf default router static 10.0.0.0/16 via blackhole", {}),
    "prefix-limit": (f"{SESSION} address-family ipv4-unicast prefix-limits inbound maximum", 5),
    "aggregate": (f"{BGP} address-family ipv4-unicast aggregate-route 10.0.0.0/16 summary-only", "enabled"),
    "slow-detection": (f"{SESSION} timers hold", 180),
    "without-bfd": (f"{SESSION} bfd profile", GONE),
    "bfd-profile": ("router bfd profile bfd-300-300-3 min-tx-interval", 1000),
    "stale-routes": ("router bgp graceful-restart mode", "full"),
    "dynamic-neighbour": (f"{BGP} dynamic-neighbor limit", 100),
    "tunnel-dscp": ("nve vxlan encapsulation dscp action", GONE),
    "tunnel-end-dscp": ("nve vxlan decapsulation dscp action", "derive"),
    "overlay": ("nve vxlan state", "disabled"),
    "pair": ("mlag state", "enabled"),
    "gateway": ("interface vlan101 ipv4 vrr state", "disabled"),
}
"""A change of a rendered configuration for each hazard: the words of the setting, and its value."""


@pytest.fixture(scope="module")
def switch(repository: Path) -> DeviceModel:
    """A leaf with adaptive routing, a hash and a VTEP."""
    leaf = design(repository / "inventory" / "fabrics" / "single-rail.yml").models["pod1-seg1-leaf1"]
    balancing = LoadBalancing(mode=BalancingMode.ADAPTIVE, fields=tuple(HashField)[:4], seed=7)
    return replace(leaf, load_balancing=balancing, vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.192.0.1")))


def found(intended: DeviceModel, tree: Json) -> Iterator[str]:
    """The hazards of a configuration."""
    texts = (CUMULUS.text(one) for one in (tree, CUMULUS.render(intended)))
    yield from (hazard.name for hazard, _ in harms(CUMULUS.hazards(), CUMULUS.differences(*texts), intended))


@pytest.mark.parametrize("name", [hazard.name for hazard in CUMULUS.hazards()])
def test_a_hazard_is_found(switch: DeviceModel, name: str) -> None:
    words, value = CHANGES[name]
    *above, last = words.split()
    tree = copy.deepcopy(CUMULUS.render(switch))
    place = tree
    for word in above:
        place = place.setdefault(word, {})
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    assert name in set(found(switch, tree))


def test_the_outer_dscp_at_the_end_of_a_tunnel_is_no_hazard(switch: DeviceModel) -> None:
    """`copy` gives a host what `preserve` does, unless a switch between rewrites the outer DSCP."""
    tree = copy.deepcopy(CUMULUS.render(switch))
    assert tree["nve"]["vxlan"]["decapsulation"]["dscp"] == {"action": "preserve"}
    tree["nve"]["vxlan"]["decapsulation"]["dscp"]["action"] = "copy"
    assert set(found(switch, tree)) == set()
    assert CUMULUS.parse(CUMULUS.text(tree)).unmodelled


def test_a_rendered_configuration_has_no_hazard(switch: DeviceModel) -> None:
    assert set(found(switch, CUMULUS.render(switch))) == set()


def test_every_change_is_one_of_a_hazard() -> None:
    assert CHANGES.keys() == {hazard.name for hazard in CUMULUS.hazards()}
