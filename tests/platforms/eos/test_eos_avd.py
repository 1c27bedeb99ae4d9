"""EOS's configuration against Arista's AVD (PyAVD): its schema of the CLI, and the lines that it renders itself."""

from __future__ import annotations

import copy
import re
import weakref
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.oracles.avd import ABSENT, Structure, differing, structured
from tests.platforms.other_switches import EVERY, judged

from railfab.device import DeviceModel, plan
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.shared.line_tree import Line
from railfab.testing.device_models import device_models

pyavd = pytest.importorskip("pyavd", reason="needs PyAVD; run: make oracle-deps", exc_type=ImportError)
pytestmark = pytest.mark.oracle

loaders = pytest.importorskip("jinja2.loaders")
loaders.weakref = SimpleNamespace(ref=weakref.ref, proxy=lambda module, _removed: module)
"""Hypothesis reads every entry of `sys.modules`, and an entry of jinja2's for templates that are gone raises."""

EOS = platform("eos")
INTENTS = ("dual-esi", "dual-mlag", "dual-vlan", "multi-rail", "multi-rail-own", "shared-nic")

LARGEST = ("pod1-seg1-leaf1", "pod1-spine1", "super1")


def violations(structure: Structure) -> list[str]:
    """What AVD's schema says against a structured configuration."""
    result = pyavd.validate_structured_config(structure).validation_result
    return [f"{'.'.join(map(str, found.path))}: {found.message}" for found in result.violations]


def lines_of(structure: Structure) -> tuple[Line, ...]:
    """The lines that AVD renders."""
    return FORMAT.tree(pyavd.get_device_config(structure))


def disagreements(model: DeviceModel) -> list[str]:
    """What AVD says against a switch: violations of its schema, and lines that differ from ours."""
    structure = structured(model)
    ours = FORMAT.tree(EOS.text(EOS.render(model)))
    found = differing(ours, lines_of(structure))
    unknown = re.compile("|".join(rf"\+ .*: {pattern}" for pattern in ABSENT))
    return violations(structure) + [line for line in found if not unknown.fullmatch(line)]


@pytest.mark.parametrize("name", INTENTS)
def test_avd_renders_the_switches_of_a_design_to_the_same_lines(repository: Path, name: str) -> None:
    for switch in judged(design(repository / "inventory" / "fabrics" / f"{name}.yml").models.values()):
        model = admit(switch, EOS)
        assert disagreements(model) == [], model.name


def test_avd_renders_the_switches_of_the_largest_design_to_the_same_lines(repository: Path, tmp_path: Path) -> None:
    """One of each tier; of two pods, which have the same shapes as all 64, unless all switches are judged."""
    text = (repository / "inventory" / "fabrics" / "gpu131072.yml").read_text()
    path = tmp_path / "gpu131072.yml"
    path.write_text(text if EVERY else text.replace("pods: 64 ", "pods: 2 "))
    fabric = design(path)
    for name, model in plan(fabric.topology, fabric.intent, LARGEST).items():
        assert disagreements(admit(model, EOS)) == [], name


def test_avd_renders_a_switch_with_a_jericho_chip_to_the_same_lines(repository: Path) -> None:
    fabric = design(repository / "inventory" / "fabrics" / "multi-rail.yml")
    model = admit(replace(fabric.models["pod1-seg1-leaf1"], silicon="Jericho 2"), EOS)
    assert disagreements(model) == []
    assert structured(model)["qos_profiles"][0]["tx_queues"]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(drawn=st.data())
def test_avd_renders_every_model_that_the_capabilities_allow_to_the_same_lines(drawn: st.DataObject) -> None:
    assert disagreements(admit(drawn.draw(device_models("eos")), EOS)) == []


BROKEN: Mapping[str, tuple[str, Any]] = {
    "a PFC priority above 7": ("qos_profiles.0.priority_flow_control.priorities.0.priority", 9),
    "a marking probability above 100": (
        "qos_profiles.0.uc_tx_queues.1.random_detect.ecn.threshold.max_probability",
        101,
    ),
    "a threshold in a unit that EOS has not": (
        "qos_profiles.0.uc_tx_queues.1.random_detect.ecn.threshold.units",
        "cells",
    ),
    "an unknown priority of a queue": ("qos_profiles.0.uc_tx_queues.0.priority", "priority high"),
    "an unknown trust mode": ("qos_profiles.0.trust", "precedence"),
    "an unknown watchdog action": ("priority_flow_control.watchdog.action", "ignore"),
    "a watchdog time that is no number": ("priority_flow_control.watchdog.timeout", "fast"),
    "an alpha that is no power of two": (
        "platform.trident.mmu.queue_profiles.0.ingress.priority_groups.0.threshold",
        "1/3",
    ),
    "a priority group above 7": ("platform.trident.mmu.queue_profiles.0.ingress.priority_groups.0.id", 8),
    "a speed that EOS has not": ("ethernet_interfaces.0.speed", "300g"),
    "an MTU above 65535": ("ethernet_interfaces.0.mtu", 70_000),
    "more paths than EOS takes": ("router_bgp.maximum_paths.paths", 601),
    "a BFD multiplier below 3": ("router_bgp.peer_groups.0.bfd_timers.multiplier", 2),
    "an action of a route map that EOS has not": ("route_maps.0.sequence_numbers.0.type", "allow"),
    "a key that EOS has not": ("router_bgp.multipath", True),
}
"""Where a structured configuration is changed, and to which value."""


def with_value(structure: Structure, place: str, value: Any) -> Structure:
    """A copy with another value at a place."""
    changed: Structure = copy.deepcopy(structure)
    *above, last = place.split(".")
    parent: Any = changed
    for step in above:
        parent = parent[int(step)] if isinstance(parent, list) else parent[step]
    parent[last] = value
    return changed


@pytest.fixture(scope="module")
def leaf(repository: Path) -> DeviceModel:
    fabric = design(repository / "inventory" / "fabrics" / "multi-rail.yml")
    return admit(fabric.models["pod1-seg1-leaf1"], EOS)


@pytest.mark.parametrize("mistake", BROKEN)
def test_avd_refuses_a_broken_configuration(leaf: DeviceModel, mistake: str) -> None:
    place, value = BROKEN[mistake]
    structure = structured(leaf)
    assert violations(structure) == []
    (refusal,) = violations(with_value(structure, place, value))
    assert re.sub(r"\.(\d+)", r".\1", refusal).startswith(place)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("   priority-flow-control priority 3 no-drop\n", ""),
        ("   no switchport\n", "   switchport\n"),
        (" summary-only", ""),
        ("neighbor FABRIC bfd\n", "neighbor FABRIC bfd echo\n"),
        ("timeout 0.2\n", "timeout 200\n"),
        ("bytes maximum-threshold", "kbytes maximum-threshold"),
        ("platform trident mmu queue profile FABRIC apply\n", ""),
    ],
)
def test_a_line_that_is_not_avds_is_found(leaf: DeviceModel, line: str, instead: str) -> None:
    text = EOS.text(EOS.render(leaf))
    if line not in text:
        pytest.skip("the design has no such line")
    theirs = lines_of(structured(leaf))
    assert differing(FORMAT.tree(text), theirs) == []
    assert differing(FORMAT.tree(text.replace(line, instead)), theirs)
