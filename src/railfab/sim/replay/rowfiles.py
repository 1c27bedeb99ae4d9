"""Dataclasses as rows of a CSV file, and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from railfab.errors import RailfabError
from railfab.sim.replay.tables import read_table

_Row = TypeVar("_Row")
SAVE_AGAIN = "Save the run again with `railfab sim replay --save`"


def _path_of(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((int(node), int(port)) for node, _, port in (one.partition(":") for one in text.split()))


_READERS: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": lambda text: bool(int(text)),
    "int | None": lambda text: int(text) if text else None,
    "float | None": lambda text: float(text) if text else None,
    "Ports": _path_of,
}


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return repr(round(value, 3))
    if isinstance(value, tuple):
        return " ".join(f"{node}:{port}" for node, port in value)
    return "" if value is None else value


def rows_text(kind: type[Any], rows: Sequence[object]) -> str:
    """Rows as CSV, with a column for each field."""
    names = [field.name for field in fields(kind)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(getattr(row, name)) for name in names] for row in rows)
    return text.getvalue()


def read_rows(path: Path, kind: type[_Row]) -> tuple[_Row, ...]:
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    readers = [_READERS[str(field.type)] for field in fields(kind)]  # type: ignore[arg-type]
    try:
        table = read_table(path, names)
        columns = [[read(cell) for cell in table.columns[name]] for name, read in zip(names, readers, strict=True)]
    except RailfabError as error:
        raise RailfabError(error.where, error.problem, SAVE_AGAIN) from None
    except ValueError as error:
        raise RailfabError(str(path), f"is damaged ({error})", SAVE_AGAIN) from None
    return tuple(kind(*cells) for cells in zip(*columns, strict=True))
