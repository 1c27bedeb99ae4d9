"""Queues and buffers over time with their thresholds: a row of panels for each operation. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from railfab.draw.figures import INK, colour, figure

_ROW_INCHES, _FRAME_INCHES = 3.4, 0.6
_STYLES = ("--", ":", "-.")
_KB = 1000.0


@dataclass(frozen=True, slots=True)
class QueuePanel:
    """Lines by name over the same times [ms], in bytes; thresholds: constant, or (sample,), infinite for none."""

    title: str
    times_ms: NDArray[np.float64]
    lines: Mapping[str, NDArray[np.int64]]
    thresholds: Mapping[str, float | NDArray[np.float64]]


def queue_panels(title: str, rows: Sequence[Sequence[QueuePanel]]) -> Any:
    """A figure with a row of panels below the other."""
    picture = figure(_FRAME_INCHES + _ROW_INCHES * len(rows), title)
    grid = picture.subplots(len(rows), len(rows[0]), squeeze=False)
    for axes, panel in zip(grid.flat, (panel for row in rows for panel in row), strict=True):
        _draw_panel(axes, panel)
    return picture


def _draw_panel(axes: Any, panel: QueuePanel) -> None:
    for number, (name, octets) in enumerate(panel.lines.items()):
        axes.plot(panel.times_ms, octets / _KB, color=colour(number), linewidth=1.0, label=name)
    for style, (name, threshold) in zip(_STYLES, panel.thresholds.items(), strict=False):
        if np.isfinite(threshold).any():
            values = np.broadcast_to(threshold, panel.times_ms.shape) / _KB
            label = f"{name} {values.min():,.0f} kB"
            if values.max() > values.min():
                label = f"{name} {values.min():,.0f} to {values.max():,.0f} kB"
            axes.plot(panel.times_ms, values, color=INK, linestyle=style, linewidth=1.0, label=label)
    if not panel.lines:
        axes.text(0.5, 0.5, "always empty", transform=axes.transAxes, ha="center")
    axes.set_title(panel.title, fontsize="medium", loc="left")
    axes.set_xlabel("Time [ms]")
    axes.set_ylabel("kB")
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(left=0.0)
    axes.grid(visible=True, alpha=0.3)
    axes.set_axisbelow(True)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), fontsize="small", frameon=False)
