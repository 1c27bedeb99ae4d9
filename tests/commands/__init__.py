"""Run `railfab`, or a script, as a process of its own, for little CPU: it is forked from one that has the imports.

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

__all__ = ["Command", "folder", "parse", "run"]

SERVER, CLIENT = (Path(__file__).with_name(name) for name in ("server.py", "client.py"))
IMPORTED = (
    *("railfab.intent", "railfab.cli", "railfab.cli.console", "railfab.documents", "railfab.draw"),
    *("railfab.platforms.srlinux", "rich.progress", "rich.status", "rich.table"),
)
NAME = "railfab"


class Command:
    """A program with these arguments, in a process that has begun. text: its standard input.

    environment: instead of that of this process. program: `railfab`, or a file of Python.
    """

    def __init__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        text: str = "",
        program: str | Path = NAME,
    ) -> None:
        self._words = [str(program), *map(str, arguments)]
        self._streams = [tempfile.TemporaryFile("w+") for _ in range(3)]  # noqa: SIM115 - closed by `wait`
        self._streams[0].write(text)
        self._streams[0].seek(0)
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(server())
        given = os.environ if environment is None else environment
        numbers = [stream.fileno() for stream in self._streams]
        self.pid = ask(self._connection, self._words, str(cwd or Path.cwd()), given, numbers)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Wait until it has ended."""
        with contextlib.suppress(OSError):
            self._connection.recv(64, socket.MSG_PEEK)

    def wait(self, timeout_s: float) -> subprocess.CompletedProcess[str]:
        """What `subprocess.run` returns. Raises subprocess.TimeoutExpired, and kills it then."""
        with self._connection, contextlib.ExitStack() as streams:
            for stream in self._streams:
                streams.callback(stream.close)
            self._connection.settimeout(timeout_s)
            try:
                code = int(self._connection.recv(64))
            except TimeoutError:
                self.kill()
                raise subprocess.TimeoutExpired(self._words, timeout_s) from None
            return subprocess.CompletedProcess(self._words, code, *map(_text, self._streams[1:]))


def run(
    *arguments: str | Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    text: str = "",
    timeout_s: float = 60.0,
    program: str | Path = NAME,
) -> subprocess.CompletedProcess[str]:
    """What `subprocess.run` returns for a `Command`. Raises subprocess.TimeoutExpired."""
    return Command(*arguments, cwd=cwd, environment=environment, text=text, program=program).wait(timeout_s)


def parse(line: str) -> None:
    """Parse a command line of railfab without running it. Raises click's error where no such command is."""
    import typer.main

    from railfab.cli import app

    program, *words = shlex.split(line)
    assert program == NAME
    command = typer.main.get_command(app)
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    command.make_context(line, words)


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


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
    """A folder for the PATH of a shell: its `railfab`, and its `python` with a script, run as `run` does.

    It works as long as this process does.
    """
    made = tempfile.TemporaryDirectory(prefix="railfab-commands-")
    atexit.register(made.cleanup)
    forked = shlex.join([sys.executable, "-IS", str(CLIENT), server().decode().removeprefix("\0")])
    alone = shlex.quote(sys.executable)
    texts = {
        NAME: f'exec {forked} {NAME} "$@"',
        "python": f'case "$1" in *.py) exec {forked} "$@" ;; *) exec {alone} "$@" ;; esac',
    }
    for name, text in texts.items():
        program = Path(made.name) / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    return Path(made.name)
