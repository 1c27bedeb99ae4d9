"""Batches of raw messages to samples: one compiled call for what is known, protobuf for what is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from railfab.errors import DeviceError
from railfab.gnmi import messages
from railfab.gnmi.paths import proto_elements
from railfab.metrics import Kind
from railfab.telemetry.kernel.columns import STOP_BITS, At, KeyKind, Pending, Stop, Tables
from railfab.telemetry.kernel.take import take
from railfab.telemetry.mapping import PathMap, Rule, Steps
from railfab.telemetry.notification import (
    Decoded,
    Known,
    NotificationDecoder,
    deleted,
    may_have_leaves,
    normalised_ns,
    root,
)
from railfab.telemetry.store import TargetStore

CACHE_PATHS = 1 << 14
"""Paths that protobuf decodes and whose rules are kept; all others are rows of the table."""
MOST_PENDING = 1 << 16
WIDTH = len(Pending)
STOP_MASK = (1 << STOP_BITS) - 1


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


class Decoder:
    """Decodes the stream of one target into its store. It keeps what it learnt of paths between sessions."""

    def __init__(self, name: str, paths: PathMap, store: TargetStore) -> None:
        self._name = name
        self._store = store
        self._reference = NotificationDecoder(paths, cache_paths=CACHE_PATHS)
        self._pending = np.zeros(1024 * WIDTH, np.int64)
        self._prefixes: dict[bytes, Steps] = {}

    def take(self, buffer: NDArray[np.uint8], bounds: NDArray[np.int64], now_s: float, *, lasts_s: float) -> Taken:
        """Decode the messages of a batch. bounds: start and end of each message, int64 of shape (messages, 2).

        now_s: of the loop's clock. lasts_s: how long a sample of it is true without another one [s].
        Raises BadMessage for a message that cannot be decoded; what came before it is stored.
        """
        taken, store, flat = Taken(), self._store, bounds.reshape(-1)
        at = store.begin_batch(now_s, lasts_s)
        message = 0
        while True:
            table = store.table
            tables = Tables(table.keys, table.bindings, table.states, table.series, store.roots, self._pending)
            stopped = take(buffer, flat, message, tables, at)
            message, stop = stopped >> STOP_BITS, stopped & STOP_MASK
            if at[At.PENDING]:
                self._drain(buffer, taken)
            elif stop == Stop.PENDING_FIRST:
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
        self._store.end_batch()
        at = self._store.at
        taken.updates += int(at[At.UPDATES])
        taken.fresh = bool(taken.fresh or at[At.FRESH])
        taken.synced = bool(taken.synced or at[At.SYNCED])
        if at[At.DEVICE_NS]:
            taken.device_ns = int(at[At.DEVICE_NS])
        taken.unmapped.update(self._store.take_unmapped())

    def _drain(self, buffer: NDArray[np.uint8], taken: Taken) -> None:
        """Decode what the kernel has listed, and learn its paths."""
        at = self._store.at
        count = int(at[At.PENDING])
        at[At.PENDING] = 0
        learnt: dict[tuple[bytes, bytes], int] = {}
        rows = self._pending[: count * WIDTH].reshape(count, WIDTH).tolist()
        for row, prefix, prefix_end, path, path_end, value, value_end, device_ns in rows:
            key = buffer[prefix:prefix_end].tobytes(), buffer[path:path_end].tobytes()
            raw = buffer[value:value_end].tobytes()
            row = learnt.get(key, -1) if row < 0 else row
            found = self._update(key, raw, row, device_ns or None, taken)
            if row < 0 and found >= 0:
                learnt[key] = found

    def _update(self, key: tuple[bytes, bytes], raw: bytes, row: int, device_ns: int | None, taken: Taken) -> int:
        """Decode one update; learn its path where its row is -1. Return the row of the path, or -1."""
        try:
            known = self._reference.known((*self._prefix(key[0]), *_steps(key[1])))
            value = messages.TypedValue.FromString(raw)
        except (DecodeError, UnicodeDecodeError) as error:
            raise self._bad(error) from None
        decoded = self._reference.decode_update(known, value, device_ns)
        self._apply(decoded, taken)
        if row < 0:
            return self._learn(key, known, value)
        kind = self._store.table.keys.kind[row]
        if kind == KeyKind.STATE and decoded.samples:
            place = known.plain[0][0].rule.place
            self._store.table.add_state(place, raw, decoded.samples[0][1])
        if kind != KeyKind.PYTHON:
            self._reference.discard(known)
        return row

    def _learn(self, key: tuple[bytes, bytes], known: Known, value: messages.TypedValue) -> int:
        """Make a path known to the kernel, unless the store is full. Return its row or -1."""
        if not self._store.has_room(known):
            self._reference.discard(known)
            return -1
        kind, first, count = self._kind(known, value), 0, 0
        table = self._store.table
        if kind in (KeyKind.NUMBER, KeyKind.STATE):
            count = len(known.plain)
            first = table.bind(
                [(table.add_series(series), match.rule.kernel_scale, match.rule.place) for match, series in known.plain]
            )
        elif kind == KeyKind.UNMAPPED:
            first = self._store.root_number(root(known.steps))
        if kind != KeyKind.PYTHON:
            self._reference.discard(known)
        return table.add_key(*key, kind, first, count)

    def _kind(self, known: Known, value: messages.TypedValue) -> KeyKind:
        """How the kernel is to decode a path."""
        rules = [match.rule for match, _ in known.plain]
        if known.pending or known.is_text or may_have_leaves(value):
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
            self._apply(self._reference.decode(response.update), taken)
            taken.device_ns = normalised_ns(response.update.timestamp) or taken.device_ns

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

    def _prefix(self, raw: bytes) -> Steps:
        steps = self._prefixes.get(raw)
        if steps is None:
            if len(self._prefixes) >= CACHE_PATHS:
                self._prefixes.clear()
            steps = self._prefixes[raw] = _steps(raw)
        return steps

    def _bad(self, error: Exception) -> BadMessage:
        problem = f"sent a message that is not gNMI ({str(error).splitlines()[0]})"
        return BadMessage(self._name, problem, "The stream is opened again; if that does not help, check the target")


def _steps(path: bytes) -> Steps:
    return proto_elements(messages.Path.FromString(path))


def _is_number(rule: Rule) -> bool:
    """Whether the value is a number times a scale, or a time in nanoseconds."""
    return rule.metric.kind is not Kind.INFO and rule.rule.states is None
