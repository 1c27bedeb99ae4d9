"""A process may have as many open files as the system lets it; a twin that needs more says so before it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def railfab(repository: Path, limits: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command under limits of the shell's ulimit."""
    command = [sys.executable, "-m", "railfab", *words]
    return subprocess.run(
        ["sh", "-c", f'{limits} && exec "$@"', "sh", *command],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=repository,
        check=False,
    )


def test_a_command_raises_the_soft_limit_to_the_hard_one(repository: Path) -> None:
    program = "from railfab.process.open_files import *; allow_open_files(); print(most_open_files())"
    command = f'ulimit -Sn 300 && ulimit -Hn 700 && exec {sys.executable} -c "{program}"'
    said = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, cwd=repository)
    assert said.stdout.strip() == "700"


def test_a_twin_that_may_not_open_its_sockets_says_so(repository: Path, tmp_path: Path) -> None:
    said = railfab(
        repository,
        "ulimit -n 210",
        *("twin", "inventory/fabrics/pod64.yml", "--port", "0", "--state", str(tmp_path)),
    )
    assert said.returncode == 2
    assert said.stderr.strip().splitlines()[-1] == (
        "railfab: pod64: 8 switches need 216 open files, and the process may have 210. "
        "Start it where `ulimit -Hn` is 216 or more."
    )
