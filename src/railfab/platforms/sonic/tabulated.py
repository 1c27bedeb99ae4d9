"""Tables as sonic-utilities print them: the style `simple` of python-tabulate."""

from __future__ import annotations

import re
from collections.abc import Sequence

PADDING = 2
"""Blanks by which a column is at least wider than its title."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = False) -> str:
    """A table. right: whether texts end together (`stralign='right'`); columns of numbers always do."""
    columns = [*zip(header, *rows, strict=True)]
    widths = [max([len(title) + PADDING, *map(len, cells)]) for title, *cells in columns]
    ends = [right or _is_number(cells) for _, *cells in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    return "".join(_line(line, widths, ends) for line in lines)


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """A table of names and values without a header, between two lines of dashes."""
    columns = [*zip(*rows, strict=True)] or [("",), ("",)]
    widths = [max(map(len, cells)) for cells in columns]
    dashes = ["-" * width for width in widths]
    ends = [*map(_is_number, columns)]
    return "".join(_line(line, widths, ends) for line in (dashes, *rows, dashes))


def _is_number(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(_NUMBER.fullmatch, cells))


def _line(cells: Sequence[str], widths: Sequence[int], ends: Sequence[bool]) -> str:
    padded = (
        text.rjust(width) if end else text.ljust(width) for text, width, end in zip(cells, widths, ends, strict=True)
    )
    return f"{'  '.join(padded).rstrip()}\n"
