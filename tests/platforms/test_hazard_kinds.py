"""The catalogue of hazard kinds: one code for one mistake, whatever the platform."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from tests.findings import reasons
from tests.platforms.small_fabrics import design_of

from railfab.device import DeviceModel, Port
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings
from railfab.fabric.design import render_text
from railfab.findings import DesignCode, DifferenceCode, Finding, Severity
from railfab.platforms import platform
from railfab.platforms.hazard_kinds import hazard_kinds, old_hazard_names

PLATFORMS = ("srlinux", "sonic", "eos", "nxos", "junos", "cumulus", "frr")
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


def test_codes_are_words_with_hyphens_and_each_is_once_in_the_file() -> None:
    text = files("railfab.platforms").joinpath("hazard_kinds.yml").read_text()
    codes = re.findall(r"(?m)^([^ #\n].*):$", text)
    assert codes == list(hazard_kinds())
    assert [code for code in codes if not re.fullmatch(r"[a-z]+[0-9]*(-[a-z0-9]+)*", code)] == []


def test_no_code_is_that_of_another_finding() -> None:
    assert hazard_kinds().keys() & {*DesignCode, *DifferenceCode} == set()


def test_a_kind_is_an_error_or_a_warning_with_a_consequence() -> None:
    for kind in hazard_kinds().values():
        assert kind.severity is not Severity.NOTE
        assert re.fullmatch(r".*[^.]", kind.consequence), kind.code


def test_every_kind_has_a_pattern_of_a_platform() -> None:
    assert {hazard.kind for name in PLATFORMS for hazard in platform(name).hazards()} == hazard_kinds().keys()


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_kind_without_a_pattern_on_a_platform_has_a_reason(name: str) -> None:
    """Both at once are refused when the file is read."""
    named = {hazard.kind for hazard in platform(name).hazards()} | platform(name).hazard_gaps().keys()
    assert hazard_kinds().keys() - named == set()


def test_an_old_name_has_one_kind_on_each_platform() -> None:
    text = files("railfab.platforms").joinpath("old_hazard_names.yml").read_text()
    names = [
        (name, old_name)
        for line in text.splitlines()
        for name, listed in re.findall(r"(\w+): \[([^]]+)\]", line)
        if not line.startswith("#")
        for old_name in listed.split(", ")
    ]
    assert len(names) == len(set(names)) == sum(map(len, old_hazard_names().values()))
    assert {name for name, _ in names} <= {*PLATFORMS}
    assert {code for kinds in old_hazard_names().values() for code in kinds.values()} <= hazard_kinds().keys()


def test_no_old_name_is_the_code_of_another_kind() -> None:
    assert old_hazard_names().keys() & hazard_kinds().keys() == set()


def test_four_old_names_have_another_kind_on_another_platform() -> None:
    several = {name for name, kinds in old_hazard_names().items() if len(set(kinds.values())) > 1}
    assert several == {"hold-time", "one-path", "shutdown", "slow-port"}


# One mistake on every platform


def port(model: DeviceModel, **settings: Any) -> DeviceModel:
    """The model with other settings of its first port; as it is where that has no MTU, as on FRR."""
    first = next(interface for interface in model.interfaces if isinstance(interface, Port))
    if first.mtu_bytes is None:
        return model
    changed = replace(first, **settings)
    return replace(model, interfaces=tuple(changed if one is first else one for one in model.interfaces))


def port_qos(model: DeviceModel, **settings: Any) -> DeviceModel:
    assert model.qos is not None
    ports = tuple(replace(port, **settings) for port in model.qos.ports)
    return replace(model, qos=replace(model.qos, ports=ports))


def sessions(model: DeviceModel, **settings: Any) -> DeviceModel:
    assert model.bgp is not None
    neighbors = tuple(replace(neighbor, **settings) for neighbor in model.bgp.neighbors)
    return replace(model, bgp=replace(model.bgp, neighbors=neighbors))


def slow(model: DeviceModel) -> DeviceModel:
    assert model.bgp is not None
    return sessions(model, timers=replace(model.bgp.neighbors[0].timers, keepalive_s=60, hold_s=180))


def unwatched(model: DeviceModel) -> DeviceModel:
    assert model.qos is not None
    return replace(model, qos=replace(model.qos, watchdog=None))


def one_path(model: DeviceModel) -> DeviceModel:
    assert model.bgp is not None
    return replace(model, bgp=replace(model.bgp, max_paths=1))


MISTAKES: Mapping[str, Callable[[DeviceModel], DeviceModel]] = {
    "pfc-off": lambda model: port_qos(model, pfc=()),
    "ecn-off": lambda model: port_qos(model, ecn=()),
    "wrong-classifier": lambda model: port_qos(model, classifier=None),
    "watchdog-off": unwatched,
    "small-mtu": lambda model: port(model, mtu_bytes=1500),
    "port-disabled": lambda model: port(model, enabled=False),
    "bfd-off": lambda model: sessions(model, bfd=None),
    "slow-hold-time": slow,
    "session-down": lambda model: sessions(model, enabled=False),
    "drained": lambda model: replace(model, drain=True),
    "fewer-paths": one_path,
}
OF_QOS = {"pfc-off", "ecn-off", "wrong-classifier", "watchdog-off"}
GAPS: Mapping[str, set[str]] = {
    "pfc-off": {"eos"},  # the port has another profile: `wrong-qos-profile`
    "ecn-off": {"eos"},
}
"""Platforms on which no hazard of this kind names the mistake, but the values that differ from the intent do."""


@pytest.mark.parametrize("kind", MISTAKES)
def test_the_same_mistake_has_the_same_code_on_every_platform(kind: str) -> None:
    fabrics = [design_of(name, name) for name in PLATFORMS]
    findings = {
        fabric.models[LEAF].platform: audited(fabric, kind, LEAF) for fabric in fabrics if can_be_made(fabric, kind)
    }
    assert {name for name, said in findings.items() if kind in reasons(said)} == findings.keys() - GAPS.get(kind, set())
    assert all(findings.values())


def can_be_made(fabric: Design, kind: str) -> bool:
    """Whether the model of the leaf has the setting: that of FRR has no queues, and nothing of its ports."""
    model = fabric.models[LEAF]
    has_place = kind not in OF_QOS or model.qos is not None
    return has_place and MISTAKES[kind](model) != model


def audited(fabric: Design, kind: str, *switches: str) -> tuple[Finding, ...]:
    """The findings of the fabric with a mistake on these switches."""
    broken = {name: render_text(MISTAKES[kind](fabric.models[name])) for name in switches}
    return configuration_findings(fabric, {**fabric.texts, **broken})


@pytest.mark.parametrize(("leaf", "spine"), [("srlinux", "sonic"), ("nxos", "cumulus")])
@pytest.mark.parametrize("kind", ["pfc-off", "ecn-off", "watchdog-off", "small-mtu"])
def test_a_mistake_on_both_tiers_of_a_mixed_fabric_has_one_code(leaf: str, spine: str, kind: str) -> None:
    hazards = [finding for finding in audited(design_of(leaf, spine), kind, LEAF, SPINE) if finding.code == kind]
    assert {finding.switch for finding in hazards} == {LEAF, SPINE}
    assert {finding.severity for finding in hazards} == {hazard_kinds()[kind].severity}
