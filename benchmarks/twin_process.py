"""A twin in a process of its own, and what that process has used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measured import as_installed

from railfab.endpoints import Endpoint, load_endpoints, state_file
from railfab.intent import load_intent

START_WITHIN_S = 900
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """The twin's process."""

    pid: int

    def cpu_s(self) -> float:
        """User and system time of the process [s]."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def resident_mb(self) -> float:
        """Present resident set [MB]."""
        return self._memory_mb("VmRSS")

    def peak_mb(self) -> float:
        """Largest resident set [MB]."""
        return self._memory_mb("VmHWM")

    def _memory_mb(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


@contextmanager
def twin(intent: Path, state: Path, *words: str) -> Iterator[Process]:
    """`railfab twin FILE` with these options in a process, as installed."""
    command = [sys.executable, "-m", "railfab", "twin", str(intent), *words, "--port", "0"]
    command += ["--state", str(state)]
    with (state / "said").open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=as_installed())
    try:
        yield Process(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def endpoints(intent: Path, state: Path, process: Process) -> tuple[Endpoint, ...]:
    """The endpoints of the twin, as soon as it has written them."""
    path = state_file(state, load_intent(intent).fabric, "twin")
    until_s = time.monotonic() + START_WITHIN_S
    while not path.exists():
        if time.monotonic() > until_s or not Path(f"/proc/{process.pid}/cmdline").read_bytes():
            raise SystemExit(f"the twin did not start:\n{(state / 'said').read_text()}")
        time.sleep(0.1)
    return load_endpoints(path).nodes
