"""Rounding of a model to the units of a platform, and what admission leaves out of a model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.device import BalancingMode, DeviceModel, HashField, LoadBalancing, PfcWatchdog
from railfab.errors import RailfabError
from railfab.platforms import Support, admit, platform
from railfab.platforms.admission import support_of
from railfab.platforms.balancing_features import QUEUE_PAIR_FIELDS
from railfab.platforms.contract import BgpSettings
from railfab.platforms.features import FEATURES
from railfab.platforms.rounding import rounded
from railfab.testing.device_models import device_models
from railfab.testing.leaf_models import leaf

NAME = "srlinux"
STEPS = {
    "ecn_bytes": 1_000,
    "xoff_bytes": 254,
    "xon_offset_bytes": 100,
    "headroom_bytes": 208,
    "limit_bytes": 300,
    "headroom_pool_bytes": 1_000,
    "shared_pool_bytes": 1_000,
    "watchdog_ms": 100,
}
OPTIONAL = [name for name, feature in FEATURES.items() if feature.optional]


@given(model=device_models(NAME), steps=st.dictionaries(st.sampled_from(sorted(STEPS)), st.integers(1, 5_000)))
def test_rounding_twice_changes_nothing_more(model: DeviceModel, steps: dict[str, int]) -> None:
    once = rounded(model, steps)
    assert rounded(once, steps) == once


@given(model=device_models(NAME))
def test_without_steps_nothing_is_rounded(model: DeviceModel) -> None:
    assert rounded(model, {}) == model
    assert rounded(model, dict.fromkeys(STEPS, 1)) == model


def test_thresholds_and_times_are_rounded_up_and_shared_buffer_down() -> None:
    model = leaf(NAME, feature="pfc")
    assert model.qos is not None
    (profile,) = model.qos.profiles
    sizes = replace(profile.thresholds[0], xoff_bytes=600_001, headroom_bytes=300_001, xon_offset_bytes=18_432)
    qos = replace(
        model.qos,
        profiles=(replace(profile, thresholds=(sizes,)),),
        watchdog=PfcWatchdog(detect_ms=201, recover_ms=400),
        headroom_pool_bytes=9_999_999,
        shared_pool_bytes=59_999_999,
    )
    found = rounded(replace(model, qos=qos), STEPS).qos
    assert found is not None
    (held,) = found.profiles[0].thresholds
    assert held.ecn is not None
    assert (held.ecn.kmin_bytes, held.ecn.kmax_bytes) == (150_000, 450_000)
    assert (held.xoff_bytes, held.headroom_bytes, held.xon_offset_bytes) == (600_202, 300_144, 18_500)
    assert found.watchdog == PfcWatchdog(detect_ms=300, recover_ms=400)
    assert (found.headroom_pool_bytes, found.shared_pool_bytes) == (10_000_000, 59_999_000)


def test_an_optional_feature_is_omitted_by_a_platform_that_does_not_name_it() -> None:
    """One that cannot be left out is kept. The platform has all other features of the model, and fills no timers."""
    own = platform(NAME)
    for name in OPTIONAL:
        model, can_be_left_out = leaf(NAME, feature=name), FEATURES[name].without is not None
        features = {one: Support.YES for one, found in FEATURES.items() if one != name and found.used(model)}
        bare = replace(own.capabilities, features=features, bgp=BgpSettings())
        assert support_of(bare, name) is Support.OMITTED
        assert FEATURES[name].used(admit(model, replace(own, capabilities=bare))) is not can_be_left_out


def test_classes_without_names_have_those_of_their_queues_wherever_they_are_named() -> None:
    own, model = platform(NAME), leaf(NAME, feature="ecn")
    features = {k: v for k, v in own.capabilities.features.items() if k != "class_names"}
    qos = admit(model, replace(own, capabilities=replace(own.capabilities, features=features))).qos
    assert qos is not None
    assert [found.name for found in qos.classes] == ["queue0", "queue3"]
    assert qos.default_class == "queue0"
    assert qos.classifiers[0].dscp == ((26, "queue3"),)
    assert [found.traffic_class for found in qos.profiles[0].thresholds] == ["queue3"]
    assert qos.ports[0].ecn == ("queue3",)


def test_a_queue_pair_that_a_switch_hashes_by_itself_is_left_out_of_the_other_fields() -> None:
    """Junos has no statement of it; NX-OS has no setting for it either, so it is refused there by name."""
    fields = tuple(field for field in HashField if field in QUEUE_PAIR_FIELDS)
    model = replace(leaf("junos"), load_balancing=LoadBalancing(fields=fields))
    found = admit(model, platform("junos")).load_balancing
    assert found == LoadBalancing(fields=tuple(field for field in fields if field != HashField.QUEUE_PAIR))
    with pytest.raises(RailfabError, match="hash_queue_pair"):
        admit(replace(leaf("nxos"), load_balancing=LoadBalancing(fields=fields)), platform("nxos"))


@pytest.mark.parametrize("name", ["junos", "sonic"])
def test_spraying_is_adaptive_routing_where_a_switch_sprays_by_load(name: str) -> None:
    """In the model, by which it is simulated, and in what is read back."""
    own = platform(name)
    wanted = replace(leaf(name), load_balancing=LoadBalancing(mode=BalancingMode.PACKET))
    admitted = admit(wanted, own)
    assert admitted.load_balancing == LoadBalancing(mode=BalancingMode.ADAPTIVE)
    assert own.parse(own.text(own.render(admitted))).load_balancing == admitted.load_balancing
