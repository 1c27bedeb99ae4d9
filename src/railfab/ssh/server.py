"""The SSH server. Sessions run in the namespaces and as the user of the server's process, or are answered by a CLI.

Exec requests run under `sh -c`, interactive sessions in a login shell on a pseudo-terminal; SFTP and SCP use the file
system of the server. Background jobs of a session continue when the connection ends, as with OpenSSH.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import asyncssh

from railfab.errors import LabError
from railfab.ssh.cli import run_cli
from railfab.ssh.dialogue import NewCli
from railfab.ssh.host_key import public_host_key
from railfab.ssh.listener import listening_socket
from railfab.ssh.processes import run_session

LOGIN_WITHIN_S = 60
KEEPALIVE_S = 30
"""Interval of keepalive messages [s]; a client that misses three is disconnected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SshAccess:
    """The user of a server. authorized_keys: content of an OpenSSH authorized_keys file; empty allows no key.

    password: None allows no password. viewer: a second user, of the same password, that a CLI lets read only.
    """

    username: str
    password: str | None = field(default=None, repr=False)
    authorized_keys: str = field(default="", repr=False)
    viewer: str = field(default="", repr=False)

    def may_write(self, username: str) -> bool:
        """Whether this user may change the configuration."""
        return username == self.username


class SshServer:
    """A listening server; use it with `async with`, or `close` it. port: the port it listens on."""

    def __init__(
        self, acceptor: asyncssh.SSHAcceptor, host_key: str, connections: set[asyncssh.SSHServerConnection]
    ) -> None:
        self._acceptor = acceptor
        self._connections = connections
        self._host_key = host_key

    @property
    def host_key(self) -> str:
        """The public host key: its type and the key itself, as in known_hosts."""
        return self._host_key

    @property
    def port(self) -> int:
        port: int = self._acceptor.get_port()
        return port

    async def close(self) -> None:
        """Stop listening and close all connections."""
        self._acceptor.close()
        connections = tuple(self._connections)
        for connection in connections:
            connection.close()
        await asyncio.gather(self._acceptor.wait_closed(), *(each.wait_closed() for each in connections))

    async def serve_forever(self) -> None:
        await self._acceptor.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def serve(
    host: str,
    port: int,
    *,
    host_key: Path,
    access: SshAccess,
    inside: int | None = None,
    cli: NewCli | None = None,
    listener: socket.socket | None = None,
    answers_after_s: Callable[[], float] = float,
) -> SshServer:
    """Start a server. host_key: private key file; created if missing, readable by its owner only.

    listener: a socket that listens already, which it takes over; None makes it.
    inside: process id whose namespaces the sessions use, for a container without SSH server; no SFTP then. None for
    the namespaces of the server. cli: answers the sessions instead of processes; no SFTP then.
    answers_after_s: time before every answer of the CLI [s].
    Raises LabError when the port is in use, the address is not local or a key cannot be read.
    """
    where = f"SSH server {host} port {port}"
    keys = _authorized_keys(where, access.authorized_keys)
    key = public_host_key(where, host_key)
    own_files = inside is None and cli is None
    connections: set[asyncssh.SSHServerConnection] = set()
    acceptor = await asyncssh.listen(
        sock=listener or listening_socket(where, host, port),
        server_factory=lambda: _Login(access, keys, connections),
        server_host_keys=[str(host_key)],
        process_factory=partial(run_cli, new=cli, may_write=access.may_write, answers_after_s=answers_after_s)
        if cli
        else partial(run_session, inside=inside),
        encoding=None,
        sftp_factory=_Files if own_files else None,
        allow_scp=own_files,
        agent_forwarding=False,
        login_timeout=LOGIN_WITHIN_S,
        keepalive_interval=KEEPALIVE_S,
    )
    return SshServer(acceptor, key, connections)


class _Login(asyncssh.SSHServer):
    """Authenticates the user by password or key. connections: those of the server, among which it is while open."""

    def __init__(
        self,
        access: SshAccess,
        keys: asyncssh.SSHAuthorizedKeys | None,
        connections: set[asyncssh.SSHServerConnection],
    ) -> None:
        self._access = access
        self._keys = keys
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._connections.add(conn)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        if self._keys is not None and username == self._access.username:
            self._connection.set_authorized_keys(self._keys)
        return True

    def password_auth_supported(self) -> bool:
        return self._access.password is not None

    def validate_password(self, username: str, password: str) -> bool:
        known = self._access.password
        if known is None or username not in filter(None, (self._access.username, self._access.viewer)):
            return False
        return hmac.compare_digest(known.encode(), password.encode())


class _Files(asyncssh.SFTPServer):
    """SFTP of all files. Sends an exit status at the end, as sshd does, because OpenSSH's scp expects one."""

    def exit(self) -> None:
        if self.channel.get_subsystem() == "sftp":
            self.channel.exit(0)
        super().exit()


def _authorized_keys(where: str, text: str) -> asyncssh.SSHAuthorizedKeys | None:
    if not text.strip():
        return None
    try:
        return asyncssh.import_authorized_keys(text)
    except ValueError as error:
        raise LabError(
            where, f"cannot read the authorized keys ({error})", "Use the format of OpenSSH's authorized_keys"
        ) from None
