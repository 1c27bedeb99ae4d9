"""Read CSV and JSON files of a scenario; every mistake is an error with file, line and column."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from railfab.errors import RailfabError, raise_all

Errors = list[RailfabError]
"""Mistakes that were found so far, to be reported together."""
MOST_REPORTED = 20
LARGEST = 1 << 53


@dataclass(frozen=True, slots=True)
class Number:
    """Which numbers a column or key may have."""

    least: float
    most: float = LARGEST
    whole: bool = True
    above: bool = False
    """Whether `least` itself is too small."""

    @property
    def meaning(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        most = "" if self.most >= LARGEST else f"{self.most:,.0f}" if self.most >= 1 else f"{self.most:g}"
        if self.above:
            return f"{kind} above {self.least:g}{most and f' and at most {most}'}"
        least = f"{self.least:,.0f}" if self.least == int(self.least) else f"{self.least:g}"
        return f"{kind} from {least} {f'to {most}' if most else 'up'}"

    def accepts(self, value: float) -> bool:
        if not math.isfinite(value) or value > self.most or (self.whole and value != int(value)):
            return False
        return value > self.least if self.above else value >= self.least


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Cells of a CSV file by column, and the line of each row. others: columns that were not asked for."""

    path: Path
    lines: tuple[int, ...]
    columns: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...]

    def place(self, row: int, column: str) -> str:
        return f"{self.path}, line {self.lines[row]}, column {column}"


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RailfabError(
            str(path), "does not exist", "A scenario has scenario.json, links.csv and flows.csv"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) and error.strerror else "is not text in UTF-8"
        raise RailfabError(str(path), f"cannot be read ({problem.lower()})", "Name a readable file") from None


def read_table(path: Path, columns: Sequence[str]) -> CsvTable:
    """The rows of a CSV file with at least these columns."""
    reader = csv.reader(read_text(path).splitlines())
    try:
        header = [cell.strip() for cell in next(reader, [])]
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise RailfabError(f"{path}, line {reader.line_num}", f"is not CSV ({error})", "Correct the line") from None
    missing = [name for name in columns if name not in header]
    if missing:
        remedy = f"Begin the file with the line {','.join(columns)}"
        raise RailfabError(f"{path}, line 1", f"has no column {', '.join(missing)}", remedy)
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        problem = f"has column {', '.join(sorted(twice))} more than once"
        raise RailfabError(f"{path}, line 1", problem, "Give each column a name of its own")
    for line, row in rows:
        if len(row) != len(header):
            problem = f"has {len(row)} cells, and the first line has {len(header)}"
            raise RailfabError(f"{path}, line {line}", problem, f"Give one cell for each of {','.join(header)}")
    cells = zip(*(row for _, row in rows), strict=True) if rows else ((),) * len(header)
    found = dict(zip(header, map(tuple, cells), strict=True))
    others = tuple(name for name in header if name not in columns)
    return CsvTable(path, tuple(line for line, _ in rows), {name: found[name] for name in columns}, others)


def column(
    table: CsvTable, name: str, wanted: Number, errors: Errors, unused: Callable[[int], bool] | None = None
) -> list[float]:
    """The numbers of a column; 0 in place of those that are mistakes. unused: rows whose cell may be empty."""
    found = []
    for row, cell in enumerate(table.columns[name]):
        if unused is not None and not cell.strip() and unused(row):
            found.append(0.0)
            continue
        value = _number(cell)
        if value is None or not wanted.accepts(value):
            errors.append(_not(table.place(row, name), cell, wanted))
            value = 0.0
        found.append(value)
    return found


def whole_column(table: CsvTable, name: str, wanted: Number, errors: Errors) -> list[int]:
    return [int(value) for value in column(table, name, wanted, errors)]


def _number(cell: object) -> float | None:
    try:
        return float(cell) if isinstance(cell, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _not(where: str, cell: str, wanted: Number) -> RailfabError:
    return RailfabError(where, f"{shortened(cell.strip()) or 'empty'} is not {wanted.meaning}", "Correct the value")


def shortened(text: str) -> str:
    return f"{text[:40]}..." if len(text) > 43 else text


def read_document(path: Path) -> dict[str, Any]:
    """A JSON file that is one object."""
    text = read_text(path)
    try:
        found = json.loads(text, object_pairs_hook=partial(_object, path))
    except json.JSONDecodeError as error:
        where = f"{path}, line {error.lineno}, column {error.colno}"
        raise RailfabError(where, f"is not JSON ({error.msg.lower()})", "Correct the file") from None
    except ValueError:
        raise RailfabError(str(path), "has a number with too many digits", "Correct the file") from None
    except RecursionError:
        raise RailfabError(str(path), "is nested too deeply", "Correct the file") from None
    if not isinstance(found, dict):
        raise RailfabError(str(path), "is not one JSON object", "Begin it with { and end it with }")
    return found


def _object(path: Path, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RailfabError(str(path), f"has key {shortened(twice)} more than once in one object", "Remove all but one")
    return found


def key(
    where: str, document: Mapping[str, Any], name: str, wanted: Number, errors: Errors, default: float | None = None
) -> float:
    """The number of a key; 0 in place of a mistake."""
    if name not in document:
        if default is None:
            errors.append(RailfabError(where, f"has no key {name}", f"Add {name}, {wanted.meaning}"))
        return default or 0.0
    value = document[name]
    number = _number(value) if not isinstance(value, str) else None
    if number is None or not wanted.accepts(number):
        errors.append(_not(f"{where}, key {name}", json.dumps(value), wanted))
        return 0.0
    return number


def raise_found(errors: Errors, where: Path) -> None:
    """Raise all mistakes, the first of them when they are many."""
    if len(errors) > MOST_REPORTED:
        more = len(errors) - MOST_REPORTED
        errors = [
            *errors[:MOST_REPORTED],
            RailfabError(str(where), f"has {more} more mistakes", "Correct those above first"),
        ]
    raise_all(errors)
