"""Lines of Prometheus' text format from the columns of one target, by family."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import BURSTS, rate_max_name
from railfab.telemetry.kernel.columns import NO_RATE, Groups, LongNumbers
from railfab.telemetry.kernel.render import long_numbers, render
from railfab.telemetry.store import Sample
from railfab.telemetry.table import Lines, SeriesTable

NUMBER_BYTES = 26
"""The longest number and the end of its line."""
MOST_GROUPS = 64
"""Selections of families whose order is kept; a scrape of all has one for each part."""

Chunks = dict[str, list[memoryview | bytes]]
"""Lines by the name of their metric."""
_Values = tuple[NDArray[np.uint8], NDArray[np.float64], LongNumbers]
"""Whether each row lives, its value, and the values that the kernel does not write."""


class _Family(NamedTuple):
    """Rows of one name. cut: how much of a row's text is left out at its start; head is written in its place.

    size: the most bytes that its lines take. is_rate: whether the values are the highest rates.
    """

    order: NDArray[np.int32]
    cut: int
    head: bytes
    size: int
    is_rate: bool


class _Arranged:
    """The families of the first rows of a table; it never changes, since scrapes of several threads share it."""

    def __init__(self, lines: Lines, count: int, table: SeriesTable) -> None:
        self.lines, self.count = lines, count
        numbers = lines.metric[:count]
        order = np.argsort(numbers, kind="stable").astype(np.int32)
        present, firsts = np.unique(numbers[order], return_index=True)
        self.families: dict[str, _Family] = {}
        for number, first, end in zip(present.tolist(), firsts, [*firsts[1:], count], strict=bool(count)):
            name, rows = table.metrics[number].name, order[first:end]
            self.families[name] = self._family(rows, 0, b"", is_rate=False)
            if name in BURSTS:
                head = rate_max_name(name).encode()
                self.families[rate_max_name(name)] = self._family(rows, len(name), head, is_rate=True)
        self._groups: dict[tuple[str, ...], Groups] = {}

    def _family(self, order: NDArray[np.int32], cut: int, head: bytes, *, is_rate: bool) -> _Family:
        size = int(self.lines.length[order].sum()) + (NUMBER_BYTES + len(head)) * len(order)
        return _Family(order, cut, head, size, is_rate)

    def groups(self, names: Sequence[str]) -> Groups:
        """These families, for the kernel."""
        key = tuple(names)
        found = self._groups.get(key)
        if found is None:
            if len(self._groups) >= MOST_GROUPS:
                self._groups.clear()
            found = self._groups[key] = _groups([self.families[name] for name in names])
        return found


@dataclass(frozen=True, slots=True)
class SampleLines:
    """The lines of one sample, written when they are asked for."""

    sample: Sample
    arranged: _Arranged
    _found: dict[bool, _Values] = field(default_factory=dict)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The most bytes that the lines of each family take."""
        return {name: family.size for name, family in self.arranged.families.items()}

    def size(self, names: Collection[str]) -> int:
        """The bytes that `write` needs for these families."""
        return sum(family.size for name, family in self.arranged.families.items() if name in names)

    def write(self, names: Collection[str], out: NDArray[np.uint8]) -> dict[str, memoryview]:
        """Write the lines of living rows to the start of `out`; those of these families that have any."""
        found: dict[str, memoryview] = {}
        for is_rate in (False, True):
            wanted = [name for name, one in self.arranged.families.items() if one.is_rate is is_rate and name in names]
            if wanted:
                found |= self._written(wanted, out, is_rate=is_rate)
                out = out[self.size(wanted) :]
        return found

    def _written(self, names: Sequence[str], out: NDArray[np.uint8], *, is_rate: bool) -> dict[str, memoryview]:
        groups, lines = self.arranged.groups(names), self.arranged.lines
        ends = np.zeros(len(names), np.int64)
        alive, values, long = self._values(is_rate)
        render(groups, lines.start, lines.length, lines.text, alive, values, long, out, ends)
        begins = [0, *ends.tolist()]
        return {
            name: out[begin:end].data
            for name, begin, end in zip(names, begins, begins[1:], strict=False)
            if end > begin
        }

    def _values(self, is_rate: bool) -> _Values:
        found = self._found.get(is_rate)
        if found is None:
            sample = self.sample
            values, alive = sample.values, sample.live
            if is_rate:
                values, alive = sample.rates, alive & (sample.rates != NO_RATE)
            living = alive.view(np.uint8)
            found = self._found[is_rate] = living, values, _long_numbers(living, values)
        return found


class Writer:
    """Writes the living rows of a table; it keeps their order until there are new ones."""

    def __init__(self) -> None:
        self._arranged: _Arranged | None = None

    def page(self, sample: Sample) -> SampleLines:
        """The lines of a sample, and of the highest rates of those that have one. Any thread."""
        table, arranged = sample.table, self._arranged
        count = min(table.series_count, len(sample.live))
        lines = table.lines
        if arranged is None or arranged.lines is not lines or arranged.count != count:
            arranged = self._arranged = _Arranged(lines, count, table)
        return SampleLines(sample, arranged)


def _groups(families: Sequence[_Family]) -> Groups:
    """Families one behind the other."""
    return Groups(
        order=np.concatenate([family.order for family in families]),
        begin=np.cumsum([0, *(len(family.order) for family in families)]).astype(np.int64),
        cut=np.array([family.cut for family in families], np.int64),
        head=np.cumsum([0, *(len(family.head) for family in families)]).astype(np.int64),
        text=np.frombuffer(b"".join(family.head for family in families) + b"\0", np.uint8),
    )


def _long_numbers(alive: NDArray[np.uint8], values: NDArray[np.float64]) -> LongNumbers:
    """The values that need more digits than the kernel writes."""
    found = np.empty(len(alive), np.int64)
    count = long_numbers(alive, values, found)
    at = np.zeros(len(values) if count else 0, np.int32)
    text = bytearray()
    for row, value in zip(found[:count].tolist(), values[found[:count]].tolist(), strict=True):
        at[row] = len(text) + 1
        text += repr(value).encode() + b"\0"
    return LongNumbers(at=at, text=np.frombuffer(bytes(text) + b"\0", np.uint8))
