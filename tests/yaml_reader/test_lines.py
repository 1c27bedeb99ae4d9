"""Laws of the reader of YAML: a key has the line on which it is written, and a value is that of PyYAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.yaml_reader import composer
from railfab.yaml_reader.composer import YamlLimits, compose
from railfab.yaml_reader.sections import SETTINGS, values_in
from railfab.yaml_reader.tree import line_of
from railfab.yaml_reader.values import strict_values

WORDS = st.text("abcdefgh_", min_size=1, max_size=6).map(lambda word: f"k{word}")
SCALARS = st.integers(-9999, 9999) | WORDS | st.booleans() | st.none()
TREES = st.recursive(
    SCALARS,
    lambda below: (
        st.lists(below, min_size=1, max_size=4) | st.dictionaries(WORDS | st.integers(0, 99), below, min_size=1)
    ),
    max_leaves=25,
)
DOCUMENTS = st.dictionaries(WORDS | st.integers(0, 99), TREES, min_size=1, max_size=6)
TEXTS = (
    "yes",
    "Off",
    "y",
    "~",
    "010",
    "1:30",
    "0x1F",
    "1_000",
    "1e3",
    "1.5",
    ".inf",
    "2026-11-29",
    "'7'",
    '"on"',
    "a b",
)


def written(content: Any, indent: int = 0) -> Iterator[str]:
    """The lines of a content in block style, each key and each element on a line of its own."""
    space = " " * indent
    entries = [(f"{key}:", value) for key, value in content.items()] if isinstance(content, dict) else None
    for start, value in entries or [("-", value) for value in content]:
        if isinstance(value, dict | list):
            yield f"{space}{start}"
            yield from written(value, indent + 2)
        else:
            yield f"{space}{start} {'null' if value is None else str(value).lower()}"


def places(content: Any, around: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each key and element, in the order of the lines of `written`."""
    for part, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield (*around, part)
        if isinstance(value, dict | list):
            yield from places(value, (*around, part))


def is_a_collection_in_a_list(content: Any, place: tuple[Any, ...]) -> bool:
    """Whether it begins on the line after its dash."""
    for part in place[:-1]:
        content = content[part]
    return isinstance(content, list) and isinstance(content[place[-1]], dict | list)


@given(content=DOCUMENTS)
@settings(max_examples=examples(200), deadline=None)
def test_each_key_has_the_line_on_which_it_is_written(content: dict[Any, Any]) -> None:
    text = "\n".join(written(content))
    tree, faults = compose(text, YamlLimits(depth=50))
    assert not faults
    assert strict_values(tree) == (content, [])
    for line, place in enumerate(places(content), start=1):
        begins_below = is_a_collection_in_a_list(content, place)
        assert line_of(tree, place) == line + begins_below, place
        assert line_of(tree, (*place, "there is none", 7)) == line + begins_below


@given(texts=st.dictionaries(WORDS, st.sampled_from(TEXTS) | SCALARS.map(str), min_size=1))
@settings(max_examples=examples(200), deadline=None)
def test_settings_have_the_values_of_pyyaml(texts: dict[str, str]) -> None:
    text = "\n".join(f"{key}: [{value}]" for key, value in texts.items())
    assert values_in(text)[0] == yaml.safe_load(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {z: 4}]}\nd: [*a, *a]\n",
        "a: !!str 7\nb: !!int '7'\n? c\n: d\n",
        "7: seven\nnull: none\n'on': text\n",
        "",
    ],
)
def test_aliases_merges_tags_and_keys_of_settings_are_those_of_pyyaml(text: str) -> None:
    assert values_in(text)[0] == yaml.safe_load(text)


def test_libyaml_and_the_parser_of_pyyaml_give_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &a {x: [1, 'two', 3]}\nb: *a\n"
    fast = compose(text, SETTINGS)
    monkeypatch.setattr(composer, "PARSER", yaml.SafeLoader)
    assert compose(text, SETTINGS) == fast
