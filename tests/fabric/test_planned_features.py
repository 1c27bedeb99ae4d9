"""Designs of every kind, planned and rendered: what a platform renders parses back to the planned model.

One switch of each role, of every other pair of a design and a platform; `make oracles` tries all of them.
"""

from __future__ import annotations

from itertools import product
from operator import attrgetter
from typing import Any

import pytest
from tests.platforms.other_switches import judged
from tests.sampled import sampled
from tests.topology.fabric_intents import fabric

from railfab.device import DeviceModel, plan
from railfab.errors import Problems, UnsupportedFeature
from railfab.platforms import admit, platform, platform_names
from railfab.platforms.features import FEATURES
from railfab.testing.device_models import features
from railfab.topology import wire
from railfab.topology.catalogue import catalogue

DESIGNS: dict[str, dict[str, Any]] = {
    "ebgp": {},
    "numbered": {"profile__underlay": "numbered"},
    "ibgp": {"profile__control_plane": "ibgp", "profile__reflectors": 4},
    "ipv6": {"profile__family": "ipv6", "profile__underlay": "numbered"},
    "ipv6 unnumbered": {"profile__family": "ipv6"},
    "vlan": {"hosts__attach": "vlan"},
    "bundle": {"backend__spines__links_per_leaf": 2, "backend__spines__bundle": True, "backend__spines__count": 2},
    "esi": {"hosts__attach": "esi", "profile__control_plane": "evpn", "profile__data_plane": "vxlan"},
    "timers": {"profile__bgp": {"keepalive_s": 10, "hold_s": 30, "connect_retry_s": 5, "advertisement_interval_s": 1}},
    "prefix limit": {"profile__bgp": {"prefix_limit": 2000}},
    "hold time of links": {"profile__link_hold_up_ms": 2000},
    "management": {
        "management": {
            "services": {"ntp": ["10.0.0.1"], "aaa": ["10.0.0.2"], "syslog": ["10.0.0.10", "10.0.0.9"]},
            "gnmi": {"tls_profile": "fabric"},
            "banner": "authorised users only",
        }
    },
    "storage of RoCE": {"profile__lossless": {"weight": 60}, "profile__storage_class": {"weight": 30}},
    "storage of TCP": {
        "profile__lossless": {"weight": 60},
        "profile__storage_class": {"protocol": "nvme-tcp", "weight": 30},
    },
    "adaptive": {"profile__ecmp": "adaptive", "hosts__reorder": True},
    "collective": {"profile__ecmp": "collective"},
    "trimming": {"profile__ultra_ethernet": {"packet_trimming": {}}},
    "link level retry": {"profile__ultra_ethernet": {"link_level_retry": True}},
    "hash": {"profile__hash": {"seed": 4, "fields": ["source-port", "destination-port"]}},
}


NEED_CLASSES = ("profile__storage_class", "profile__ultra_ethernet")
"""Keys that mean nothing without the lossless class."""

LARGE_ENOUGH = ("linux-64", "7220-ixr-d5", *catalogue())
"""Switch models, the preferred ones first."""


def switch_model(name: str) -> str:
    """A switch model that runs a platform; the test is skipped where the catalogue has none."""
    found = next((model for model in LARGE_ENOUGH if name in catalogue()[model].names), None)
    return found or pytest.skip(f"no switch model of the catalogue runs {name}")


def models(name: str, changes: dict[str, Any]) -> list[DeviceModel]:
    """The models of a design on a platform; without the lossless class where it cannot have one."""
    lossless: dict[str, Any] = {}
    if "pfc" not in features(name):
        lossless = {"profile__lossless": False}
        changes = {key: value for key, value in changes.items() if key not in NEED_CLASSES}
    tiers = {
        f"backend__{tier}__{key}": value
        for tier in ("segments", "spines")
        for key, value in (("platform", name), ("model", switch_model(name)))
    }
    intent = fabric(**{**changes, **lossless, **tiers})
    return list(plan(wire(intent), intent).values())


EVERY = [*product(DESIGNS, platform_names())]


@pytest.mark.parametrize(("design", "name"), sampled(EVERY, few=EVERY[::2]))
def test_a_design_parses_back_to_its_models_or_is_refused_where_a_platform_lacks_a_feature(
    design: str, name: str
) -> None:
    own = platform(name)
    for model in judged(models(name, DESIGNS[design])):
        lacking = {feature for feature, found in FEATURES.items() if found.used(model)} - features(name)
        if lacking:
            with pytest.raises((UnsupportedFeature, Problems), match="|".join(lacking)):
                admit(model, own)
        else:
            admitted = admit(model, own)
            assert own.parse(own.text(own.render(admitted))) == admitted


def test_the_key_of_a_feature_is_one_of_the_intent() -> None:
    """So that the remedy of a refusal names something to change."""
    intent = fabric(profile__lossless={"dscp": 26, "weight": 60}, profile__storage_class={"weight": 30}, management={})
    for feature, found in FEATURES.items():
        assert found.key is None or attrgetter(found.key)(intent) != "", feature


def test_a_refusal_says_which_key_of_the_intent_asks_for_the_feature() -> None:
    (spine,) = [found for found in models("srlinux", {"profile__ecmp": "flowlet"}) if found.name == "pod1-spine1"]
    with pytest.raises(UnsupportedFeature) as refused:
        admit(spine, platform("srlinux"))
    assert str(refused.value) == (
        "pod1-spine1: platform srlinux does not support load_balancing_flowlet. "
        "Choose another platform, or change profile.ecmp in the intent."
    )
