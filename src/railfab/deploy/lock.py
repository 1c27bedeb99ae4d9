"""The lock of a fabric: one change of its switches at a time from one state folder.

The kernel releases the lock when its process ends, also after kill -9, so a stale one does not exist; the file says who
holds it. Processes on other machines see the pending change on the switches instead (`platforms.Pending`).
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
    try:
        descriptor = _locked(path, fabric, change)
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(path), problem, "Name another folder with --state") from None
    try:
        yield
    finally:
        os.close(descriptor)


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
