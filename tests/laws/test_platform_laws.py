"""The conformance suite that every platform passes."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws.device_models import device_models, features
from tests.laws.leaf_models import WANTING, leaf

from railfab.errors import RailfabError, UnknownPlatform, UnsupportedFeature, each
from railfab.gnmi.paths import elements
from railfab.metrics import CATALOGUE
from railfab.platforms import SubscriptionMode, Support, admit, platform, platform_names
from railfab.platforms.admission import measures_of
from railfab.platforms.features import FEATURES

every_platform = pytest.mark.parametrize("name", platform_names())
thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LABEL = re.compile(r"\{(\w+)\}")


@every_platform
@given(drawn=st.data())
@thorough
def test_a_rendered_model_parses_to_the_same_model(name: str, drawn: st.DataObject) -> None:
    own = platform(name)
    model = admit(drawn.draw(device_models(name)), own)
    assert own.parse(own.text(own.render(model))) == model


@every_platform
@given(drawn=st.data())
@thorough
def test_equal_models_render_to_equal_text(name: str, drawn: st.DataObject) -> None:
    own = platform(name)
    text = own.text(own.render(admit(drawn.draw(device_models(name)), own)))
    assert own.text(own.render(own.parse(text))) == text


@every_platform
@pytest.mark.parametrize("feature", FEATURES)
def test_a_refusal_names_device_feature_and_platform(name: str, feature: str) -> None:
    own, model = platform(name), leaf(name, wanting=feature)
    lacking = {used for used, found in FEATURES.items() if found.used(model)} - features(name)
    if not lacking:
        assert admit(model, own).name == model.name
        return
    with pytest.raises(RailfabError) as refused:
        admit(model, own)
    assert {str(one).partition(". ")[0] for one in each(refused.value)} == {
        f"pod1-seg1-leaf1: platform {name} does not support {one}" for one in lacking
    }


@every_platform
def test_a_value_above_a_limit_is_refused_by_name(name: str) -> None:
    own, model = platform(name), leaf(name)
    for limit, most in own.capabilities.limits.items():
        assert measures_of(model)[limit] <= most
    limit = own.capabilities.limits["max_paths"]
    with pytest.raises(UnsupportedFeature) as refused:
        admit(replace(model, bgp=replace(model.bgp, max_paths=limit + 1)), own)
    assert str(refused.value) == (
        f"pod1-seg1-leaf1: max_paths {limit + 1} is above platform {name}'s limit of {limit}. Use {limit} or less."
    )


@pytest.mark.parametrize("feature", FEATURES)
def test_a_switch_that_wants_a_feature_uses_it(feature: str) -> None:
    """A feature that no example wants is missing here by its name."""
    assert FEATURES[feature].used(WANTING[feature](leaf()))


@every_platform
def test_a_platform_names_known_features_and_those_that_it_supports(name: str) -> None:
    stated = platform(name).capabilities.features
    assert set(stated) <= set(FEATURES)
    assert Support.NO not in stated.values()
    external = {feature for feature, support in stated.items() if support is Support.EXTERNAL}
    assert all(FEATURES[feature].without for feature in external)


@every_platform
def test_every_telemetry_rule_fills_the_labels_of_a_catalogued_metric(name: str) -> None:
    """A rule may lack a label of its metric, but never add one."""
    for rule in platform(name).telemetry.rules:
        texts = (rule.path, *(rule.from_leaf or {}).values())
        labels = {label for text in texts for label in LABEL.findall(text)} | set(rule.labels)
        assert labels <= set(CATALOGUE[rule.metric].labels), rule.path


@every_platform
def test_every_telemetry_rule_is_covered_by_a_subscription(name: str) -> None:
    telemetry = platform(name).telemetry
    for rule in telemetry.rules:
        mode = SubscriptionMode.ON_CHANGE if rule.on_change else SubscriptionMode.SAMPLE
        entries = [entry for entry in telemetry.subscriptions if entry.mode is mode]
        assert any(_covers(entry.path, rule.path) for entry in entries), rule.path


def _covers(subscription: str, rule: str) -> bool:
    """Whether the leaves of a rule are at or below a subscribed path; labels and `*` stand for any name."""
    wanted, own = elements(subscription), elements(LABEL.sub("*", rule))
    return len(wanted) <= len(own) and all(
        fnmatchcase(above.name, step.name) or fnmatchcase(step.name, above.name)
        for above, step in zip(wanted, own, strict=False)
    )


def test_an_unknown_platform_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownPlatform) as unknown:
        platform("ios")
    assert str(unknown.value) == f"platform 'ios': does not exist. Use one of {', '.join(platform_names())}."
