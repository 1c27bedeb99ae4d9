"""The SSH server of a virtual switch whose platform has a CLI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from railfab.endpoints import Credentials
from railfab.gnmi.server import ServerLoop
from railfab.ssh import NewCli

if TYPE_CHECKING:
    from railfab.ssh.server import SshServer


READ_ONLY_USER = "viewer"
"""User of every virtual switch with a CLI that may only read; its password is that of the twin's credentials."""


class SwitchSsh:
    """One CLI on one port. port: 0 for any free one at the first start, the same one afterwards."""

    def __init__(
        self, loop: ServerLoop, cli: NewCli, *, host: str, port: int, host_key: Path, credentials: Credentials
    ) -> None:
        self.port = port
        self._loop = loop
        self._cli = cli
        self._host = host
        self._host_key = host_key
        self._credentials = credentials
        self._server: SshServer | None = None

    @property
    def running(self) -> bool:
        return self._server is not None

    def start(self) -> None:
        """Listen. Raises LabError when the port is in use."""
        self._server = self._loop.run(self._listen())
        self.port = self._server.port

    async def _listen(self) -> SshServer:
        from railfab.ssh.server import SshAccess, serve  # asyncssh: only a platform with a CLI needs it

        access = SshAccess(
            username=self._credentials.username, password=self._credentials.password, viewer=READ_ONLY_USER
        )
        return await serve(self._host, self.port, host_key=self._host_key, access=access, cli=self._cli)

    def stop(self) -> None:
        """Stop listening and end all sessions."""
        if self._server is not None:
            self._loop.run(self._server.close())
            self._server = None

    def known_hosts_line(self) -> str:
        """The line of a running server for known_hosts."""
        assert self._server is not None
        return f"[{self._host}]:{self.port} {self._server.host_key}\n"
