"""Commit, confirm and revert, and the job that reverts a change in time."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from railfab.platforms.frr.on_switch.commands import Lock, uptime
from railfab.platforms.frr.on_switch.daemons import check_daemons
from railfab.platforms.frr.on_switch.draining import forget_ended_drain
from railfab.platforms.frr.on_switch.places import FOLDER, RUN, ChangeRefused
from railfab.platforms.frr.on_switch.records import (
    APPLIED,
    APPLIED_WITHIN_S,
    APPLYING,
    CHANGE,
    CONFIRMED,
    CONFIRMING,
    LOCK_WITHIN_S,
    REVERTED,
    REVERTING,
    end,
    ended,
    locked,
    pending_change,
    refuse_pending,
    started,
    update_record,
    write_record,
)
from railfab.platforms.frr.on_switch.startup import SAVING, prepare_startup, replace_startup
from railfab.platforms.frr.on_switch.texts import (
    checked_text,
    former_text,
    replace_running,
    revision,
    store,
)

RETRY_EVERY_S = 5
"""Time between two attempts of the job to revert [s]."""


def commit(request: dict[str, Any]) -> dict[str, Any]:
    """Arm the job, apply the candidate; restore the former configuration when FRR does not accept all of it."""
    commands, text = request["commands"], request["text"]
    with locked(LOCK_WITHIN_S, unless_pending=True):
        settle()
        refuse_pending(pending_change())
        running = checked_text(commands, text)
        if revision(running) != request["revision"]:
            problem = "has changed since its differences were shown"
            raise ChangeRefused("commit", problem, "Review them with --plan, then deploy again")
        forget_ended_drain(running)
        record = arm(request, former_text(commands, running, text))
        why = apply_candidate(commands, record)
        if why:
            restore(commands, record, why)
            raise ChangeRefused("commit", why, "Correct it; the switch runs its former configuration")
    return {}


def apply_candidate(commands: dict[str, str], record: dict[str, Any]) -> str:
    """Reason why the candidate cannot be made the running configuration; empty when it is."""
    try:
        running, why = replace_running(commands, CHANGE / "candidate")
        if not why:
            update_record(record, state=APPLIED, revision=revision(running))
    except ChangeRefused as refused:
        return refused.problem
    except OSError as error:
        return f"cannot store the state of the change ({error.strerror or error})"
    return why


def arm(request: dict[str, Any], former: str) -> dict[str, Any]:
    """Store both configurations and the record, and start the job that reverts the change."""
    for abandoned in FOLDER.glob("prepared.*"):
        shutil.rmtree(str(abandoned), ignore_errors=True)
    prepared = Path(tempfile.mkdtemp(prefix="prepared.", dir=str(FOLDER)))
    try:
        store(prepared / "former", former)
        store(prepared / "candidate", request["text"])
        now = uptime()
        record = {"change": request["change"], "state": APPLYING, "since": now, "deadline": now + request["within_s"]}
        pid = start_job(request["commands"], request["change"])
        record["job"] = (pid, started(pid))
        write_record(prepared, record)
        prepared.replace(CHANGE)
    except OSError as error:
        shutil.rmtree(str(prepared), ignore_errors=True)
        problem = f"cannot store the candidate and the running configuration ({error.strerror or error})"
        raise ChangeRefused("commit", problem, f"Check the free space of {RUN}; the switch is unchanged") from None
    return record


def confirm(request: dict[str, Any]) -> dict[str, Any]:
    """Make the running configuration that of the next boot, and cancel the job."""
    commands, change = request["commands"], request["change"]
    with locked(LOCK_WITHIN_S):
        settle()
        record = pending_change()
        if record is None or record["change"] != change:
            if ended().get(change) == CONFIRMED:
                return {}
            problem = "was not confirmed in time and has restored its former configuration"
            raise ChangeRefused("commit", problem, "Deploy again")
        if record["state"] != APPLIED:
            problem = "has applied a part of the change only"
            raise ChangeRefused("commit", problem, "Revert it, then deploy again")
        text = checked_text(commands, (CHANGE / "candidate" / "frr.conf").read_text())
        if revision(text) != record["revision"]:
            problem = "no longer runs what was committed, so it is not saved and will be reverted"
            raise ChangeRefused("commit", problem, "Find out who changed or restarted it, then deploy again")
        prepare_startup(text)
        update_record(record, state=CONFIRMING)
        finish_confirmation(record)
    return {}


def settle() -> None:
    """Finish a confirmation whose process was killed after it had decided. The caller holds the lock."""
    record = pending_change()
    if record is not None and record["state"] == CONFIRMING:
        finish_confirmation(record)


def finish_confirmation(record: dict[str, Any]) -> None:
    """Replace the startup file, unless that is done, and end the change."""
    if SAVING.exists():
        replace_startup()
    end(record, CONFIRMED)


def revert(request: dict[str, Any]) -> dict[str, Any]:
    """Restore what ran before a pending change, once it is applied; nothing when it is not pending."""
    with locked(APPLIED_WITHIN_S):
        settle()
        record = pending_change()
        if record is not None and record["change"] == request["change"]:
            restore(request["commands"], record, "")
    return {}


def restore(commands: dict[str, str], record: dict[str, Any], cause: str) -> None:
    """Restore the former configuration and end the change; when that fails the change stays, and its job tries again.

    cause: why the change is reverted, for the message of a failure.
    """
    with contextlib.suppress(OSError):
        update_record(record, state=REVERTING)
    try:
        former = CHANGE / "former"
        check_daemons(((former / "frr.conf").read_text(),))
        _, why = replace_running(commands, former)
    except ChangeRefused as refused:
        why = refused.problem
    if why:
        with contextlib.suppress(OSError):
            update_record(record, failure=why)
        problem = f"cannot restore its former configuration ({why})"
        if cause:
            problem = f"{cause}, and could not be rolled back ({why})"
        raise ChangeRefused("device", problem, f"Check the switch; it tries again every {RETRY_EVERY_S} s")
    end(record, REVERTED)


def start_job(commands: dict[str, str], change: str) -> int:
    """Fork the job that reverts the change at its deadline. It waits for the lock first, which its parent holds."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        if Lock.held is not None:
            os.close(Lock.held)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.chdir("/")
        job(commands, change)
    finally:
        os._exit(0)


def job(commands: dict[str, str], change: str) -> None:
    """Wait until the change has ended; end it at the deadline, or when its confirmation was not finished."""
    Lock.held = None
    with locked(float("inf")):
        pass
    while True:
        record = pending_change()
        if record is None or record["change"] != change:
            return
        if uptime() >= record["deadline"] or record["state"] == CONFIRMING:
            with contextlib.suppress(ChangeRefused, OSError, ValueError):
                end_overdue(commands, change)
            if pending_change() is not None:
                time.sleep(RETRY_EVERY_S)
        time.sleep(0.5)


def end_overdue(commands: dict[str, str], change: str) -> None:
    """Finish the confirmation of a change that has one, else revert the change."""
    with locked(float("inf")):
        settle()
        record = pending_change()
        if record is not None and record["change"] == change:
            restore(commands, record, "")
