"""Commits of a virtual Junos switch: its candidates, who edits them, and the history that `rollback` restores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import RLock

from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.timed_change import TimedChange
from railfab.platforms.twin_face import VirtualDevice

MINUTE_S = 60.0
"""Unit of `commit confirmed` [s]."""
MOST_COMMITS = 50
"""Configurations that a switch keeps, with the present one (Juniper, CLI User Guide, Rolling Back)."""
ROOT_AUTHENTICATION = ("system", "root-authentication")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEntry:
    """A commit. text: the configuration that it made. minutes: until it is rolled back; None of one that is kept.

    via: `cli`, or `other` for a rollback of the switch itself.
    """

    text: str
    user: str
    via: str = "cli"
    comment: str = ""
    minutes: int | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def date(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class Editor:
    """A session that edits. kind: `shared`, `exclusive` or `private`. pid: in the list of users."""

    user: str
    kind: str
    pid: int
    since: datetime


class Commits:
    """The state of one switch that its sessions share. Thread-safe."""

    def __init__(self, device: VirtualDevice) -> None:
        self.lock = RLock()
        self.device = device
        self.shared: Hierarchy | None = None
        self._editors: dict[int, Editor] = {}
        self._entries: list[CommitEntry] = []
        self._change = TimedChange(device, lambda _name: self._rolled_back())
        self._boots = device.boots

    def entries(self) -> list[CommitEntry]:
        """The commits, newest first; with one for a configuration that was not made by a session."""
        with self.lock:
            self._notice_boot()
            running = self.device.running()
            if not self._entries or self._entries[0].text != running:
                self._keep(CommitEntry(text=running, user="root", via="other"))
            return list(self._entries)

    def pending_minutes(self) -> int | None:
        """Minutes until the pending commit is rolled back, rounded up; None without one."""
        self._notice_boot()
        return None if self._change.name is None else math.ceil(self._change.left_s / MINUTE_S)

    def commit(self, text: str, user: str, *, comment: str = "", minutes: int | None = None) -> None:
        """Make a text the configuration, and so confirm a pending commit. Raises RailfabError."""
        with self.lock:
            self.entries()
            former = self._entries[0].text
            if self._change.name is not None:
                self._change.confirm()
            if minutes is None:
                self.device.replace(text)
                self.device.save()
            else:
                self._change.commit(text, comment, minutes * MINUTE_S)
            if self.device.running() != former or comment or minutes is not None:
                running = self.device.running()
                self._keep(CommitEntry(text=running, user=user, comment=comment, minutes=minutes))
            self.shared = None

    def confirm(self) -> None:
        """Keep the pending commit, as `commit check` does."""
        with self.lock:
            if self._change.confirm():
                self.device.save()

    def enter(self, editor: Editor) -> None:
        with self.lock:
            self._editors[editor.pid] = editor

    def leave(self, pid: int) -> None:
        with self.lock:
            self._editors.pop(pid, None)

    def editor(self, kind: str) -> Editor | None:
        """Some session that edits in this way."""
        with self.lock:
            return next((editor for editor in self._editors.values() if editor.kind == kind), None)

    def _rolled_back(self) -> None:
        with self.lock:
            self._keep(CommitEntry(text=self.device.running(), user="root", via="other"))
            self.device.save()

    def _keep(self, entry: CommitEntry) -> None:
        self._entries.insert(0, entry)
        del self._entries[MOST_COMMITS:]

    def _notice_boot(self) -> None:
        if self._boots != self.device.boots:
            self._boots, self.shared = self.device.boots, None
            self._editors.clear()


def has_root_authentication(text: str) -> bool:
    """Whether a configuration states how root logs in, without which no commit is confirmed."""
    return any(statement[:2] == ROOT_AUTHENTICATION for statement in read(text))
