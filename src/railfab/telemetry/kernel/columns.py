"""The arrays that the kernel works on, by name, and the numbers that stand for kinds and places."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

Array = Any
"""A numpy array; a memoryview where nothing is compiled."""


class Keys(NamedTuple):
    """Learned paths, one row each: the bytes of prefix and path as a target writes them, and what they carry.

    hash, start, split, length: of the bytes in `text`, the first `split` of them the prefix; 32 bits of the hash.
    follows: the row that came after this one the last time, else -1. kind: `KeyKind`. first, count: rows of `Bindings`;
    for an unmapped path `first` is its root. slots: open addressing, row + 1 or 0, a power of two long.
    """

    hash: Array
    start: Array
    split: Array
    length: Array
    follows: Array
    kind: Array
    first: Array
    count: Array
    text: Array
    slots: Array


class Bindings(NamedTuple):
    """Series that a path carries, one row each, and the place of the rule that reads them. scale: of each rule:
    value = number x scale, or number / NS_PER_S where it is 0.
    """

    series: Array
    rule: Array
    scale: Array


class States(NamedTuple):
    """Known values of enumerations: the bytes of a TypedValue, by the rule that reads them, and their number."""

    rule: Array
    start: Array
    length: Array
    value: Array
    text: Array
    slots: Array


class SeriesColumns(NamedTuple):
    """One row for each series. device_ns: of the newest sample, 0 without a time stamp. arrival_ns, expires_ns: of the
    loop's clock. generation: of the session that brought it. present: 1 while it has a value. counter: bits,
    IS_COUNTER where the value only grows, HAS_RATES where rates are kept. window, rate, earlier: the number of the
    present window, and the highest rate in it and in the one before, or NO_RATE.
    """

    value: Array
    device_ns: Array
    arrival_ns: Array
    expires_ns: Array
    generation: Array
    present: Array
    counter: Array
    window: Array
    rate: Array
    earlier: Array


class Tables(NamedTuple):
    """What `take` decodes with. roots: counts of unmapped leaves. pending: rows of `Undecoded`, one after the other."""

    keys: Keys
    bindings: Bindings
    states: States
    series: SeriesColumns
    roots: Array
    pending: Array


class Groups(NamedTuple):
    """Families of an exposition. order: rows, those of family f from begin[f] to begin[f + 1]. cut: of each family, how
    much of a row's text is left out at its start; what is written in its place is text[head[f]:head[f + 1]].
    """

    order: Array
    begin: Array
    cut: Array
    head: Array
    text: Array


class LongNumbers(NamedTuple):
    """Values that Python writes. at: of each row, 0, or 1 + the place of its value in `text`, which a zero ends; empty
    where there are none.
    """

    at: Array
    text: Array


class KeyKind(IntEnum):
    """How the updates of a path are decoded."""

    UNMAPPED = 0
    NUMBER = 1
    STATE = 2
    PYTHON = 3


class At(IntEnum):
    """Places of the array that goes in and out of `take`: settings first, then counts that only grow.

    SKEW_NS: a time stamp that is further from WALL_NS than this is not used; 0 for none that is too far.
    """

    NOW_NS = 0
    LASTS_NS = 1
    GENERATION = 2
    WINDOW = 3
    MOST_SERIES = 4
    LAST_KEY = 5
    IGNORE_DELETES = 6
    PRESENT = 7
    WALL_NS = 8
    SKEW_NS = 9
    PENDING = 10
    UPDATES = 11
    FRESH = 12
    OUT_OF_ORDER = 13
    SERIES_LIMIT = 14
    DEVICE_NS = 15
    SYNCED = 16
    UNMAPPED = 17
    SKEWED = 18
    RESETS = 19
    WRAPS = 20


class Undecoded(IntEnum):
    """Columns of an update that Python decodes: where it lies in the buffer, and its row of `Keys` or -1."""

    KEY = 0
    PREFIX = 1
    PREFIX_END = 2
    PATH = 3
    PATH_END = 4
    VALUE = 5
    VALUE_END = 6
    DEVICE_NS = 7


class Stop(IntEnum):
    """Why `take` returned before the last message; the low bits of its answer, above them the message.

    PENDING_FIRST: the message has more updates than `Tables.pending` has room for, behind what is pending.
    """

    DONE = 0
    PENDING_FIRST = 1
    DELETES = 2
    ODD = 3


STOP_BITS = 2
IS_COUNTER, HAS_RATES = 1, 2
"""Bits of `SeriesColumns.counter`."""
NO_RATE = -1.0
"""In the place of a rate that is not known, since there are no two samples."""
ROOM = 0.5
"""Largest share of used slots in open addressing."""
