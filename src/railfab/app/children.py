"""Programs that railfab runs beside itself, in its own process group, and always ends."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from railfab.errors import LabError

STOP_WITHIN_S = 10


@dataclass(frozen=True, slots=True)
class Child:
    """A running program and the file that it writes to."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def check(self) -> None:
        """Raise LabError, with its last words, when it has ended."""
        if self.process.poll() is not None:
            lines = self.log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
            raise LabError(self.name, f"ended: {lines[-1].removeprefix('railfab: ').rstrip('.')}", f"See {self.log}")


@contextmanager
def child(name: str, command: Sequence[str], log: Path) -> Iterator[Child]:
    """Run a program for as long as the context lasts: asked to end, then ended."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        output = log.open("wb")
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise LabError(str(log), problem, "Name another directory with --state") from None
    with output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield Child(name, process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
