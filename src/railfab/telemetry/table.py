"""What the collector knows of one target, as columns: its paths, their series and the newest samples."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import BURSTS, Kind, Metric
from railfab.telemetry.growth import append_texts, first_bytes, first_rows, first_slots, longer, with_entered, with_room
from railfab.telemetry.kernel.columns import HAS_RATES, IS_COUNTER, Bindings, KeyKind, Keys, SeriesColumns, States
from railfab.telemetry.kernel.rows import find, hash_paths, hash_texts
from railfab.telemetry.series import Series

MOST_STATES = 4096
"""Of one target: values of enumerations beyond these are decoded anew each time."""
MOST_STATE_BYTES = 256
"""Longest value of an enumeration that is kept, as bytes of its TypedValue; others are decoded anew each time too."""
MOST_BYTES = 1 << 30
"""Of the texts of one target. The columns hold places up to twice that, since a batch may pass it by a message."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_IDS = itertools.count(1)


class Texts(NamedTuple):
    """Texts that are looked up."""

    text: NDArray[np.uint8]
    start: NDArray[np.int32]
    length: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NewKey:
    """A path to be added, as a target writes it, and what it carries; see `Keys`."""

    prefix: bytes
    path: bytes
    kind: KeyKind
    first: int
    count: int


class Lines(NamedTuple):
    """The text of each series before its value: `name{device="leaf1",fabric="pod64",interface="ethernet-1/1"} `, UTF-8.

    ids: one for each series of the process, never used again.
    """

    metric: NDArray[np.int32]
    start: NDArray[np.int64]
    length: NDArray[np.int32]
    ids: NDArray[np.int64]
    text: NDArray[np.uint8]
    slots: NDArray[np.int32]


_KEY_TYPES = {"hash": "u4", "start": "i4", "split": "i4", "length": "i4", "follows": "i4", "kind": "u1", "first": "i4"}
_KEY_TYPES |= {"count": "i4"}
_SERIES_TYPES = {"value": "f8", "device_ns": "i8", "arrival_ns": "i8", "expires_ns": "i8", "generation": "i4"}
_SERIES_TYPES |= {"present": "u1", "counter": "u1", "window": "i4", "rate": "f8", "earlier": "f8"}


class SeriesTable:
    """Columns that grow. One thread adds; columns that were read stay valid, and miss only what came later."""

    def __init__(self, target: str) -> None:
        """target: of `target_text`, the labels that all series have."""
        self._target = target
        self.keys = Keys(**first_rows(_KEY_TYPES), text=first_bytes(), slots=first_slots())
        self.bindings = Bindings(**first_rows({"series": "i4", "rule": "i4", "scale": "f8"}))
        self.states = States(
            **first_rows({"rule": "i4", "start": "i4", "length": "i4", "value": "f8"}),
            text=first_bytes(),
            slots=first_slots(),
        )
        self.series = SeriesColumns(**first_rows(_SERIES_TYPES))
        self.lines = Lines(
            **first_rows({"metric": "i4", "start": "i4", "length": "i4", "ids": "i8"}),
            text=first_bytes(),
            slots=first_slots(),
        )
        self.key_count = self.binding_count = self.state_count = self.series_count = 0
        self._key_bytes = self._state_bytes = self._line_bytes = 0
        self.metrics: list[Metric] = []
        self._metric_numbers: dict[str, int] = {}
        self._counters: list[int] = []
        self._described: dict[int, tuple[Metric, dict[str, str]]] = {}

    @property
    def is_full(self) -> bool:
        """Whether the texts of paths or of series take all the room that there is."""
        return max(self._key_bytes, self._line_bytes) > MOST_BYTES

    @property
    def text_bytes(self) -> int:
        """Bytes of the texts of paths and of series."""
        return self._key_bytes + self._line_bytes

    def add_keys(self, new: Sequence[NewKey]) -> int:
        """Add paths that are not known; return the row of the first, behind which the others follow."""
        first, count = self.key_count, self.key_count + len(new)
        texts = [key.prefix + key.path for key in new]
        keys = with_room(self.keys, count, self._key_bytes + sum(map(len, texts)))
        self._key_bytes = append_texts(keys, first, self._key_bytes, texts)
        keys.split[first:count] = [len(key.prefix) for key in new]
        keys.follows[first:count] = -1
        keys.kind[first:count] = [key.kind for key in new]
        keys.first[first:count] = [key.first for key in new]
        keys.count[first:count] = [key.count for key in new]
        hash_paths(keys.text, keys.start, keys.split, keys.length, first, count, keys.hash)
        self.keys = with_entered(keys, first, count, lambda begin: keys.hash[begin:count])
        self.key_count = count
        return first

    def key(self, row: int) -> tuple[bytes, bytes]:
        """Prefix and path of a row, as the target wrote them."""
        start, split, length = (int(column[row]) for column in (self.keys.start, self.keys.split, self.keys.length))
        text = self.keys.text[start : start + length].tobytes()
        return text[:split], text[split:]

    def bindings_of(self, rows: list[int]) -> list[int]:
        """The bindings of these paths."""
        ranges = zip(self.keys.first[rows].tolist(), self.keys.count[rows].tolist(), strict=True)
        return [place for first, count in ranges for place in range(first, first + count)]

    def bind(self, rows: Sequence[tuple[int, int, float]]) -> int:
        """Add bindings (row of the series, place of the rule, scale); return the first row."""
        first, count = self.binding_count, self.binding_count + len(rows)
        most = max((place for _, place, _ in rows), default=0)
        bindings = with_room(self.bindings, count)
        if most >= len(bindings.scale):
            bindings = bindings._replace(scale=longer(bindings.scale, 2 * most))
        bindings.series[first:count] = [series for series, _, _ in rows]
        bindings.rule[first:count] = [place for _, place, _ in rows]
        for _, place, scale in rows:
            bindings.scale[place] = scale
        self.bindings, self.binding_count = bindings, count
        return first

    def add_state(self, rule: int, value: bytes, number: float) -> None:
        """Add a value of an enumeration, as bytes of its TypedValue, unless it is too long or there are too many."""
        row, at = self.state_count, self._state_bytes
        if row >= MOST_STATES or not 0 < len(value) <= MOST_STATE_BYTES:
            return
        states = with_room(self.states, row + 1, at + len(value))
        self._state_bytes = append_texts(states, row, at, [value])
        states.rule[row], states.value[row] = rule, number
        self.states = with_entered(states, row, row + 1, lambda begin: _hashes(states, begin, row + 1, states.rule))
        self.state_count = row + 1

    def find(self, series: Series) -> int | None:
        """The row of a series, or None."""
        row = int(self._find([line_text(self._target, series)])[0])
        return None if row < 0 else row

    def add_series(self, series: Iterable[Series]) -> list[int]:
        """The rows of series; those that are new are added."""
        every = list(series)
        texts = [line_text(self._target, one) for one in every]
        found = self._find(texts).tolist()
        new = {text: one for text, one, row in zip(texts, every, found, strict=True) if row < 0}
        rows = dict(zip(new, itertools.count(self.series_count), strict=False))
        self._add_lines(list(new), [self._metric_number(one.metric) for one in new.values()])
        return [rows[text] if row < 0 else row for text, row in zip(texts, found, strict=True)]

    def compacted(self) -> SeriesTable:
        """A table of the series that have a value, without paths, which are learnt anew."""
        smaller, rows = SeriesTable(self._target), self.present_rows()
        smaller.metrics, smaller._metric_numbers = list(self.metrics), dict(self._metric_numbers)
        smaller._counters = list(self._counters)
        smaller._add_lines([self.text(row) for row in rows.tolist()], self.lines.metric[rows])
        smaller.lines.ids[: len(rows)] = self.lines.ids[rows]
        for column, values in zip(smaller.series, self.series, strict=True):
            column[: len(rows)] = values[rows]
        return smaller

    def series_of(self, row: int) -> Series:
        """The series of a row."""
        return Series(*self.describe(row))

    def describe(self, row: int) -> tuple[Metric, dict[str, str]]:
        """The metric and the labels of a row, those of the target included."""
        found = self._described.get(row)
        if found is None:
            text = self.text(row).decode()
            labels = {name: _ESCAPED.sub(_unescaped, value) for name, value in _LABEL.findall(text)}
            found = self._described[row] = (self.metrics[self.lines.metric[row]], labels)
        return found

    def text(self, row: int) -> bytes:
        """The text of a row."""
        start = int(self.lines.start[row])
        return self.lines.text[start : start + int(self.lines.length[row])].tobytes()

    def present_rows(self) -> NDArray[np.int64]:
        """The rows that have a value."""
        return np.flatnonzero(self.series.present[: self.series_count])

    def _find(self, texts: Sequence[bytes]) -> NDArray[np.int64]:
        """The row of each text, -1 where there is none."""
        count, lines = len(texts), self.lines
        rows = np.empty(count, np.int64)
        wanted = Texts(np.empty(sum(map(len, texts)), np.uint8), np.empty(count, np.int32), np.empty(count, np.int32))
        append_texts(wanted, 0, 0, texts)
        find(*wanted, _hashes(wanted, 0, count), lines.text, lines.start, lines.length, lines.slots, rows)
        return rows

    def _add_lines(self, texts: Sequence[bytes], metrics: Sequence[int] | NDArray[np.int32]) -> None:
        """Add series that are not known, by their texts and the numbers of their metrics."""
        if not texts:
            return
        first, count = self.series_count, self.series_count + len(texts)
        lines = with_room(self.lines, count, self._line_bytes + sum(map(len, texts)))
        self.series = with_room(self.series, count)
        self._line_bytes = append_texts(lines, first, self._line_bytes, texts)
        lines.metric[first:count] = metrics
        lines.ids[first:count] = list(itertools.islice(_IDS, count - first))
        self.series.counter[first:count] = [self._counters[number] for number in metrics]
        self.lines = with_entered(lines, first, count, lambda begin: _hashes(lines, begin, count))
        self.series_count = count

    def _metric_number(self, metric: Metric) -> int:
        number = self._metric_numbers.get(metric.name)
        if number is None:
            number = self._metric_numbers[metric.name] = len(self.metrics)
            self.metrics.append(metric)
            self._counters.append(IS_COUNTER * (metric.kind is Kind.COUNTER) | HAS_RATES * (metric.name in BURSTS))
        return number


def target_text(device: str, fabric: str) -> str:
    """The labels of a target in the text format; one of no fabric has no label of it."""
    of_fabric = f',fabric="{escaped(fabric)}"' if fabric else ""
    return f'device="{escaped(device)}"{of_fabric}'


def line_text(target: str, series: Series) -> bytes:
    """A series as it begins a line of the text format, with the space before its value. target: of `target_text`."""
    labels = "".join([f',{name}="{escaped(value)}"' for name, value in series.labels])
    return f"{series.metric.name}{{{target}{labels}}} ".encode()


@lru_cache(maxsize=1 << 12)
def escaped(value: str) -> str:
    """A label's value as the text format wants it; surrogates of broken text become question marks."""
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return text.encode(errors="replace").decode()


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def _hashes(columns: Any, first: int, count: int, seeds: NDArray[np.int32] | None = None) -> NDArray[np.uint32]:
    """The hashes of the texts of the rows from `first` to `count`."""
    hashes = np.empty(count - first, np.uint32)
    seeds = np.zeros(count, np.int32) if seeds is None else seeds
    hash_texts(seeds[first:count], columns.text, columns.start[first:count], columns.length[first:count], hashes)
    return hashes
