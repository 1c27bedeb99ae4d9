"""The reason why a port cannot be listened on is that of the operating system, and for a port in use its process."""

from __future__ import annotations

import errno
import os
import socket

from railfab.process.listeners import bind_problem


def test_only_a_port_in_use_is_said_to_be_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        in_use = bind_problem(OSError(errno.EADDRINUSE, "any text"), port)
    assert in_use.startswith(f"in use by process {os.getpid()} (")
    assert bind_problem(PermissionError(errno.EACCES, "any text"), 80) == "permission denied"
    assert bind_problem(socket.gaierror(-2, "Name or service not known"), 80) == "name or service not known"
