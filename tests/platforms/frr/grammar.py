"""The verdict of vtysh about a configuration: `vtysh -C` reads it without a daemon."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def grammar(path: Path) -> tuple[int, str]:
    """Exit status and output for a file."""
    done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def refused_lines(path: Path) -> list[int]:
    """Numbers of the lines that vtysh refuses, from 1."""
    return [int(number) for number in re.findall(r"(?m)^line (\d+):", grammar(path)[1])]
