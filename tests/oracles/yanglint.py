"""yanglint 2: what it says of many files in one process, which loads the models once."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

ERROR, OTHER = "libyang[0]", "libyang["
"""Beginnings of an error, whose expression may have several lines, and of it or a warning."""

FAILED = re.compile(r'YANGLINT\[E\]: Failed to parse input data file "(?P<file>.*)"\.')
LONGEST_COMMAND = 4000
"""Characters of a command; the line editor cuts longer ones at 4,095."""


def complaints_of_each(files: Iterable[Path], folder: Path, load: str) -> list[list[str]]:
    """What the models say against each file of configuration: libyang ends at its first error in each.

    folder: of the models. load: what the command of that name takes, names of modules with options before them.
    """
    names = [*map(str, files)]
    assert len(load) < LONGEST_COMMAND, "load them with several commands"
    checks = "".join(f"data -t config {name}\n" for name in names)
    done = yanglint(commands=f"searchpath {folder}\nload {load}\n{checks}")
    said: dict[str, list[str]] = {name: [] for name in names}
    open_lines: list[str] = []
    for line in done.stderr.splitlines():
        if failed := FAILED.fullmatch(line):
            said[failed["file"]] = open_lines
            open_lines = []
        elif line.startswith(ERROR):
            open_lines.append(line)
        elif open_lines and not line.startswith(OTHER):
            open_lines[-1] += f" {line.strip()}"
    assert (open_lines, done.returncode) == ([], 0), done.stderr
    return [*said.values()]


def yanglint(*arguments: str, commands: str = "") -> subprocess.CompletedProcess[str]:
    """A run with arguments, or of commands, which it ends with 0 whatever they say."""
    return subprocess.run(
        ["yanglint", *arguments], input=commands, capture_output=True, text=True, check=False, timeout=170
    )
