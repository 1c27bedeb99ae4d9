"""Every hazard of Cumulus Linux is found by the audit in a configuration with it."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache, partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from tests.fabric.thinned import thinned
from tests.platforms.hazards import kinds, patterns, without_edit

from railfab.device import LOOPBACK, BalancingMode, DeviceModel, HashField, LoadBalancing, Vtep
from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.hazards import Hazard
from railfab.platforms.shared.json_tree import Json

CUMULUS = platform("cumulus")
GONE = None
PORT, UPLINK = "interface swp1", "interface swp33"
PFC, MARKS = "qos pfc p-400g-5m", "qos congestion-control p-400g-5m traffic-class"
SCHEDULER, SHAPER = "qos egress-scheduler default-global traffic-class", "qos egress-shaper rate-400g"
BGP = "vrf default router bgp"
SESSION = f"{BGP} neighbor swp33"
FAR_SESSION = f"{BGP} neighbor 10.99.0.1"
ADAPTIVE = "router adaptive-routing state"
Change = tuple[str, Any]

CHANGES: tuple[tuple[str, Change], ...] = (
    ("pfc-off", ("qos roce mode", "lossy")),
    ("no-lossless-buffer", ("qos roce state", "disabled")),
    ("buffer-shares", ("qos roce mode", "lossless-single-ipool")),
    ("no-lossless-buffer", ("qos traffic-pool default-lossy switch-priority 3", {})),
    ("lossy-in-lossless-class", ("qos traffic-pool roce-lossless switch-priority 5", {})),
    ("buffer-shares", ("qos traffic-pool roce-lossless memory-percent", 10)),
    ("no-lossless-buffer", ("qos advance-buffer-config default-global ingress-pool 0 memory-percent", 20)),
    ("pfc-off", (f"{PFC} tx", "disable")),
    ("pause-not-obeyed", (f"{PFC} rx", "disable")),
    ("wrong-pfc-priority", (f"{PFC} switch-priority 3", GONE)),
    ("pfc-on-lossy-class", (f"{PFC} switch-priority 4", {})),
    ("small-headroom", (f"{PFC} cable-length", 1)),
    ("headroom-differs", (f"{PFC} cable-length", 1000)),
    ("headroom-differs", (f"{PFC} xoff-threshold", 10000)),
    ("pfc-off", (f"{PORT} qos pfc profile", GONE)),
    ("wrong-qos-profile", (f"{PORT} qos pfc profile", "p-400g-40m")),
    ("small-headroom", (f"{UPLINK} qos pfc profile", "p-400g-5m")),
    ("link-pause", (f"{PORT} qos link-pause profile", "every")),
    ("headroom-differs", ("qos roce cable-length", 300)),
    ("watchdog-off", (f"{PORT} qos pfc-watchdog", GONE)),
    ("watchdog-timers", ("qos pfc-watchdog robustness", 1)),
    ("watchdog-timers", ("qos pfc-watchdog polling-interval", 5000)),
    ("small-headroom-pool", (f"{PORT} qos shared-headroom-pool", "enabled")),
    ("ecn-off", (f"{MARKS} 3 ecn", "disable")),
    ("unplanned-ecn", (f"{MARKS} 0 ecn", "enable")),
    ("random-drops", (f"{MARKS} 3 red", "enable")),
    ("ecn-thresholds", (f"{MARKS} 3 max-threshold", 90_000_000)),
    ("ecn-thresholds", (f"{MARKS} 3 min-threshold", 1500)),
    ("ecn-off", (f"{MARKS} 3 min-threshold", GONE)),
    ("inverted-ecn-ramp", (f"{MARKS} 3 min-threshold", 2_000_000)),
    ("inverted-ecn-ramp", (f"{MARKS} 3 max-threshold", 1500)),
    ("ecn-probability", (f"{MARKS} 3 probability", 100)),
    ("ecn-off", (f"{PORT} qos congestion-control profile", GONE)),
    ("wrong-classifier", ("qos mapping fabric trust", "l2")),
    ("roce-misclassified", ("qos mapping fabric dscp 26 switch-priority", 0)),
    ("lossy-in-lossless-class", ("qos mapping fabric dscp 48 switch-priority", 3)),
    ("wrong-classifier", ("qos mapping fabric dscp 48 switch-priority", 1)),
    ("wrong-classifier", ("qos mapping fabric port-default-sp", 5)),
    ("lossy-in-lossless-class", ("qos mapping fabric port-default-sp", 3)),
    ("wrong-classifier", (f"{PORT} qos mapping profile", GONE)),
    ("dscp-rewrite", (f"{PORT} qos remark profile", "every")),
    ("wrong-queue", ("qos egress-queue-mapping default-global switch-priority 3 traffic-class", 0)),
    ("wrong-strict-queue", (f"{SCHEDULER} 0 mode", "strict")),
    ("cnp-not-strict", (f"{SCHEDULER} 6 mode", "dwrr")),
    ("bandwidth-share", (f"{SCHEDULER} 3 bw-percent", 10)),
    ("bandwidth-share", (f"{SCHEDULER} 0 bw-percent", 90)),
    ("bandwidth-share", (f"{SCHEDULER} 3", GONE)),
    ("bandwidth-share", (f"{SHAPER} traffic-class 0 min-rate", 400_000)),
    ("wrong-qos-profile", (f"{PORT} qos egress-scheduler profile", "other")),
    ("rate-limit", (f"{SHAPER} port-max-rate", 400_000)),
    ("rate-limit", (f"{SHAPER} traffic-class 3 max-rate", 400_000)),
    ("strict-queue-unlimited", (f"{PORT} qos egress-shaper profile", GONE)),
    ("packet-filter", (f"{PORT} acl police inbound", {})),
    ("packet-filter", ("system control-plane acl cpu inbound", {})),
    ("control-plane-qos", ("system control-plane policer bgp rate", 10)),
    ("port-mirroring", ("system port-mirror session 1 span source-port swp33", {})),
    ("sflow-rate", ("system sflow sampling-rate default", 100)),
    ("storm-control", (f"{PORT} storm-control broadcast", 100)),
    ("packet-trimming", ("system forwarding packet-trim state", "enabled")),
    ("small-mtu", (f"{PORT} link mtu", 1500)),
    ("wrong-fec", (f"{PORT} link fec", "off")),
    ("wrong-speed", (f"{PORT} link speed", GONE)),
    ("wrong-speed", (f"{PORT} link auto-negotiate", "disabled")),
    ("wrong-speed", (f"{PORT} link breakout", "4x")),
    ("port-disabled", (f"{PORT} link state", "down")),
    ("port-disabled", (f"{PORT} link dot1x eap", "enabled")),
    ("wrong-address", (PORT, GONE)),
    ("wrong-address", (f"{UPLINK} ipv4 address 192.0.2.1/31", {})),
    ("wrong-address", ("interface lo ipv4 address 10.255.9.9/32", {})),
    ("wrong-address", (f"{PORT} neighbor ipv4 10.16.0.9 lladdr", "00:00:5e:00:53:01")),
    ("wrong-router-id", ("router bgp router-id", "10.255.1.9")),
    ("forwarding-off", (f"{UPLINK} ipv4 forward", "disabled")),
    ("wrong-vlan", (f"{UPLINK} vrf", "tenant")),
    ("wrong-address", ("interface lo ipv4 address 10.255.1.1/32", GONE)),
    ("router-advertisements-off", (f"{UPLINK} ipv6 neighbor-discovery router-advertisement state", "disabled")),
    ("router-advertisements-off", (f"{UPLINK} ipv6 state", "disabled")),
    ("slow-session", (f"{UPLINK} ipv6 neighbor-discovery router-advertisement interval", 600_000)),
    ("lldp-off", ("system lldp state", "disabled")),
    ("wrong-vlan", ("bridge domain br_default vlan 101", GONE)),
    ("wrong-overlay", ("bridge domain br_default vlan 101 vni 999", {})),
    ("wrong-vlan", (f"{PORT} bridge domain br_default stp network", "enabled")),
    ("slow-link-up", (f"{PORT} bridge domain br_default stp auto-edge", "disabled")),
    ("wrong-mlag", ("interface bond1 bond mlag id", 9)),
    ("wrong-lacp", ("interface bond1 bond lacp-rate", "slow")),
    ("slow-link-up", ("interface bond1 bond up-delay", 3000)),
    ("dead-link-used", ("interface bond1 bond down-delay", 3000)),
    ("wrong-vlan", (f"{PORT} bridge domain br_default access", 5)),
    ("wrong-lacp", ("interface bond1 bond lacp-bypass", "enabled")),
    ("hash-fields", ("system forwarding ecmp-hash source-port", "disabled")),
    ("hash-seed", ("system forwarding hash-seed", 9)),
    ("load-balancing-mode", (f"{UPLINK} router adaptive-routing state", GONE)),
    ("load-balancing-mode", (ADAPTIVE, GONE)),
    ("dynamic-load-balancing", (f"{PORT} router adaptive-routing state", "enabled")),
    ("weighted-ecmp", ("system forwarding ecmp-weight-normalisation mode", "enabled")),
    ("drained", ("router bgp graceful-shutdown", "enabled")),
    ("drained", (f"{SESSION} graceful-shutdown", "enabled")),
    ("drained", ("maintenance unit all-protocols state", "maintenance")),
    ("session-down", (f"{SESSION} shutdown", "enabled")),
    ("session-down", (f"{SESSION} state", "disabled")),
    ("session-down", (f"{SESSION} type", "numbered")),
    ("session-down", ("router bgp state", "disabled")),
    ("session-down", (SESSION, GONE)),
    ("session-mismatch", (f"{FAR_SESSION} multihop-ttl", GONE)),
    ("no-fast-failover", (f"{SESSION} multihop-ttl", 5)),
    ("session-down", (f"{SESSION} remote-as", 65000)),
    ("session-mismatch", (f"{SESSION} password", "x")),
    ("slow-session", (f"{SESSION} passive-mode", "enabled")),
    ("slow-session", (f"{SESSION} timers connection-retry", 120)),
    ("delayed-routes", (f"{SESSION} timers route-advertisement", 30)),
    ("no-extended-next-hop", (f"{SESSION} capabilities extended-nexthop", "disabled")),
    ("as-path-loops", (f"{SESSION} address-family ipv4-unicast aspath allow-my-asn state", "enabled")),
    ("next-hop-unchanged", (f"{SESSION} address-family ipv4-unicast attribute-mod nexthop", "disabled")),
    ("fewer-paths", (f"{BGP} address-family ipv4-unicast multipaths ebgp", 1)),
    ("no-multipath-relax", (f"{BGP} path-selection multipath aspath-ignore", GONE)),
    ("preferred-path", (f"{SESSION} address-family ipv4-unicast weight", 10)),
    ("not-announced", (f"{BGP} address-family ipv4-unicast redistribute connected state", GONE)),
    ("family-off", (f"{SESSION} address-family ipv4-unicast state", "disabled")),
    ("wrong-route-policy", (f"{SESSION} address-family ipv4-unicast policy inbound route-map", GONE)),
    ("routes-not-installed", (f"{BGP} address-family ipv4-unicast rib-filter", "none-of-them")),
    ("wrong-route-policy", ("router policy prefix-list fabric-import_10 rule 10 action", "deny")),
    ("preferred-path", ("router policy route-map fabric-import rule 20 set local-preference", 200)),
    ("weighted-ecmp", ("router policy route-map fabric-import rule 20 set ext-community-bw", 100)),
    ("static-route", (f"{PORT} router pbr map steer", {})),
    ("competing-routes", ("vrf default router ospf state", "enabled")),
    ("competing-routes", (f"{BGP} address-family ipv4-unicast redistribute static state", "enabled")),
    ("not-in-effect", ("system config apply ignore", {"/etc/frr/frr.conf": {}})),
    ("inherited-settings", ("system config snippet", {"frr.conf": "router bgp 65001"})),
    ("slow-session", (f"{UPLINK} ipv6 neighbor-discovery router-advertisement fast-retransmit", "disabled")),
    ("preferred-path", (f"{BGP} path-selection med compare-always", "enabled")),
    ("as-path-loops", (f"{BGP} path-selection aspath compare-lengths", "disabled")),
    ("as-path-loops", (f"{SESSION} address-family ipv4-unicast aspath private-as", "remove")),
    ("not-announced", (f"{BGP} address-family ipv4-unicast redistribute connected route-map", "NONE")),
    ("wrong-route-policy", (f"{SESSION} address-family ipv4-unicast community-advertise regular", "disabled")),
    ("blackhole-route", ("vrf default router static 10.0.0.0/8 via blackhole", {})),
    ("static-route", ("vrf default router static 10.0.0.0/8 via 192.0.2.1", {})),
    ("session-down", ("router bgp autonomous-system", 65010)),
    ("static-route", ("vrf default router static 0.0.0.0/0 via 10.0.0.1", {})),
    ("static-route", ("vrf default router static 0.0.0.0/0 via swp1", {})),
    ("prefix-limit", (f"{SESSION} address-family ipv4-unicast prefix-limits inbound maximum", 5)),
    (
        "unplanned-announcement",
        (f"{BGP} address-family ipv4-unicast aggregate-route 10.0.0.0/16 summary-only", "enabled"),
    ),
    ("slow-hold-time", (f"{SESSION} timers hold", 180)),
    ("no-hold-time", (f"{SESSION} timers hold", 0)),
    ("bfd-off", ("router bfd profile bfd-300-300-3 shutdown", "enabled")),
    ("bfd-off", (f"{SESSION} bfd profile", GONE)),
    ("bfd-detection-time", ("router bfd profile bfd-300-300-3 min-tx-interval", 1000)),
    ("stale-routes", ("router bgp graceful-restart mode", "full")),
    ("dynamic-neighbor", (f"{BGP} dynamic-neighbor limit", 5000)),
    ("tunnel-qos", ("nve vxlan encapsulation dscp action", GONE)),
    ("tunnel-qos", ("nve vxlan decapsulation dscp action", "derive")),
    ("wrong-overlay", ("nve vxlan state", "disabled")),
    ("wrong-mlag", ("mlag state", "enabled")),
    ("slow-link-up", ("mlag init-delay", 600)),
    ("wrong-address", ("interface vlan101 ipv4 vrr state", "disabled")),
    ("wrong-address", ("interface vlan101 ipv4 vrr address 192.0.2.1/24", {})),
)
"""Changes of a rendered configuration, and the kind of each: the words of the setting, and its value."""


@pytest.fixture(scope="module")
def switch(repository: Path) -> DeviceModel:
    """A leaf with a port of each kind, adaptive routing, a hash, a VTEP and a session over several hops."""
    fabric = design(repository / "inventory" / "fabrics" / "single-rail.yml")
    leaf = thinned(fabric.models["pod1-seg1-leaf1"], fabric.topology)
    balancing = LoadBalancing(mode=BalancingMode.ADAPTIVE, fields=tuple(HashField)[:4], seed=7)
    assert leaf.bgp is not None
    far = replace(leaf.neighbors[0], peer=IPv4Address("10.99.0.1"), multihop_ttl=3)
    bgp = replace(leaf.bgp, neighbors=(*leaf.neighbors, far))
    vtep = Vtep(source=LOOPBACK, address=IPv4Address("10.192.0.1"))
    return replace(leaf, bgp=bgp, load_balancing=balancing, vtep=vtep)


def matched(intended: DeviceModel, tree: Json) -> list[Hazard]:
    """The hazards of a configuration."""
    return patterns(CUMULUS, CUMULUS.text(tree), rendered(intended), intended)


@cache
def rendered(intended: DeviceModel) -> str:
    return CUMULUS.text(CUMULUS.render(intended))


def changed(switch: DeviceModel, change: Change) -> Json:
    """The configuration of a switch with a change."""
    words, value = change
    *above, last = words.split()
    tree: Json = copy.deepcopy(CUMULUS.render(switch))
    place = tree
    for word in above:
        place = place.setdefault(word, {})
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return tree


@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_a_hazard_is_found(switch: DeviceModel, kind: str, change: Change) -> None:
    assert kind in kinds(with_change(switch, change))


def test_the_outer_dscp_at_the_end_of_a_tunnel_is_no_hazard(switch: DeviceModel) -> None:
    """`copy` gives a host what `preserve` does, unless a switch between rewrites the outer DSCP."""
    tree = copy.deepcopy(CUMULUS.render(switch))
    assert tree["nve"]["vxlan"]["decapsulation"]["dscp"] == {"action": "preserve"}
    tree["nve"]["vxlan"]["decapsulation"]["dscp"]["action"] = "copy"
    assert matched(switch, tree) == []
    assert CUMULUS.parse(CUMULUS.text(tree)).unmodelled


def test_a_rendered_configuration_has_no_hazard(switch: DeviceModel) -> None:
    assert matched(switch, CUMULUS.render(switch)) == []


def test_every_pattern_is_found_by_a_change_of_its_kind(switch: DeviceModel) -> None:
    changes = [(kind, partial(with_change, switch, change)) for kind, change in CHANGES]
    assert without_edit(CUMULUS, [*changes, ("pfc-off", partial(matched, switch, without_pauses(switch)))]) == []


def test_a_port_with_a_profile_without_pauses_has_no_pfc(switch: DeviceModel) -> None:
    assert kinds(matched(switch, without_pauses(switch))) == {"pfc-off"}


def without_pauses(switch: DeviceModel) -> Json:
    """The configuration with a profile that neither sends nor obeys pause frames on a port."""
    tree = changed(switch, (f"{PORT} qos pfc profile", "quiet"))
    tree["qos"]["pfc"]["quiet"] = {"tx": "disable", "rx": "disable"}
    return tree


def with_change(switch: DeviceModel, change: Change) -> list[Hazard]:
    return matched(switch, changed(switch, change))
