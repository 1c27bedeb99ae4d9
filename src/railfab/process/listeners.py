"""Reasons why a TCP port cannot be listened on: for one in use the process that does, from Linux's /proc."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
LISTEN = "0A"
"""State of a listening socket in /proc/net/tcp (tcp_states.h: TCP_LISTEN)."""
MOST_CHARACTERS = 60
"""Characters of a command that a message shows."""


def listener(port: int) -> str | None:
    """`process 4711 (railfab twin pod64.yml)`; None if no process listens, or none whose files may be read."""
    sockets = {f"socket:[{inode}]" for name in ("tcp", "tcp6") for inode in _listening(PROC / "net" / name, port)}
    if not sockets:
        return None
    for process in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if any(_link(file) in sockets for file in (process / "fd").iterdir()):
                return f"process {process.name} ({_command(process)})"
    return None


def bind_problem(error: OSError, port: int) -> str:
    """Reason why a server cannot listen on a port, from the error of the attempt: `in use by ...`, or the system's."""
    number = error.errno or 0
    if number == errno.EADDRINUSE:
        return in_use(port)
    return (os.strerror(number) if number > 0 else error.strerror or str(error)).lower()  # negative: of getaddrinfo


def in_use(port: int) -> str:
    """`in use by process 4711 (railfab twin pod64.yml)`, or `in use` if the process is not known."""
    process = listener(port)
    return f"in use by {process}" if process else "in use"


def _listening(table: Path, port: int) -> list[str]:
    """Inodes of the sockets that listen on a port. Columns of the table: proc_pid_net(5)."""
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == LISTEN and int(row[1].rpartition(":")[2], 16) == port]


def _link(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:
        return ""


def _command(process: Path) -> str:
    """The command line of a process, shortened."""
    words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    text = " ".join(words).strip()
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
