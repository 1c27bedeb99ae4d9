"""Waiting until no job runs on hosts that a change cuts off, and the end of that wait however it comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

from railfab.deploy.schedulers.contract import Scheduler
from railfab.errors import RailfabError

ASKED_EVERY_S = 10.0
OnWait = Callable[[Mapping[str, str]], object]
"""Called with words by host: what still runs, whenever this has changed."""


def idle(
    scheduler: Scheduler,
    hosts: Sequence[str],
    reason: str,
    *,
    within_s: float,
    stop_requested: threading.Event,
    on_wait: OnWait,
    on_left_alone: OnWait = lambda _: None,
    asked_every_s: float = ASKED_EVERY_S,
) -> Mapping[str, str]:
    """Hold hosts and wait until nothing runs on them; returns what still does, by host: empty where they are idle.

    on_left_alone: called with the hosts that others had taken out before, and why. Ends after within_s, or when a stop
    is requested. The hosts stay held: see `released`. Raises SchedulerError.
    """
    if left_alone := scheduler.hold(hosts, reason):
        on_left_alone(left_alone)
    end = monotonic() + within_s
    told: Mapping[str, str] = {}
    while busy := scheduler.busy(hosts):
        if busy != told:
            on_wait(busy)
            told = busy
        left = end - monotonic()
        if left <= 0 or stop_requested.wait(min(left, asked_every_s)):
            break
    return busy


@contextmanager
def released(
    scheduler: Scheduler, hosts: Sequence[str], reason: str, on_error: Callable[[RailfabError], object]
) -> Iterator[None]:
    """Release what is held for this reason in every end of a wave; an error of the scheduler goes to on_error.

    After a kill, `Scheduler.release` with the hosts of the fabric and the ID of the deploy does the same.
    """
    try:
        yield
    finally:
        try:
            scheduler.release(hosts, reason)
        except RailfabError as error:
            on_error(error)
