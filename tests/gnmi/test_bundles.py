"""Responses that are assembled as bytes are what protobuf would have written."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.gnmi import messages, paths, values
from railfab.gnmi.bundles import Bundle, bundles, deletion
from railfab.gnmi.target import Leaf, Selected
from railfab.gnmi.values import Uint64

leaf_values = (
    st.text()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.integers(0, 2**64 - 1).map(Uint64)
    | st.lists(st.text(max_size=5), max_size=3)
    | st.decimals(allow_nan=False, allow_infinity=False, places=4, max_value=10**9).map(Decimal)
)


def leaf(number: int, place: int | None, value: Any = None) -> Selected:
    path = paths.elements(f"/interface[name=e{number}]/statistics/leaf-{'x' * (number % 200)}")
    return Selected(Leaf(path), place, value)


def parsed(response: bytes | None) -> messages.Notification:
    assert response is not None
    return messages.SubscribeResponse.FromString(response).update


@given(st.lists(leaf_values, min_size=1, max_size=40), st.sampled_from(values.ENCODINGS), st.text(max_size=9))
def test_a_bundle_is_the_notification_that_protobuf_writes(found: list[Any], encoding: int, target: str) -> None:
    selected = [leaf(place, place) if place % 3 else leaf(place, None, found[place]) for place in range(len(found))]
    expected = messages.Notification(timestamp=2**62 + 1)
    expected.prefix.target = target
    for place, one in enumerate(selected):
        path = messages.Path(elem=[messages.PathElem(name=step.name, key=dict(step.keys)) for step in one.leaf.path])
        expected.update.add(path=path, val=values.encode(found[place], encoding))
    bundle = Bundle(selected, encoding=encoding, target=target)
    assert parsed(bundle.whole(found, 2**62 + 1)) == expected
    assert bundle.difference(found, 5) is None


def test_a_difference_has_the_changed_leaves_only_and_each_once() -> None:
    bundle = Bundle([leaf(0, 0), leaf(1, 1)], encoding=values.PROTO, target="")
    bundle.whole([1, 2], 1)
    changed = parsed(bundle.difference([1, 3], 2))
    assert [(paths.to_text(update.path), update.val.uint_val) for update in changed.update] == [
        (paths.to_text_elements(leaf(1, 1).leaf.path), 3)
    ]
    assert bundle.difference([1, 3], 3) is None


def test_a_bundle_made_anew_does_not_repeat_what_was_sent() -> None:
    first = Bundle([leaf(0, 0), leaf(1, 1)], encoding=values.PROTO, target="")
    first.whole([1, 2], 1)
    (second,) = bundles([leaf(2, 0), leaf(1, 1)], encoding=values.PROTO, target="", sent=first.sent())
    assert [update.val.uint_val for update in parsed(second.difference([9, 2], 2)).update] == [9]


def test_what_is_noted_counts_as_sent() -> None:
    bundle = Bundle([leaf(0, 0)], encoding=values.PROTO, target="")
    bundle.note([1])
    assert bundle.difference([1], 1) is None


@pytest.mark.parametrize("target", ["", "leaf1"])
def test_a_deletion_names_the_paths(target: str) -> None:
    found = parsed(deletion([leaf(1, 1).leaf.path], 7, target))
    assert (found.timestamp, found.prefix.target) == (7, target)
    assert [paths.to_text(path) for path in found.delete] == [paths.to_text_elements(leaf(1, 1).leaf.path)]
