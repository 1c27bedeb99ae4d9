"""Batches of raw messages to samples: one compiled call for what is known, protobuf for what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from railfab.errors import DeviceError
from railfab.gnmi import messages
from railfab.gnmi.paths import wire_elements
from railfab.metrics import Kind
from railfab.telemetry.kernel.columns import STOP_BITS, At, KeyKind, Stop, Tables, Undecoded
from railfab.telemetry.kernel.take import take, take_listed
from railfab.telemetry.mapping import PathMap, Rule
from railfab.telemetry.notification import (
    Decoded,
    Known,
    NotificationDecoder,
    deleted,
    may_have_leaves,
    root,
)
from railfab.telemetry.store import TargetStore
from railfab.telemetry.table import NewKey

CACHE_PATHS = 1 << 14
"""Paths that protobuf decodes and whose rules are kept; all others are rows of the table."""
FIRST_PENDING = 64
"""Updates that can be listed at first; there is room for more where a message is longer, or paths are learnt."""
MOST_PENDING = 512
"""Updates that are listed together, if no message is longer."""
MOST_LISTED = 4096
"""Updates of a message that are learnt together: of each, Python keeps prefix and path meanwhile."""
MOST_KEY = 1 << 14
"""Longest prefix and path that are kept [bytes]: what is longer is decoded with protobuf each time."""
WIDTH = len(Undecoded)
STOP_MASK = (1 << STOP_BITS) - 1


_Key = tuple[bytes, bytes]
"""Prefix and path as a target writes them."""


class BadMessage(DeviceError):
    """A message that is not protobuf, or not a SubscribeResponse."""


@dataclass(slots=True)
class Taken:
    """What a batch brought. updates: leaves. fresh: whether anything was newer than what is known.

    device_ns: the last time stamp, None where there is none. unmapped: leaves without a rule, by path root.
    """

    updates: int = 0
    fresh: bool = False
    synced: bool = False
    undecodable: int = 0
    device_ns: int | None = None
    unmapped: Counter[str] = field(default_factory=Counter)


class _Listed(NamedTuple):
    """An update as the kernel lists it; see `Undecoded`. row: of its path, -1 where it is not known."""

    row: int
    prefix: int
    prefix_end: int
    path: int
    path_end: int
    value: int
    value_end: int
    device_ns: int

    def key(self, buffer: NDArray[np.uint8]) -> _Key:
        """Prefix and path."""
        return buffer[self.prefix : self.prefix_end].tobytes(), buffer[self.path : self.path_end].tobytes()

    @property
    def is_long(self) -> bool:
        """Whether prefix and path are more than is kept."""
        return self.prefix_end - self.prefix + self.path_end - self.path > MOST_KEY

    def content(self, buffer: NDArray[np.uint8]) -> bytes:
        """The value."""
        return buffer[self.value : self.value_end].tobytes()


class Decoder:
    """Decodes the stream of one target into its store. It keeps what it learnt of paths between sessions."""

    def __init__(self, name: str, paths: PathMap, store: TargetStore) -> None:
        self._name = name
        self._store = store
        self._reference = NotificationDecoder(paths, cache_paths=CACHE_PATHS)
        self._pending = np.zeros(FIRST_PENDING * WIDTH, np.int64)

    def take(
        self, buffer: NDArray[np.uint8], bounds: NDArray[np.int64], now_s: float, *, lasts_s: float, rpc: int = 0
    ) -> Taken:
        """Decode the messages of a batch. bounds: start and end of each message, int64 of shape (messages, 2).

        now_s: of the loop's clock. lasts_s: how long a sample of it is true without another one [s]. rpc: its number
        for the store.
        Raises BadMessage for a message that cannot be decoded; what came before it is stored.
        """
        taken, flat = Taken(), bounds.reshape(-1)
        at = self._store.begin_batch(now_s, lasts_s, rpc)
        message = 0
        while True:
            stopped = take(buffer, flat, message, self._tables(), at)
            message, stop = stopped >> STOP_BITS, stopped & STOP_MASK
            listed = int(at[At.PENDING])
            if listed:
                self._drain(buffer, listed, taken)
            if stop == Stop.PENDING_FIRST and (not listed or len(self._pending) < MOST_PENDING * WIDTH):
                self._pending = np.zeros(2 * len(self._pending), np.int64)
            if stop == Stop.DONE:
                break
            if stop == Stop.ODD:
                self._general(buffer[flat[2 * message] : flat[2 * message + 1]].tobytes(), taken)
                message += 1
            elif stop == Stop.DELETES:
                self._delete(buffer[flat[2 * message] : flat[2 * message + 1]].tobytes())
                at[At.IGNORE_DELETES] = 1
        self._finish(taken)
        return taken

    def _finish(self, taken: Taken) -> None:
        counts = self._store.end_batch()
        taken.updates += counts[At.UPDATES]
        taken.fresh = bool(taken.fresh or counts[At.FRESH])
        taken.synced = bool(taken.synced or counts[At.SYNCED])
        taken.device_ns = counts[At.DEVICE_NS] or taken.device_ns
        if counts[At.UNMAPPED]:
            taken.unmapped.update(self._store.take_unmapped())

    def _drain(self, buffer: NDArray[np.uint8], count: int, taken: Taken) -> None:
        """Take in what the kernel has listed, a part at a time."""
        at = self._store.at
        at[At.PENDING] = 0
        for first in range(0, count, MOST_LISTED):
            self._drain_part(buffer, first, min(first + MOST_LISTED, count), taken)

    def _drain_part(self, buffer: NDArray[np.uint8], first: int, end: int, taken: Taken) -> None:
        """Learn the paths of updates; let the kernel decode what it knows by now, and decode the rest."""
        end, error = self._learn(buffer, first, end)
        by_python = self._by_python(self._rows[first:end, Undecoded.KEY]).tolist()
        place = first
        while place < end:
            if not by_python[place - first]:
                place = take_listed(buffer, place, end, self._tables(), self._store.at)
            if place < end:
                self._update(buffer, self._listed(place), taken)
                place += 1
        if error:
            raise error

    @property
    def _rows(self) -> NDArray[np.int64]:
        """What is listed, a row each."""
        return self._pending.reshape(-1, WIDTH)

    def _listed(self, place: int) -> _Listed:
        return _Listed(*self._rows[place].tolist())

    def _by_python(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these rows of paths, -1 for an unknown one, are of Python."""
        found: NDArray[np.bool_] = (rows < 0) | (self._store.table.keys.kind[rows] == KeyKind.PYTHON)
        return found

    def _learn(self, buffer: NDArray[np.uint8], first: int, end: int) -> tuple[int, BadMessage | None]:
        """Make the paths known that are not, unless the store is full, and enter their rows in the list.

        Return up to where the list can be decoded, and the error of the first path or value that is no protobuf.
        """
        places: dict[_Key, list[int]] = {}
        for place in (first + np.flatnonzero(self._rows[first:end, Undecoded.KEY] < 0)).tolist():
            update = self._listed(place)
            if not update.is_long:
                places.setdefault(update.key(buffer), []).append(place)
        new: list[tuple[_Key, Known, KeyKind]] = []
        error, coming = None, 0
        for key, (place, *_) in places.items():
            try:
                known, value = self._parsed_update(key, self._listed(place).content(buffer))
            except BadMessage as bad:
                end, error = place, bad
                break
            kind = self._kind(known, value)
            if not self._store.has_room(known, coming, len(new)):
                self._reference.discard(known)
                continue
            new.append((key, known, kind))
            if kind != KeyKind.PYTHON:
                self._reference.discard(known)
                coming += len(known.plain)
        for row, (key, _, _) in enumerate(new, self._add(new)):
            self._rows[places[key], Undecoded.KEY] = row
        return end, error

    def _add(self, new: Sequence[tuple[_Key, Known, KeyKind]]) -> int:
        """Add paths, and the series that the kernel decodes, to the table; return the first row of the paths."""
        table = self._store.table
        bound = [found for _, known, kind in new if kind in (KeyKind.NUMBER, KeyKind.STATE) for found in known.plain]
        rows = table.add_series(series for _, series in bound)
        at = table.bind(
            [(row, match.rule.place, match.rule.kernel_scale) for row, (match, _) in zip(rows, bound, strict=True)]
        )
        keys = []
        for key, known, kind in new:
            first, count = 0, 0
            if kind in (KeyKind.NUMBER, KeyKind.STATE):
                first, count = at, len(known.plain)
            elif kind == KeyKind.UNMAPPED:
                first = self._store.root_number(root(known.steps))
            keys.append(NewKey(*key, kind, first, count))
            at += count
        return table.add_keys(keys) if keys else table.key_count

    def _update(self, buffer: NDArray[np.uint8], update: _Listed, taken: Taken) -> None:
        """Decode one update."""
        raw = update.content(buffer)
        known, value = self._parsed_update(update.key(buffer), raw)
        decoded = self._reference.decode_update(known, value, update.device_ns or None)
        self._apply(decoded, taken)
        kind = KeyKind.UNMAPPED if update.row < 0 else self._store.table.keys.kind[update.row]
        if kind == KeyKind.STATE and decoded.samples:
            self._store.table.add_state(known.plain[0][0].rule.place, raw, decoded.samples[0][1])
        if kind != KeyKind.PYTHON:
            self._reference.discard(known)

    def _parsed_update(self, key: _Key, value: bytes) -> tuple[Known, messages.TypedValue]:
        """What is known of a path, and the value. Raises BadMessage."""
        try:
            known = self._reference.known((*wire_elements(key[0]), *wire_elements(key[1])))
            return known, messages.TypedValue.FromString(value)
        except (DecodeError, UnicodeDecodeError) as error:
            raise self._bad(error) from None

    def _tables(self) -> Tables:
        table = self._store.table
        return Tables(table.keys, table.bindings, table.states, table.series, self._store.roots, self._pending)

    def _kind(self, known: Known, value: messages.TypedValue) -> KeyKind:
        """How the kernel is to decode a path."""
        rules = [match.rule for match, _ in known.plain]
        if known.pending or known.is_text or may_have_leaves(value) or known.is_long:
            return KeyKind.PYTHON
        if known.unmapped:
            return KeyKind.UNMAPPED
        if all(_is_number(rule) for rule in rules):
            return KeyKind.NUMBER
        return KeyKind.STATE if len(rules) == 1 and rules[0].rule.states is not None else KeyKind.PYTHON

    def _general(self, message: bytes, taken: Taken) -> None:
        """Decode a whole message with protobuf."""
        response = self._parsed(message)
        taken.synced = taken.synced or response.sync_response
        if response.HasField("update"):
            self._store.delete(deleted(response.update))
            decoded = self._reference.decode(response.update)
            taken.device_ns = decoded.device_ns or taken.device_ns
            decoded.device_ns = self._store.believed_ns(decoded.device_ns)
            self._apply(decoded, taken)

    def _delete(self, message: bytes) -> None:
        """Apply the deletes of a message: those of the table, and those that protobuf keeps."""
        gone = deleted(self._parsed(message).update)
        self._store.delete(gone)
        for steps in gone:
            self._store.remove(self._reference.forget(steps))

    def _apply(self, decoded: Decoded, taken: Taken) -> None:
        taken.fresh |= self._store.apply(decoded)
        taken.updates += decoded.updates
        taken.undecodable += decoded.undecodable
        taken.unmapped.update(decoded.unmapped)

    def _parsed(self, message: bytes) -> messages.SubscribeResponse:
        try:
            return messages.SubscribeResponse.FromString(message)
        except (DecodeError, UnicodeDecodeError) as error:
            raise self._bad(error) from None

    def _bad(self, error: Exception) -> BadMessage:
        problem = f"sent a message that is not gNMI ({str(error).splitlines()[0]})"
        return BadMessage(self._name, problem, "The stream is opened again; if that does not help, check the target")


def _is_number(rule: Rule) -> bool:
    """Whether the value is a number times a scale, or a time in nanoseconds."""
    return rule.metric.kind is not Kind.INFO and rule.rule.states is None
