"""What has happened: deploys, faults, alerts, jobs and connections, in the order in which the page learned of it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

MOST_ENTRIES = 2000


class EntryKind(StrEnum):
    """What an entry is about."""

    DEPLOY = "deploy"
    WAVE = "wave"
    GATE = "gate"
    FAULT = "fault"
    ALERT = "alert"
    DRIFT = "drift"
    JOB = "job"
    CONNECTION = "connection"


class EntrySeverity(StrEnum):
    """How bad it is."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One thing that happened. at_s: Unix time. where: names of switches, ports and hosts. link: of a runbook.

    key: of what it is about; the same thing is not told twice with the same key.
    """

    at_s: float
    kind: EntryKind
    title: str
    text: str = ""
    severity: EntrySeverity = EntrySeverity.INFO
    where: tuple[str, ...] = ()
    link: str | None = None
    key: str = field(default="", repr=False)


class EventLog:
    """The last entries; any thread adds and reads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self._entries: deque[tuple[int, LogEntry]] = deque(maxlen=MOST_ENTRIES)
        self._keys: set[str] = set()
        self._count = 0
        self._lock = threading.Lock()

    def add(self, entry: LogEntry) -> None:
        """Add an entry, unless one with its key is there."""
        with self._lock:
            if entry.key and entry.key in self._keys:
                return
            if len(self._entries) == MOST_ENTRIES:
                self._keys.discard(self._entries[0][1].key)
            self._keys.add(entry.key)
            self._count += 1
            self._entries.append((self._count, entry))

    def tell(self, kind: EntryKind, title: str, **others: Any) -> None:
        """Add an entry of now."""
        self.add(LogEntry(at_s=self.clock(), kind=kind, title=title, **others))

    def after(self, number: int) -> list[dict[str, Any]]:
        """The entries that came after one of this number."""
        with self._lock:
            return [_document(place, entry) for place, entry in self._entries if place > number]

    def between(self, from_s: float, to_s: float) -> list[dict[str, Any]]:
        """The entries of a time, oldest first."""
        with self._lock:
            held: Sequence[tuple[int, LogEntry]] = sorted(self._entries, key=lambda pair: (pair[1].at_s, pair[0]))
        return [_document(place, entry) for place, entry in held if from_s <= entry.at_s <= to_s]

    @property
    def last(self) -> int:
        """The number of the last entry; 0 before the first."""
        return self._count


def _document(number: int, entry: LogEntry) -> dict[str, Any]:
    document = {name: value for name, value in asdict(entry).items() if name != "key"}
    return {"id": number, **document, "at_s": round(entry.at_s, 3)}
