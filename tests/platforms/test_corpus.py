"""Whole configurations in the shape of public ones: no line is lost, and the model is read the same from its rendering.

`corpus/PLATFORM.yml` has their parts, and `corpus_texts.py` composes them: switches of several roles, with sections
that railfab models and others, in each form that a platform has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from tests.platforms.corpus_texts import PLATFORMS, SIMILAR, TEXTS, corpus, masked_lines
from tests.platforms.test_shapes import Shape
from tests.sampled import sampled

from railfab.device import DeviceModel
from railfab.errors import RailfabError
from railfab.platforms import admit, platform, platform_names

COMMENTS = ("!", "#", "/*")
CLOSING = ("exit", "exit-vrf", "exit-address-family", "}")
WITHOUT_EFFECT = ("version", "set version", "frr version")
"""First words of the line with the release that wrote a text: it is no setting, and a switch shows its own."""
MOST_REFUSED = 0.1
EVERY = [(name, place) for name in PLATFORMS for place in range(TEXTS)]
FEW = [(name, place) for name in PLATFORMS for place in (0, TEXTS // 2 + 3)]
LINE_BY_LINE = FEW[::4] + FEW[3::4]
"""One of each platform, in turn the first and a later one: each line costs a reading."""


@cache
def model_of(name: str, place: int) -> DeviceModel:
    return platform(name).parse(corpus(name)[place].whole)


def is_setting(line: str) -> bool:
    text = line.strip()
    return not text.startswith((*COMMENTS, *WITHOUT_EFFECT)) and text not in CLOSING


def refusal(name: str, model: DeviceModel) -> RailfabError | None:
    """Why the platform, as railfab configures it, does not admit a model."""
    try:
        admit(model, platform(name))
    except RailfabError as error:
        return error
    return None


def lost_lines(text: Shape, model: DeviceModel) -> Iterator[str]:
    """Lines and leaves without which the model is the same, although to the switch there is a difference."""
    own = platform(text.platform)
    as_it_is = own.differences(text.whole, text.whole)
    for line, shorter in text.shortened():
        try:
            if is_setting(line) and own.parse(shorter) == model and own.differences(shorter, text.whole) != as_it_is:
                yield line
        except RailfabError:  # what is left is refused
            continue


@pytest.mark.parametrize(("name", "place"), sampled(EVERY, few=LINE_BY_LINE))
def test_each_line_of_a_configuration_is_modelled_or_named(name: str, place: int) -> None:
    text = corpus(name)[place]
    assert [*lost_lines(text, model_of(name, place))] == [], text.name


@pytest.mark.parametrize(("name", "place"), sampled(EVERY, few=FEW))
def test_the_model_of_a_configuration_is_read_the_same_from_its_rendering(name: str, place: int) -> None:
    """Also where admission refuses it: a text of others may have what railfab does not configure on that platform."""
    own = platform(name)
    read = replace(model_of(name, place), unmodelled=())
    assert replace(own.parse(own.text(own.render(read))), unmodelled=()) == read


@pytest.mark.matrix
@pytest.mark.parametrize("name", PLATFORMS)
def test_few_models_are_refused_and_each_by_the_name_of_a_feature(name: str) -> None:
    refused = [error for place in range(TEXTS) if (error := refusal(name, model_of(name, place))) is not None]
    assert len(refused) <= MOST_REFUSED * TEXTS, refused
    assert all("does not support" in str(error) for error in refused), refused


def test_there_are_300_configurations_of_all_platforms() -> None:
    assert tuple(sorted(platform_names())) == PLATFORMS
    assert [len(corpus(name)) for name in PLATFORMS] == [TEXTS] * len(PLATFORMS)
    assert TEXTS >= 40
    assert TEXTS * len(PLATFORMS) >= 300


@pytest.mark.parametrize("name", PLATFORMS)
def test_no_two_configurations_are_alike(name: str) -> None:
    lines = [masked_lines(text) for text in corpus(name)]
    shared = [len(a & b) / len(a | b) for place, a in enumerate(lines) for b in lines[:place]]
    assert max(shared) <= SIMILAR
    assert sum(shared) / len(shared) < 0.4


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_configuration_has_a_name_several_ports_and_sessions(name: str) -> None:
    models = [model_of(name, place) for place in range(TEXTS)]
    assert all(model.name for model in models)
    assert all(model.interfaces for model in models)
    assert sum(len(model.interfaces) for model in models) >= 3 * TEXTS
    assert sum(bool(model.neighbors) for model in models) > TEXTS / 2
    assert all(model.unmodelled for model in models)
