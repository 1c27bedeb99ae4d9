"""The law of capabilities fails for one that is stale in either direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from railfab.platforms import Platform, Support, admit, platform
from railfab.platforms.admission import support_of
from railfab.testing.carried import misstatements
from railfab.testing.leaf_models import leaf


def stating(name: str, features: Mapping[str, Support | None]) -> Platform:
    """The platform with other support of some features; None for a feature that it does not name."""
    own = platform(name)
    stated = {**own.capabilities.features, **features}
    kept = {feature: support for feature, support in stated.items() if support is not None}
    return replace(own, capabilities=replace(own.capabilities, features=kept))


@pytest.mark.parametrize(
    ("name", "feature", "support"),
    [("srlinux", "static_lag", None), ("eos", "aggregate", Support.LATER), ("frr", "connect_retry", None)],
)
def test_what_the_text_carries_may_not_be_refused_or_left_out(name: str, feature: str, support: Support | None) -> None:
    stale = stating(name, {feature: support})
    state = support_of(stale.capabilities, feature)
    assert f"{feature} is {state}, but the configuration carries it" in list(misstatements(stale))


@pytest.mark.parametrize(
    ("name", "feature"),
    [("eos", "connect_retry"), ("srlinux", "headroom_bytes"), ("junos", "max_paths_internal"), ("frr", "ntp")],
)
def test_what_the_text_loses_may_not_be_supported(name: str, feature: str) -> None:
    stale = stating(name, {feature: Support.YES})
    assert f"{feature} is yes, but a model with it is not read back as admitted" in list(misstatements(stale))


def test_what_the_text_does_not_carry_is_refused_without_a_statement() -> None:
    assert list(misstatements(stating("srlinux", {"mlag": Support.NO}))) == [
        "mlag is stated as no, which needs no statement: the configuration does not carry it"
    ]


def test_what_an_omission_takes_away_is_not_refused() -> None:
    """EOS has no connect retry time, so that sessions may ask for different ones."""
    admitted = admit(leaf("eos", feature="connect_retry_per_session"), platform("eos"))
    assert {neighbor.timers.connect_retry_s for neighbor in admitted.neighbors} == {None}
