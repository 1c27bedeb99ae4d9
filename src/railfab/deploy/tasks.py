"""Nornir tasks. Each opens a platform session with its host, or takes one that was kept, and does one thing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from nornir.core.task import Result, Task

from railfab.deploy.kept_sessions import KeptSessions
from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused, DeviceError, NotRolledBack, RailfabError, Unreachable
from railfab.platforms import ChangeName, Pending, Running, Session, Staged, platform

CONFIRM_WITHIN_S = 120
"""Time after which a switch reverts a change that is not confirmed [s]."""
RECONNECT_WITHIN_S, RECONNECT_EVERY_S = 20.0, 1.0
"""Time for which, and interval in which, a switch that was lost during a change is tried again [s]."""

Keep = Callable[[str, str], None]
"""Stores the name of a switch and its running configuration, just before it is replaced."""

IsOwn = Callable[[ChangeName], bool]
"""Whether a change was begun by an earlier, interrupted run that this one may undo."""


def open_session(task: Task) -> Session:
    """The session of a task's host."""
    endpoint: Endpoint = task.host["endpoint"]
    connect = platform(endpoint.platform).session_factory(endpoint.name)
    return connect(endpoint, read_credentials(endpoint))


def preview(
    task: Task,
    configurations: Mapping[str, str],
    is_own: IsOwn | None = None,
    kept: KeptSessions | None = None,
) -> Result:
    """Compare the running configuration with the given one; the result is (Running, Staged), the diff as text.

    is_own: whether an interrupted run left a pending change; such a change is reverted first, and named in the result's
    `reverted`. Without it nothing is changed. kept: takes the session of a switch that would change.
    Raises DeviceError for a pending change of another owner.
    """
    name = task.host.name
    with ExitStack() as opened:
        session = opened.enter_context(open_session(task))
        running, reverted = _without_own(session, is_own)
        refuse_pending(name, running.pending)
        staged = session.stage(configurations[name], kept.change if kept else None)
        if kept is not None and staged.diff:
            kept.keep(name, session, opened, staged)
    return Result(
        host=task.host, result=(running, staged), changed=bool(staged.diff), diff=staged.diff, reverted=reverted
    )


def refuse_pending(name: str, pending: Pending | None) -> None:
    """Raise DeviceError for a change that is neither confirmed nor reverted."""
    if pending is None:
        return
    timer = "" if pending.reverts_in_s is None else f", which the switch reverts in {pending.reverts_in_s:.0f} s"
    if pending.change is None:
        problem = f"has an unconfirmed change that railfab did not make ({pending.description}){timer}"
        raise DeviceError(name, problem, "Confirm or revert it on the switch, then run this again")
    change = pending.change
    problem = f"has an unconfirmed change of {change.user}@{change.host} (deploy {change.deploy}){timer}"
    raise DeviceError(name, problem, "Wait until it ends, or run railfab deploy where it was begun")


def configure(
    task: Task,
    configurations: Mapping[str, str],
    change: ChangeName,
    within_s: int = CONFIRM_WITHIN_S,
    approved: Mapping[str, str] | None = None,
    former: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    kept: KeptSessions | None = None,
    stays_open: bool = False,
    is_own: IsOwn | None = None,
    stop_requested: threading.Event | None = None,
    abandoned: threading.Event | None = None,
) -> Result:
    """Configure one switch: stage, commit, confirm; the switch reads back and reverts what it does not accept.

    The result is what ran before: Running.

    change: the name under which the switch keeps the change until it is confirmed. approved: the reviewed differences,
    by switch; a switch with other differences is not changed, unless it still runs what it ran at the review (former):
    a drain since then moves lines. kept: has the open session of the switch, if any. stays_open: whether it takes that
    back after the change, for what reads the switch next. is_own: whether a change that is pending is one that this run
    may undo; it is reverted first. stop_requested: when set, the switch is not changed. abandoned: when set, a lost
    switch is not waited for.
    Raises DeviceError; the switch then runs its former configuration, unless the error is NotRolledBack.
    """
    name = task.host.name
    with ExitStack() as opened:
        session, running, staged = _staged(task, configurations[name], change, kept, opened, is_own)
        if not staged.diff:
            return Result(host=task.host, result=running, changed=False, diff="")
        _check(name, running, staged, approved, former or {}, stop_requested)
        if keep is not None:
            keep(name, staged.former)
        _commit(task, session, staged, change, within_s, abandoned or threading.Event())
        if kept is not None and stays_open:
            kept.keep(name, session, opened)
    return Result(host=task.host, result=running, changed=True, diff=staged.diff)


def _staged(
    task: Task,
    text: str,
    change: ChangeName,
    kept: KeptSessions | None,
    opened: ExitStack,
    is_own: IsOwn | None,
) -> tuple[Session, Running, Staged]:
    """A session that has staged a candidate: the one that was kept, or a new one where none was or it was lost.

    Raises DeviceError while a change is pending.
    """
    former = kept.take(task.host.name) if kept else None
    if former is not None:
        opened.enter_context(former.opened)
        try:
            running = _current(task, former.session, None if former.staged else is_own)
        except Unreachable:
            opened.close()
        else:
            return former.session, running, former.staged or former.session.stage(text, change)
    session = opened.enter_context(open_session(task))
    running = _current(task, session, is_own)
    return session, running, session.stage(text, change)


def _current(task: Task, session: Session, is_own: IsOwn | None) -> Running:
    """What runs, once a pending change of an interrupted run is reverted.

    Raises DeviceError while another change is pending.
    """
    running, _ = _without_own(session, is_own)
    refuse_pending(task.host.name, running.pending)
    return running


def _without_own(session: Session, is_own: IsOwn | None) -> tuple[Running, ChangeName | None]:
    """What runs once a pending change of an interrupted run is reverted, and the pending change of any owner."""
    running = session.running()
    pending = running.pending.change if running.pending and is_own else None
    if pending is not None and is_own is not None and is_own(pending):
        session.revert(pending)
        running = session.running()
    return running, pending


def _check(
    name: str,
    running: Running,
    staged: Staged,
    approved: Mapping[str, str] | None,
    former: Mapping[str, str],
    stop_requested: threading.Event | None,
) -> None:
    """Raise DeviceError when the switch has changed since the review, or a stop was requested."""
    reviewed = approved is None or staged.diff == approved.get(name) or staged.former == former.get(name)
    if not reviewed or staged.revision != running.revision:
        problem = "has changed since its differences were shown"
        raise DeviceError(name, problem, "Review them with --plan, then deploy again")
    if stop_requested is not None and stop_requested.is_set():
        raise DeviceError(name, "skipped: a stop was requested", "Deploy again for the remaining switches")


def _commit(
    task: Task, session: Session, staged: Staged, change: ChangeName, within_s: int, abandoned: threading.Event
) -> None:
    """Commit and confirm; a switch that is lost in between is tried again with new sessions.

    Raises RailfabError when the switch runs its former configuration again, NotRolledBack when it may not.
    """
    try:
        session.commit(staged, change, within_s)
    except CommitRefused:
        raise
    except RailfabError as error:
        _revert(task, change, error, within_s, abandoned)
        raise
    try:
        _confirm(task, session, change, within_s, abandoned)
    except NotRolledBack:
        raise
    except RailfabError as error:  # the switch runs the change, and would only revert it when its timer ends
        _revert(task, change, error, within_s, abandoned)
        raise


def _confirm(task: Task, session: Session, change: ChangeName, within_s: int, abandoned: threading.Event) -> None:
    """Confirm the change, in new sessions where this one is lost."""
    try:
        session.confirm(change)
    except Unreachable as error:
        _retried(task, lambda found: found.confirm(change), error, within_s, abandoned)


def _revert(task: Task, change: ChangeName, cause: RailfabError, within_s: int, abandoned: threading.Event) -> None:
    """Revert the change in a new session. Raises NotRolledBack where the switch refuses it or is lost."""
    try:
        _retried(task, lambda session: session.revert(change), cause, within_s, abandoned)
    except CommitRefused as error:
        raise _not_rolled_back(task, cause, error, within_s) from error


def _retried(
    task: Task, action: Callable[[Session], None], cause: RailfabError, within_s: int, abandoned: threading.Event
) -> None:
    """Do this in a new session, again and again for RECONNECT_WITHIN_S, unless the switch is abandoned.

    Raises NotRolledBack when it does not answer, and whatever else it answers.
    """
    deadline = time.monotonic() + RECONNECT_WITHIN_S
    while True:
        try:
            with open_session(task) as session:
                return action(session)
        except CommitRefused:
            raise
        except RailfabError as error:
            retry = isinstance(error, Unreachable) and time.monotonic() < deadline
            if not retry or abandoned.wait(RECONNECT_EVERY_S):
                raise _not_rolled_back(task, cause, error, within_s) from error


def _not_rolled_back(task: Task, cause: RailfabError, error: RailfabError, within_s: int) -> NotRolledBack:
    problem = (
        f"{cause.problem}, and then {error.problem}; unless the change was confirmed, "
        f"the switch reverts it within {within_s} s"
    )
    return NotRolledBack(task.host.name, problem, "Deploy again: it finds what is pending")


def read_running(task: Task) -> Result:
    """The running configuration: Running."""
    with open_session(task) as session:
        return Result(host=task.host, result=session.running())


def inspect(task: Task) -> Result:
    """The running configuration and the live state, in one session: (Running, Observed)."""
    with open_session(task) as session:
        return Result(host=task.host, result=(session.running(), session.observe()))


def observe(task: Task) -> Result:
    """The live state: Observed."""
    with open_session(task) as session:
        return Result(host=task.host, result=session.observe())


def observe_kept(task: Task, kept: KeptSessions) -> Result:
    """The live state with the width of next-hop groups, and without resolved addresses: Observed.

    kept: gives the session and takes it back; one that was lost since is opened again.
    """
    name = task.host.name
    if (former := kept.take(name)) is not None:
        with suppress(RailfabError, OSError), former.opened as opened:
            observed = former.session.observe(resolved=False, routes=True)
            kept.keep(name, former.session, opened, former.staged)
            return Result(host=task.host, result=observed)
    with ExitStack() as opened:
        session = opened.enter_context(open_session(task))
        observed = session.observe(resolved=False, routes=True)
        kept.keep(name, session, opened)
    return Result(host=task.host, result=observed)
