"""Confirmed commits of a target: one change that is undone unless it is confirmed in time.

Source: OpenConfig, gNMI Commit Confirmed Extension 0.1.0 (reference/rpc/gnmi/gnmi-commit-confirmed.md), section 3.2.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from railfab.errors import RailfabError
from railfab.gnmi.target import Commit, CommitAction, RequestRefused, WrongState

logger = logging.getLogger(__name__)

DEFAULT_ROLLBACK_S = 600.0
"""Time to confirm a commit that names none (section 3.2.1) [s]."""
MOST_RECORDS = 10
"""Number of commits that are remembered."""

T = TypeVar("T")


class CommitStatus(StrEnum):
    """State of a confirmed commit."""

    UNCONFIRMED = "unconfirmed"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """A confirmed commit. number: counted by the target from 1. started_ns, ended_ns: [ns since 1970].

    id: that a gNMI client gave; empty for a commit of a CLI, which gives none and can be confirmed there alone.
    """

    number: int
    id: str
    status: CommitStatus
    started_ns: int
    ended_ns: int | None = None


@dataclass(slots=True)
class _Active(Generic[T]):
    """The commit that waits for its confirmation, and what to restore."""

    id: str
    former: T
    timer: threading.Timer


class ConfirmedCommits(Generic[T]):
    """The changes of one target, one at a time; at most one of them waits for its confirmation. Thread-safe.

    restore: makes what a change returned the configuration again; called with the lock held, by the client's thread or
    a timer's. changed: called after `records` has changed. The timer is the target's own: it depends on no client.
    """

    def __init__(self, target: str, restore: Callable[[T], None], changed: Callable[[], None]) -> None:
        self._target = target
        self._restore = restore
        self._changed = changed
        self._lock = threading.Lock()
        self._active: _Active[T] | None = None
        self._hangs = False
        self._overdue: _Active[T] | None = None
        self._records: deque[CommitRecord] = deque(maxlen=MOST_RECORDS)

    def records(self) -> tuple[CommitRecord, ...]:
        """The last commits, oldest first."""
        return tuple(self._records)

    def close(self) -> None:
        """Stop the timer of an unconfirmed commit: the target ends."""
        with self._lock:
            if self._active is not None:
                self._active.timer.cancel()
                self._active = None

    def forget(self) -> T | None:
        """The target restarts: a commit that is not confirmed is lost. What ran before it; None without one."""
        with self._lock:
            active, self._hangs = self._active, False
            if active is not None:
                self._end(active, CommitStatus.FAILED)
            return active.former if active is not None else None

    def hang(self) -> None:
        """The target does nothing until `resume`: a commit whose time is over is not reverted yet."""
        with self._lock:
            self._hangs = True

    def resume(self) -> None:
        """The target continues: a commit whose time is over by now is reverted."""
        with self._lock:
            self._hangs, overdue, self._overdue = False, self._overdue, None
        if overdue is not None:
            self._expire(overdue.id, overdue.timer)

    def plain(self, change: Callable[[], T]) -> None:
        """Make a change that needs no confirmation. Raises WrongState while a commit is unconfirmed."""
        with self._lock:
            self._refuse_second()
            change()

    def act(self, commit: Commit, change: Callable[[], T] | None) -> None:
        """Do what the extension of a Set says. change: applies its edits, returns what ran before; None without edits.

        Raises WrongState, RequestRefused, or what `change` raises; then nothing has changed.
        """
        with self._lock:
            if commit.action is CommitAction.COMMIT:
                self._commit(commit, change)
                return
            active = self._waiting(commit)
            if change is not None:
                remedy = "Send the changes with the commit, and its confirmation alone"
                raise RequestRefused(self._target, f"changes beside {commit.action.value}", remedy)
            if commit.action is CommitAction.SET_ROLLBACK_DURATION:
                seconds = self._seconds(commit)
                active.timer.cancel()
                active.timer = self._timer(active.id, seconds)
            elif commit.action is CommitAction.CONFIRM:
                self._end(active, CommitStatus.COMPLETE)
            else:
                self._restore(active.former)
                self._end(active, CommitStatus.FAILED)
        logger.info("%s: %s: %s", self._target, _named(commit.id), commit.action.value)

    def _commit(self, commit: Commit, change: Callable[[], T] | None) -> None:
        self._refuse_second()
        seconds = DEFAULT_ROLLBACK_S if commit.rollback_s is None else self._seconds(commit)
        if change is None:
            raise RequestRefused(self._target, f"commit {commit.id} has no changes", "Send the changes with it")
        former = change()
        self._active = _Active(commit.id, former, self._timer(commit.id, seconds))
        number = self._records[-1].number + 1 if self._records else 1
        self._records.append(
            CommitRecord(number=number, id=commit.id, status=CommitStatus.UNCONFIRMED, started_ns=time.time_ns())
        )
        self._changed()
        logger.info("%s: %s is reverted in %.0f s unless it is confirmed", self._target, _named(commit.id), seconds)

    def _refuse_second(self) -> None:
        if self._active is not None:
            remedy = "Confirm or cancel it first, or wait until it is reverted"
            raise WrongState(self._target, f"{_named(self._active.id)} is not confirmed yet", remedy)

    def _waiting(self, commit: Commit) -> _Active[T]:
        """The unconfirmed commit, if it is the one that is meant."""
        if self._active is None:
            raise WrongState(self._target, "no commit waits for a confirmation", "It was confirmed or reverted before")
        if self._active.id != commit.id:
            waiting = self._active.id or "one of the CLI"
            problem = f"the commit that waits for a confirmation is {waiting}, not {commit.id}"
            raise RequestRefused(self._target, problem, "Use its id")
        return self._active

    def _seconds(self, commit: Commit) -> float:
        if commit.rollback_s is None or commit.rollback_s <= 0:
            raise RequestRefused(self._target, "the rollback duration is not above 0", "Give it in seconds")
        return commit.rollback_s

    def _timer(self, commit_id: str, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, lambda: self._expire(commit_id, timer))
        timer.daemon = True
        timer.start()
        return timer

    def _expire(self, commit_id: str, timer: threading.Timer) -> None:
        """Revert a commit that was not confirmed, unless its timer has been replaced meanwhile."""
        with self._lock:
            active = self._active
            if active is None or active.timer is not timer:
                return
            if self._hangs:
                self._overdue = active
                return
            try:
                self._restore(active.former)
            except RailfabError as error:
                logger.error(
                    "%s: %s was not confirmed and cannot be reverted: %s", self._target, _named(commit_id), error
                )
            else:
                logger.warning("%s: %s was not confirmed and is reverted", self._target, _named(commit_id))
            self._end(active, CommitStatus.FAILED)

    def _end(self, active: _Active[T], status: CommitStatus) -> None:
        active.timer.cancel()
        self._active = None
        self._records[-1] = replace(self._records[-1], status=status, ended_ns=time.time_ns())
        self._changed()


def _named(commit_id: str) -> str:
    return f"commit {commit_id}" if commit_id else "a commit of the CLI"
