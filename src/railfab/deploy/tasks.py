"""Nornir tasks. Each opens a platform session with its host and does one thing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from nornir.core.task import Result, Task

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused, DeviceError, NotRolledBack, RailfabError, Unreachable
from railfab.platforms import Session, platform

CONFIRM_WITHIN_S = 120
"""Rollback timer of an unconfirmed change, on platforms that have one [s]."""
RECONNECT_WITHIN_S, RECONNECT_EVERY_S = 20.0, 1.0
"""How long and how often to retry the rollback of a switch whose connection was lost during a change [s]."""

Keep = Callable[[str, str], None]
"""Stores the name of a switch and its running configuration, just before it is replaced."""


def open_session(task: Task) -> Session:
    """The session of a task's host."""
    endpoint: Endpoint = task.host["endpoint"]
    return platform(endpoint.platform).session(endpoint, read_credentials(endpoint))


def preview(task: Task, configurations: Mapping[str, str]) -> Result:
    """Difference between the running configuration and the given one; changes nothing."""
    with open_session(task) as session:
        diff = session.diff(configurations[task.host.name])
    return Result(host=task.host, changed=bool(diff), diff=diff)


def reconcile(
    task: Task,
    configurations: Mapping[str, str],
    confirm_within_s: int = CONFIRM_WITHIN_S,
    approved: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    stop_requested: threading.Event | None = None,
    abandoned: threading.Event | None = None,
) -> Result:
    """Configure one switch: diff, commit, read back, confirm; roll back when the switch does not accept all of it.

    approved: the reviewed differences, by switch; a switch with other differences is not changed.
    stop_requested: when set, the switch is not changed. abandoned: see `commit`.
    Raises DeviceError; the switch then runs its former configuration, unless the error is NotRolledBack.
    """
    name, text = task.host.name, configurations[task.host.name]
    with open_session(task) as session:
        diff = session.diff(text)
        if diff and approved is not None and diff != approved.get(name):
            raise DeviceError(
                name, "has changed since its differences were shown", "Review them with --plan, then deploy again"
            )
        if diff:
            if stop_requested is not None and stop_requested.is_set():
                raise DeviceError(name, "skipped: a stop was requested", "Deploy again for the remaining switches")
            if keep is not None:
                keep(name, session.load())
            commit(session, name, text, confirm_within_s, abandoned)
    return Result(host=task.host, changed=bool(diff), diff=diff)


def commit(
    session: Session, name: str, text: str, confirm_within_s: int, abandoned: threading.Event | None = None
) -> None:
    """Commit, read back, confirm. Raises DeviceError as `reconcile` does.

    abandoned: when set, a lost switch is not waited for to restore its former configuration.
    """
    try:
        session.commit(text, confirm_within_s=confirm_within_s)
        left = session.diff(text)
        if left:
            first = left.splitlines()[-1].strip()
            raise CommitRefused(
                name, f"did not accept all of it ({first}) and was rolled back", "Compare its release with the intent"
            )
    except RailfabError as error:
        _roll_back(session, name, error, abandoned or threading.Event())
        raise
    session.confirm()


def _roll_back(session: Session, name: str, cause: RailfabError, abandoned: threading.Event) -> None:
    """Restore the former configuration; retry an unreachable switch for RECONNECT_WITHIN_S, unless it is abandoned."""
    deadline = time.monotonic() + RECONNECT_WITHIN_S
    while True:
        try:
            return session.rollback()
        except RailfabError as error:
            retry = isinstance(error, Unreachable) and time.monotonic() < deadline
            if not retry or abandoned.wait(RECONNECT_EVERY_S):
                problem = f"{cause.problem}, and could not be rolled back ({error.problem})"
                raise NotRolledBack(
                    name, problem, "Check its running configuration, then deploy again or roll back"
                ) from error


def read_running(task: Task) -> Result:
    """The running configuration, as text."""
    with open_session(task) as session:
        return Result(host=task.host, result=session.load())


def inspect(task: Task) -> Result:
    """The running configuration and the live state, in one session: (text, Observed)."""
    with open_session(task) as session:
        return Result(host=task.host, result=(session.load(), session.observe()))
