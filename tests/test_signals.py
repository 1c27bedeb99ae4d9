"""Tests that interrupt a child work in a background shell, too."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from tests.signals import interruptible

SLEEP = "import time\nprint('on', flush=True)\nwhile True:\n    time.sleep(0.1)"
"""In short parts: a signal that comes between a check of Python's and the call does not end a sleep."""
PARENT = """\
import json, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen(json.loads(sys.argv[1]), stdout=subprocess.PIPE)
child.stdout.readline()
child.send_signal(signal.SIGINT)
try:
    print(child.wait(timeout=float(sys.argv[2])))
except subprocess.TimeoutExpired:
    child.kill()
    print("still running")
"""


def outcome(command: list[str], within_s: float) -> str:
    """Exit code of a command that is interrupted by a parent which ignores SIGINT itself."""
    arguments = [sys.executable, "-c", PARENT, json.dumps(command), str(within_s)]
    return subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=90).stdout.strip()


def test_an_interruptible_child_of_a_parent_that_ignores_sigint_is_interrupted() -> None:
    sleeping = [sys.executable, "-c", SLEEP]
    assert outcome(interruptible(sleeping), within_s=60) == str(-signal.SIGINT)
    assert outcome(sleeping, within_s=0.5) == "still running"
