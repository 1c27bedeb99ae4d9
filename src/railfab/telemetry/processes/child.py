"""One process of a collector: started, and started again when it ends."""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from railfab.process.tied import tied

logger = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
"""Before the first restart, and before any; each is twice as long as the one before."""
HEALTHY_S = 60.0
"""After a process that has run for so long the pauses begin anew."""
SETTLES_WITHIN_S = 0.25
"""Time between the end of a process and our own signal, where one ends both: systemd sends it to all of a unit."""


class CollectorChild:
    """A command that is kept running, in a thread of its own: a process ends with the thread that started it.

    shard: its label. socket: where it answers.
    """

    def __init__(self, shard: str, command: Sequence[str], socket: Path) -> None:
        self.shard, self.socket = shard, socket
        self.restarts = 0
        self.exit_code: int | None = None
        """Of the last process that ended."""
        self.final_code: int | None = None
        """Exit code after which it is not started again."""
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._hung_s = 0.0
        self._starting = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"railfab-shard-{shard}", daemon=True)

    def start(self) -> None:
        """Start it, and from then on again when it ends."""
        self._thread.start()

    def request_end(self) -> None:
        """Ask the process to end, and start none again."""
        with self._starting:
            self._ending.set()
            if self._process is not None:
                self._process.terminate()

    def end(self, within_s: float) -> None:
        """Wait for the process that was asked to end, for so long; then kill it."""
        if self._thread.ident is None:
            return
        self._thread.join(within_s)
        if self._thread.is_alive() and self._process is not None:
            logger.warning("shard %s: still running after it was asked to end, and killed", self.shard)
            self._process.kill()
            self._thread.join()

    def kill_hung(self, process_id: int, hung_s: float) -> None:
        """Kill the process with this number, which was of no use for so long, if it still runs."""
        with self._starting:
            if self._process is not None and self.process_id == process_id and not self._ending.is_set():
                self._hung_s = hung_s
                self._process.kill()

    @property
    def process_id(self) -> int | None:
        """The number of the process that runs; None between two."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    def _run(self) -> None:
        failures = 0
        while (process := self._start()) is not None:
            began_s = time.monotonic()
            self.exit_code = process.wait()
            if self.exit_code == self.final_code:
                return
            if self._ending.wait(SETTLES_WITHIN_S):
                return
            lived_s, hung_s = time.monotonic() - began_s, self._hung_s
            failures = 1 if lived_s - hung_s > HEALTHY_S else failures + 1
            pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(failures - 1, 16))
            how = f"hung for {hung_s:.0f} s, and killed" if hung_s else _how(self.exit_code)
            logger.warning("shard %s: %s after %.0f s; started again in %.0f s", self.shard, how, lived_s, pause_s)
            if self._ending.wait(pause_s):
                return
            self.restarts += 1

    def _start(self) -> subprocess.Popen[bytes] | None:
        """A new process, in a session of its own, so that Ctrl-C reaches it through us; None at the end."""
        with self._starting:
            if self._ending.is_set():
                return None
            self._hung_s = 0.0
            self._process = subprocess.Popen(tied(self._command), stdin=subprocess.DEVNULL, start_new_session=True)
            return self._process


def _how(exit_code: int) -> str:
    """How a process ended."""
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    return f"ended by {signal.Signals(-exit_code).name}"
