"""Durations of many runs, a row for each kind: every run, and their median. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from railfab.draw.figures import colour, figure, time_unit

_ROW_INCHES, _FRAME_INCHES = 0.24, 1.5


def step_distribution(title: str, rows: Mapping[str, Sequence[float]], kinds: Mapping[str, str]) -> Any:
    """A figure of steps [s] by the name of their row, the first one at the top. kinds: the colour group of each row."""
    picture = figure(_FRAME_INCHES + _ROW_INCHES * len(rows), title)
    axes = picture.subplots()
    groups = list(dict.fromkeys(kinds[name] for name in rows))
    scale, unit = time_unit(max(map(max, rows.values())))
    for place, (name, seconds) in enumerate(rows.items()):
        steps = [scale * each for each in seconds]
        shade = colour(groups.index(kinds[name]))
        axes.plot([min(steps), max(steps)], [place, place], color=shade, linewidth=1.2, zorder=2)
        axes.plot(steps, [place] * len(steps), "o", color=shade, markersize=4, alpha=0.6, zorder=3)
        axes.plot([median(steps)], [place], "|", color="#24292f", markersize=12, markeredgewidth=1.8, zorder=4)
    axes.set_xlabel(f"Step [{unit}]")
    _label(picture, axes, list(rows), [(group, colour(number)) for number, group in enumerate(groups)])
    return picture


def _label(picture: Any, axes: Any, names: Sequence[str], groups: Sequence[tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=True, alpha=0.3)
    axes.ticklabel_format(axis="x", useOffset=False)
    handles = [
        Line2D([], [], color=shade, marker="o", markersize=4, label=f"runs on {group}") for group, shade in groups
    ]
    handles.append(Line2D([], [], color="#24292f", marker="|", markersize=10, linestyle="", label="median"))
    picture.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")
