"""How much is shown, and how large: from every switch with its model to one box a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.draw.cells import Show
from railfab.draw.view import Detail, Viewer

MOST_EXPANDED = 4
"""Alike pods, or segments of a pod, that are all shown."""
MOST_PLANES = 2
"""Alike planes that are all shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Widths at least of a switch, of a box of many and of a card of hosts, gaps between switches, segments and pods,
    and the inner margin of what holds a plane or a pod together [px]."""

    tile: float
    stack: float
    card: float
    gap: float
    segment_gap: float
    pod_gap: float
    padding: float


WIDE = Sizes(tile=188, stack=188, card=240, gap=24, segment_gap=48, pod_gap=72, padding=14)
MEDIUM = Sizes(tile=120, stack=140, card=150, gap=16, segment_gap=28, pod_gap=44, padding=14)
SMALL = Sizes(tile=96, stack=140, card=140, gap=10, segment_gap=18, pod_gap=36, padding=14)
TIGHT = Sizes(tile=96, stack=112, card=112, gap=10, segment_gap=14, pod_gap=24, padding=10)

Step = tuple[Detail, Sequence[Sizes]]


def ladder(viewer: Viewer) -> Iterator[Step]:
    """Details from the richest to the poorest, each with the sizes to try it in."""
    if len(viewer.alike.planes) <= MOST_PLANES:
        yield from _firsts(viewer, Show.ALL)
    yield from _firsts(viewer, Show.FIRST)
    for pods in (Show.FIRST, Show.KINDS):
        for leaves, upper in ((None, 4), (4, 4), (4, 2), (2, 2), (1, 2), (1, 1)):
            yield _kinds(pods, leaves=leaves, upper=upper), (MEDIUM, SMALL, TIGHT)
    for most, row in ((5, 4), (4, 3), (3, 3), (3, 2), (2, 2), (2, 1)):
        yield _kinds(Show.KINDS, leaves=1, upper=1, most=most, row=row), (WIDE, MEDIUM, SMALL, TIGHT)


def _firsts(viewer: Viewer, planes: Show) -> Iterator[Step]:
    """Those that show one pod and one segment in full at least."""
    for pods, segments in _groupings(viewer):
        collapsed = pods is segments is Show.FIRST
        for upper in (None, 4, 2) if collapsed else (None, 4):
            sizes = (WIDE, MEDIUM, SMALL) if collapsed else (WIDE, MEDIUM)
            yield Detail(planes=planes, pods=pods, segments=segments, upper=upper), sizes
    for leaves, upper in ((4, None), (4, 4), (4, 2), (2, 4), (2, 2), (1, 2), (1, 1)):
        one_each = Detail(planes=planes, pods=Show.FIRST, segments=Show.FIRST, leaves=leaves, upper=upper)
        yield one_each, (WIDE, MEDIUM, SMALL, TIGHT)


def _kinds(pods: Show, *, leaves: int | None, upper: int, most: int = 6, row: int = 8) -> Detail:
    return Detail(planes=Show.FIRST, pods=pods, segments=Show.KINDS, leaves=leaves, upper=upper, most=most, row=row)


def _groupings(viewer: Viewer) -> Iterator[tuple[Show, Show]]:
    """What to show of the pods, and of the segments of a pod."""
    units = list(viewer.alike.segments)
    many_pods = len(viewer.alike.pods) > MOST_EXPANDED
    most_segments = max((sum(unit[0] == pod for unit in units) for pod in viewer.alike.pods), default=0)
    for pods in (Show.ALL, Show.FIRST):
        for segments in (Show.ALL, Show.FIRST):
            if (pods is Show.FIRST or not many_pods) and (segments is Show.FIRST or most_segments <= MOST_EXPANDED):
                yield pods, segments
