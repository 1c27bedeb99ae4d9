"""The processes of a collector, and what all of them say together."""

from __future__ import annotations

import json
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from railfab.telemetry.processes.asking import Asked, ask
from railfab.telemetry.processes.child import CollectorChild
from railfab.telemetry.processes.watchdog import Patience, ProcessWatchdog
from railfab.telemetry.status import UNKNOWN, Parts, TargetStatus, in_order

logger = logging.getLogger(__name__)

ASK_WITHIN_S = 2.5
"""For an answer about health or targets: a probe of Kubernetes or Docker waits 5 s or 3 s."""
END_WITHIN_S = 12.0
"""Time between asking the processes to end and killing them: systemd and Kubernetes give 15 s to all."""
FIRST_WITHIN_S = 120.0
"""Time for the first process to compile what is not in the cache, before the others are started."""
POLL_S = 0.2
PATIENCE = Patience()
BAD_INPUT = 2
"""Exit code of a collector whose options, intent or lists cannot be used."""


class Processes:
    """A process for each shard; a context manager that ends all of them.

    shards: their labels, `0` or `1.0`. command: of the process with this number, which listens on this socket.
    stop_requested: ends the waiting for the first one. patience: with processes that hang.
    """

    def __init__(
        self,
        shards: Sequence[str],
        command: Callable[[int, Path], Sequence[str]],
        stop_requested: threading.Event,
        patience: Patience = PATIENCE,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="railfab-collect-", ignore_cleanup_errors=True)
        sockets = [Path(self._folder.name) / str(number) for number in range(len(shards))]
        self.children = [
            CollectorChild(shard, command(number, socket), socket)
            for number, (shard, socket) in enumerate(zip(shards, sockets, strict=True))
        ]
        self._stop_requested = stop_requested
        self._watchdog = ProcessWatchdog(self.children, patience)
        self._askers = ThreadPoolExecutor(max(8, len(shards)), thread_name_prefix="railfab-ask")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watchdog.end()
        for child in self.children:
            child.request_end()
        until_s = time.monotonic() + END_WITHIN_S
        for child in self.children:
            child.end(max(0.0, until_s - time.monotonic()))
        self._askers.shutdown(wait=False, cancel_futures=True)
        self._folder.cleanup()

    def start(self) -> bool:
        """Start the first process, and the others once it collects: what it compiles they find in the cache.

        False when it ends at once because its input cannot be used, which it has said.
        """
        first, *others = self.children
        first.final_code = BAD_INPUT
        first.start()
        self._watchdog.start()
        until_s = time.monotonic() + FIRST_WITHIN_S
        while not self._stop_requested.wait(POLL_S) and time.monotonic() < until_s:
            if first.exit_code is not None:
                break
            if ask(first.socket, "/healthz", within_s=ASK_WITHIN_S).is_well:
                break
        first.final_code = None
        if first.exit_code == BAD_INPUT:
            return False
        if not self._stop_requested.is_set():
            for child in others:
                child.start()
        return True

    def up(self) -> list[tuple[CollectorChild, bool]]:
        """Each process, and whether it runs and collects."""
        return [(child, asked.is_well) for child, asked in self._asked("/healthz")]

    def healthy(self) -> Parts:
        """Whether each part of each process works, for /healthz; a process without an answer is a part that fails."""
        return self._parts("/healthz")

    def ready(self) -> Parts:
        """Whether each part of each process has begun, for /readyz."""
        return self._parts("/readyz")

    def targets(self) -> list[TargetStatus]:
        """The targets of all processes, and one of state UNKNOWN for those of each process without an answer."""
        return in_order(status for child, asked in self._asked("/targets") for status in _statuses(child, asked))

    def _parts(self, page: str) -> Parts:
        return {name: part for child, asked in self._asked(page) for name, part in _parts(child.shard, asked).items()}

    def _asked(self, page: str) -> list[tuple[CollectorChild, Asked]]:
        """What each process answers, asked at one time."""
        answers = self._askers.map(lambda child: ask(child.socket, page, within_s=ASK_WITHIN_S), self.children)
        return list(zip(self.children, answers, strict=True))


def _parts(shard: str, asked: Asked) -> Parts:
    if not asked.status:
        return {f"shard {shard}": False}
    return {f"shard {shard}: {name}": part for name, part in json.loads(asked.body).items()}


def _statuses(child: CollectorChild, asked: Asked) -> list[TargetStatus]:
    if asked.is_well:
        return [TargetStatus(**status) for status in json.loads(asked.body)]
    return [_unknown(child.shard, asked.problem)]


def _unknown(shard: str, problem: str) -> TargetStatus:
    """What stands for the targets of a process that does not answer."""
    return TargetStatus(
        name=f"targets of shard {shard}",
        platform="",
        address="",
        state=UNKNOWN,
        receiver="",
        encoding="",
        interval_s=None,
        series=0,
        age_s=None,
        reconnects=0,
        error=problem,
        overloaded=False,
        labels={},
    )
