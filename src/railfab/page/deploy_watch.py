"""The deploys of the journal as entries of the log: their begin, their waves and their end."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

from railfab.deploy import DeployRecord, Journal
from railfab.page.event_log import EntryKind, EntrySeverity, EventLog, LogEntry
from railfab.page.rates import PortRates
from railfab.text.counted import counted

EVERY_S = 2.0
MOST_PAST = 20
"""Deploys of the time before the page that its log begins with."""


class DeployWatch:
    """Reads the journal of a fabric every EVERY_S, which other processes write."""

    def __init__(self, fabric: str, intent: Path, state: Path, log: EventLog) -> None:
        self._journal, self._intent, self._log = Journal(state, fabric), intent, log
        self._due_s = 0.0

    def watch(self, _: PortRates) -> None:
        """Tell of what is new. Raises RailfabError for a journal that cannot be read."""
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + EVERY_S
        for record in self._journal.deploys()[-MOST_PAST:]:
            self._tell(record)

    def _tell(self, record: DeployRecord) -> None:
        title = f"{record.verb} {record.deploy}"
        switches = counted(len(record.switches), "switch")
        began = f"{title} by {record.user}@{record.host} begins"
        self._add(record, "begins", EntryKind.DEPLOY, began, at=record.began)
        for wave, at in self._journal.steps(record).waves_done().items():
            self._add(record, f"wave {wave}", EntryKind.WAVE, f"{title}: wave {wave} of {record.waves} is done", at=at)
        if record.stopped:
            self._add(
                record,
                "stopped",
                EntryKind.GATE,
                f"{title} stopped",
                at=record.ended,
                text=record.stopped,
                severity=EntrySeverity.WARNING,
            )
        elif record.finished:
            failed = [name for name, result in record.results.items() if result not in ("changed", "no change")]
            severity = EntrySeverity.WARNING if failed else EntrySeverity.INFO
            text = f"{switches}" + (f", not changed: {', '.join(sorted(failed))}" if failed else "")
            self._add(
                record, "ended", EntryKind.DEPLOY, f"{title} ended", at=record.ended, text=text, severity=severity
            )

    def _add(
        self,
        record: DeployRecord,
        part: str,
        kind: EntryKind,
        title: str,
        *,
        at: str = "",
        text: str = "",
        severity: EntrySeverity = EntrySeverity.INFO,
    ) -> None:
        shown = text or f"railfab history {self._intent} {record.deploy}"
        entry = LogEntry(
            at_s=_unix(at) or self._log.clock(),
            kind=kind,
            title=title,
            text=shown,
            severity=severity,
            where=record.switches,
            key=f"{record.deploy} {part}",
        )
        self._log.add(entry)


def _unix(time_text: str) -> float | None:
    """The Unix time of a time in a record; None of one that cannot be read."""
    try:
        return datetime.fromisoformat(time_text).timestamp()
    except ValueError:
        return None
