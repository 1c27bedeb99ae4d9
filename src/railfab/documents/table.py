"""A table of rows, for CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Cell = str | float | None
"""A value in a row; None is an empty cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. name: stem of its file. rows: one cell per column."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]

    def csv(self) -> str:
        """The table as CSV, with a header line."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in self.rows)
        return out.getvalue()

    def records(self) -> Iterator[dict[str, Cell]]:
        """Each row as a mapping of columns to cells."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)
