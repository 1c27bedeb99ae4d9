"""Tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a table; None is an empty cell."""
    yield _row(columns)
    yield "|" + "---|" * len(columns)
    yield from map(_row, rows)


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(cell: object) -> str:
    return "" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell).replace("|", "\\|")
