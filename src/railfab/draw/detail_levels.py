"""Levels of detail and box sizes: from every switch in a box of its own to one box for each role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.draw.cells import Expansion
from railfab.draw.view import Detail, ViewBuilder

MOST_EXPANDED = 4
"""Equivalent pods, or segments of a pod, up to which all are shown."""
MOST_PLANES = 2
"""Equivalent planes up to which all are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Least widths of the box of a switch, of several switches and of hosts; gaps between switches, segments and pods;
    and the inner margin of the frame of a plane or pod [px]."""

    switch: float
    stack: float
    card: float
    gap: float
    segment_gap: float
    pod_gap: float
    padding: float


WIDE = Sizes(switch=188, stack=188, card=240, gap=24, segment_gap=48, pod_gap=72, padding=14)
MEDIUM = Sizes(switch=120, stack=140, card=150, gap=16, segment_gap=28, pod_gap=44, padding=14)
SMALL = Sizes(switch=96, stack=140, card=140, gap=10, segment_gap=18, pod_gap=36, padding=14)
TIGHT = Sizes(switch=96, stack=112, card=112, gap=10, segment_gap=14, pod_gap=24, padding=10)

DetailLevel = tuple[Detail, Sequence[Sizes]]


def detail_levels(builder: ViewBuilder) -> Iterator[DetailLevel]:
    """Levels from the most detail to the least, each with the sizes to try."""
    if len(builder.signatures.planes) <= MOST_PLANES:
        yield from _expanded_levels(builder, Expansion.ALL)
    yield from _expanded_levels(builder, Expansion.FIRST_OF_CLASS)
    for pods in (Expansion.FIRST_OF_CLASS, Expansion.COLLAPSED):
        for leaves, upper in ((None, 4), (4, 4), (4, 2), (2, 2), (1, 2), (1, 1)):
            yield _collapsed_detail(pods, leaves=leaves, upper=upper), (MEDIUM, SMALL, TIGHT)
    for most, row in ((5, 4), (4, 3), (3, 3), (3, 2), (2, 2), (2, 1)):
        yield (
            _collapsed_detail(Expansion.COLLAPSED, leaves=1, upper=1, most=most, row=row),
            (WIDE, MEDIUM, SMALL, TIGHT),
        )


def _expanded_levels(builder: ViewBuilder, planes: Expansion) -> Iterator[DetailLevel]:
    """Levels that show at least one pod and one segment in full."""
    for pods, segments in _pod_and_segment_expansions(builder):
        collapsed = pods is segments is Expansion.FIRST_OF_CLASS
        for upper in (None, 4, 2) if collapsed else (None, 4):
            sizes = (WIDE, MEDIUM, SMALL) if collapsed else (WIDE, MEDIUM)
            yield Detail(planes=planes, pods=pods, segments=segments, upper=upper), sizes
    for leaves, upper in ((4, None), (4, 4), (4, 2), (2, 4), (2, 2), (1, 2), (1, 1)):
        first = Expansion.FIRST_OF_CLASS
        one_each = Detail(planes=planes, pods=first, segments=first, leaves=leaves, upper=upper)
        yield one_each, (WIDE, MEDIUM, SMALL, TIGHT)


def _collapsed_detail(pods: Expansion, *, leaves: int | None, upper: int, most: int = 6, row: int = 8) -> Detail:
    planes, segments = Expansion.FIRST_OF_CLASS, Expansion.COLLAPSED
    return Detail(planes=planes, pods=pods, segments=segments, leaves=leaves, upper=upper, most=most, row=row)


def _pod_and_segment_expansions(builder: ViewBuilder) -> Iterator[tuple[Expansion, Expansion]]:
    """Expansions of the pods and of the segments of a pod that are worth a try."""
    many_pods = len(builder.signatures.pods) > MOST_EXPANDED
    segments_of = Counter(pod for pod, _ in builder.signatures.segments)
    many_segments = max(segments_of.values(), default=0) > MOST_EXPANDED
    for pods in (Expansion.ALL, Expansion.FIRST_OF_CLASS):
        for segments in (Expansion.ALL, Expansion.FIRST_OF_CLASS):
            too_many = (pods is Expansion.ALL and many_pods) or (segments is Expansion.ALL and many_segments)
            if not too_many:
                yield pods, segments
