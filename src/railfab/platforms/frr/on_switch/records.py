"""The pending change on the switch, how earlier ones ended, and the lock of all changes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from railfab.platforms.frr.on_switch.commands import Lock, uptime
from railfab.platforms.frr.on_switch.places import FOLDER, ChangeRefused

CHANGE = FOLDER / "change"
REMOVED = FOLDER / "removed"
ENDED = FOLDER / "ended.json"
ENDED_KEPT = 100
LOCK_WITHIN_S, APPLIED_WITHIN_S = 20, 150
"""Limits of the wait for the lock, and of that for a change which goes on after its session was killed [s]."""

APPLYING, APPLIED, CONFIRMING, REVERTING = "applying", "applied", "confirming", "reverting"
"""States of a pending change."""
CONFIRMED, REVERTED = "confirmed", "reverted"
"""Ends of a change."""


def pending_change() -> dict[str, Any] | None:
    """The record of the pending change; None without one."""
    try:
        record = json.loads((CHANGE / "record.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    assert isinstance(record, dict)
    return record


def write_record(folder: Path, record: dict[str, Any]) -> None:
    new = folder / "record.new"
    new.write_text(json.dumps(record))
    new.replace(folder / "record.json")


def update_record(record: dict[str, Any], **values: Any) -> None:
    record.update(values)
    write_record(CHANGE, record)


def started(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


def described(record: dict[str, Any]) -> dict[str, Any]:
    """The pending change, as the session reads it."""
    pid, ticks = record["job"]
    now = uptime()
    return {
        "change": record["change"],
        "state": record["state"],
        "since_s": now - record["since"],
        "left_s": record["deadline"] - now,
        "job_runs": started(pid) == ticks,
        "failure": record.get("failure", ""),
    }


def ended() -> dict[str, str]:
    """The ends of earlier changes, by name; empty where they cannot be read."""
    try:
        ends = json.loads(ENDED.read_text())
    except (OSError, ValueError):
        return {}
    return ends if isinstance(ends, dict) else {}


def end(record: dict[str, Any], how: str) -> None:
    """Note how the change ended, then remove it."""
    kept = dict(list(ended().items())[-ENDED_KEPT:])
    kept[record["change"]] = how
    with contextlib.suppress(OSError):  # no space for a note is no reason to keep the change
        (FOLDER / "ended.new").write_text(json.dumps(kept))
        (FOLDER / "ended.new").replace(ENDED)
    shutil.rmtree(str(REMOVED), ignore_errors=True)
    CHANGE.replace(REMOVED)
    shutil.rmtree(str(REMOVED), ignore_errors=True)


@contextlib.contextmanager
def locked(within_s: float, *, unless_pending: bool = False) -> Iterator[None]:
    """Hold the lock. unless_pending: raise ChangeRefused at once where its holder has a pending change."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    deadline = time.monotonic() + within_s
    with (FOLDER / "lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if unless_pending:
                    refuse_pending(pending_change())
                if time.monotonic() > deadline:
                    problem = "is being changed by another session"
                    raise ChangeRefused("commit", problem, "Try again in a minute") from None
                time.sleep(0.1)
        Lock.held = lock.fileno()
        try:
            yield
        finally:
            Lock.held = None


def refuse_pending(record: dict[str, Any] | None) -> None:
    """Raise ChangeRefused, with the description of the change, while one is pending."""
    if record is not None:
        raise ChangeRefused("pending", json.dumps(described(record)), "")
