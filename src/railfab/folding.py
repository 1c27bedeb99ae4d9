"""Names of equal things in one text: `pod1-seg[1-2]-leaf[1-4]`, as Slurm and ClusterShell write sets of nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

NUMBER = re.compile(r"\d+")
MOST_RANGES = 4
"""Ranges in a bracket; of names with more, the first is shown and the others are counted."""


def folded(names: Sequence[str]) -> str:
    """All of these names, or `NAME and N more` where they are no product of a few ranges."""
    if len(names) == 1:
        return names[0]
    texts = {NUMBER.sub("\0", name) for name in names}
    numbers = {tuple(map(int, NUMBER.findall(name))) for name in names}
    if len(texts) == 1 and len(numbers) == len(names):
        values = [sorted(set(column)) for column in zip(*numbers, strict=True)]
        brackets = [_bracket(column) for column in values]
        if prod(map(len, values)) == len(names) and None not in brackets:
            filled = iter(brackets)
            return re.sub("\0", lambda _: next(filled) or "", texts.pop())
    return f"{names[0]} and {len(names) - 1:,} more"


def number_ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as ranges: `1-4,7`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def _bracket(values: Sequence[int]) -> str | None:
    """The values at one place of the names; None for more than MOST_RANGES ranges."""
    text = number_ranges(values)
    if text.count(",") >= MOST_RANGES:
        return None
    return text if len(values) == 1 else f"[{text}]"
