"""Every hazard of Junos is found in a configuration that has it, and none in that of the intent."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.platforms.junos.switches import with_junos

from railfab.device import DeviceModel, Lag
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.hazards import harms
from railfab.platforms.junos.names import device_name
from railfab.platforms.junos.statements import rendered
from railfab.platforms.shared.brace_text import shown

JUNOS = platform("junos")
COS, CNP = "class-of-service", "class-of-service congestion-notification-profile 400g-5m_pfc-3_fabric"
PORT, UPLINK = "interfaces et-0/0/1", "protocols bgp group FABRIC-et-0/0/32"
ROCE = f"{COS} schedulers 400g-5m_roce"

EDITS: dict[str, tuple[str, ...]] = {
    "pfc-off": (f"- {COS} interfaces et-0/0/1 congestion-notification-profile",),
    "pause-not-sent": (f"- {CNP} input dscp",),
    "pause-not-obeyed": (f"- {CNP} output",),
    "another-queue-paused": (f"+ {CNP} output ieee-802.1 code-point 100 flow-control-queue 4",),
    "pause-priority": (f"- {COS} forwarding-classes class roce pfc-priority",),
    "lossless-class-without-buffer": (f"- {COS} forwarding-classes class roce no-loss",),
    "queue-of-the-lossless-class": (
        f"- {COS} forwarding-classes class roce queue-num",
        f"+ {COS} forwarding-classes class roce queue-num 4",
    ),
    "length-of-cables": (f"- {CNP} input cable-length",),
    "small-mru": (f"+ {CNP} input dscp code-point 011010 mru 1500",),
    "pfc-of-vlan-tags": (f"+ {CNP} input ieee-802.1 code-point 011 pfc",),
    "watchdog": (f"- {CNP} pfc-watchdog",),
    "watchdog-that-forwards": (f"+ {CNP} pfc-watchdog watchdog-action forward",),
    "global-pause": (f"+ {PORT} ether-options flow-control",),
    "dcbx-decides": ("+ protocols dcbx interface et-0/0/1",),
    "ecn-off": (f"- {ROCE} explicit-congestion-notification",),
    "ecn-without-thresholds": (f"- {ROCE} drop-profile-map",),
    "ecn-thresholds": (f"+ {COS} drop-profiles 400g-5m_roce interpolate fill-level 90",),
    "scheduler-without-ecn": (f"+ {COS} scheduler-maps 400g-5m forwarding-class roce scheduler roce",),
    "no-scheduler-map": (f"- {COS} interfaces et-0/0/1 scheduler-map",),
    "no-classifier": (f"- {COS} interfaces et-0/0/1 unit 0 classifiers",),
    "another-classifier": (f"+ {COS} interfaces et-0/0/1 unit 0 classifiers ieee-802.1 default",),
    "code-point-not-lossless": (f"- {COS} classifiers dscp fabric forwarding-class roce",),
    "lossy-code-point-in-lossless-class": (
        f"+ {COS} classifiers dscp fabric forwarding-class roce loss-priority low code-points 000000",
    ),
    "rewritten-code-points": (f"+ {COS} interfaces et-0/0/1 unit 0 rewrite-rules dscp default",),
    "rate-limit": (f"+ {ROCE} shaping-rate percent 50",),
    "bandwidth-of-a-class": (f"+ {ROCE} transmit-rate percent 10",),
    "strict-priority": (f"+ {COS} schedulers default priority strict-high",),
    "no-headroom": (
        f"- {COS} shared-buffer ingress buffer-partition lossless-headroom",
        f"+ {COS} shared-buffer ingress buffer-partition lossless-headroom percent 0",
    ),
    "headroom-changed": (f"- {COS} shared-buffer ingress buffer-partition lossless-headroom",),
    "buffer-for-lossy-packets": (f"+ {COS} shared-buffer ingress buffer-partition lossy percent 40",),
    "early-pauses": (f"+ {COS} shared-buffer ingress buffer-partition lossless dynamic-threshold 4",),
    "small-shared-buffer": (f"+ {COS} shared-buffer ingress percent 50",),
    "one-of-the-equal-paths": ("- routing-options forwarding-table export",),
    "multipath-of-one-as": ("- protocols bgp multipath",),
    "fewer-paths": ("+ chassis maximum-ecmp 16",),
    "hash-without-ports": ("+ forwarding-options enhanced-hash-key family inet no-l4-source-port",),
    "resilient-hash": ("+ forwarding-options enhanced-hash-key ecmp-resilient-hash",),
    "packets-out-of-order": ("+ forwarding-options enhanced-hash-key ecmp-dlb per-packet",),
    "flowlets-changed": ("+ forwarding-options enhanced-hash-key ecmp-dlb flowlet inactivity-interval 16",),
    "port-disabled": (f"+ {PORT} disable",),
    "link-down-noticed-late": (f"+ {PORT} hold-time down 1000",),
    "port-damping": (f"+ {PORT} damping enable",),
    "error-correction": (f"+ {PORT} ether-options fec none",),
    "small-mtu": (f"+ {PORT} mtu 1514",),
    "default-mtu": (f"- {PORT} mtu",),
    "slow-port": (f"+ {PORT} speed 100g",),
    "lacp-off": (),  # the switch has no LAG; see below
    "session-down": (f"+ {UPLINK} shutdown",),
    "drained": ("+ protocols bgp graceful-shutdown sender",),
    "bfd-off": (f"- {UPLINK} bfd-liveness-detection",),
    "longer-hold-time": (f"+ {UPLINK} hold-time 90",),
    "delayed-routes": (f"+ {UPLINK} out-delay 30",),
    "damped-routes": (f"+ {UPLINK} damping",),
    "session-ended-by-a-limit": (f"+ {UPLINK} family inet unicast prefix-limit teardown 90",),
    "stale-routes": ("+ routing-options graceful-restart",),
    "policy-missing": (f"- {UPLINK} import",),
    "policy-changed": ("- policy-options policy-statement fabric-import term 10",),
    "no-router-advertisements": ("- protocols router-advertisement interface et-0/0/32.0",),
    "no-ipv6-next-hops": (f"- {UPLINK} family inet unicast extended-nexthop",),
    "neighbour-missing": (f"- {UPLINK} peer-as-list",),
    "static-route": ("+ routing-options static route 10.0.1.0/24 next-hop 10.161.0.1",),
    "aggregate-missing": ("- routing-options aggregate",),
    "not-in-effect": (f"! {CNP} output",),
    "inherited-statements": ("+ interfaces apply-groups PORTS",),
    "filter-on-a-port": (f"+ {PORT} unit 0 family inet filter input police",),
    "mirrored-traffic": ("+ forwarding-options analyzer a input ingress interface et-0/0/1.0",),
    "protocol-rate-limit": ("+ system ddos-protection protocols bgp aggregate bandwidth 100",),
    "lldp-off": ("- protocols lldp interface all",),
}
"""By hazard: statements that are added, removed with everything below them, or made inactive."""


@pytest.fixture(scope="module")
def leaf(repository: Path) -> DeviceModel:
    """A rail switch of `dual-rail`."""
    return admit(design(repository / "inventory" / "fabrics" / "dual-rail.yml").models["pod1-seg1-leaf1"], JUNOS)


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


@pytest.mark.parametrize("name", [name for name, edits in EDITS.items() if edits])
def test_a_hazard_is_found(leaf: DeviceModel, name: str) -> None:
    text = JUNOS.text(JUNOS.render(leaf))
    found = harms(JUNOS.hazards(), JUNOS.differences(edited(leaf, EDITS[name]), text), leaf)
    assert name in {hazard.name for hazard, _ in found}


def test_every_hazard_has_an_edit_that_it_finds() -> None:
    assert set(EDITS) == {hazard.name for hazard in JUNOS.hazards()}


def test_a_lag_without_lacp_is_found(repository: Path, tmp_path: Path) -> None:
    models = with_junos(repository, "dual-esi", tmp_path).models
    model = admit(next(iter(models.values())), JUNOS)
    lag = next(found for found in model.interfaces if isinstance(found, Lag))
    broken = edited(model, (f"- interfaces {device_name(lag.name)} aggregated-ether-options lacp active",))
    found = harms(JUNOS.hazards(), JUNOS.differences(broken, JUNOS.text(JUNOS.render(model))), model)
    assert "lacp-off" in {hazard.name for hazard, _ in found}


def test_a_management_port_is_no_port_of_the_fabric(leaf: DeviceModel) -> None:
    text = JUNOS.text(JUNOS.render(leaf))
    own = edited(leaf, ("+ interfaces re0:mgmt-0 unit 0 family inet filter input ssh",))
    assert list(harms(JUNOS.hazards(), JUNOS.differences(own, text), leaf)) == []
