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
    """Wait until a process has a handler for a signal."""
    until_s = time.monotonic() + within_s
    while not _caught(pid) >> (number - 1) & 1:
        assert time.monotonic() < until_s, f"process {pid} has no handler for {number.name}"
        time.sleep(0.02)


def _caught(pid: int) -> int:
    """Signals that a process handles, as the bits of a number (`SigCgt` of proc(5))."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("SigCgt:")).split()[1], 16)
