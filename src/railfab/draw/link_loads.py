"""Loads of links: their distribution by tier, and maps of tiers by rails. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from railfab.draw.figures import HATCHES, INK, colour, figure
from railfab.text.counted import counted

Floats = NDArray[np.float64]
_HISTOGRAM_INCHES, _MAP_INCHES, _FRAME_INCHES = 2.4, 2.2, 1.0
_BINS = 10
_MAP_COLOURS = "cividis"
"""Even in lightness, for print, and for colour-blind readers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkLoads:
    """Loads of the links of a fabric in an operation. tiers, rails: names.

    tier: (link,) position of its tier. serves: (link, rail) whether it carries the traffic of a rail. share: (link,) of
    its capacity that each link carries, 0 to 1.
    """

    title: str
    tiers: tuple[str, ...]
    rails: tuple[str, ...]
    tier: NDArray[np.int64]
    serves: NDArray[np.bool_]
    share: NDArray[np.float64]


def load_histograms(title: str, panels: Sequence[LinkLoads]) -> Any:
    """A figure with a panel for each operation: how many of the links of each tier have which load."""
    picture = figure(_FRAME_INCHES + _HISTOGRAM_INCHES * len(panels), title)
    edges = np.linspace(0.0, 100.0, _BINS + 1)
    for axes, panel in zip(picture.subplots(len(panels), sharex=True, squeeze=False).flat, panels, strict=True):
        _draw_histogram(axes, panel, edges)
        axes.set_title(panel.title, fontsize="medium", loc="left")
        axes.set_ylabel("Links of the tier [%]")
        axes.set_ylim(0.0, 105.0)
        axes.set_xlim(0.0, 100.0)
        axes.set_xticks(edges)
        axes.grid(visible=True, alpha=0.3)
        axes.set_axisbelow(True)
    axes.set_xlabel("Mean load in the operation [% of the capacity for payload]")
    handles, names = picture.axes[0].get_legend_handles_labels()
    picture.legend(handles, names, loc="outside lower center", ncols=2, fontsize="small")
    return picture


def _draw_histogram(axes: Any, panel: LinkLoads, edges: NDArray[np.float64]) -> None:
    """Draw the bars of each load, those of the tiers beside each other."""
    width = 0.9 * (edges[1] - edges[0]) / len(panel.tiers)
    for number, tier in enumerate(panel.tiers):
        share = np.clip(100 * panel.share[panel.tier == number], 0.0, 100.0)
        counts = np.histogram(share, edges)[0]
        left = edges[:-1] + 0.05 * (edges[1] - edges[0]) + number * width
        axes.bar(
            left,
            100 * counts / max(1, len(share)),
            width,
            align="edge",
            label=f"{tier} ({counted(len(share), 'link')})",
            color=colour(number),
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor=INK,
            linewidth=0.4,
        )


def load_maps(title: str, panels: Sequence[LinkLoads]) -> Any:
    """A figure with two maps for each operation: mean and largest load of the links of each tier and rail."""
    picture = figure(_FRAME_INCHES + _MAP_INCHES * len(panels), title)
    grid = picture.subplots(len(panels), 2, squeeze=False)
    for row, panel in zip(grid, panels, strict=True):
        for axes, name, statistic in zip(row, ("mean", "largest"), (_mean, _largest), strict=True):
            image = _draw_map(axes, panel, statistic)
            axes.set_title(f"{panel.title}: {name}", fontsize="medium", loc="left")
    picture.colorbar(image, ax=grid, label="Mean load in the operation\n[% of the capacity for payload]", shrink=0.9)
    return picture


def _mean(share: Floats) -> float:
    return float(share.mean())


def _largest(share: Floats) -> float:
    return float(share.max())


def _draw_map(axes: Any, panel: LinkLoads, statistic: Callable[[Floats], float]) -> Any:
    """Draw a cell for each tier and rail, with all links that carry its traffic; blank where there is none."""
    values = np.full((len(panel.tiers), len(panel.rails)), np.nan)
    for tier in range(len(panel.tiers)):
        for rail in range(len(panel.rails)):
            share = panel.share[(panel.tier == tier) & panel.serves[:, rail]]
            if len(share):
                values[tier, rail] = 100 * statistic(share)
    image = axes.imshow(values, cmap=_MAP_COLOURS, vmin=0.0, vmax=100.0, aspect="auto")
    for (tier, rail), value in np.ndenumerate(values):
        if not np.isnan(value):
            ink = "#ffffff" if value < 55 else "#000000"
            axes.text(rail, tier, f"{value:.0f}", ha="center", va="center", fontsize="small", color=ink)
    axes.set_yticks(range(len(panel.tiers)), panel.tiers, fontsize="small")
    axes.set_xticks(range(len(panel.rails)), panel.rails, fontsize="small")
    axes.set_xlabel("Rail")
    return image
