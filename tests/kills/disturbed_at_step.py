"""Run `railfab`, and let something happen to it at a step of its journal, or while a change waits under its timer.

RAILFAB_TEST_STEP is `N:before` or `N:after`, the N-th write to the steps of a deploy, or `N:timer`, the N-th change
that a switch has committed and that is not confirmed yet. There the process is killed, as by `kill -9`; with
RAILFAB_TEST_MEETS, the abstract address of a test, it waits until the test has done what it wants. Routes of a test
move at once: a drain is not waited for long.
"""

from __future__ import annotations

import os
import signal
import socket
from itertools import count
from typing import Any

from railfab.__main__ import main
from railfab.deploy import rollout, tasks
from railfab.deploy.steps import StepLog

NUMBER, _, MOMENT = os.environ.get("RAILFAB_TEST_STEP", "0:before").partition(":")
ADDRESS = os.environ.get("RAILFAB_TEST_MEETS")
writes, commits = count(1), count(1)
write, confirm = StepLog.write, tasks._confirm


def meet() -> None:
    """Die, or wait until the test has done what it wants."""
    if ADDRESS is None:
        os.kill(os.getpid(), signal.SIGKILL)
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as test:
        test.connect(f"\0{ADDRESS}")
        test.recv(1)


def write_or_meet(self: StepLog, *arguments: Any, **named: Any) -> None:
    is_now = next(writes) == int(NUMBER)
    if is_now and MOMENT == "before":
        meet()
    write(self, *arguments, **named)
    if is_now and MOMENT == "after":
        meet()


def meet_or_confirm(*arguments: Any) -> None:
    if MOMENT == "timer" and next(commits) == int(NUMBER):
        meet()
    confirm(*arguments)


rollout.SETTLE_S = 0.2
tasks._confirm = meet_or_confirm
StepLog.write = write_or_meet  # type: ignore[method-assign]
main()
