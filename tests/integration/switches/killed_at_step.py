"""Run `railfab` and kill it, as `kill -9` does, at a step of its journal.

The environment has `RAILFAB_TEST_KILL=N:before` or `N:after`: before or after the N-th write to the steps of a deploy;
`0:before` kills nothing. Routes of the twin move at once, so that a drain is not waited for long.
"""

from __future__ import annotations

import os
import signal
from itertools import count
from typing import Any

from railfab.__main__ import main
from railfab.deploy import rollout
from railfab.deploy.steps import StepLog

NUMBER, WHEN = os.environ["RAILFAB_TEST_KILL"].split(":")
numbers = count(1)
write = StepLog.write


def write_or_die(self: StepLog, *arguments: Any, **named: Any) -> None:
    is_now = next(numbers) == int(NUMBER)
    if is_now and WHEN == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, *arguments, **named)
    if is_now:
        os.kill(os.getpid(), signal.SIGKILL)


rollout.SETTLE_S = 0.2
StepLog.write = write_or_die  # type: ignore[method-assign]
main()
