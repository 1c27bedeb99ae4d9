"""Reads Linux and the FRR daemons of one switch, from outside its namespaces."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from railfab.errors import LabError
from railfab.lab.agent.linux_metrics import LinkFacts

VTY_TIMEOUT_S = 0.5
CHUNK_BYTES = 1 << 16
TRAILER_BYTES = 4
"""Every answer ends with three zero bytes and the status of the command (FRR lib/vty.c: vtysh_read)."""


def proc_net_dev(pid: int) -> str:
    """Interface counters of the network namespace of a process. Raises OSError when the process has ended."""
    return Path(f"/proc/{pid}/net/dev").read_text()


def link_facts(pid: int) -> dict[str, LinkFacts]:
    """Interfaces in the network namespace of a process, without the loopback, from its /sys."""
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
    """Speed of an interface; None when it is down, because reading the file fails then."""
    try:
        return int(path.read_text())
    except OSError:
        return None


def vty_json(socket_path: Path, command: str, *, within_s: float = VTY_TIMEOUT_S) -> Any:
    """JSON output of a `show` command of a daemon. Raises LabError when the daemon does not answer so in time."""
    where = f"{socket_path.name} of {socket_path.parent.parent.name}"
    try:
        answer = _ask(socket_path, command, within_s)
        return json.loads(answer)
    except (OSError, ValueError) as error:
        raise LabError(where, f"does not answer {command!r} ({error})", "Check it with `railfab lab status`") from None


def _ask(socket_path: Path, command: str, within_s: float) -> bytes:
    """Run a command after `enable`, as vtysh does; bfdd requires it to show its sessions."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
        daemon.settimeout(within_s)
        daemon.connect(str(socket_path))
        _answer(daemon, "enable")
        return _answer(daemon, command)


def _answer(daemon: socket.socket, command: str) -> bytes:
    """Send a command, terminated by a zero byte, and read its output up to the trailer."""
    daemon.sendall(command.encode() + b"\0")
    answer = bytearray()
    while answer[-TRAILER_BYTES:-1] != b"\0\0\0":
        chunk = daemon.recv(CHUNK_BYTES)
        if not chunk:
            raise ConnectionResetError("the daemon closed the connection")
        answer += chunk
    return bytes(answer[:-TRAILER_BYTES])
