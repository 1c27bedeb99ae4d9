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
    while is_running(pid) and not int(_status(pid)["SigCgt"], 16) >> (number - 1) & 1:
        assert time.monotonic() < until_s, f"process {pid} has no handler for {number.name}"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return not _status(pid)["State"].startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return False


def _status(pid: int) -> dict[str, str]:
    """The lines of a process's status file, see proc(5)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
