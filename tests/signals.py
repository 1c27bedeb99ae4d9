"""Commands that a test can interrupt, whatever this process ignores."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

DEFAULTS = """\
import os, signal, sys
for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(sign, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""


def interruptible(command: Sequence[str]) -> list[str]:
    """Prefix a command so that it starts with the default handlers of signals, under the same pid.

    A shell starts what runs in the background with SIGINT ignored, and every child inherits that.
    """
    return [sys.executable, "-c", DEFAULTS, *command]


def until_caught(pid: int, number: signal.Signals, within_s: float = 60) -> None:
    """Wait until a child has a handler for a signal, or has ended."""
    until_s = time.monotonic() + within_s
    while not _has_ended(found := _status(pid)) and not int(found["SigCgt"], 16) >> (number - 1) & 1:
        assert time.monotonic() < until_s, f"process {pid} has no handler for {number.name}"
        time.sleep(0.02)


def _has_ended(status: dict[str, str]) -> bool:
    return status["State"].startswith("Z")


def _status(pid: int) -> dict[str, str]:
    """The lines of a process's status file, see proc(5)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
