"""Run `railfab`, and let something happen to it at a step of its journal.

RAILFAB_TEST_STEP is `N:before` or `N:after`, the N-th write to the steps of a deploy. There the process is killed, as
by `kill -9`; with RAILFAB_TEST_MEETS, the abstract address of a test, it waits there until the test has done what it
wants. Routes of a test move at once: a drain is not waited for long.
"""

from __future__ import annotations

import os
import signal
import socket
from itertools import count
from typing import Any

from railfab.__main__ import main
from railfab.deploy import rollout
from railfab.deploy.steps import StepLog

NUMBER, _, MOMENT = os.environ.get("RAILFAB_TEST_STEP", "0:before").partition(":")
ADDRESS = os.environ.get("RAILFAB_TEST_MEETS")
numbers = count(1)
write = StepLog.write


def meet() -> None:
    """Die, or wait until the test has done what it wants."""
    if ADDRESS is None:
        os.kill(os.getpid(), signal.SIGKILL)
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as test:
        test.connect(f"\0{ADDRESS}")
        test.recv(1)


def write_or_meet(self: StepLog, *arguments: Any, **named: Any) -> None:
    is_now = next(numbers) == int(NUMBER)
    if is_now and MOMENT == "before":
        meet()
    write(self, *arguments, **named)
    if is_now and MOMENT == "after":
        meet()


rollout.SETTLE_S = 0.2
StepLog.write = write_or_meet  # type: ignore[method-assign]
main()
