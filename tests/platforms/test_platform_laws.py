"""The laws of a platform, on every installed one."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.errors import UnknownPlatform
from railfab.platforms import Platform, Tree, admit, platform, platform_names
from railfab.testing.able import Able
from railfab.testing.device_models import device_models
from railfab.testing.platforms import PlatformLaws
from railfab.testing.routing_models import bfd_timers

globals().update({f"Test_{name}": type(f"Test_{name}", (PlatformLaws,), {"name": name}) for name in platform_names()})


def test_an_unknown_platform_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownPlatform) as unknown:
        platform("ios")
    assert str(unknown.value) == f"platform 'ios': does not exist. Use one of {', '.join(platform_names())}."


def test_a_strategy_is_made_once_for_equal_features_and_limits() -> None:
    low, high = (Able({"bfd"}, limits={"bfd_interval_ms": most}, least={}) for most in (50, 60_000))
    assert bfd_timers(low) is bfd_timers(Able({"bfd"}, limits={"bfd_interval_ms": 50}, least={}))
    assert bfd_timers(low) is not bfd_timers(high)


@pytest.mark.parametrize("name", platform_names())
@given(drawn=st.data())
@settings(max_examples=examples(5), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_order_of_sections_makes_no_difference(name: str, drawn: st.DataObject) -> None:
    """A switch shows the sections of its configuration, and the members of an object, in an order of its own."""
    own = platform(name)
    model = admit(drawn.draw(device_models(name)), own)
    tree = own.render(model)
    other = reordered_text(tree, own)
    assert other != own.text(tree)
    assert own.parse(other) == model
    assert own.differences(other, own.text(tree)) == ()


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
