"""The priority of a test: what computes gives way to what waits for processes, timers and samples.

A thread and what it starts have a priority of their own on Linux, and only root may raise it. Beside tests that compute
sessions of a lab are late, and a twin simulates less than the wall clock passes.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

GIVES_WAY = 5
"""Added to the nice value of the run; a process gets a third of the time then that one without it gets."""
OF_THE_RUN = os.getpriority(os.PRIO_PROCESS, 0)


def give_way(computes: bool) -> None:
    """Set the priority of this thread to that of a test that computes, or of one that waits."""
    if can_return():
        _be_nicer(GIVES_WAY if computes else 0)


@cache
def can_return() -> bool:
    """Whether a thread that has given way may take its former priority again."""

    def tried() -> bool:
        try:
            _be_nicer(1)
            _be_nicer(0)
        except PermissionError:
            return False
        return True

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(tried).result()


def _be_nicer(by: int) -> None:
    os.setpriority(os.PRIO_PROCESS, 0, OF_THE_RUN + by)
