"""A Nornir runner whose threads end with the process, so that a signal does not wait for a frozen switch."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial
from queue import Empty, SimpleQueue

from nornir.core.inventory import Host
from nornir.core.task import AggregatedResult, MultiResult, Result, Task

from railfab.deploy.silence import SilentSwitches
from railfab.errors import NotRolledBack, RailfabError, Unreachable

POLL_S = 0.1
GRACE_S = 4.0
"""Time that changes in progress have after a stop request [s]; a verb ends within 5 s of a signal."""


class StoppableRunner:
    """Runs a task on `workers` switches at a time.

    Once a switch cannot be reached, the silent ones among those that wait are found together, and are not tried.
    stop_requested: when set, switches that are not done within GRACE_S are given up; their result says so.
    """

    def __init__(self, workers: int, stop_requested: threading.Event | None = None) -> None:
        self._workers = workers
        self._stop_requested = stop_requested or threading.Event()

    def run(self, task: Task, hosts: list[Host]) -> AggregatedResult:
        """Run the task on every host."""
        waiting: SimpleQueue[Host] = SimpleQueue()
        done: SimpleQueue[tuple[str, MultiResult]] = SimpleQueue()
        silence = SilentSwitches(hosts[self._workers :])
        for host in hosts:
            waiting.put(host)
        for _ in range(min(self._workers, len(hosts))):
            threading.Thread(target=_work, args=(task, waiting, done, silence), daemon=True).start()
        results = self._collected(hosts, done)
        found = AggregatedResult(task.name)
        for host in hosts:
            found[host.name] = results.get(host.name) or _given_up(host)
        return found

    def _collected(self, hosts: Sequence[Host], done: SimpleQueue[tuple[str, MultiResult]]) -> dict[str, MultiResult]:
        results: dict[str, MultiResult] = {}
        give_up_s: float | None = None
        while len(results) < len(hosts):
            try:
                name, result = done.get(timeout=POLL_S)
                results[name] = result
            except Empty:
                if give_up_s is None and self._stop_requested.is_set():
                    give_up_s = time.monotonic() + GRACE_S
                if give_up_s is not None and time.monotonic() > give_up_s:
                    break
        return results


def _work(
    task: Task, waiting: SimpleQueue[Host], done: SimpleQueue[tuple[str, MultiResult]], silence: SilentSwitches
) -> None:
    while True:
        try:
            host = waiting.get_nowait()
        except Empty:
            return
        attempt = task.copy()
        if (error := silence.error(host.name)) is not None:
            attempt.task = partial(_fail, error)
        try:
            result = attempt.start(host)
        except Exception as error:  # noqa: BLE001 - of a processor, which Nornir does not catch: the run would not end
            result = _failed(host, error)
        if isinstance(result[0].exception, Unreachable):
            silence.look()
        done.put((host.name, result))


def _fail(error: RailfabError, _task: Task, **_arguments: object) -> Result:
    raise error


def _given_up(host: Host) -> MultiResult:
    """The result of a switch that did not answer before the run was stopped."""
    error = NotRolledBack(
        host.name,
        "did not answer before the run was stopped; it reverts an unconfirmed change by itself where it can",
        "Deploy again: it finds what is pending",
    )
    return _failed(host, error)


def _failed(host: Host, error: Exception) -> MultiResult:
    result = MultiResult(host.name)
    result.append(Result(host=host, exception=error, failed=True))
    return result
