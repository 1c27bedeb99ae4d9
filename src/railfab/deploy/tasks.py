"""Nornir tasks. Each opens the platform's own session with its host, does one thing and says what changed."""

from __future__ import annotations

from collections.abc import Mapping

from nornir.core.task import Result, Task

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused, RailfabError
from railfab.platforms import Session, platform

CONFIRM_WITHIN_S = 120
"""A switch that loses us for so long returns to what it ran before, where its platform can."""


def open_session(task: Task) -> Session:
    """The session of a task's host."""
    endpoint: Endpoint = task.host["endpoint"]
    return platform(endpoint.platform).session(endpoint, read_credentials(endpoint))


def preview(task: Task, configurations: Mapping[str, str]) -> Result:
    """What `reconcile` would change."""
    with open_session(task) as session:
        diff = session.diff(configurations[task.host.name])
    return Result(host=task.host, changed=bool(diff), diff=diff)


def reconcile(task: Task, configurations: Mapping[str, str], confirm_within_s: int = CONFIRM_WITHIN_S) -> Result:
    """Bring one switch to its configuration: diff, commit, read back, confirm; roll back when it did not take.

    The result is what the switch ran before, when it changed.
    """
    text = configurations[task.host.name]
    with open_session(task) as session:
        diff = session.diff(text)
        before = session.load() if diff else None
        if diff:
            _commit(session, task.host.name, text, confirm_within_s)
    return Result(host=task.host, changed=bool(diff), diff=diff, result=before)


def _commit(session: Session, name: str, text: str, confirm_within_s: int) -> None:
    session.commit(text, confirm_within_s=confirm_within_s)
    try:
        left = session.diff(text)
        if left:
            first = left.splitlines()[-1].strip()
            raise CommitRefused(name, f"did not take all of it ({first}) and was rolled back", "Compare the platforms")
    except RailfabError:
        session.rollback()
        raise
    session.confirm()


def read_running(task: Task) -> Result:
    """The running configuration, as text."""
    with open_session(task) as session:
        return Result(host=task.host, result=session.load())


def inspect(task: Task) -> Result:
    """The running configuration and the live state, in one session: (text, Observed)."""
    with open_session(task) as session:
        return Result(host=task.host, result=(session.load(), session.observe()))
