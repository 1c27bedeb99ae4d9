"""Run `railfab` as a process of its own, for little CPU: it is forked from one that has imported the package.

Use it where a test is about what a command does. What is about the start of a command, its imports, its signals or its
CPU time starts `python -m railfab` itself.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tests.commands.client import ask

__all__ = ["folder", "run"]

SERVER, CLIENT = (Path(__file__).with_name(name) for name in ("server.py", "client.py"))
IMPORTED = (
    *("railfab.intent", "railfab.cli", "railfab.cli.console", "railfab.documents", "railfab.draw"),
    *("railfab.platforms.srlinux", "rich.progress", "rich.status", "rich.table"),
)
NAME = "railfab"


def run(
    *arguments: str | Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    text: str = "",
    timeout_s: float = 60.0,
) -> subprocess.CompletedProcess[str]:
    """What `subprocess.run` returns for `railfab` with these arguments. text: its standard input.

    environment: instead of that of this process. Raises subprocess.TimeoutExpired.
    """
    command = [NAME, *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as read, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        read.write(text)
        read.seek(0)
        code = _ended(command, cwd, os.environ if environment is None else environment, (read, out, err), timeout_s)
        return subprocess.CompletedProcess(command, code, _text(out), _text(err))


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _ended(
    command: list[str], cwd: Path | None, environment: Mapping[str, str], streams: tuple[IO[str], ...], timeout_s: float
) -> int:
    """Exit code of a command; that of subprocess where a signal ended it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(server())
        pid = ask(connection, command, str(cwd or Path.cwd()), environment, [stream.fileno() for stream in streams])
        connection.settimeout(timeout_s)
        try:
            return int(connection.recv(64))
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout_s) from None


@functools.cache
def server() -> bytes:
    """Abstract address of the server of this process, which ends with it."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind("")  # Linux chooses an abstract name
    listening.listen()
    command = [sys.executable, str(SERVER), str(listening.fileno()), *IMPORTED]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listening.fileno()])
    atexit.register(process.communicate)
    address: bytes = listening.getsockname()
    return address


@functools.cache
def folder() -> Path:
    """A folder for the PATH of a shell: its `railfab` runs as `run` does, as long as this process does."""
    made = tempfile.TemporaryDirectory(prefix="railfab-commands-")
    atexit.register(made.cleanup)
    program = Path(made.name) / NAME
    words = shlex.join([sys.executable, "-IS", str(CLIENT), server().decode().removeprefix("\0"), NAME])
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
    return program.parent
