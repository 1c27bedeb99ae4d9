"""The present state of the page: read, computed and encoded once a tick, for all browsers."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from railfab import __version__
from railfab.errors import RailfabError
from railfab.page.columns import VectorLayout
from railfab.page.event_log import EntryKind, EntrySeverity, EventLog
from railfab.page.frames import FrameEncoder, quantised
from railfab.page.history import History
from railfab.page.hub import event
from railfab.page.plan import PagePlan
from railfab.page.rates import PortRates, RateMeter
from railfab.page.sources.contract import FabricReading, PageSource, reading_of
from railfab.page.totals import PaceMeter, totals_document
from railfab.text.folding import folded

logger = logging.getLogger(__name__)

LEAST_TICK_S, MOST_TICK_S = 0.5, 5.0


class Watcher(Protocol):
    """Learns of something beside the source, in each tick, and tells the log."""

    def watch(self, rates: PortRates) -> dict[str, Any] | None:
        """An event for the page, with its name at `event`; None without."""
        ...


@dataclass(frozen=True, slots=True)
class TickOutput:
    """What browsers get. begin: those that begin. parts: all others, of this tick. number: of the tick."""

    number: int
    begin: bytes
    parts: Sequence[bytes]


@dataclass
class LiveState:
    """Reads a source each tick. A source that fails leaves every switch stale, and the page says why."""

    plan: PagePlan
    source: PageSource
    log: EventLog = field(default_factory=EventLog)
    watchers: Sequence[Watcher] = ()
    rates: PortRates | None = None

    def __post_init__(self) -> None:
        self.tick_s = min(MOST_TICK_S, max(LEAST_TICK_S, self.source.interval_s / 2))
        self.history = History(self.plan, self.tick_s)
        self.source_error: str | None = None
        self._meter = RateMeter(self.plan, self.source.interval_s)
        self._encoder, self._pace = FrameEncoder(), PaceMeter()
        self._nothing = np.full(VectorLayout(self.plan).size, np.nan)
        self._last_reading: FabricReading | None = None
        self._stale: frozenset[str] = frozenset()
        self._number = self._told = 0

    def tick(self) -> TickOutput:
        """Read, and encode what browsers get."""
        rates = self._meter.add(self._read())
        self.rates = rates
        self.history.add(rates)
        whole, delta = self._encoder.encode(quantised(self.plan, rates), rates.at_s, rates.simulated_s)
        pace = self._pace.add(rates.at_s, rates.simulated_s)
        totals = event("totals", totals_document(self.plan, rates, pace, self.source_error))
        self._tell_of_silence(rates)
        others = [event(document.pop("event"), document) for document in self._watched(rates)]
        entries = [event("log", entry) for entry in self.log.after(self._told)]
        self._told = self.log.last
        self._number += 1
        hello = {"at_s": round(time.time(), 3), "fabric": self.plan.fabric, "version": __version__}
        begin = b"".join((event("hello", hello), event("frame", whole, self._number), totals, *others))
        return TickOutput(self._number, begin, (event("frame", delta, self._number), totals, *others, *entries))

    def _read(self) -> FabricReading:
        """The reading of the source; where it fails the last one, which grows old."""
        try:
            self._last_reading = self.source.read()
        except RailfabError as error:
            if self.source_error is None:
                self.log.tell(EntryKind.CONNECTION, "no data", text=str(error), severity=EntrySeverity.CRITICAL)
            self.source_error = str(error)
            last = self._last_reading
            if last is None:
                return reading_of(VectorLayout(self.plan), self._nothing, time.time())
            return FabricReading(time.time(), last.ports, last.switches, last.sessions)
        if self.source_error is not None:
            self.log.tell(EntryKind.CONNECTION, "data again", text=f"{self.source.name} answers again")
        self.source_error = None
        return self._last_reading

    def _watched(self, rates: PortRates) -> list[dict[str, Any]]:
        documents = []
        for watcher in self.watchers:
            try:
                document = watcher.watch(rates)
            except RailfabError as error:
                logger.debug("%s", error)
                continue
            if document is not None:
                documents.append(document)
        return documents

    def _tell_of_silence(self, rates: PortRates) -> None:
        """Tell of switches that have become silent, and of those that send again; not of the first moments."""
        stale = frozenset(self.plan.switches[place].name for place in np.flatnonzero(rates.stale).tolist())
        if self._last_reading is None or rates.overloaded:
            return
        silent, back = sorted(stale - self._stale), sorted(self._stale - stale)
        if silent and self._number:
            title = f"{folded(silent)}: no samples"
            self.log.tell(EntryKind.CONNECTION, title, severity=EntrySeverity.WARNING, where=tuple(silent))
        if back:
            self.log.tell(EntryKind.CONNECTION, f"{folded(back)}: samples arrive", where=tuple(back))
        self._stale = stale


class Ticker:
    """Ticks in a thread of its own; a context manager. publish: called with what each tick has encoded."""

    def __init__(self, state: LiveState, publish: Callable[[TickOutput], None]) -> None:
        self._state, self._publish = state, publish
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-page", daemon=True)

    def __enter__(self) -> Ticker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(self._state.tick_s + 1.0)

    def _run(self) -> None:
        while not self._stop.is_set():
            began_s = time.monotonic()
            try:
                self._publish(self._state.tick())
            except Exception:  # any defect: the page says how old its numbers are, and the next tick may work
                logger.exception("the page could not be computed")
            self._stop.wait(max(0.05, self._state.tick_s - (time.monotonic() - began_s)))


def json_bytes(document: Any) -> bytes:
    """A document as JSON."""
    return json.dumps(document, separators=(",", ":")).encode()
