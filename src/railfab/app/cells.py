"""Columns, numbers and bars of the live view."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

LABEL, VALUE, NOTE = 11, 12, 23
"""Cells of the columns of the upper tables; a history has the rest."""


def short(value: float) -> str:
    """A count in at most eight characters."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:,.1f} {letter}"
    return f"{value:,.0f}"


def last_seconds(seconds: float, width: int) -> str:
    """The heading of a history."""
    return f"last {seconds:,.0f} s".rjust(width)


def bar(shares: Sequence[float]) -> Text:
    """The mean share of rails, as a number and a bar; of several also the least one."""
    mean, least = sum(shares) / len(shares), "" if len(shares) == 1 else f"least {min(shares):.0%}"
    cells = NOTE - 9 - len(least)
    filled = round(min(1.0, mean) * cells)
    return Text.assemble(f" {mean:4.0%} ", ("█" * filled, "green"), ("·" * (cells - filled), "dim"), f" {least}  ")
