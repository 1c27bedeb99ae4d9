"""What the collector knows of one target, as columns: its paths, their series and the newest samples."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import BURSTS, Metric
from railfab.telemetry.kernel.columns import ROOM, Bindings, KeyKind, Keys, States
from railfab.telemetry.kernel.columns import Series as SeriesColumns
from railfab.telemetry.kernel.take import fill, hash_of, hash_rows, state_hash
from railfab.telemetry.series import Series

FIRST_ROWS = 64
FIRST_BYTES = 4096
GROWTH = 1.5
MOST_STATES = 4096
"""Of one target: values of enumerations beyond these are decoded anew each time."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_IDS = itertools.count(1)
Columns = TypeVar("Columns", bound=tuple[Any, ...])


class Lines(NamedTuple):
    """The text of each series before its value: `name{device="leaf1",interface="ethernet-1/1"} `, UTF-8.

    ids: one for each series of the process, never used again.
    """

    metric: NDArray[np.int32]
    start: NDArray[np.int64]
    length: NDArray[np.int32]
    ids: NDArray[np.int64]
    text: NDArray[np.uint8]
    slots: NDArray[np.int32]


_KEY_TYPES = {"hash": "i8", "start": "i8", "split": "i4", "length": "i4", "follows": "i4", "kind": "u1", "first": "i4"}
_KEY_TYPES |= {"count": "i4"}
_SERIES_TYPES = {"value": "f8", "device_ns": "i8", "arrival_ns": "i8", "expires_ns": "i8", "generation": "i4"}
_SERIES_TYPES |= {"present": "u1", "counter": "u1", "window": "i8", "rate": "f8", "earlier": "f8"}


class Table:
    """Columns that grow. One thread adds; columns that were read stay valid, and miss only what came later."""

    def __init__(self, device: str) -> None:
        self._device = device
        self.keys = Keys(**_rows(_KEY_TYPES), text=_bytes(), slots=_slots())
        self.bindings = Bindings(**_rows({"series": "i4", "scale": "f8", "states": "i4"}))
        self.states = States(
            **_rows({"rule": "i4", "start": "i8", "length": "i4", "value": "f8"}), text=_bytes(), slots=_slots()
        )
        self.series = SeriesColumns(**_rows(_SERIES_TYPES))
        self.lines = Lines(
            **_rows({"metric": "i4", "start": "i8", "length": "i4", "ids": "i8"}), text=_bytes(), slots=_slots()
        )
        self.key_count = self.binding_count = self.state_count = self.series_count = 0
        self._key_bytes = self._state_bytes = self._line_bytes = 0
        self.metrics: list[Metric] = []
        self._metric_numbers: dict[str, int] = {}
        self._described: dict[int, tuple[Metric, dict[str, str]]] = {}

    def add_key(self, prefix: bytes, path: bytes, kind: KeyKind, first: int, count: int) -> int:
        """Add a path; return its row."""
        row, at, size = self.key_count, self._key_bytes, len(prefix) + len(path)
        keys = self.keys = _with_room(self.keys, row + 1, at + size, apart=("text", "slots"))
        both = prefix + path
        keys.text[at : at + size] = np.frombuffer(both, np.uint8)
        known = hash_of(np.frombuffer(both or b"\0", np.uint8), 0, len(prefix), len(prefix), size)
        keys.hash[row], keys.start[row], keys.split[row], keys.length[row] = known, at, len(prefix), size
        keys.follows[row], keys.kind[row], keys.first[row], keys.count[row] = -1, kind, first, count
        self.key_count, self._key_bytes = row + 1, at + size
        if self.key_count > ROOM * len(keys.slots):
            self.keys = keys._replace(slots=_filled(keys.slots, keys.hash[: self.key_count]))
        else:
            _insert(keys.slots, int(known), row)
        return row

    def key(self, row: int) -> tuple[bytes, bytes]:
        """Prefix and path of a row, as the target wrote them."""
        start, split, length = (int(column[row]) for column in (self.keys.start, self.keys.split, self.keys.length))
        text = self.keys.text[start : start + length].tobytes()
        return text[:split], text[split:]

    def bindings_of(self, rows: list[int]) -> list[int]:
        """The bindings of these paths."""
        ranges = zip(self.keys.first[rows].tolist(), self.keys.count[rows].tolist(), strict=True)
        return [place for first, count in ranges for place in range(first, first + count)]

    def bind(self, rows: list[tuple[int, float, int]]) -> int:
        """Add bindings (row of the series, scale, rule of states); return the first row."""
        first = self.binding_count
        self.bindings = _with_room(self.bindings, first + len(rows), 0)
        for place, (series, scale, states) in enumerate(rows, first):
            self.bindings.series[place], self.bindings.scale[place] = series, scale
            self.bindings.states[place] = states
        self.binding_count += len(rows)
        return first

    def add_state(self, rule: int, value: bytes, number: float) -> None:
        """Add a value of an enumeration, as bytes of its TypedValue, unless there are too many."""
        row, at, size = self.state_count, self._state_bytes, len(value)
        if row >= MOST_STATES or size == 0:
            return
        states = self.states = _with_room(self.states, row + 1, at + size, apart=("text", "slots"))
        states.text[at : at + size] = np.frombuffer(value, np.uint8)
        states.rule[row], states.start[row], states.length[row], states.value[row] = rule, at, size, number
        self.state_count, self._state_bytes = row + 1, at + size
        if self.state_count > ROOM * len(states.slots):
            slots = _filled(states.slots, _hashes(states.rule, states, self.state_count))
            self.states = states._replace(slots=slots)
        else:
            _insert(states.slots, int(state_hash(rule, states.text, at, at + size)), row)

    def find(self, series: Series) -> int | None:
        """The row of a series, or None."""
        text = line_text(self._device, series)
        return self._line(_hash(text), text)

    def add_series(self, series: Series) -> int:
        """The row of a series, which is added where it is new."""
        text = line_text(self._device, series)
        known = _hash(text)
        row = self._line(known, text)
        return self._new_line(known, text, series.metric) if row is None else row

    def compacted(self) -> Table:
        """A table of the series that have a value, without paths, which are learnt anew."""
        smaller = Table(self._device)
        for row in self.present_rows().tolist():
            text = self.text(row)
            new = smaller._new_line(_hash(text), text, self.metrics[self.lines.metric[row]])
            smaller.lines.ids[new] = self.lines.ids[row]
            for column, values in zip(smaller.series, self.series, strict=True):
                column[new] = values[row]
        return smaller

    def series_of(self, row: int) -> Series:
        """The series of a row."""
        metric, labels = self.describe(row)
        return Series(metric, {name: value for name, value in labels.items() if name != "device"})

    def describe(self, row: int) -> tuple[Metric, dict[str, str]]:
        """The metric and the labels of a row, device included."""
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

    def _line(self, known: int, text: bytes) -> int | None:
        for row in _candidates(self.lines.slots, known):
            if self.text(row) == text:
                return row
        return None

    def _new_line(self, known: int, text: bytes, metric: Metric) -> int:
        row, at, size = self.series_count, self._line_bytes, len(text)
        lines = self.lines = _with_room(self.lines, row + 1, at + size, apart=("text", "slots"))
        series = self.series = _with_room(self.series, row + 1, 0)
        lines.text[at : at + size] = np.frombuffer(text, np.uint8)
        lines.metric[row], lines.start[row], lines.length[row] = self._metric_number(metric), at, size
        lines.ids[row] = next(_IDS)
        series.counter[row] = metric.name in BURSTS
        self.series_count, self._line_bytes = row + 1, at + size
        if self.series_count > ROOM * len(lines.slots):
            slots = _filled(lines.slots, _hashes(np.zeros(self.series_count, np.int32), lines, self.series_count))
            self.lines = lines._replace(slots=slots)
        else:
            _insert(lines.slots, known, row)
        return row

    def _metric_number(self, metric: Metric) -> int:
        number = self._metric_numbers.get(metric.name)
        if number is None:
            number = self._metric_numbers[metric.name] = len(self.metrics)
            self.metrics.append(metric)
        return number


def line_text(device: str, series: Series) -> bytes:
    """A series as it begins a line of the text format, with the space before its value."""
    labels = ",".join(f'{name}="{escaped(value)}"' for name, value in (("device", device), *series.labels))
    return f"{series.metric.name}{{{labels}}} ".encode()


def escaped(value: str) -> str:
    """A label's value as the text format wants it; surrogates of broken text become question marks."""
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return text.encode(errors="replace").decode()


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def _hash(text: bytes) -> int:
    return int(state_hash(0, np.frombuffer(text, np.uint8), 0, len(text)))


def _rows(types: dict[str, str]) -> dict[str, NDArray[Any]]:
    return {name: np.zeros(FIRST_ROWS, kind) for name, kind in types.items()}


def _bytes() -> NDArray[np.uint8]:
    return np.zeros(FIRST_BYTES, np.uint8)


def _slots() -> NDArray[np.int32]:
    return np.zeros(2 * FIRST_ROWS, np.int32)


def _with_room(columns: Columns, rows: int, size: int, apart: tuple[str, ...] = ()) -> Columns:
    """The columns, copied into longer ones where they have no room for so many rows, or bytes of text."""
    named: Any = columns
    grown = {}
    for name, column in zip(named._fields, columns, strict=True):
        wanted = size if name == "text" else 0 if name in apart else rows
        if wanted > len(column):
            grown[name] = np.zeros(max(wanted, int(GROWTH * len(column))), column.dtype)
            grown[name][: len(column)] = column
    return named._replace(**grown) if grown else columns


def _insert(slots: NDArray[np.int32], known: int, row: int) -> None:
    mask = len(slots) - 1
    place = known & mask
    while slots[place]:
        place = (place + 1) & mask
    slots[place] = row + 1


def _candidates(slots: NDArray[np.int32], known: int) -> Iterator[int]:
    """The rows that may have a hash, in the order of probing."""
    mask = len(slots) - 1
    place = known & mask
    while slots[place]:
        yield int(slots[place]) - 1
        place = (place + 1) & mask


def _hashes(seeds: NDArray[np.int32], columns: Any, count: int) -> NDArray[np.int64]:
    """The hashes of the texts of so many rows."""
    hashes = np.zeros(count, np.int64)
    hash_rows(seeds, columns.text, columns.start, columns.length, count, hashes)
    return hashes


def _filled(slots: NDArray[np.int32], hashes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Twice as many slots, with rows of these hashes."""
    longer = np.zeros(2 * len(slots), np.int32)
    fill(hashes, len(hashes), longer)
    return longer
