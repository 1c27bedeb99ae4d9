"""The configuration sessions that a switch lists, in either form of its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from railfab.platforms.shared.change_tokens import PREFIX

STAGE_PREFIX = "railfab-stage."
"""Beginning of the names of sessions that are only compared."""
_TIMED, _COMPLETED = "pendingCommitTimer", frozenset({"committed", "completed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSessions:
    """timed: the session that is reverted unless it is committed again. expires_s: uptime at which it is [s].

    pending: with the user who has each open, empty where nobody has. abandoned: railfab's of those that nobody has
    open. completed: committed without a timer that runs.
    """

    timed: str | None
    expires_s: float | None
    pending: Mapping[str, str]
    abandoned: tuple[str, ...]
    completed: frozenset[str]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """From `show configuration sessions detail | json`, of EOS 4.32 and later, or before."""
        sessions: Mapping[str, Mapping[str, Any]] = answer.get("sessions", {})
        timed = answer.get("commitTimerSessionName") or next(
            (name for name, session in sessions.items() if session.get("state") == _TIMED), None
        )
        expires = answer.get("commitTimerExpireTime", sessions.get(timed, {}).get("commitBy") if timed else None)
        pending = {name: session for name, session in sessions.items() if session.get("state") == "pending"}
        done = {name for name, session in sessions.items() if session.get("state") in _COMPLETED}
        return cls(
            timed=timed,
            expires_s=float(expires) if timed and expires is not None and expires >= 0 else None,
            pending={name: _user(session) for name, session in pending.items()},
            abandoned=tuple(name for name, session in pending.items() if _is_ours(name) and _is_closed(session)),
            completed=frozenset(done - {timed}),
        )

    def is_completed(self, session: str) -> bool:
        """Whether a session was committed, and confirmed."""
        return session in self.completed


def _is_ours(name: str) -> bool:
    return name.startswith((PREFIX, STAGE_PREFIX))


def _is_closed(session: Mapping[str, Any]) -> bool:
    """Whether no terminal has the session open; False where the switch does not say."""
    return "instances" in session and not session["instances"]


def _user(session: Mapping[str, Any]) -> str:
    return next((str(each.get("user", "")) for each in session.get("instances", {}).values()), "")
