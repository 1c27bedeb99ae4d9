"""What the list of processes shows: command lines of all, and environments of those that a command has started."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path


class ProcessList:
    """Looks at /proc over and over while a command runs. started: command lines of its descendants.

    exposed: the command lines, and names of variables of descendants, that have one of the secrets.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = [secret.encode() for secret in secrets]
        self._ended = threading.Event()
        self.started: set[str] = set()
        self.exposed: set[str] = set()

    def run(self, *words: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run railfab, and look meanwhile."""
        command = [sys.executable, "-m", "railfab", *words]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)
        looking = threading.Thread(target=self._look, args=(process.pid,))
        looking.start()
        try:
            printed, said = process.communicate(timeout=170)
        finally:
            self._ended.set()
            looking.join()
            self._ended.clear()
        return subprocess.CompletedProcess(command, process.returncode, printed, said)

    def _look(self, deploy: int) -> None:
        while not self._ended.wait(0.002):
            parents = {}
            for entry in Path("/proc").iterdir():
                if entry.name.isdecimal():
                    parents[int(entry.name)] = self._seen(int(entry.name))
            for number in parents:
                if number != deploy and _descends(number, deploy, parents):
                    self._look_inside(number)

    def _seen(self, number: int) -> int:
        """Look at a command line; returns the parent of a process, 0 for one that has ended."""
        try:
            line = Path(f"/proc/{number}/cmdline").read_bytes()
            if any(secret in line for secret in self._secrets):
                self.exposed.add(line.replace(b"\0", b" ").decode())
            return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return 0

    def _look_inside(self, number: int) -> None:
        try:
            line = Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            for variable in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
                if any(secret in variable for secret in self._secrets) and not line.startswith(sys.executable):
                    self.exposed.add(f"{line}: {variable.partition(b'=')[0].decode()}")
        except OSError:
            return
        self.started.add(line)


def _descends(number: int, ancestor: int, parents: Mapping[int, int]) -> bool:
    while number > 1:
        number = parents.get(number, 0)
        if number == ancestor:
            return True
    return False
