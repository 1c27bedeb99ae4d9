"""The configuration sessions of a virtual switch: candidates by name, and a commit that waits for its confirmation."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import RLock

from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.eos.running_text import twin_grammar
from railfab.platforms.shared.timed_change import TimedChange
from railfab.platforms.shared.typed_lines import LineRules, TypedLines, line_rules
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.twin_face import VirtualDevice

MOST_PENDING, MOST_COMPLETED = 5, 1
"""Numbers of sessions that EOS keeps (reference of EOS 4.35, `show configuration sessions`)."""
PENDING, COMMITTED, ABORTED = "pending", "committed", "aborted"


@dataclass(slots=True)
class ConfigSession:
    """A candidate. open_in: terminals in which it is open, by process, with their users. completed_s: Unix time [s]."""

    name: str
    typed: TypedLines
    state: str = PENDING
    user: str = ""
    completed_s: float = 0.0
    open_in: dict[int, str] = field(default_factory=dict)


class ConfigSessions:
    """The sessions of one switch, which all its CLIs share; they are lost with its power."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device
        self._lock = RLock()
        self._sessions: dict[str, ConfigSession] = {}
        self._boots = device.boots
        self._number = 0
        self.rules: LineRules = line_rules(twin_grammar())
        self._change = TimedChange(device, reverted=self._forget)

    def open(self, name: str, process: int, user: str) -> ConfigSession:
        """Open a session in a terminal. An empty name: of a new one. Raises CliRefusal."""
        with self._lock:
            if name and name == self._change.name:
                raise _refusal("reentered", session=name)
            sessions = self._present()
            if not name:
                self._number += 1
                name = f"sess-{self._number}"
            session = sessions.get(name)
            if session is None or session.state != PENDING:
                if sum(each.state == PENDING for each in sessions.values()) >= MOST_PENDING:
                    raise _refusal("full")
                sessions.pop(name, None)
                session = ConfigSession(name, TypedLines(FORMAT, self.rules, self._device.running()))
                sessions[name] = session
            session.open_in[process] = user
            return session

    def commit(self, name: str, user: str, within_s: int | None) -> None:
        """Run a session's candidate, with a timer where one is given, or confirm one that runs under its timer.

        Raises CliRefusal, and RailfabError for a configuration that is not valid; the session is then pending.
        """
        with self._lock:
            pending = self._change.name
            if pending is not None and (pending != name or within_s is not None):
                raise _refusal("timer", session=pending)
            if pending == name:
                self._change.confirm()
                return
            session = self.pending(name)
            if within_s is None:
                self._device.replace(session.typed.text())
            else:
                self._change.commit(session.typed.text(), name, within_s)
            self._complete(session, COMMITTED, user)

    def abort(self, name: str, user: str) -> None:
        """Discard a session, or revert one that runs under its timer. Raises CliRefusal."""
        with self._lock:
            if name == self._change.name:
                self._change.revert()
                self._complete(self._present()[name], ABORTED, user)
                return
            self._complete(self.pending(name), ABORTED, user)

    def leave(self, session: ConfigSession, process: int) -> None:
        """Close a session in a terminal; it stays pending."""
        session.open_in.pop(process, None)

    def pending(self, name: str) -> ConfigSession:
        """The candidate of this name. Raises CliRefusal."""
        session = self._present().get(name)
        if session is None or session.state != PENDING:
            raise _refusal("absent", session=name)
        return session

    def report(self, process: int) -> str:
        """`show configuration sessions`, as EOS 4.35 has it."""
        with self._lock:
            head = [
                f"Maximum number of completed sessions: {MOST_COMPLETED}",
                f"Maximum number of pending sessions: {MOST_PENDING}",
                "Merge on commit is disabled",
                "Autosave to startup-config on commit is disabled",
                "",
                *self._timer_lines(),
            ]
            rows = [_row(session, user, process) for session in self._present().values() for user in _users(session)]
            width = max([4, *(len(row[1]) for row in rows)])
            return "\n".join([*head, *_table(rows, width)]) + "\n"

    def report_json(self, process: int, uptime_s: float) -> str:
        """The same as JSON. uptime_s: of the switch, in which EOS states the time at which the timer ends [s]."""
        with self._lock:
            report: dict[str, object] = {
                "sessions": {name: _json(session, process) for name, session in self._present().items()},
                "maxSavedSessions": MOST_COMPLETED,
                "maxOpenSessions": MOST_PENDING,
                "mergeOnCommit": False,
                "saveToStartupConfigOnCommit": False,
            }
            if self._change.name is not None:
                report["commitTimerSessionName"] = self._change.name
                report["commitTimerExpireTime"] = uptime_s + self._change.left_s
            return json.dumps(report, indent=4) + "\n"

    def _timer_lines(self) -> Iterator[str]:
        if self._change.name is not None:
            minutes, seconds = divmod(round(self._change.left_s), 60)
            yield f"Session with pending commit timer: {self._change.name}"
            yield f"Time left until commit timer expiry: in {minutes // 60}:{minutes % 60:02}:{seconds:02}"
            yield ""

    def _present(self) -> dict[str, ConfigSession]:
        """The sessions since the switch has power."""
        if self._boots != self._device.boots:
            self._sessions, self._boots = {}, self._device.boots
        return self._sessions

    def _complete(self, session: ConfigSession, state: str, user: str) -> None:
        session.state, session.user, session.completed_s = state, user, time.time()
        session.open_in.clear()
        same = [each.name for each in self._present().values() if each.state == state and each is not session]
        for former in same[: len(same) - MOST_COMPLETED + 1]:
            if former != self._change.name:
                self._sessions.pop(former)

    def _forget(self, name: str) -> None:
        with self._lock:
            self._present().pop(name, None)


def _refusal(name: str, **values: object) -> CliRefusal:
    return CliRefusal(twin_grammar()["texts"][name].format(**values))


def _users(session: ConfigSession) -> list[tuple[int, str]]:
    """Process and user of each terminal in which a session is open; one without process where there is none."""
    return list(session.open_in.items()) or [(0, "")]


def _row(session: ConfigSession, user: tuple[int, str], process: int) -> tuple[str, ...]:
    pid, name = user
    ended = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(session.completed_s)) if session.completed_s else ""
    terminal = f"vty{pid % 100}" if pid else ""
    return ("*" if pid == process else " ", session.name, session.state, name, terminal, ended, session.user)


def _table(rows: list[tuple[str, ...]], width: int) -> Iterator[str]:
    form = f"{{}} {{:<{width}}} {{:<9}} {{:<5}} {{:<8}} {{:<19}} {{}}"
    yield form.format(" ", "Name", "State", "User", "Terminal", "Completed Time", "Committed By").rstrip()
    yield form.format("-", "-" * width, "-" * 9, "-" * 5, "-" * 8, "-" * 19, "-" * 12)
    for row in rows:
        yield form.format(*row).rstrip()


def _json(session: ConfigSession, process: int) -> dict[str, object]:
    instances = {
        str(pid): {"user": user, "terminal": f"vty{pid % 100}", "currentTerminal": pid == process}
        for pid, user in session.open_in.items()
    }
    completed: dict[str, object] = {"completedTime": session.completed_s, "commitUser": session.user}
    ended = completed if session.state != PENDING else {}
    return {"state": session.state, **ended, "description": "", "instances": instances}
