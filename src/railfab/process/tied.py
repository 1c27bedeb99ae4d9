"""Programs that end with the process that started them, however that ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

TIED = """\
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
if os.getppid() != int(sys.argv[1]):
    sys.exit("the process that started this one has ended")
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""Replaces itself by a program that the kernel kills as soon as its parent ends, however that ends.

The request outlives execve, except of a program that changes its user or gains capabilities; it is about the thread
that started the program, and a parent that had ended before is seen by its number. Source: PR_SET_PDEATHSIG(2const).
"""


def tied(command: Sequence[str]) -> list[str]:
    """The command that runs a program which ends with this thread; the program itself where the system has no such."""
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", "-c", TIED, str(os.getpid()), *command]
