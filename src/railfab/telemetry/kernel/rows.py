"""Rows of texts with their hash tables: many are hashed, looked up and entered in one call."""

from __future__ import annotations

from typing import Any

from railfab.telemetry.kernel.columns import Array
from railfab.telemetry.kernel.jit import compiled
from railfab.telemetry.kernel.probe import LOW_32, equal, mixed, path_hash


@compiled
def hash_paths(text: Array, start: Array, split: Array, length: Array, first: int, count: int, hashes: Array) -> Any:
    """Set the hash of the rows from `first` to `count`, as in `Keys.hash`."""
    for row in range(first, count):
        begin, middle, end = start[row] + 0, start[row] + split[row], start[row] + length[row]
        hashes[row] = path_hash(text, begin, middle, middle, end)


@compiled
def hash_texts(seeds: Array, text: Array, start: Array, length: Array, hashes: Array) -> Any:
    """Set the hash of each text, from its seed, as in `States`."""
    for number in range(len(hashes)):
        begin = start[number] + 0
        hashes[number] = mixed(seeds[number] + 0, text, begin, begin + length[number]) & LOW_32


@compiled
def enter(hashes: Array, first: int, slots: Array) -> Any:
    """Enter rows from `first` on with these hashes; there must be room."""
    mask = len(slots) - 1
    for number in range(len(hashes)):
        place = hashes[number] & mask
        while slots[place]:
            place = (place + 1) & mask
        slots[place] = first + number + 1


@compiled
def find(
    wanted: Array, begins: Array, sizes: Array, hashes: Array, text: Array, start: Array, length: Array, slots: Array,
    rows: Array,
) -> Any:  # fmt: skip
    """Set the row of each wanted text, -1 where there is none. wanted, begins, sizes, hashes: of the wanted texts."""
    mask = len(slots) - 1
    for number in range(len(rows)):
        place = hashes[number] & mask
        rows[number] = -1
        while slots[place]:
            row = slots[place] - 1
            if length[row] == sizes[number] and equal(text, start[row], wanted, begins[number], sizes[number]):
                rows[number] = row
                break
            place = (place + 1) & mask
