"""Layout of tables: a line per row where it fits, with wrapped texts where that suffices, else a block per row."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

GAP = "  "
Cells = Sequence[Sequence[str]]
"""Rows of a table, the heading first."""


def cell_len(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)


def columns() -> int | None:
    """Width of the output: that of COLUMNS, else of the terminal; None where stdout is neither limited."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdigit() and int(stated):
        return int(stated)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError, AttributeError):  # a pipe, a file, a closed stdout, or none
        return None


def laid_out(cells: Cells, width: int | None) -> list[str]:
    """Lines of a table that are not longer than `width`, unless a single word is."""
    natural = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    if width is None or _total(natural) <= width:
        return list(_aligned(cells, natural))
    widths = _narrowed(cells, natural, width)
    return list(_aligned(cells, widths)) if widths is not None else list(_blocks(cells, width))


CONTINUED = " \\"
"""End of a line of a command that has another one, for a shell."""


def with_command(sentence: str, command: str, width: int | None) -> list[str]:
    """Lines of a sentence that ends with a command, not longer than `width` unless a word is.

    Where it takes more than one, the command has lines of its own, which a shell reads as one.
    """
    whole = f"{sentence} {command}"
    if width is None or cell_len(whole) <= width:
        return [whole]
    *parts, last = _wrapped(command, width - len(GAP + CONTINUED))
    return [*_wrapped(sentence, width), *(GAP + part + CONTINUED for part in parts), GAP + last]


def wrapped(text: str, width: int) -> list[str]:
    """Lines of a text that are not longer than `width` unless a word is; its own lines stay apart."""
    return [part for line in text.split("\n") for part in _wrapped(line, width) or [""]]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _narrowed(cells: Cells, natural: Sequence[int], width: int) -> list[int] | None:
    """Widths of columns that fit, with texts wrapped between words; None where words are too long for that."""
    least = [max(_longest_word(cell) for cell in column) for column in zip(*cells, strict=True)]
    if _total(least) > width:
        return None
    widths = list(natural)
    while _total(widths) > width:
        widest = max(range(len(widths)), key=lambda place: (widths[place] > least[place], widths[place]))
        widths[widest] -= 1
    return widths


def _longest_word(cell: str) -> int:
    return max(map(cell_len, cell.split()), default=0)


def _aligned(cells: Cells, widths: Sequence[int]) -> Iterator[str]:
    """Rows with two spaces between columns, numbers aligned right."""
    numeric = [_is_numeric(column) for column in zip(*cells, strict=True)]
    for row in cells:
        parts = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in zip_longest(*parts, fillvalue=""):
            padded = zip(line, widths, numeric, strict=True)
            yield GAP.join(_padded(cell, width, right=right) for cell, width, right in padded).rstrip()


def _wrapped(cell: str, width: int) -> list[str]:
    return [cell] if cell_len(cell) <= width else wrap(cell, width, break_long_words=False, break_on_hyphens=False)


def _padded(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space


def _is_numeric(column: Sequence[str]) -> bool:
    return len(column) > 1 and all(_is_number(cell) for cell in column[1:] if cell)


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "", 1).isdigit()


def _blocks(cells: Cells, width: int) -> Iterator[str]:
    """A block of lines for each row, `column  value` each, with an empty line between blocks."""
    heading, *rows = cells
    label = max(map(cell_len, heading)) + len(GAP)
    for place, row in enumerate(rows):
        if place:
            yield ""
        for name, cell in zip(heading, row, strict=True):
            first, *more = _wrapped(cell, max(1, width - label)) or [""]
            yield (_padded(name, label, right=False) + first).rstrip()
            yield from (" " * label + line for line in more)
