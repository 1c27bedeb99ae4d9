"""The listening socket of an SSH server, made without asyncssh."""

from __future__ import annotations

import socket

from railfab.errors import LabError
from railfab.process.listeners import bind_problem


def listening_socket(where: str, host: str, port: int) -> socket.socket:
    """A socket that listens. port: 0 for any free one. where: names the server in errors.

    Raises LabError when the port is in use or the address is not local.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        problem = f"cannot listen ({bind_problem(error, port)})"
        raise LabError(where, problem, "Use a free port and an address of this machine") from None
