"""The locks of a fabric and of a deploy: one change of its switches at a time from one state folder.

The kernel releases a lock when its process ends, also after kill -9, so a stale one does not exist. The lock file of
a fabric names its holder. Processes on other machines see the pending change on the switches instead
(`platforms.Pending`).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from railfab.endpoints import give_to_caller, make_folder
from railfab.errors import RailfabError
from railfab.platforms import ChangeName


@contextmanager
def fabric_lock(state: Path, fabric: str, change: ChangeName) -> Iterator[None]:
    """Hold the lock of a fabric. Raises RailfabError when another process holds it, and says who and since when."""
    path = state / f"{fabric}.deploy.lock"
    with _named(path):
        descriptor = _locked(path, fabric, change)
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def running_lock(path: Path) -> Iterator[None]:
    """Hold the lock of one deploy, for others to see that it runs. Raises RailfabError."""
    with _named(path):
        make_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with _named(path):
            give_to_caller(path)
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # waits for `is_running`, which holds it for a moment
        yield
    finally:
        os.close(descriptor)


def is_running(path: Path) -> bool:
    """Whether a process holds the lock of a deploy."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into a RailfabError that names the file."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(path), problem, "Name another folder with --state") from None


def _locked(path: Path, fabric: str, change: ChangeName) -> int:
    """The descriptor of the lock file, which names us as its holder. Raises RailfabError when it is held."""
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        give_to_caller(path)
        holder = {"change": str(change), "pid": os.getpid(), "since": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}Z"}
        os.ftruncate(descriptor, 0)
        os.write(descriptor, (json.dumps(holder) + "\n").encode())
    except BlockingIOError:
        held = _holder(path.read_text(encoding="utf-8", errors="replace"))
        os.close(descriptor)
        raise RailfabError(fabric, f"is being changed by {held}", "Wait until it ends") from None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _holder(text: str) -> str:
    """`kim@control1 (process 4711, deploy 2026...) since 2026-11-22 09:30:12Z`."""
    try:
        found = json.loads(text)
        deploy, _, who = found["change"].partition("/")
        return f"{who} (process {found['pid']}, deploy {deploy}) since {found['since']}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "another process"
