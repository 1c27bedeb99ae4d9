"""Which changes of the widths of next-hop groups are a loss of equal paths."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from railfab.deploy.gates.widths import NarrowedRoutes, narrowed

MOST = 8
WIDTHS = st.lists(st.integers(1, MOST), min_size=1, max_size=12)
"""The width of each route."""


@given(WIDTHS, st.data())
def test_routes_that_come_go_or_become_wider_pass_while_the_widest_stays(
    widths: list[int], data: st.DataObject
) -> None:
    widest = widths.index(max(widths))
    kept = {widest, *data.draw(st.lists(st.sampled_from(range(len(widths)))))}
    wider = [data.draw(st.integers(widths[route], MOST)) for route in kept]
    assert narrowed(Counter(widths), Counter(wider), most=MOST) is None
    assert narrowed(Counter(wider), Counter(wider + widths), most=MOST) is None


@given(WIDTHS, st.integers(1, MOST), st.booleans())
def test_fewer_paths_of_all_wider_routes_are_a_loss_unless_the_intent_has_no_more(
    widths: list[int], most: int, whole: bool
) -> None:
    before, after = Counter(widths), Counter(min(width, most) for width in widths)
    lost = narrowed(before, after, most=MOST, whole=whole)
    assert (lost is not None) == (max(widths) > most)
    assert narrowed(before, after, most=most, whole=whole) is None


@given(WIDTHS, st.integers(1, 3))
def test_a_drained_neighbor_may_be_missing_in_each_route_and_no_second_one(widths: list[int], drained: int) -> None:
    before, after = Counter(widths), Counter(max(1, width - drained) for width in widths)
    assert narrowed(before, after, most=MOST, drained=drained) is None
    lost = narrowed(before, after, most=MOST, drained=drained - 1)
    assert (lost is not None) == (max(widths) > drained)


@given(st.integers(1, 100), st.integers(0, 100), st.integers(2, MOST))
def test_more_than_half_of_the_routes_of_a_width_must_be_narrower_or_all(routes: int, narrow: int, width: int) -> None:
    narrow = min(narrow, routes)
    before, after = {width: routes}, Counter({width: routes - narrow, width - 1: narrow})
    assert (narrowed(before, after, most=MOST) is not None) == (narrow > routes / 2)
    assert (narrowed(before, after, most=MOST, whole=True) is not None) == (narrow == routes)


def test_routes_of_two_links_fail_though_wider_ones_are_as_before() -> None:
    lost = narrowed({8: 40, 2: 12}, {8: 40, 2: 4, 1: 8}, most=64)
    assert lost == NarrowedRoutes(width=2, wanted=2, before=52, after=44, least=46)


def test_groups_that_became_one_fail() -> None:
    assert narrowed({2: 1, 1: 2}, {1: 2}, most=MOST) == NarrowedRoutes(width=2, wanted=2, before=1, after=0, least=1)


def test_the_loss_of_all_routes_is_one_of_their_paths() -> None:
    assert narrowed({2: 3}, {}, most=MOST) == NarrowedRoutes(width=2, wanted=2, before=3, after=0, least=2)
    assert narrowed({}, {}, most=MOST) is None
