"""Figures of matplotlib in one style, written as equal bytes for equal contents. Needs matplotlib."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from railfab.draw.palette import RAIL_COLOURS

WIDTH_INCHES = 9.0
INK = "#24292f"
HATCHES = ("", "..", "xx", "\\\\", "--", "++", "oo", "||")
"""Of areas, so that they differ in print without colours, too."""


def figure(height_inches: float, title: str) -> Any:
    """An empty figure with a title."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    empty = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")
    FigureCanvasAgg(empty)
    empty.suptitle(title)
    return empty


def colour(number: int) -> str:
    """A colour of a palette for colour-blind readers, the same for equal numbers."""
    return RAIL_COLOURS[number % len(RAIL_COLOURS)]


def time_unit(longest_s: float) -> tuple[float, str]:
    """The unit of an axis of times up to this one, and how many of it a second has."""
    return (1.0, "s") if longest_s >= 1 else (1e3, "ms")


def save(picture: Any, path: Path) -> None:
    """Write an SVG or PNG, by the ending of the name; whole or not at all, and without a date."""
    from matplotlib import rc_context

    kind = path.suffix[1:].lower()
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with rc_context({"svg.hashsalt": "railfab", "hatch.linewidth": 0.6}):
            picture.savefig(part, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def save_both(picture: Any, path: Path) -> list[Path]:
    """Write a figure as SVG and as PNG. path: without an ending."""
    paths = [path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png")]
    for each in paths:
        save(picture, each)
    return paths
