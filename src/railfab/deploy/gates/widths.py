"""Routes that a change leaves with fewer equal next hops, by comparing how many routes have how many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NarrowedRoutes:
    """Routes that had width next hops or more, and should have wanted ones. before, after: their number.

    least: the number of them that passes.
    """

    width: int
    wanted: int
    before: int
    after: int
    least: int


def narrowed(
    before: Mapping[int, int], after: Mapping[int, int], *, most: int, drained: int = 0, whole: bool = False
) -> NarrowedRoutes | None:
    """The widest routes of which none is left, or more than half have become narrower; None where there are none.

    before, after: routes by the number of their next hops; groups where these are counted, which may become the same
    when they become narrower. Routes that come, go or become wider are no narrower ones, while one of them is left.
    most: next hops that a route may have. drained: next hops that each route may lack. whole: whether all routes of a
    width must have become narrower, not only half of them.
    """
    for width in sorted(before, reverse=True):
        wanted = min(width, most) - drained
        had, has = _at_least(before, width), _at_least(after, wanted)
        added = (sum(after.values()) - has) - (sum(before.values()) - had)
        tolerated = before[width] - 1 if whole else before[width] // 2
        if wanted > 0 and (has == 0 or min(had - has, added) > tolerated):
            return NarrowedRoutes(width=width, wanted=wanted, before=had, after=has, least=had - tolerated)
    return None


def _at_least(widths: Mapping[int, int], width: int) -> int:
    """Routes with so many next hops or more."""
    return sum(count for each, count in widths.items() if each >= width)
