"""The step of a job as rows of blocks over time: computation, communication by kind, and waiting. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from railfab.draw.figures import HATCHES, INK, colour, figure, time_unit

COMPUTE, FORWARD, BACKWARD = "computation", "forward computation", "backward computation"
_ROW_INCHES, _FRAME_INCHES = 0.42, 1.7
MOST_HATCHED = 40
"""Blocks of a row that have hatches and edges; more would be lost below these."""
_COMPUTE_COLOURS = {COMPUTE: colour(0), FORWARD: colour(4), BACKWARD: colour(0)}
"""Dark and light, so that they differ in print without colours, too."""
_IDLE_COLOUR, _IDLE_HATCH = "#ffffff", "////"
IDLE = "bubble"
"""The kind of blocks in which GPUs wait for other stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineBlock:
    """A block of a row [s]. kind: in the legend, of one colour and hatch in all rows."""

    kind: str
    begin_s: float
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """A row of blocks that follow each other."""

    name: str
    blocks: tuple[TimelineBlock, ...]


def step_timeline(title: str, rows: Sequence[TimelineRow], *, axis: str = "Time") -> Any:
    """A figure with a row below the other, the first one at the top, and a legend of the kinds. axis: of the time."""
    from matplotlib.patches import Patch

    picture = figure(_FRAME_INCHES + _ROW_INCHES * len(rows), title)
    axes = picture.subplots()
    kinds = list(dict.fromkeys(block.kind for row in rows for block in row.blocks))
    kinds = [kind for kind in kinds if kind != IDLE] + [kind for kind in kinds if kind == IDLE]
    plain = max((len(row.blocks) for row in rows), default=0) > MOST_HATCHED
    looks = {kind: _look(kind, number, plain=plain) for number, kind in enumerate(kinds)}
    longest = max((block.begin_s + block.duration_s for row in rows for block in row.blocks), default=0.0)
    scale, unit = time_unit(longest)
    for place, row in enumerate(rows):
        for block in row.blocks:
            face, hatch = looks[block.kind]
            span = [(block.begin_s * scale, block.duration_s * scale)]
            width = 0.0 if plain else 0.4
            axes.broken_barh(span, (place - 0.36, 0.72), facecolor=face, hatch=hatch, edgecolor=INK, linewidth=width)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0.0, longest * scale * 1.01 or 1.0)
    axes.set_xlabel(f"{axis} [{unit}]")
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    handles = [Patch(label=kind, facecolor=face, hatch=hatch, edgecolor=INK) for kind, (face, hatch) in looks.items()]
    picture.legend(handles=handles, loc="outside lower center", ncols=min(5, len(handles)), fontsize="small")
    return picture


def _look(kind: str, number: int, *, plain: bool) -> tuple[str, str]:
    """Colour and hatch of a kind of blocks."""
    if kind == IDLE:
        return _IDLE_COLOUR, _IDLE_HATCH
    hatch = "" if plain else HATCHES[number % len(HATCHES)]
    return _COMPUTE_COLOURS.get(kind, colour(number + 1)), hatch
