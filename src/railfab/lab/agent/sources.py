"""Reads the kernel and FRR's daemons for one switch, from outside its namespaces."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from railfab.errors import LabError
from railfab.lab.agent.readings import LinkFacts

VTY_TIMEOUT_S = 0.5
CHUNK_BYTES = 1 << 16
TRAILER_BYTES = 4
"""Three zeros and the command's status end every answer (FRR lib/vty.c: vtysh_read)."""


def proc_net_dev(pid: int) -> str:
    """Interface counters of the namespace that this process is in. Raises OSError when it has ended."""
    return Path(f"/proc/{pid}/net/dev").read_text()


def link_facts(pid: int) -> dict[str, LinkFacts]:
    """Every interface of this process but its loopback, as its own /sys has it."""
    root = Path(f"/proc/{pid}/root/sys/class/net")
    return {path.name: _facts(path) for path in sorted(root.iterdir()) if path.name != "lo"}


def _facts(path: Path) -> LinkFacts:
    return LinkFacts(
        name=path.name,
        operstate=(path / "operstate").read_text().strip(),
        flags=int((path / "flags").read_text(), 16),
        carrier_changes=int((path / "carrier_changes").read_text()),
        speed_mbps=_speed_mbps(path / "speed"),
    )


def _speed_mbps(path: Path) -> int | None:
    """The kernel refuses to say the speed of an interface that is down."""
    try:
        return int(path.read_text())
    except OSError:
        return None


def vty_json(socket_path: Path, command: str) -> Any:
    """The JSON that a daemon answers to a `show` command. Raises LabError when it does not."""
    where = f"{socket_path.name} of {socket_path.parent.parent.name}"
    try:
        answer = _ask(socket_path, command)
        return json.loads(answer)
    except (OSError, ValueError) as error:
        raise LabError(where, f"does not answer {command!r} ({error})", "See `railfab lab status`") from None


def _ask(socket_path: Path, command: str) -> bytes:
    """Speak as vtysh does, which begins with `enable`: bfdd shows its sessions to no one else."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
        daemon.settimeout(VTY_TIMEOUT_S)
        daemon.connect(str(socket_path))
        _answer(daemon, "enable")
        return _answer(daemon, command)


def _answer(daemon: socket.socket, command: str) -> bytes:
    """A command and a zero there, a text and a trailer back."""
    daemon.sendall(command.encode() + b"\0")
    answer = bytearray()
    while answer[-TRAILER_BYTES:-1] != b"\0\0\0":
        chunk = daemon.recv(CHUNK_BYTES)
        if not chunk:
            raise ConnectionResetError("it closed the connection")
        answer += chunk
    return bytes(answer[:-TRAILER_BYTES])
