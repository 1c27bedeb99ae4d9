"""How the kernel schedules the threads of a collector."""

from __future__ import annotations

import os
from contextlib import suppress


def batch_scheduling() -> None:
    """Have no thread of this process, begun from now on, interrupt another one as it wakes (SCHED_BATCH, sched(7)).

    Threads that hand messages to each other otherwise change places several times for each, since one that is woken
    runs at once and then waits for the interpreter: grpcio costs 1.6 times as much. A policy that the user has chosen
    stays, and so does the default one where the system has no other or does not permit it.
    """
    if hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
