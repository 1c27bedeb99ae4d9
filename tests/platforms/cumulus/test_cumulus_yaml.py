"""The YAML of NVUE, which railfab writes itself."""

from __future__ import annotations

import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from railfab.platforms.cumulus.differences import differences
from railfab.platforms.cumulus.parse import parse, tree_of
from railfab.platforms.cumulus.tree import text

WORDS = st.text(string.printable, min_size=1, max_size=20) | st.sampled_from(
    ["on", "Null", "1", "1e3", "10.0.0.1", "y"]
)
TREES = st.recursive(WORDS, lambda inner: st.dictionaries(WORDS, inner, max_size=3), max_leaves=8)


@given(tree=st.dictionaries(WORDS, TREES, max_size=3))
def test_a_text_is_read_as_the_tree_that_it_was_written_from(tree: dict[str, object]) -> None:
    assert yaml.safe_load(text(tree)) == [{"set": tree}]


@pytest.mark.parametrize("value", [True, False, 9216, None, "on", "9216", "swp1s0", "10.0.0.1/31", "2001:db8::1"])
def test_a_scalar_is_written_as_pyyaml_writes_it(value: object) -> None:
    assert text({"a": {"b": value}}) == yaml.dump([{"set": {"a": {"b": value}}}], sort_keys=False)


def test_the_tree_of_a_text_is_made_once_for_the_steps_of_an_audit() -> None:
    shown = "- set:\n    system:\n      hostname: leaf1\n"
    assert tree_of(shown) is tree_of(shown)
    parse(shown)
    differences(shown, "- set:\n    system:\n      hostname: leaf2\n")
    assert tree_of(shown) == {"system": {"hostname": "leaf1"}}
