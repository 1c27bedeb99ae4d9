"""Names of equal things in one text: `pod1-seg[1-2]-leaf[1-4]`, as Slurm and ClusterShell write sets of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import prod

NUMBER = re.compile(r"\d+")
MOST_ALIKE = 4
"""Lines that say the same of as many names; of more there is one line."""
MOST_RANGES = 4
"""Ranges in a bracket; of names with more, the first is shown and the others are counted."""


def folded(names: Sequence[str]) -> str:
    """All of these names, or `NAME and N more` where they are no product of a few ranges."""
    return _product(names) or f"{names[0]} and {len(names) - 1:,} more"


def folded_sets(names: Sequence[str]) -> Iterator[str]:
    """All of these names: those that differ in numbers only as one text, where they are a product of a few ranges; else
    those with the same first numbers."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(NUMBER.sub("\0", name), []).append(name)
    for alike in (part for kind in kinds.values() for part in _products(kind)):
        product = _product(alike)
        yield from (product,) if product else alike


def _products(names: Sequence[str], column: int = 0) -> Iterator[Sequence[str]]:
    """Names that differ in numbers only, parted by as many of their first numbers as makes each part a product."""
    if _product(names) or column == len(NUMBER.findall(names[0])):
        yield names
        return
    parts: dict[str, list[str]] = {}
    for name in names:
        parts.setdefault(NUMBER.findall(name)[column], []).append(name)
    for part in parts.values():
        yield from _products(part, column + 1)


def folded_all(names: Iterable[str]) -> str:
    """All of these names, as a few sets of ranges: `pod1-spine[1-4], super1`."""
    return ", ".join(folded_sets(list(names)))


def alike_as_one(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Lines that begin with a name, given with that name; of many that differ in names and numbers only, one of all."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for name, line in lines:
        kinds.setdefault(NUMBER.sub("", line.replace(name, "")), []).append((name, line))
    for alike in kinds.values():
        if len(alike) <= MOST_ALIKE:
            yield from (line for _, line in alike)
        else:
            first, line = alike[0]
            names = folded_all(name for name, _ in alike)
            yield f"{names}: {line.removeprefix(first).lstrip(': ')} (as {first} says; {len(alike):,} switches)"


def _product(names: Sequence[str]) -> str | None:
    """Names in one text with ranges in brackets; None where they are no product of a few ranges."""
    if len(names) == 1:
        return names[0]
    texts = {NUMBER.sub("\0", name) for name in names}
    numbers = {tuple(map(int, NUMBER.findall(name))) for name in names}
    if len(texts) > 1 or len(numbers) < len(names):
        return None
    values = [sorted(set(column)) for column in zip(*numbers, strict=True)]
    brackets = [_bracket(column) for column in values]
    if prod(map(len, values)) > len(names) or None in brackets:
        return None
    filled = iter(brackets)
    return re.sub("\0", lambda _: next(filled) or "", texts.pop())


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
