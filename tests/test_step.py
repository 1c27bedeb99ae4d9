"""`.ci/step` says what `make` is doing while a command is silent, and shows the output of one that fails."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def step(repository: Path, script: str) -> subprocess.CompletedProcess[str]:
    command = [repository / ".ci" / "step", "Installing", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_command_that_succeeds_is_one_line_before_and_one_behind(repository: Path) -> None:
    done = step(repository, "echo Collecting numpy")
    assert re.fullmatch(r"Installing \.\.\.\nInstalling: done in \d+ s\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_output_and_the_status_of_a_command_that_fails_are_kept(repository: Path) -> None:
    done = step(repository, "echo Collecting numpy; echo no such version >&2; exit 3")
    assert done.returncode == 3
    assert done.stderr == "Collecting numpy\nno such version\nInstalling: failed\n"


def test_on_a_terminal_the_last_line_of_the_command_is_shown_with_the_time(repository: Path) -> None:
    script = f"{repository}/.ci/step Installing sh -c 'echo Collecting numpy; sleep 1.2'"
    done = subprocess.run(["script", "-qec", script, "/dev/null"], capture_output=True, timeout=60)
    assert re.search(rb"\r\x1b\[KInstalling, \d+ s: Collecting numpy", done.stdout)
    assert re.search(rb"Installing: done in \d+ s", done.stdout)
