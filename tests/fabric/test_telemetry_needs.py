"""A path that an intent uses nothing of is not expected to have data."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.fabric import Design, design
from railfab.fabric.telemetry_needs import NEEDS, TelemetryNeeds
from railfab.metrics import CATALOGUE
from railfab.platforms import TelemetrySubscription, platform
from railfab.telemetry.targets import TargetSpec

POD = """version: 1
fabric: needs
profile: {{{profile}}}
hosts: {{gpus: 2, nic_ports: 2, rate_gbps: {rate}}}
backend:
  segments: {{count: 2, hosts: 2, rail_switches: 2, {model}, cable_m: {cable_m}}}
{spines}
"""
SPINES = "  spines: {{count: 2, links_per_leaf: 1, rate_gbps: {rate}, {model}, cable_m: 30}}"
MODELS = {"srlinux": ("7220-ixr-d5", 100), "eos": ("7060dx5-64s", 100), "frr": ("linux-16", 100)}


def pod(folder: Path, name: str, profile: str, *, cable_m: float = 1, spines: bool = True) -> Design:
    """A small pod of one platform."""
    model, rate = MODELS[name]
    given = {"profile": profile, "model": f"model: {model}, platform: {name}", "rate": rate, "cable_m": cable_m}
    text = POD.format(**given, spines=SPINES.format(**given) if spines else "")
    path = folder / "intent.yml"
    path.write_text(text)
    return design(path)


def unneeded(fabric: Design, switch: str) -> set[str]:
    """The paths of a switch of which its intent uses nothing, optional ones too."""
    name = fabric.topology.node(switch).platform or ""
    telemetry = platform(name).telemetry
    target = TargetSpec(name=switch, platform=name, endpoint=None, telemetry=telemetry)
    needs = TelemetryNeeds(fabric)
    return {one.path for one in telemetry.subscriptions if not needs.needed(target, one)}


BFD = "bfd: {interval_ms: 300, multiplier: 3}"


@pytest.mark.parametrize(
    ("name", "profile", "part", "needed"),
    [
        ("frr", "lossless: off", "IPV6_UNICAST", False),
        ("frr", "lossless: off", "IPV4_UNICAST", True),
        ("frr", "lossless: off", "/bfd/", True),
        ("frr", "lossless: off, bfd: off", "/bfd/", False),
        ("frr", "lossless: off, family: ipv6", "IPV6_UNICAST", True),
        ("srlinux", "bfd: off", "ipv6-link-local-interface", False),
        ("srlinux", BFD, "ipv6-link-local-interface", True),
        ("srlinux", "lossless: off", "/lag/", False),
        ("srlinux", "lossless: off", "/pfc/", False),
        ("srlinux", "lossless: off", "/queues/", False),
        ("srlinux", "lossless: {priority: 3}", "/pfc/", True),
        ("srlinux", "lossless: {priority: 3}", "/queues/", True),
        ("srlinux", "lossless: {priority: 3}", "/statistics", True),
        ("eos", "lossless: off", "/ethernet/pfc", False),
        ("eos", "lossless: off", "port-id", True),
        ("eos", "lossless: off", "/afi-safis/", True),
    ],
)
def test_a_path_is_needed_where_the_intent_uses_it(
    tmp_path: Path, name: str, profile: str, part: str, needed: bool
) -> None:
    fabric = pod(tmp_path, name, profile)
    paths = {one.path for one in platform(name).telemetry.subscriptions if part in one.path}
    assert paths
    missing = unneeded(fabric, "pod1-seg1-leaf1")
    assert not paths & missing if needed else paths <= missing


def test_the_speed_of_lags_is_needed_where_there_are_lags(repository: Path) -> None:
    fabric = design(repository / "inventory" / "fabrics" / "pod64-bundle.yml")
    assert not {path for path in unneeded(fabric, "pod1-seg1-leaf1") if "/lag/" in path}


def test_optical_power_is_needed_only_where_a_port_has_optics(tmp_path: Path) -> None:
    fabric = pod(tmp_path, "srlinux", "lossless: off", spines=False)
    power = {one.path for one in platform("srlinux").telemetry.subscriptions if "transceiver" in one.path}
    assert power <= unneeded(fabric, "pod1-seg1-leaf1"), "1 m to the hosts is a copper cable"
    assert not power & unneeded(pod(tmp_path, "srlinux", "lossless: off", cable_m=50, spines=False), "pod1-seg1-leaf1")


def test_a_switch_without_switches_at_its_ports_needs_no_neighbours(tmp_path: Path) -> None:
    fabric = pod(tmp_path, "srlinux", "lossless: off", spines=False)
    lldp = {one.path for one in platform("srlinux").telemetry.subscriptions if "lldp" in one.path}
    assert lldp <= unneeded(fabric, "pod1-seg1-leaf1")


def test_paths_of_other_targets_and_of_users_are_expected_to_have_data(tmp_path: Path) -> None:
    fabric, telemetry = pod(tmp_path, "frr", "lossless: off"), platform("frr").telemetry
    ipv6 = next(one for one in telemetry.subscriptions if "IPV6" in one.path)
    stranger = TargetSpec(name="stranger", platform="frr", endpoint=None, telemetry=telemetry)
    leaf = TargetSpec(name="pod1-seg1-leaf1", platform="frr", endpoint=None, telemetry=telemetry)
    needs = TelemetryNeeds(fabric)
    assert needs.needed(stranger, ipv6)
    assert not needs.needed(leaf, ipv6)
    assert needs.needed(leaf, TelemetrySubscription(path="/acme/fans", mode=ipv6.mode))


@pytest.mark.parametrize("begin", NEEDS)
def test_each_need_is_that_of_a_metric(begin: str) -> None:
    assert any(name.startswith(begin) for name in CATALOGUE)
