"""What differs between two states that share most of their parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from railfab.forwarding import changed_names

PARTS = [object(), object(), object()]

mappings = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(PARTS))


@given(mappings, mappings)
def test_names_with_another_object_or_in_one_mapping_only_have_changed(
    now: dict[str, object], before: dict[str, object]
) -> None:
    names = now.keys() | before.keys()
    assert changed_names(now, before) == {name for name in names if now.get(name) is not before.get(name)}


@given(mappings, mappings)
def test_the_order_of_the_names_has_no_meaning(now: dict[str, object], fresh: dict[str, object]) -> None:
    assert changed_names({**now, **fresh}, now) == changed_names({**fresh, **now} | fresh, now)


def test_an_equal_part_that_is_another_object_has_changed() -> None:
    assert changed_names({"a": [1], "b": PARTS[0]}, {"a": [1], "b": PARTS[0]}) == {"a"}
