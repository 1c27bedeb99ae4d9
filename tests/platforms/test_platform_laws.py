"""The laws of a platform, on every installed one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from railfab.device import DeviceModel
from railfab.errors import RailfabError, UnknownPlatform
from railfab.platforms import Platform, Support, Tree, admit, platform, platform_names
from railfab.platforms.admission import support_of
from railfab.platforms.features import FEATURES
from railfab.testing.device_models import device_models
from railfab.testing.leaf_models import leaf
from railfab.testing.platforms import PlatformLaws

globals().update({f"Test_{name}": type(f"Test_{name}", (PlatformLaws,), {"name": name}) for name in platform_names()})


def test_an_unknown_platform_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownPlatform) as unknown:
        platform("ios")
    assert str(unknown.value) == f"platform 'ios': does not exist. Use one of {', '.join(platform_names())}."


@pytest.mark.parametrize("name", platform_names())
@given(drawn=st.data())
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_order_of_sections_makes_no_difference(name: str, drawn: st.DataObject) -> None:
    """A switch shows the sections of its configuration, and the members of an object, in an order of its own."""
    own = platform(name)
    model = admit(drawn.draw(device_models(name)), own)
    tree = own.render(model)
    other = reordered_text(tree, own)
    assert other != own.text(tree)
    assert own.parse(other) == model
    assert own.differences(other, own.text(tree)) == ()


MLAG = (
    "mlag",
    "mlag_domain_name",
    "mlag_keepalive_source",
    "mlag_peer_addresses",
    "mlag_system_mac",
    "peer_link_number",
)
OTHERS = (
    "vtep_loopback",
    "lldp_settings",
    "queue_rate",
    "route_reflector",
    "several_policies",
    "servers_in_vrf_of_links",
)
IN_PARTS = {*MLAG, *OTHERS, "strict_below_weighted"}
"""Features whose example refers to something that it does not have, such as a peer link; drawn models have both."""


def examples(own: Platform) -> Iterator[tuple[str, DeviceModel]]:
    """A model of each feature that the platform renders, but of those whose example has another one that it lacks."""
    for feature in FEATURES:
        if support_of(own.capabilities, feature) is Support.YES and feature not in IN_PARTS:
            try:
                yield feature, admit(leaf(own.name, feature=feature), own)
            except RailfabError:
                continue


@pytest.mark.parametrize("name", platform_names())
def test_an_example_of_each_feature_is_read_back(name: str) -> None:
    """Also of those that are hardly ever drawn."""
    own = platform(name)
    models = dict(examples(own))
    assert len(models) > 30
    assert [feature for feature, model in models.items() if own.parse(own.text(own.render(model))) != model] == []


def reordered_text(tree: Tree, own: Platform) -> str:
    """The text of the tree with the sections of lines, or the members of every object, in the opposite order.

    The order of the entries of a list, and of the lines of a section, may mean something.
    """
    text = own.text(tree)
    if not isinstance(tree, dict):
        return own.text(tree[::-1])
    return json.dumps(_reversed(json.loads(text) if text.startswith("{") else yaml.load(text, yaml.BaseLoader)))


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [_reversed(entry) for entry in value] if isinstance(value, list) else value
