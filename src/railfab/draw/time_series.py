"""Values over time as a picture: one panel for each quantity, below each other. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from railfab.draw.figures import figure, save

_PANEL_INCHES = 2.6


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Lines by name over the same times [ms]."""

    title: str
    unit: str
    times_ms: Any
    lines: Mapping[str, Any]


def draw_time_series(title: str, panels: Sequence[TimeSeries], path: Path, *, legend: str) -> None:
    """Write an SVG or PNG, by the ending of the name; whole or not at all. Panels have lines of the same names."""
    picture = figure(_PANEL_INCHES * len(panels), title)
    for axes, panel in zip(picture.subplots(len(panels), sharex=True, squeeze=False).flat, panels, strict=True):
        for name, values in panel.lines.items():
            axes.plot(panel.times_ms, values, linewidth=1.0, label=name)
        axes.set_ylabel(f"{panel.title} [{panel.unit}]")
        axes.grid(visible=True, alpha=0.3)
        axes.set_xlabel("Time [ms]")
    handles, names = picture.axes[0].get_legend_handles_labels()
    picture.legend(handles, names, loc="outside right upper", fontsize="small", title=legend)
    save(picture, path)
