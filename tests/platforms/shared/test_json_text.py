"""Trees as JSON texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from railfab.platforms.shared.json_tree import changed_lines, text

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(tree=st.dictionaries(st.text(), VALUES))
def test_a_text_is_what_the_standard_library_writes(tree: dict[str, Any]) -> None:
    assert text(tree) == json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_changed_lines_show_no_secret() -> None:
    assert changed_lines(["set / a password one"], ["set / a password two"]).splitlines()[2:] == [
        "-set / a password ...",
        "+set / a password ...",
    ]
