"""Histories as one line of text."""

from __future__ import annotations

from collections.abc import Sequence

LEVELS = "▁▂▃▄▅▆▇█"
"""The first level is zero, so that a little is seen as more than nothing."""


def sparkline(values: Sequence[float | None], *, most: float, width: int) -> str:
    """The last values, one character each, at the right end of the width; a blank for what is not known.

    most: the value of the highest level.
    """
    return "".join(_level(value, most) for value in values[-width:]).rjust(width)


def _level(value: float | None, most: float) -> str:
    if value is None:
        return " "
    if value <= 0 or most <= 0:
        return LEVELS[0]
    return LEVELS[min(len(LEVELS) - 1, 1 + int(value / most * (len(LEVELS) - 2) + 0.5))]
