"""Lines of Prometheus' text format from the columns of one target, by family."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import BURSTS, Metric, rate_max_name
from railfab.telemetry.kernel.columns import Groups, LongNumbers
from railfab.telemetry.kernel.render import long_numbers, render
from railfab.telemetry.table import Lines, Table

NUMBER_BYTES = 26
"""The longest number and the end of its line."""

Chunks = dict[str, list[memoryview | bytes]]
"""Lines by the name of their metric."""


class _Arrangement(NamedTuple):
    """The first rows of a table by their metrics, and the names of these. rates: of those that have one."""

    lines: Lines
    rows: int
    plain: tuple[Groups, list[str]]
    rates: tuple[Groups, list[str]]


class Writer:
    """Writes the living rows of a table; it keeps their order until there are new ones. Any thread, and several."""

    def __init__(self) -> None:
        self._newest: _Arrangement | None = None

    def write(
        self, table: Table, live: NDArray[np.bool_], values: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> Chunks:
        """The lines of all living rows, and of the rates of those that have one."""
        arranged = self._arranged(table, min(table.series_count, len(live)))
        chunks: Chunks = {}
        for (groups, names), written in ((arranged.plain, values), (arranged.rates, rates)):
            text, ends = _written(groups, arranged.lines, live, written)
            begin = 0
            for name, end in zip(names, ends.tolist(), strict=True):
                if end > begin:
                    chunks.setdefault(name, []).append(text[begin:end])
                begin = end
        return chunks

    def _arranged(self, table: Table, count: int) -> _Arrangement:
        """The order of so many rows; another thread may make another one meanwhile, which this one never sees."""
        lines, found = table.lines, self._newest
        if found is None or found.lines is not lines or found.rows != count:
            found = self._newest = _arrange(lines, table.metrics, count)
        return found


def _arrange(lines: Lines, metrics: list[Metric], count: int) -> _Arrangement:
    numbers = lines.metric[:count]
    order = np.argsort(numbers, kind="stable")
    bursts = np.array([metric.name in BURSTS for metric in metrics], bool)
    plain = _groups(order, numbers, metrics, _itself)
    return _Arrangement(lines, count, plain, _groups(order[bursts[numbers[order]]], numbers, metrics, rate_max_name))


def _itself(name: str) -> str:
    return name


def _groups(
    order: NDArray[np.int64], numbers: NDArray[np.int32], metrics: list[Metric], renamed: Callable[[str], str]
) -> tuple[Groups, list[str]]:
    """Rows in the order of their metrics, under these names, and the names."""
    present, firsts = np.unique(numbers[order], return_index=True)
    old = [metrics[number].name for number in present.tolist()]
    new = [renamed(name) for name in old]
    heads = [name.encode() if name != before else b"" for name, before in zip(new, old, strict=True)]
    cut = [len(before) if name != before else 0 for name, before in zip(new, old, strict=True)]
    groups = Groups(
        order=order,
        begin=np.append(firsts, len(order)).astype(np.int64),
        cut=np.array(cut, np.int64),
        head=np.cumsum([0, *map(len, heads)]).astype(np.int64),
        text=np.frombuffer(b"".join(heads) + b"\0", np.uint8),
    )
    return groups, new


def _written(
    groups: Groups, lines: Lines, live: NDArray[np.bool_], values: NDArray[np.float64]
) -> tuple[memoryview, NDArray[np.int64]]:
    """The text of the groups, and the end of each in it."""
    alive = live.view(np.uint8)
    longest = int(np.diff(groups.head).max(initial=0))
    out = np.empty(int(lines.length[groups.order].sum()) + (NUMBER_BYTES + longest) * len(groups.order) + 1, np.uint8)
    ends = np.zeros(len(groups.begin) - 1, np.int64)
    long = _long_numbers(groups.order, alive, values)
    size = render(groups, lines.start, lines.length, lines.text, alive, values, long, out, ends)
    return out[:size].data, ends


def _long_numbers(order: NDArray[np.int64], alive: NDArray[np.uint8], values: NDArray[np.float64]) -> LongNumbers:
    """The values that need more digits than the kernel writes."""
    found = np.zeros(len(order) + 1, np.int64)
    count = long_numbers(order, alive, values, found)
    at = np.zeros(len(values), np.int32)
    text = bytearray()
    for row, value in zip(found[:count].tolist(), values[found[:count]].tolist(), strict=True):
        at[row] = len(text) + 1
        text += repr(value).encode() + b"\0"
    return LongNumbers(at=at, text=np.frombuffer(bytes(text) + b"\0", np.uint8))
