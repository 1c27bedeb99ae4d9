"""Whether the capabilities of a platform are what its configuration text carries: shown by rendering and parsing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from railfab.device import DeviceModel
from railfab.errors import RailfabError
from railfab.platforms import Platform, Support, admit
from railfab.platforms.admission import REFUSED, filled, supports, without
from railfab.platforms.features import FEATURES
from railfab.testing.leaf_models import leaf

LEFT_OUT = (Support.OMITTED, Support.EXTERNAL)
NOT_RENDERED = (RailfabError, LookupError, ValueError, TypeError, AssertionError)
"""Errors of rendering a model with a feature that the platform lacks."""


def with_choices(model: DeviceModel, platform: Platform) -> DeviceModel:
    """The model with what admission chooses, and still with everything that the text cannot carry.

    A choice is a value in the place of another one, a value that the platform fills in or rounds, and the omission of
    what the text carries.
    """
    support = supports(platform.capabilities, model.silicon)
    chosen = {
        name: state
        for name, state in support.items()
        if FEATURES[name].substitutes or platform.capabilities.features.get(name) is Support.OMITTED
    }
    return filled(without(model, chosen, *LEFT_OUT), platform.capabilities)


def is_read_back(planned: DeviceModel, platform: Platform) -> bool:
    """Whether a planned model is rendered and read back as the admitted one: nothing else is lost, and nothing more."""
    return platform.parse(platform.text(platform.render(with_choices(planned, platform)))) == admit(planned, platform)


def misstatements(platform: Platform) -> Iterator[str]:
    """A sentence for each feature whose support is not what rendering and parsing a small switch with it show."""
    support = supports(platform.capabilities)
    for name, state in support.items():
        planned, stated = leaf(platform.name, feature=name), platform.capabilities.features.get(name)
        left = without(planned, support, Support.OMITTED)
        lacking = {used for used in support if support[used] in REFUSED and FEATURES[used].used(left)}
        if not lacking and not is_read_back(planned, platform):
            yield f"{name} is {state}, but a model with it is not read back as admitted"
        is_kept = stated is None and state is Support.OMITTED and FEATURES[name].without is None
        if state is Support.YES or stated is Support.OMITTED or is_kept:
            continue
        is_carried = _is_carried(name, admit(planned, _supporting(platform, {*lacking, name})), platform)
        if is_carried and stated is not Support.NO:
            yield f"{name} is {state}, but the configuration carries it"
        if stated is Support.NO and not is_carried:
            yield f"{name} is stated as no, which needs no statement: the configuration does not carry it"


def _is_carried(name: str, model: DeviceModel, platform: Platform) -> bool:
    """Whether a model that has the feature, and changes where it is left out, is rendered and read back."""
    feature = FEATURES[name]
    if not feature.used(model) or (feature.without is not None and feature.without(model) == model):
        return False
    try:
        text = platform.text(platform.render(model))
        is_equal = platform.parse(text) == model
    except NOT_RENDERED:
        return False
    return is_equal and not (platform.refusals is not None and platform.refusals(text))


def _supporting(platform: Platform, names: set[str]) -> Platform:
    """The platform with capabilities that have these features too."""
    features = {**platform.capabilities.features, **dict.fromkeys(names, Support.YES)}
    return replace(platform, capabilities=replace(platform.capabilities, features=features))
