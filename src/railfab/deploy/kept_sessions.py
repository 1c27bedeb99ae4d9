"""Sessions that stay open between what a deploy does on a switch: the preview, the gates before and after, the change.

A login costs as much as reading the state of a switch.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from railfab.errors import RailfabError
from railfab.platforms import ChangeName, Session, Staged

MOST_KEPT = 512
"""Sessions that are kept at a time; each has an open file, and a process may have 1,024 by default."""
CLOSED_AT_A_TIME = 16
CLOSE_WITHIN_S = 4.0
"""Limit of discarding what is staged on all switches; what is left, the next deploy finds and removes [s]."""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """An open session. opened: closes it. staged: the candidate that it has staged for its change, if any."""

    session: Session
    opened: ExitStack
    staged: Staged | None = None


class KeptSessions:
    """The open sessions of a deploy, by switch. Its end closes those that are left.

    change: the name under which their candidates will be committed. Before a prompt none is kept with a candidate: it
    may lock the configuration of its switch.
    """

    def __init__(self, change: ChangeName, *, most: int = MOST_KEPT) -> None:
        self.change = change
        self._most = most
        self._lock = threading.Lock()
        self._sessions: dict[str, KeptSession] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._most = 0
            number = min(len(self._sessions), CLOSED_AT_A_TIME)
        closers = [threading.Thread(target=self._close_all, daemon=True) for _ in range(number)]
        end_s = time.monotonic() + CLOSE_WITHIN_S
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join(max(0.0, end_s - time.monotonic()))

    def keep(self, name: str, session: Session, opened: ExitStack, staged: Staged | None = None) -> None:
        """Take over what closes a session, unless as many are kept as may be."""
        with self._lock:
            if len(self._sessions) < self._most:
                self._sessions[name] = KeptSession(session, opened.pop_all(), staged)

    def take(self, name: str) -> KeptSession | None:
        """The session of a switch, which is not kept any more."""
        with self._lock:
            return self._sessions.pop(name, None)

    def close(self, names: Iterable[str]) -> None:
        """Close the sessions of these switches, and discard what they have staged."""
        for name in names:
            if (kept := self.take(name)) is not None:
                with suppress(RailfabError, OSError), kept.opened:
                    pass

    def _close_all(self) -> None:
        while True:
            with self._lock:
                if not self._sessions:
                    return
                _, kept = self._sessions.popitem()
            with suppress(RailfabError, OSError), kept.opened:
                pass
