"""Programs that railfab runs beside itself, and their end."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from railfab.errors import LabError
from railfab.process.tied import tied
from railfab.twin.detached import spawn

END_WITHIN_S = 2.5
"""Time between asking a program to end and killing it."""
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Child:
    """A running program and the file that it writes to."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def check(self) -> None:
        """Raise LabError, with its last line of output, when it has ended."""
        if self.process.poll() is not None:
            lines = self.log.read_text(errors="replace").strip().splitlines() or ["it printed nothing"]
            raise LabError(self.name, f"ended: {lines[-1].removeprefix('railfab: ').rstrip('.')}", f"See {self.log}")


class Children:
    """The programs that run as long as the context; a context manager.

    On Linux they are killed when the thread that started them ends, also with a process that was killed itself.
    All are asked to end once stop_requested is set or the context ends, and killed END_WITHIN_S later. A call to one of
    them that waits for its answer fails then, so that nothing in the context waits longer than that.
    """

    def __init__(self, stop_requested: threading.Event) -> None:
        self._children: list[Child] = []
        self._stop_requested = stop_requested
        self._leaving = threading.Event()
        self._ending = threading.Thread(target=self._end_on_request, name="railfab-children", daemon=True)

    def __enter__(self) -> Self:
        self._ending.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.set()
        self._ending.join()
        self._end()

    def start(self, name: str, command: Sequence[str], log: Path, text: bytes | None = None) -> Child:
        """Run a program. text: its standard input. Raises LabError when its log cannot be written."""
        started = Child(name, spawn(tied(command), log, text), log)
        self._children.append(started)
        return started

    def check(self) -> None:
        """Raise LabError when one of them has ended."""
        for child in self._children:
            child.check()

    def _end_on_request(self) -> None:
        while not self._stop_requested.wait(POLL_S):
            if self._leaving.is_set():
                return
        self._end()

    def _end(self) -> None:
        """Ask all to end, wait, and kill those that have not."""
        processes = [child.process for child in self._children]
        for process in processes:
            process.terminate()
        until_s = time.monotonic() + END_WITHIN_S
        for process in processes:
            try:
                process.wait(max(0.0, until_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
