"""The models of a design are what their platforms can configure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from railfab.device import Port
from railfab.errors import NotRenderedYet, RailfabError, UnsupportedFeature
from railfab.fabric import design
from railfab.intent import json_schema
from railfab.platforms import Support, admit, platform
from railfab.platforms.admission import KEYS


def test_a_model_leaves_out_what_the_operating_system_below_the_platform_sets(repository: Path) -> None:
    """Linux sets MTU and speed of the ports of an FRR switch, not FRR."""
    fabric = design(repository / "labs" / "frr-pod" / "intent.yml")
    ports = [port for model in fabric.models.values() for port in model.interfaces if isinstance(port, Port)]
    assert {(port.mtu_bytes, port.rate_gbps) for port in ports} == {(None, None)}


def test_a_feature_that_a_platform_lacks_is_refused_with_the_switch_and_the_platform(
    repository: Path, tmp_path: Path
) -> None:
    lossy = (repository / "labs" / "frr-pod" / "intent.yml").read_text()
    path = tmp_path / "lossless.yml"
    path.write_text(lossy.replace("lossless: off", "lossless: {dscp: 26}"))
    assert path.read_text() != lossy
    with pytest.raises(RailfabError, match=r"pod1-seg1-leaf1 and 5 more: platform frr does not support pfc\. "):
        _ = design(path).models


def test_plan_documents_what_is_not_rendered_yet_and_refuses_what_the_platform_lacks(repository: Path) -> None:
    (model, *_) = design(repository / "labs" / "srl-pod" / "intent.yml").models.values()
    own = platform("srlinux")
    for support, kind, problem in (
        (Support.LATER, NotRenderedYet, "bfd cannot be rendered for platform srlinux yet"),
        (Support.NO, UnsupportedFeature, "platform srlinux does not support bfd"),
    ):
        features = {**own.capabilities.features, "bfd": support}
        with pytest.raises(UnsupportedFeature, match=problem) as refused:
            admit(model, replace(own, capabilities=replace(own.capabilities, features=features)))
        assert type(refused.value) is kind


def test_a_design_with_features_that_are_not_rendered_yet_can_be_planned(repository: Path) -> None:
    assert design(repository / "inventory" / "fabrics" / "cluster.yml").refusals() == ()


def test_a_value_out_of_range_names_the_key_and_its_line(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.yml"
    path.write_text(
        (repository / "tests" / "deploy" / "rack_eos.yml").read_text() + "profile: {bgp: {max_paths: 1000}}\n"
    )
    with pytest.raises(UnsupportedFeature) as refused:
        _ = design(path).models
    assert str(refused.value) == (
        f"{path}:8: pod1-seg1-leaf1 and 2 more: max_paths 1000 is above platform eos's limit of 600. "
        "Use 600 or less as profile.bgp.max_paths in the intent."
    )


@pytest.mark.parametrize("name", sorted(KEYS))
def test_a_limited_value_has_a_key_that_an_intent_has(name: str) -> None:
    definitions = json_schema()["$defs"]
    place = definitions["Profile"]
    for key in KEYS[name].split(".")[1:]:
        stated = place["properties"][key]
        place = next(
            (
                definitions[one["$ref"].rpartition("/")[2]]
                for one in (stated, *stated.get("anyOf", ()))
                if "$ref" in one
            ),
            stated,
        )
    assert "properties" not in place
