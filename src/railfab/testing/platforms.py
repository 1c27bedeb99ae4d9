"""The conformance suite that every platform passes: a class of tests to subclass.

from railfab.testing.platforms import PlatformLaws

class TestToy(PlatformLaws):
    name = "toy"
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from railfab.device import DeviceModel
from railfab.errors import RailfabError, UnsupportedFeature, each
from railfab.gnmi import messages
from railfab.gnmi.bundles import bundles
from railfab.gnmi.target import Selected
from railfab.gnmi.values import ENCODINGS
from railfab.metrics import CATALOGUE
from railfab.platforms import (
    Datastore,
    Platform,
    SubscriptionMode,
    Support,
    TelemetryRule,
    TwinFace,
    admit,
    platform,
    platform_names,
)
from railfab.platforms.admission import measures_of, supports, without
from railfab.platforms.features import FEATURES
from railfab.platforms.hazard_kinds import hazard_kinds
from railfab.platforms.telemetry_checks import covers
from railfab.platforms.telemetry_map import carried_labels
from railfab.telemetry.mapping import compiled, path_map
from railfab.telemetry.notification import NotificationDecoder
from railfab.testing.carried import misstatements, with_choices
from railfab.testing.device_models import device_models, features
from railfab.testing.edits import edited_trees
from railfab.testing.leaf_models import leaf
from railfab.testing.native_values import native_values, rule_labels
from railfab.twin.encoder import Encoder, Wildcard

inherited = [HealthCheck.too_slow, HealthCheck.differing_executors]
"""Health checks that do not apply: one test runs in the class of each platform."""
EXAMPLES = int(os.environ.get("RAILFAB_EXAMPLES", "15"))
"""Models that the law of rendering and parsing draws, and others a third of them; `make laws` draws many more."""

thorough = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=inherited)
brief = settings(max_examples=min(max(EXAMPLES // 3, 1), 10), deadline=None, suppress_health_check=inherited)


class PlatformLaws:
    """The laws of one platform. name: of an installed platform."""

    name: ClassVar[str]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test that takes a rule on each of the platform's."""
        if "rule" in metafunc.fixturenames:
            metafunc.parametrize("rule", self.platform.telemetry.rules, ids=lambda rule: f"{rule.metric} {rule.path}")

    @property
    def platform(self) -> Platform:
        return platform(self.name)

    @property
    def face(self) -> TwinFace:
        """The face `twin` of the platform; the test is skipped without one."""
        if self.platform.twin is None:
            pytest.skip(f"the twin does not serve {self.name}")
        return self.platform.twin()

    def model(self, drawn: st.DataObject) -> DeviceModel:
        """Any model within the capabilities of the platform."""
        return admit(drawn.draw(device_models(self.name)), self.platform)

    # Configuration

    @given(drawn=st.data())
    @thorough
    def test_a_rendered_model_parses_to_the_admitted_model_that_renders_to_equal_text(
        self, drawn: st.DataObject
    ) -> None:
        """What rendering loses of a model is what the capabilities leave out, no more and no less."""
        own, planned = self.platform, drawn.draw(device_models(self.name))
        text = own.text(own.render(with_choices(planned, own)))
        parsed = own.parse(text)
        assert parsed == admit(planned, own)
        assert own.text(own.render(parsed)) == text

    @given(drawn=st.data())
    @thorough
    def test_what_the_system_below_has_is_a_comment_of_the_configuration(self, drawn: st.DataObject) -> None:
        """A text that begins with it parses to the same model, which leaves it out, where there is such a part."""
        own = self.platform
        if own.external is None:
            return
        planned = drawn.draw(device_models(self.name))
        model = admit(planned, own)
        assert own.parse(own.external(planned) + own.text(own.render(model))) == model

    # What a configuration has beyond the model

    @given(drawn=st.data())
    @thorough
    def test_no_leaf_or_line_is_lost(self, drawn: st.DataObject) -> None:
        """An edit anywhere is another model, if only in its unmodelled part, or refused; or it is no difference to the
        switch, such as the removal of a default that the platform states."""
        own, model = self.platform, self.model(drawn)
        tree = own.render(model)
        text = own.text(tree)
        edited = own.text(drawn.draw(edited_trees(tree)))
        if edited == text:
            return
        try:
            parsed = own.parse(edited)
        except RailfabError:
            return
        assert parsed != model or own.differences(edited, text) == ()

    @given(drawn=st.data())
    @brief
    def test_a_rendered_configuration_has_no_difference_no_refusal_and_its_own_names(
        self, drawn: st.DataObject
    ) -> None:
        own, model = self.platform, self.model(drawn)
        text = own.text(own.render(model))
        assert own.differences(text, text) == ()
        assert own.refusals is None or own.refusals(text) == ()
        assert own.aligned is None or own.aligned(text, text) == (text, ())

    def test_its_hazards_have_sources_and_say_why_their_severity_is_not_that_of_their_kind(
        self,
    ) -> None:
        hazards = self.platform.hazards()
        assert hazards
        for hazard in hazards:
            kind = hazard_kinds()[hazard.kind]
            assert hazard.source, hazard
            assert hazard.severity is kind.severity or hazard.consequence != kind.consequence, hazard

    # Capabilities

    def test_a_refusal_names_device_feature_and_platform(self) -> None:
        """Of each feature; what the capabilities leave out, or have, is admitted."""
        refusals = {feature: self._refusals(feature) for feature in FEATURES}
        assert {feature: pair for feature, pair in refusals.items() if pair[0] != pair[1]} == {}

    def _refusals(self, feature: str) -> tuple[set[str], set[str]]:
        """The refusals of a small switch that has a feature, and those that follow from the capabilities."""
        own, model = self.platform, leaf(self.name, feature=feature)
        assert FEATURES[feature].used(model)
        support = supports(own.capabilities)
        left = without(model, support, Support.OMITTED)
        lacking = {used for used, found in FEATURES.items() if found.used(left)} - features(self.name)
        expected = {
            f"pod1-seg1-leaf1: {one} cannot be rendered for platform {self.name} yet"
            if support[one] is Support.LATER
            else f"pod1-seg1-leaf1: platform {self.name} does not support {one}"
            for one in lacking
        }
        try:
            assert admit(model, own).name == model.name
        except RailfabError as error:
            return {str(one).partition(". ")[0] for one in each(error)}, expected
        return set(), expected

    def test_a_value_above_a_limit_is_refused_by_name(self) -> None:
        own, model = self.platform, leaf(self.name)
        for name, most in own.capabilities.limits.items():
            assert measures_of(model)[name] <= most
        limit = own.capabilities.limits["max_paths"]
        assert model.bgp is not None
        with pytest.raises(UnsupportedFeature) as refused:
            admit(replace(model, bgp=replace(model.bgp, max_paths=limit + 1)), own)
        assert str(refused.value) == (
            f"pod1-seg1-leaf1: max_paths {limit + 1} is above platform {self.name}'s limit of {limit}. "
            f"Use {limit} or less as profile.bgp.max_paths in the intent."
        )

    def test_capabilities_name_known_features_and_those_that_the_platform_supports(self) -> None:
        stated = self.platform.capabilities.features
        assert set(stated) <= set(FEATURES)
        for found in self.platform.capabilities.chips.values():
            assert found.keys() <= FEATURES.keys()
            assert all(FEATURES[name].without for name, support in found.items() if support is Support.OMITTED)
        external = {feature for feature, support in stated.items() if support is Support.EXTERNAL}
        omitted = {feature for feature, support in stated.items() if support is Support.OMITTED}
        assert all(FEATURES[feature].without for feature in external | omitted)
        assert external <= self.platform.capabilities.external.keys(), "each with how to set it on the system"

    def test_its_configuration_carries_the_features_that_its_capabilities_state(self) -> None:
        """Both ways, with a small switch for each feature: what is supported is read back, and no other is."""
        assert list(misstatements(self.platform)) == []

    def test_the_platform_is_found_by_its_name(self) -> None:
        assert self.name in platform_names()
        assert self.platform.name == self.name

    def test_ports_have_different_names_in_a_lab(self) -> None:
        names = self.platform.lab.interfaces
        cages = [cage for cage in range(1, 65) if names.port(cage) is not None]
        assert cages
        found = [names.lab(names.port(cage) or "") for cage in cages]
        assert None not in found
        assert len(set(found)) == len(cages)
        assert [names.position(name or "") for name in found] == [(cage, None) for cage in cages]

    # Telemetry

    def test_a_rule_fills_the_labels_of_a_catalogued_metric(self) -> None:
        """It may lack a label of its metric, but never add one."""
        rules = self.platform.telemetry.rules
        beyond = {
            rule.path: (carried_labels(rule) | set(rule.labels)) - set(CATALOGUE[rule.metric].labels) for rule in rules
        }
        assert {path: labels for path, labels in beyond.items() if labels} == {}

    def test_a_rule_is_covered_by_a_subscription(self) -> None:
        telemetry = self.platform.telemetry
        paths = {
            mode: [entry.path for entry in telemetry.subscriptions if entry.mode is mode] for mode in SubscriptionMode
        }
        uncovered = [
            rule.path
            for rule in telemetry.rules
            if not any(
                covers(path, rule.path)
                for path in paths[SubscriptionMode.ON_CHANGE if rule.on_change else SubscriptionMode.SAMPLE]
            )
        ]
        assert uncovered == []

    @given(drawn=st.data(), encoding=st.sampled_from(ENCODINGS))
    @brief
    def test_decoding_undoes_encoding(self, rule: TelemetryRule, drawn: st.DataObject, encoding: int) -> None:
        """The collector decodes a message of the twin to the sample that it was encoded from."""
        labels = drawn.draw(rule_labels(self.name, rule))
        value = drawn.draw(native_values(rule))
        read = self._sent_and_read(rule.metric, labels, value, encoding)
        ordered = tuple((label, labels[label]) for label in compiled(rule).metric.labels if label in labels)
        assert read[rule.metric, ordered] == value

    def _sent_and_read(
        self, metric: str, labels: Mapping[str, str], value: float, encoding: int
    ) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        telemetry = self.platform.telemetry
        encoded = Encoder(telemetry, self._wildcard()).encode([(metric, labels)], np.array([value]))
        leaves = [Selected(leaf, place) for place, leaf in enumerate(encoded.leaves)]
        decoder = NotificationDecoder(path_map(telemetry))
        found = [
            decoder.decode(messages.SubscribeResponse.FromString(bundle.whole(encoded.values, 1)).update)
            for bundle in bundles(leaves, encoding=encoding, target="")
        ]
        assert not any(one.undecodable or one.unmapped for one in found)
        return {(series.metric.name, series.labels): number for one in found for series, number in one.samples}

    def _wildcard(self) -> Wildcard:
        """The value for `*`: the platform's where the twin serves it over gNMI, else any."""
        face = self.platform.twin() if self.platform.twin else None
        return partial(face.wildcard, "leaf1") if face and face.models else lambda _name, _pattern, _labels: "anything"

    # Virtual switches

    def test_a_new_virtual_switch_has_no_configuration_of_the_fabric(self) -> None:
        store = self._datastore(leaf(self.name))
        assert store.model(store.running) is None

    @given(drawn=st.data())
    @brief
    def test_a_virtual_switch_takes_a_rendered_configuration(self, drawn: st.DataObject) -> None:
        """Laid over the factory configuration, and replacing it as text; it takes effect when it is committed."""
        model = self.model(drawn)
        store, tree = self._datastore(model), self.platform.render(model)
        assert store.model(store.merged(tree)) == model
        assert store.model(store.running) is None
        store.commit(store.merged(tree))
        assert store.model(store.replaced(store.text(store.running))) == model

    def _datastore(self, model: DeviceModel) -> Datastore:
        return self.face.datastore(model.name, self.platform.render(model))
