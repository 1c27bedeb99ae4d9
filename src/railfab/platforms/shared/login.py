"""Limits, errors and the end of an SSH login, the same for every transport."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from socket import SHUT_RDWR, create_connection, socket
from typing import TYPE_CHECKING, Any

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import LoginRefused, Unreachable

if TYPE_CHECKING:
    from paramiko import Transport

logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # its errors are raised too, as one line each

SSH_PORT = 22
CONNECT_WITHIN_S = 15
"""Limit of connecting and logging in [s]."""
ANSWER_WITHIN_S = 30
"""Limit of a command without one of its own [s]."""
ATTEMPTS = 2
"""Attempts to connect: first connections to many switches on one busy machine sometimes fail."""
RETRY_AFTER_S = 1.0
"""Time between two attempts [s]."""
CHUNK_BYTES = 1 << 16
"""Most that is received at once."""
IDLE_POLL_S = 5.0
"""Interval in which paramiko's thread looks at a connection on which nothing comes, tenfold a second by default [s]."""

NO_HOST_KEY = ("not found in known_hosts", "Host key for server")
"""Texts of paramiko's errors for an unknown and for a changed host key."""


def rejected(endpoint: Endpoint, credentials: Credentials) -> LoginRefused:
    """The switch does not accept the user."""
    secret = "key" if credentials.key_file else "password"
    problem = f"rejects user {credentials.username!r} or the {secret}"
    return LoginRefused(endpoint.name, problem, f"Check {endpoint.credentials}")


def not_connected(endpoint: Endpoint) -> Unreachable:
    """There is no SSH server, or it does not answer."""
    where = f"{endpoint.host} port {endpoint.ssh_port or SSH_PORT}"
    problem = f"no SSH connection to {where}"
    return Unreachable(endpoint.name, problem, "Check the address and that the switch is up")


def login_error(endpoint: Endpoint, credentials: Credentials, error: Exception) -> Unreachable | LoginRefused:
    """The error that an exception of paramiko or of a socket means: a host key, a missing file, or no connection."""
    key_file = credentials.key_file
    if endpoint.known_hosts and not Path(endpoint.known_hosts).is_file():
        problem = f"known_hosts file {endpoint.known_hosts} does not exist"
        return LoginRefused(endpoint.name, problem, "Name an existing file, or leave it out for yours")
    if any(sign in str(error) for sign in NO_HOST_KEY):
        known = endpoint.known_hosts or "your known_hosts file"
        return LoginRefused(endpoint.name, f"has a host key that is not in {known}", "Check the key, then add it")
    if key_file is not None and not Path(key_file).is_file():
        return LoginRefused(endpoint.name, f"key file {key_file} does not exist", f"Check {endpoint.credentials}")
    return not_connected(endpoint)


class ReadAhead(socket):
    """A connection that keeps what has come together: paramiko asks for the head and the rest of each packet."""

    def __init__(self, connection: socket) -> None:
        limit_s = connection.gettimeout()
        super().__init__(fileno=connection.detach())
        self.settimeout(limit_s)
        self._ahead = b""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        if not self._ahead:
            self._ahead = super().recv(max(size, CHUNK_BYTES), flags)
        piece, self._ahead = self._ahead[:size], self._ahead[size:]
        return piece


def connect(endpoint: Endpoint, within_s: float) -> socket:
    """A connection to the SSH server of a switch. Raises OSError."""
    return ReadAhead(create_connection((endpoint.host, endpoint.ssh_port or SSH_PORT), within_s))


def transport(connection: socket, **options: Any) -> Transport:
    """The transport of a login. It imports paramiko."""
    from railfab.platforms.shared.ssh_transport import GcmTransport

    return GcmTransport(connection, **options)


def cut(connection: socket | None) -> None:
    """End a connection at once, also under a waiting call; an orderly close would wait for the switch."""
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(SHUT_RDWR)
        connection.close()
