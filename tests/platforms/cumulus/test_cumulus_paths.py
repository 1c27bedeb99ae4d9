"""Every setting that is rendered has its place and its value in the table of NVUE's paths, and what it refuses."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.platforms.cumulus.switches import NATIVE, OTHERS, with_cumulus
from tests.platforms.other_switches import judged

from railfab.device import DeviceModel
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.cumulus.schema import TYPES, model
from railfab.platforms.shared.json_tree import Json
from railfab.testing.device_models import device_models

CUMULUS = platform("cumulus")
TABLE = Path(__file__).parents[3] / "src" / "railfab" / "platforms" / "cumulus" / "paths.txt"


@pytest.mark.parametrize("name", [*NATIVE, *OTHERS])
def test_the_switches_of_a_design_have_known_paths_and_are_read_back(
    repository: Path, tmp_path: Path, name: str
) -> None:
    for switch in judged(with_cumulus(repository, name, tmp_path).models.values()):
        text = CUMULUS.text(CUMULUS.render(switch))
        assert CUMULUS.refusals(text) == ()
        assert CUMULUS.parse(text) == switch


@given(drawn=st.data())
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_every_model_has_known_paths(drawn: st.DataObject) -> None:
    switch = admit(drawn.draw(device_models("cumulus")), CUMULUS)
    assert CUMULUS.refusals(CUMULUS.text(CUMULUS.render(switch))) == ()


BROKEN: Mapping[str, tuple[str, Any, str]] = {
    "an unknown word of a known container": ("qos pfc p-400g-5m headroom", 5, "the model of NVUE does not have it"),
    "a word of an earlier release": (
        "vrf default router bgp neighbor swp33 bfd min-tx-interval",
        300,
        "does not have it",
    ),
    "a container that railfab does not know": ("interface swp1 link power", "high", "does not have it"),
    "an MTU beyond the chip": ("interface swp1 link mtu", 9500, "'9500' is not 552..9216"),
    "a speed that no port has": ("interface swp1 link speed", "300G", "'300G' is not auto|"),
    "a code point of seven bits": (
        "qos mapping fabric dscp 64 switch-priority",
        3,
        "'64' is not 0..63",
    ),
    "a ninth priority": ("qos pfc p-400g-5m switch-priority 8", {}, "'8' is not 0..7"),
    "a probability beyond certainty": (
        "qos congestion-control p-400g-5m traffic-class 3 probability",
        101,
        "'101' is not 1..100",
    ),
    "a threshold below nothing": ("qos congestion-control p-400g-5m traffic-class 3 min-threshold", -1, "'-1' is not"),
    "more than all of a link": (
        "qos egress-scheduler default-global traffic-class 0 bw-percent",
        50,
        "140 percent are shared out",
    ),
    "more than all of the buffer": ("qos traffic-pool roce-lossless memory-percent", 101, "'101' is not 0..100"),
    "pools that exceed the buffer": (
        "qos traffic-pool",
        {"default-lossy": {"memory-percent": 60}, "roce-lossless": {"memory-percent": 60}},
        "120 percent are shared out",
    ),
    "two kinds of pause on one port": (
        "interface swp1 qos link-pause profile",
        "every",
        "a port with PFC cannot have it",
    ),
    "a watchdog on a bond": ("interface bond1 qos pfc-watchdog state", "enable", "only a physical port can have it"),
    "MLAG beside multihoming": (
        "",
        {"mlag": {"state": "enabled"}, "evpn": {"multihoming": {"state": "enabled"}}},
        "a switch with MLAG cannot have it",
    ),
    "a reserved name": ("interface swp1 qos pfc profile", "none", "'none' is not NAME"),
    "a name that begins with a digit": ("interface swp1 qos mapping profile", "1st", "'1st' is not NAME"),
    "a community of 33 bits": (
        "router policy community-list far rule 10 community 70000:1",
        {},
        "'70000:1' is not COMMUNITY",
    ),
    "an address without a length": ("interface lo ipv4 address 10.0.0.1", {}, "'10.0.0.1' is not IPV4_PREFIX"),
    "a prefix of another family": ("interface lo ipv4 address 2001:db8::1/128", {}, "is not IPV4_PREFIX"),
    "an AS number of 33 bits": ("router bgp autonomous-system", 4294967296, "'4294967296' is not 1..4294967295"),
    "a setting without its value": ("interface swp1 link mtu", {}, "it has no value"),
    "a value in the place of a container": ("qos roce", "yes", "'yes' is not state or mode"),
    "a switch that is neither on nor off": ("router bgp state", "maybe", "'maybe' is not enabled|disabled"),
    "too quick polls of the watchdog": ("qos pfc-watchdog polling-interval", 10, "'10' is not 100..5000"),
    "a retry of BGP of no time": ("vrf default router bgp neighbor swp33 timers connection-retry", 0, "'0' is not 1.."),
}
"""A setting of a leaf that NVUE refuses, and what is said of it."""


@pytest.fixture(scope="module")
def leaf(repository: Path) -> DeviceModel:
    return design(repository / "inventory" / "fabrics" / "single-rail.yml").models["pod1-seg1-leaf1"]


def changed(tree: Json, words: str, value: Any) -> Json:
    """The tree with one more setting, or several by their words."""
    found = copy.deepcopy(tree)
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            found = changed(found, f"{words} {name}".strip(), below)
        return found
    *above, last = words.split()
    place = found
    for word in above:
        place = place.setdefault(word, {})
    place[last] = value
    return found


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_configuration_is_refused(leaf: DeviceModel, case: str) -> None:
    words, value, said = BROKEN[case]
    text = CUMULUS.text(changed(CUMULUS.render(leaf), words, value))
    refusals = CUMULUS.refusals(text)
    assert any(said in refusal.problem for refusal in refusals), refusals
    assert all(refusal.where.startswith("nv set ") for refusal in refusals)


def test_a_port_that_marks_nothing_has_a_profile_whose_name_begins_with_a_letter(leaf: DeviceModel) -> None:
    assert leaf.qos is not None
    first, *rest = leaf.qos.ports
    unmarked = replace(leaf, qos=replace(leaf.qos, ports=(replace(first, ecn=()), *rest)))
    text = CUMULUS.text(CUMULUS.render(unmarked))
    assert CUMULUS.refusals(text) == ()
    assert CUMULUS.parse(text) == unmarked


def test_every_type_of_the_table_is_known_and_every_path_has_a_source() -> None:
    """A word in capitals is a type; a line without a source is a guess."""
    sources, words = 0, set()
    for line in TABLE.read_text().splitlines():
        if line.startswith("## "):
            sources += 1
        elif line and not line.startswith("#"):
            assert sources, f"{line} stands before any source"
            words |= {part for word in line.replace("=", " ").split() for part in word.split("|")}
    assert {word for word in words if word.isupper() and word.replace("_", "").isalnum()} <= {*TYPES, "NEIGHBOR"} | {
        word for word in words if any(one.isdigit() for one in word)
    }
    assert model().words.keys() >= {"interface", "qos", "router", "vrf", "system"}
