"""Run `railfab` as a process of its own, for little CPU: it is forked from one that has imported the package.

Use it where a test is about what a command does. What is about the start of a command, its imports, its signals or its
CPU time starts `python -m railfab` itself.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import IO

__all__ = ["run"]

SERVER = Path(__file__).with_name("server.py")
IMPORTED = ("railfab.intent", "railfab.cli", "railfab.documents", "railfab.draw", "railfab.platforms.srlinux")
FOR_SWITCHES = (
    "railfab.gnmi",
    "railfab.deploy",
    "railfab.platforms.srlinux.session",
    "railfab.platforms.srlinux.parse",
)
MORE = {
    "audit": FOR_SWITCHES,
    "compare": ("railfab.imports",),
    "dashboards": ("railfab.dashboards",),
    "deploy": FOR_SWITCHES,
    "lab": ("railfab.lab",),
    "rollback": FOR_SWITCHES,
    "sim": ("railfab.sim.engine",),
    "verify": FOR_SWITCHES,
}
"""What a command imports besides."""
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
    modules = MORE.get(command[1], ()) if command[1:] else ()
    asked = {
        "arguments": command,
        "cwd": str(cwd or Path.cwd()),
        "environment": dict(environment),
        "modules": modules,
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(server())
        socket.send_fds(connection, [dumps(asked).encode()], [stream.fileno() for stream in streams])
        pid = int(connection.recv(64))
        connection.settimeout(timeout_s)
        try:
            return int(connection.recv(64))
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout_s) from None


@functools.cache
def server() -> str:
    """Address of the server of this process, which ends with it."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind("")  # Linux chooses an abstract name
    listening.listen()
    command = [sys.executable, str(SERVER), str(listening.fileno()), *IMPORTED]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listening.fileno()])
    atexit.register(process.communicate)
    address: str = listening.getsockname()
    return address
