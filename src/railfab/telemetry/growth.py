"""Columns that grow: arrays in a named tuple, with `text` for bytes and `slots` for a hash table of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from railfab.telemetry.kernel.columns import ROOM
from railfab.telemetry.kernel.rows import enter

FIRST_ROWS = 64
FIRST_BYTES = 4096
GROWTH = 1.25
APART = frozenset(("text", "slots", "scale"))
"""Columns that are not one value for each row."""
Columns = TypeVar("Columns", bound=tuple[Any, ...])


def first_rows(types: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """A column of each of these types."""
    return {name: np.zeros(FIRST_ROWS, kind) for name, kind in types.items()}


def first_bytes() -> NDArray[np.uint8]:
    """Room for the bytes of texts."""
    return np.zeros(FIRST_BYTES, np.uint8)


def first_slots() -> NDArray[np.int32]:
    """Slots for the first rows."""
    return np.zeros(2 * FIRST_ROWS, np.int32)


def with_room(columns: Columns, rows: int, size: int = 0) -> Columns:
    """The columns, copied into longer ones where they have no room for so many rows, or bytes of text."""
    named: Any = columns
    grown = {}
    for name, column in zip(named._fields, columns, strict=True):
        wanted = size if name == "text" else 0 if name in APART else rows
        if wanted > len(column):
            grown[name] = longer(column, max(wanted, int(GROWTH * len(column))))
    return named._replace(**grown) if grown else columns


def longer(column: NDArray[Any], length: int) -> NDArray[Any]:
    """A copy with zeros behind it."""
    copy = np.zeros(length, column.dtype)
    copy[: len(column)] = column
    return copy


def append_texts(columns: Any, first: int, at: int, texts: Sequence[bytes]) -> int:
    """Write texts into the rows from `first` on and the bytes from `at` on, for which there is room; return the end."""
    joined, sizes = b"".join(texts), np.fromiter(map(len, texts), np.int64, len(texts))
    end = at + len(joined)
    columns.text[at:end] = np.frombuffer(joined, np.uint8)
    columns.length[first : first + len(texts)] = sizes
    columns.start[first : first + len(texts)] = at + np.cumsum(sizes) - sizes
    return end


def with_entered(columns: Columns, first: int, count: int, hashes: Callable[[int], NDArray[Any]]) -> Columns:
    """The columns with the rows from `first` to `count` in their slots, more of them where they are too few.

    hashes: of the rows from one on.
    """
    named: Any = columns
    length = len(named.slots)
    if count <= ROOM * length:
        enter(hashes(first), first, named.slots)
        return columns
    while count > ROOM * length:
        length *= 2
    slots = np.zeros(length, np.int32)
    enter(hashes(0), 0, slots)
    entered: Columns = named._replace(slots=slots)
    return entered
