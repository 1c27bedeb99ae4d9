"""ECN thresholds that the intent states for one role: rendered, parsed, audited alone and with the other end."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.device import DeviceModel
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings
from railfab.fabric.trial import changed
from railfab.findings import DifferenceCode
from railfab.platforms import platform, platform_names
from railfab.testing.device_models import features

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
OF_LEAVES, OF_ALL = {"kmin_bytes": 768_000, "kmax_bytes": 3_072_000}, {"kmin_bytes": 1_536_000, "kmax_bytes": 6_144_000}
NAMES = [name for name in platform_names() if "ecn" in features(name)]


@cache
def by_role(name: str) -> Design:
    """A small fabric of one platform, whose leaves have other thresholds than its spines."""
    same = design_of(name, name)
    ramps = {"ecn": {400: OF_ALL}, "ecn_by_role": {"leaf": {400: OF_LEAVES}}}
    return replace(same, intent=changed(same.intent, {"profile.lossless": ramps}))


def ramps(model: DeviceModel) -> set[tuple[int, int]]:
    assert model.qos is not None
    found = {thresholds.ecn for profile in model.qos.profiles for thresholds in profile.thresholds}
    return {(ramp.kmin_bytes, ramp.kmax_bytes) for ramp in found if ramp is not None}


@pytest.mark.parametrize("name", NAMES)
def test_each_role_is_configured_with_its_thresholds(name: str) -> None:
    fabric, own = by_role(name), platform(name)
    for switch, stated in ((LEAF, OF_LEAVES), (SPINE, OF_ALL)):
        assert ramps(own.parse(fabric.texts[switch])) == {tuple(stated.values())}


@pytest.mark.parametrize("name", NAMES)
def test_ends_that_differ_as_intended_agree_whichever_switches_are_audited(name: str) -> None:
    """A text that is the rendered one would not be parsed."""
    fabric = by_role(name)
    for switches in ([LEAF, SPINE], [LEAF], [SPINE]):
        assert configuration_findings(fabric, {switch: fabric.texts[switch] + "\n" for switch in switches}) == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_thresholds_of_the_other_role_are_found_whichever_switches_are_audited(name: str) -> None:
    fabric, same = by_role(name), design_of(name, name)
    everywhere = replace(same, intent=changed(same.intent, {"profile.lossless": {"ecn": {400: OF_ALL}}}))
    wrong = {LEAF: everywhere.texts[LEAF]}
    alone = configuration_findings(fabric, wrong)
    assert {found.code for found in alone} & {"ecn-thresholds", DifferenceCode.CONFIGURATION_DIFFERS}
    assert configuration_findings(fabric, {**wrong, SPINE: fabric.texts[SPINE] + "\n"}) == alone


def test_another_value_where_both_roles_have_the_same_is_a_mismatch_of_the_link() -> None:
    """Roles with thresholds of their own do not hide a difference of a speed that they share."""
    same = design_of("srlinux", "srlinux")
    stated = {"ecn": {400: OF_ALL}, "ecn_by_role": {"leaf": {100: OF_LEAVES}}}
    fabric = replace(same, intent=changed(same.intent, {"profile.lossless": stated}))
    text = fabric.texts[LEAF].replace("1536000", "1540000")
    codes = {found.code for found in configuration_findings(fabric, {LEAF: text, SPINE: fabric.texts[SPINE]})}
    assert DifferenceCode.THRESHOLD_MISMATCH in codes
