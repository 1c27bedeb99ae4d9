"""Every hazard of Junos is found in a configuration that has it, and none in that of the intent."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import pytest
from tests.audit.cases import Case, cases
from tests.fabric.thinned import thinned
from tests.platforms.hazards import kinds, patterns, without_edit
from tests.platforms.junos.switches import with_junos

from railfab.device import DeviceModel
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.hazards import Hazard
from railfab.platforms.junos.statements import rendered
from railfab.platforms.shared.brace_text import shown

JUNOS = platform("junos")
COS, CNP = "class-of-service", "class-of-service congestion-notification-profile 400g-5m_pfc-3_fabric"
PORT, UPLINK = "interfaces et-0/0/0", "protocols bgp group FABRIC-et-0/0/32"
ROCE = f"{COS} schedulers 400g-5m_roce"

EDITS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("pfc-off", (f"- {COS} interfaces et-0/0/0 congestion-notification-profile",)),
    (
        "wrong-qos-profile",
        (f"+ {COS} interfaces et-0/0/0 congestion-notification-profile 400g-40m_pfc-3_fabric",),
    ),
    (
        "small-headroom",
        (f"+ {COS} interfaces et-0/0/32 congestion-notification-profile 400g-5m_pfc-3_fabric",),
    ),
    ("pfc-off", (f"- {CNP} input dscp",)),
    ("pause-not-obeyed", (f"- {CNP} output",)),
    ("wrong-queue", (f"+ {CNP} output ieee-802.1 code-point 100 flow-control-queue 4",)),
    ("wrong-pfc-priority", (f"- {COS} forwarding-classes class roce pfc-priority",)),
    ("no-lossless-buffer", (f"- {COS} forwarding-classes class roce no-loss",)),
    (
        "wrong-queue",
        (
            f"- {COS} forwarding-classes class roce queue-num",
            f"+ {COS} forwarding-classes class roce queue-num 4",
        ),
    ),
    ("headroom-differs", (f"- {CNP} input cable-length",)),
    ("small-headroom", (f"+ {CNP} input dscp code-point 011010 mru 1500",)),
    ("wrong-pfc-priority", (f"+ {CNP} input ieee-802.1 code-point 011 pfc",)),
    ("watchdog-off", (f"- {CNP} pfc-watchdog",)),
    ("watchdog-action", (f"+ {CNP} pfc-watchdog watchdog-action forward",)),
    ("link-pause", (f"+ {PORT} ether-options flow-control",)),
    ("pfc-negotiated", ("+ protocols dcbx interface et-0/0/0",)),
    ("ecn-off", (f"- {ROCE} explicit-congestion-notification",)),
    ("ecn-off", (f"- {ROCE} drop-profile-map",)),
    ("ecn-thresholds", (f"+ {COS} drop-profiles 400g-5m_roce interpolate fill-level 90",)),
    ("ecn-off", (f"+ {COS} scheduler-maps 400g-5m forwarding-class roce scheduler roce",)),
    ("wrong-qos-profile", (f"- {COS} interfaces et-0/0/0 scheduler-map",)),
    ("wrong-classifier", (f"- {COS} interfaces et-0/0/0 unit 0 classifiers",)),
    ("wrong-classifier", (f"+ {COS} interfaces et-0/0/0 unit 0 classifiers ieee-802.1 default",)),
    ("roce-misclassified", (f"- {COS} classifiers dscp fabric forwarding-class roce",)),
    (
        "lossy-in-lossless-class",
        (f"+ {COS} classifiers dscp fabric forwarding-class roce loss-priority low code-points 000000",),
    ),
    ("dscp-rewrite", (f"+ {COS} interfaces et-0/0/0 unit 0 rewrite-rules dscp default",)),
    ("rate-limit", (f"+ {ROCE} shaping-rate percent 50",)),
    ("bandwidth-share", (f"+ {ROCE} transmit-rate percent 10",)),
    ("wrong-strict-queue", (f"+ {COS} schedulers default priority strict-high",)),
    (
        "small-headroom-pool",
        (
            f"- {COS} shared-buffer ingress buffer-partition lossless-headroom",
            f"+ {COS} shared-buffer ingress buffer-partition lossless-headroom percent 0",
        ),
    ),
    ("headroom-differs", (f"- {COS} shared-buffer ingress buffer-partition lossless-headroom",)),
    ("buffer-shares", (f"+ {COS} shared-buffer ingress buffer-partition lossy percent 40",)),
    ("early-xoff", (f"+ {COS} shared-buffer ingress buffer-partition lossless dynamic-threshold 4",)),
    ("buffer-shares", (f"+ {COS} shared-buffer ingress percent 50",)),
    ("fewer-paths", ("- routing-options forwarding-table export",)),
    ("fewer-paths", ("- protocols bgp multipath",)),
    ("no-multipath-relax", ("- protocols bgp multipath", "+ protocols bgp multipath")),
    ("no-multipath-relax", (f"+ {UPLINK} multipath",)),
    ("fewer-paths", ("+ chassis maximum-ecmp 16",)),
    ("fewer-paths", ("+ protocols bgp multipath disable",)),
    ("hash-fields", ("+ forwarding-options enhanced-hash-key family inet no-l4-source-port",)),
    ("load-balancing-mode", ("+ forwarding-options enhanced-hash-key ecmp-resilient-hash",)),
    ("dynamic-load-balancing", ("+ forwarding-options enhanced-hash-key ecmp-dlb per-packet",)),
    ("load-balancing-mode", ("+ forwarding-options enhanced-hash-key ecmp-dlb flowlet inactivity-interval 16",)),
    ("port-disabled", (f"+ {PORT} disable",)),
    ("dead-link-used", (f"+ {PORT} hold-time down 1000",)),
    ("slow-link-up", (f"+ {PORT} damping enable",)),
    ("wrong-fec", (f"+ {PORT} ether-options fec none",)),
    ("wrong-address", ("+ interfaces lo0 unit 0 family inet address 10.255.9.9/32",)),
    ("small-mtu", (f"+ {PORT} mtu 1514",)),
    ("small-mtu", (f"- {PORT} mtu",)),
    ("wrong-speed", (f"+ {PORT} speed 100g",)),
    ("session-down", (f"+ {UPLINK} shutdown",)),
    ("drained", ("+ protocols bgp graceful-shutdown sender",)),
    ("bfd-off", (f"- {UPLINK} bfd-liveness-detection",)),
    ("slow-hold-time", (f"+ {UPLINK} hold-time 90",)),
    ("delayed-routes", (f"+ {UPLINK} out-delay 30",)),
    ("route-dampening", (f"+ {UPLINK} damping",)),
    ("prefix-limit", (f"+ {UPLINK} family inet unicast prefix-limit teardown 90",)),
    ("stale-routes", ("+ routing-options graceful-restart",)),
    ("wrong-route-policy", (f"- {UPLINK} import",)),
    ("wrong-route-policy", ("- policy-options policy-statement fabric-import term 10",)),
    ("router-advertisements-off", ("- protocols router-advertisement interface et-0/0/32.0",)),
    ("no-extended-next-hop", (f"- {UPLINK} family inet unicast extended-nexthop",)),
    ("session-down", (f"- {UPLINK} peer-as-list",)),
    ("static-route", ("+ routing-options static route 10.0.1.0/24 next-hop 10.161.0.1",)),
    ("not-announced", ("- routing-options aggregate",)),
    ("not-in-effect", (f"! {CNP} output",)),
    ("inherited-settings", ("+ interfaces apply-groups PORTS",)),
    ("packet-filter", (f"+ {PORT} unit 0 family inet filter input police",)),
    ("port-mirroring", ("+ forwarding-options analyzer a input ingress interface et-0/0/0.0",)),
    ("control-plane-qos", ("+ system ddos-protection protocols bgp aggregate bandwidth 100",)),
    ("lldp-off", ("- protocols lldp interface all",)),
    ("pfc-off", (f"- {COS} interfaces et-0/0/0",)),
    ("fewer-paths", ("- policy-options policy-statement LOAD-BALANCE",)),
    ("buffer-shares", (f"- {COS} shared-buffer",)),
    ("pfc-on-lossy-class", (f"+ {COS} forwarding-classes class default no-loss",)),
    ("wrong-pfc-priority", (f"+ {CNP} output ieee-802.1 code-point 101 flow-control-queue 3",)),
    ("wrong-queue", (f"+ {COS} forwarding-classes class storage queue-num 3",)),
    ("headroom-differs", (f"- {CNP} input cable-length", f"+ {CNP} input cable-length 100")),
    ("headroom-differs", (f"+ {COS} shared-buffer ingress buffer-partition lossless-headroom percent 50",)),
    ("wrong-qos-profile", (f"+ {COS} interfaces et-0/0/0 congestion-notification-profile lossy",)),
    ("wrong-qos-profile", (f"- {ROCE}",)),
    ("watchdog-timers", (f"- {CNP} pfc-watchdog recovery",)),
    ("ecn-thresholds", (f"+ {ROCE} drop-profile-map loss-priority any protocol any drop-profile late",)),
    ("wrong-classifier", (f"- {COS} classifiers dscp fabric",)),
    (
        "roce-misclassified",
        (f"+ {COS} classifiers dscp fabric forwarding-class default loss-priority low code-points 011010",),
    ),
    ("cnp-not-strict", (f"- {COS} classifiers dscp fabric forwarding-class cnp",)),
    ("control-plane-qos", (f"- {COS} scheduler-maps 400g-5m forwarding-class network-control",)),
    ("control-plane-qos", (f"- {COS} schedulers network-control shaping-rate",)),
    ("bandwidth-share", (f"- {ROCE} transmit-rate",)),
    ("buffer-shares", (f"- {COS} shared-buffer ingress buffer-partition lossy",)),
    ("buffer-shares", (f"+ {COS} schedulers default buffer-size percent 50",)),
    ("early-xoff", (f"- {COS} shared-buffer ingress buffer-partition lossless dynamic-threshold",)),
    ("load-balancing-mode", ("+ policy-options policy-statement LOAD-BALANCE then load-balance consistent-hash",)),
    ("fewer-paths", ("- chassis maximum-ecmp",)),
    ("hash-seed", ("+ forwarding-options enhanced-hash-key hash-seed 7",)),
    ("weighted-ecmp", (f"+ {UPLINK} link-bandwidth auto-sense",)),
    ("port-disabled", ("+ chassis fpc 0 power off",)),
    ("wrong-speed", ("+ chassis fpc 0 pic 0 port 0 channel-speed 100g",)),
    ("wrong-lacp", (f"+ {PORT} ether-options 802.3ad ae1",)),
    ("wrong-address", (f"- {PORT}",)),
    ("forwarding-off", ("- interfaces et-0/0/32 unit 0 family inet",)),
    ("session-down", ("- interfaces et-0/0/32 unit 0 family inet6",)),
    ("session-down", (f"+ {UPLINK} minimum-hold-time 20",)),
    ("bfd-detection-time", (f"+ {UPLINK} bfd-liveness-detection multiplier 9",)),
    ("slow-hold-time", (f"- {UPLINK} hold-time",)),
    ("no-fast-failover", (f"+ {UPLINK} multihop ttl 2",)),
    ("routes-not-installed", ("+ routing-options martians 10.0.1.0/24 orlonger",)),
    ("wrong-route-policy", ("- protocols bgp defaults ebgp no-policy receive",)),
    ("router-advertisements-off", ("+ protocols router-advertisement interface et-0/0/32.0 default-lifetime 0",)),
    ("competing-routes", ("+ protocols ospf area 0.0.0.0 interface et-0/0/32.0",)),
)
"""By kind: statements that are added, removed with everything below them, or made inactive."""


OF_LAGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("wrong-lacp", ("- interfaces ae201 aggregated-ether-options lacp active",)),
    ("wrong-lacp", ("+ chassis aggregated-devices ethernet device-count 8",)),
    ("wrong-overlay", ("- routing-instances MAC-VRF vtep-source-interface",)),
    ("family-off", ("- protocols bgp group FABRIC neighbor 10.128.4.2 family evpn",)),
)
"""Likewise, of a switch with LAGs to its hosts and EVPN."""


@pytest.fixture(scope="module")
def lags(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> DeviceModel:
    models = with_junos(repository, "dual-esi", tmp_path_factory.mktemp("esi")).models
    return admit(next(iter(models.values())), JUNOS)


@pytest.fixture(scope="module")
def leaf(repository: Path) -> DeviceModel:
    """A rail switch of `dual-rail` with a port of each kind."""
    fabric = design(repository / "inventory" / "fabrics" / "dual-rail.yml")
    return thinned(admit(fabric.models["pod1-seg1-leaf1"], JUNOS), fabric.topology)


def edited(model: DeviceModel, edits: tuple[str, ...]) -> str:
    """The configuration of a switch with these edits, as `display set` has it."""
    lines = [shown(found) for found in rendered(JUNOS.render(model))]
    made = []
    for edit in edits:
        sign, statement = edit.split(" ", 1)
        if sign == "-":
            assert any(line.startswith(f"{statement} ") or line == statement for line in lines), statement
            lines = [line for line in lines if not (line.startswith(f"{statement} ") or line == statement)]
        elif sign == "+":
            lines.append(statement)
        else:
            made.append(f"deactivate {statement}")
    return "\n".join([*(f"set {line}" for line in lines), *made])


@cache
def matched(model: DeviceModel, edits: tuple[str, ...]) -> list[Hazard]:
    text = edited(model, edits)
    return patterns(JUNOS, text, JUNOS.text(JUNOS.render(model)), model, JUNOS.parse(text))


def judged(case: Case) -> list[Hazard]:
    """The patterns that a mistake of `tests/audit/junos.yml` matches."""
    intended, rendered = case.design.models[case.name], case.design.texts[case.name]
    return patterns(JUNOS, case.text, rendered, intended, JUNOS.parse(case.text))


@pytest.mark.parametrize(("kind", "edits"), EDITS)
def test_a_hazard_is_found(leaf: DeviceModel, kind: str, edits: tuple[str, ...]) -> None:
    assert kind in kinds(matched(leaf, edits))


def test_one_next_hop_is_no_session_that_is_down(leaf: DeviceModel) -> None:
    assert kinds(matched(leaf, ("+ protocols bgp multipath disable",))) == {"fewer-paths"}


def test_every_pattern_is_found_by_an_edit_of_its_kind(leaf: DeviceModel, lags: DeviceModel) -> None:
    edits = [(kind, partial(matched, leaf, edits)) for kind, edits in EDITS]
    of_lags = [(kind, partial(matched, lags, edits)) for kind, edits in OF_LAGS]
    of_cases = [(case.said["kind"], partial(judged, case)) for case in cases("mistakes", ["junos"])]
    assert without_edit(JUNOS, [*edits, *of_lags, *of_cases]) == []


@pytest.mark.parametrize(("kind", "edits"), OF_LAGS)
def test_a_hazard_of_a_switch_with_lags_is_found(lags: DeviceModel, kind: str, edits: tuple[str, ...]) -> None:
    assert kind in kinds(matched(lags, edits))


def test_a_management_port_is_no_port_of_the_fabric(leaf: DeviceModel) -> None:
    assert matched(leaf, ("+ interfaces re0:mgmt-0 unit 0 family inet filter input ssh",)) == []
