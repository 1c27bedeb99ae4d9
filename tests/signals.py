"""Commands that a test can interrupt, whatever this process ignores."""

from __future__ import annotations

import sys
from collections.abc import Sequence

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
