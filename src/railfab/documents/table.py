"""A document of rows, for spreadsheets and for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Cell = str | int | None
"""What stands in a row; None is an empty cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """name: the stem of its file. rows: as many cells as there are columns."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]

    def csv(self) -> str:
        """The table as CSV, with a header line."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def records(self) -> Iterator[dict[str, Cell]]:
        """Each row by column."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)
