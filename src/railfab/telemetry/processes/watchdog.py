"""Finds processes that run and do not collect, and has them killed; their owner starts them again."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass

from railfab.telemetry.processes.asking import ask
from railfab.telemetry.processes.child import CollectorChild


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Times of a watchdog [s].

    every_s: between two rounds, in which all processes are asked for their health at one time. answer_within_s: for an
    answer. hung_after_s: without health a process is killed. starts_within_s: the same before its first health: it may
    have to compile, and to read lists of targets. late_s: a round that lasts so much longer than it can was late by
    itself: the machine or this process had no time, so that it says nothing of the others.
    """

    every_s: float = 5.0
    answer_within_s: float = 10.0
    hung_after_s: float = 60.0
    starts_within_s: float = 180.0
    late_s: float = 1.0


@dataclass(slots=True)
class _Watched:
    """A process. was_well: whether it was healthy once. unwell_s: since when it is not, counted in rounds on time."""

    process_id: int | None = None
    was_well: bool = False
    unwell_s: float = 0.0


class ProcessWatchdog:
    """Watches processes in a thread of its own until it is ended."""

    def __init__(self, children: Sequence[CollectorChild], patience: Patience) -> None:
        self._children, self._patience = children, patience
        self._watched = [_Watched() for _ in children]
        self._ended = threading.Event()
        self._askers = ThreadPoolExecutor(len(children), thread_name_prefix="railfab-watch")
        self._thread = threading.Thread(target=self._run, name="railfab-watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Kill nothing any more."""
        self._ended.set()
        self._askers.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        patience, last_s = self._patience, time.monotonic()
        while not self._ended.wait(patience.every_s):
            processes = [child.process_id for child in self._children]
            try:
                well = list(self._askers.map(self._is_well, self._children))
            except (RuntimeError, CancelledError):  # ended meanwhile
                return
            began_s, last_s = last_s, time.monotonic()
            self.judge(processes, well, last_s - began_s)

    def judge(self, processes: Sequence[int | None], well: Sequence[bool], passed_s: float) -> None:
        """Take the health of each process in a round, so long after the one before."""
        patience = self._patience
        if passed_s > patience.every_s + patience.answer_within_s + patience.late_s:
            passed_s = 0.0
        for place, (process_id, is_well) in enumerate(zip(processes, well, strict=True)):
            self._judge(place, process_id, is_well, passed_s)

    def _is_well(self, child: CollectorChild) -> bool:
        return ask(child.socket, "/healthz", within_s=self._patience.answer_within_s).is_well

    def _judge(self, place: int, process_id: int | None, is_well: bool, passed_s: float) -> None:
        if process_id is None or process_id != self._watched[place].process_id:
            self._watched[place] = _Watched(process_id)
        watched, patience = self._watched[place], self._patience
        if is_well:
            watched.was_well, watched.unwell_s = True, 0.0
            return
        watched.unwell_s += passed_s
        limit_s = patience.hung_after_s if watched.was_well else patience.starts_within_s
        if process_id is not None and watched.unwell_s > limit_s and not self._ended.is_set():
            self._children[place].kill_hung(process_id, watched.unwell_s)
