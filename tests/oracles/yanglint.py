"""yanglint 2: a process that loads models once and then judges files of configuration."""

from __future__ import annotations

import re
import subprocess
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

ERROR, MESSAGE = "libyang[0]", "libyang["
"""Beginnings of an error, whose expression may have several lines, and of it or a warning."""

FAILED = re.compile(r'YANGLINT\[E\]: Failed to parse input data file "(?P<file>.*)"\.')
ABSENT = "/nowhere"
"""File that does not exist, whose error is the last line about the file before it."""
END = re.compile(rf"YANGLINT\[E\]: .*{ABSENT}.*")
LONGEST_COMMAND = 4000
"""Characters of a command; the line editor cuts longer ones at 4,095."""


class Yanglint:
    """A yanglint with models.

    folder: of the models. load: what the command of that name takes, names of modules with options before them.
    """

    def __init__(self, folder: Path, load: str) -> None:
        assert len(load) < LONGEST_COMMAND, "load them with several commands"
        self._process = subprocess.Popen(
            ["yanglint"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        weakref.finalize(self, self._process.communicate, timeout=60)
        self._said("")  # of the user's folder and history, which a new machine has not
        complaints = self._said(f"searchpath {folder}\nload {load}\n")
        assert not [line for line in complaints if line.startswith((ERROR, "YANGLINT"))], complaints

    def complaints(self, file: Path) -> list[str]:
        """What the models say against a file of configuration: libyang ends at its first error."""
        errors: list[str] = []
        for line in self._said(f"data -t config {file}\n"):
            if failed := FAILED.fullmatch(line):
                assert failed["file"] == str(file), line
                assert errors, line
                return errors
            if line.startswith(ERROR):
                errors.append(line)
            elif errors and not line.startswith(MESSAGE):
                errors[-1] += f" {line.strip()}"
        assert not errors, errors
        return []

    def complaints_of_each(self, files: Iterable[Path]) -> list[list[str]]:
        """What the models say against each file."""
        return [self.complaints(file) for file in files]

    def _said(self, commands: str) -> list[str]:
        """Lines on stderr of commands."""
        process = self._process
        assert process.stdin is not None
        process.stdin.write(f"{commands}data -t config {ABSENT}\n")
        process.stdin.flush()
        return [*self._until_end()]

    def _until_end(self) -> Iterator[str]:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if END.fullmatch(line.rstrip("\n")):
                return
            yield line.rstrip("\n")
        raise AssertionError(f"yanglint ended with {self._process.wait()}")


def yanglint(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A run with arguments."""
    return subprocess.run(["yanglint", *arguments], capture_output=True, text=True, check=False, timeout=170)
