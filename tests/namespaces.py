"""Run the tests of root in kernel namespaces of their own: they share no port, name or address with another run or lab.

When the first process of a PID namespace ends, even by SIGKILL, the kernel kills all others in it; network namespaces,
interfaces and mounts end with the last process that uses them. So a run that is killed leaves nothing behind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ENTERED = "RAILFAB_TEST_NAMESPACES"
"""Environment variable of the processes inside."""

FIRST_PROCESS = Path(__file__).with_suffix(".sh")
UNSHARE = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", str(FIRST_PROCESS))
WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")
"""Ends a worker with the process that started it."""


@cache
def available() -> bool:
    """Whether this process may make namespaces and is not inside the run's own yet."""
    if os.geteuid() != 0 or ENTERED in os.environ:
        return False
    try:
        return subprocess.run([*WITH_PARENT, *UNSHARE, "true"], capture_output=True, timeout=60).returncode == 0
    except FileNotFoundError:
        return False


def worker_python() -> str:
    """The command line of a Python that is inside; for a worker of pytest-xdist."""
    return " ".join((*WITH_PARENT, *UNSHARE, sys.executable))


def enter(config: pytest.Config) -> None:
    """Replace this process by the same test run inside."""
    arguments = config.invocation_params.args
    os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, "-m", "pytest", *map(str, arguments)])
