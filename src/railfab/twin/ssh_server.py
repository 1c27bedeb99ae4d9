"""The SSH server of a virtual switch whose platform has a CLI."""

from __future__ import annotations

import asyncio
import socket
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from railfab.endpoints import Credentials
from railfab.gnmi.server import ServerLoop
from railfab.ssh import NewCli
from railfab.ssh.host_key import public_host_key
from railfab.ssh.listener import listening_socket

if TYPE_CHECKING:
    from railfab.ssh.server import SshServer


READ_ONLY_USER = "viewer"
"""User of every virtual switch with a CLI that may only read; its password is that of the twin's credentials."""


class SwitchSsh:
    """One CLI on one port. port: 0 for any free one at the first start, the same one afterwards.

    It listens at once, and imports asyncssh when the first client connects: the import takes half a second, and a
    twin that is used over gNMI alone needs none of it. answers_after_s: time before every answer [s].
    """

    def __init__(
        self, loop: ServerLoop, cli: NewCli, *, host: str, port: int, host_key: Path, credentials: Credentials
    ) -> None:
        self.port = port
        self.answers_after_s = 0.0
        self._loop = loop
        self._cli = cli
        self._host = host
        self._host_key = host_key
        self._credentials = credentials
        self._key_folder: TemporaryDirectory[str] | None = None
        self._started = self._hangs = False
        self._listener: socket.socket | None = None
        self._opening: asyncio.Task[SshServer] | None = None

    @property
    def running(self) -> bool:
        """Whether it is started; it may hang."""
        return self._started

    @property
    def answering(self) -> bool:
        """Whether it listens."""
        return self._listener is not None

    def start(self) -> None:
        """Listen, unless it hangs. Raises LabError when the port is in use."""
        if not self._hangs:
            self._listen()
        self._started = True

    def _listen(self) -> None:
        self._listener = listening_socket(self._where, self._host, self.port)
        self.port = self._listener.getsockname()[1]
        self._loop.run(self._wait_for_client(self._listener))

    async def _wait_for_client(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()

        def open_server() -> None:
            loop.remove_reader(listener)
            self._opening = loop.create_task(self._serve(listener))

        loop.add_reader(listener, open_server)

    async def _serve(self, listener: socket.socket) -> SshServer:
        module = await asyncio.to_thread(import_module, "railfab.ssh.server")
        access = module.SshAccess(
            username=self._credentials.username, password=self._credentials.password, viewer=READ_ONLY_USER
        )
        server: SshServer = await module.serve(
            self._host,
            self.port,
            host_key=self._host_key,
            access=access,
            cli=self._cli,
            listener=listener,
            answers_after_s=lambda: self.answers_after_s,
        )
        return server

    def become_new(self, cli: NewCli) -> None:
        """Serve another device, with a host key of its own. Only while it is stopped."""
        self._cli = cli
        self._key_folder = TemporaryDirectory(prefix="railfab-")
        self._host_key = Path(self._key_folder.name) / "ssh_host_key"

    def stop(self) -> None:
        """Stop listening and end all sessions."""
        self._started = False
        self._end()

    def hang(self) -> None:
        """End all sessions, and take none until `resume`."""
        self._hangs = True
        self._end()

    def resume(self) -> None:
        """Listen again, if it is started."""
        self._hangs = False
        if self._started and self._listener is None:
            self._listen()

    def _end(self) -> None:
        if self._listener is not None:
            listener, self._listener = self._listener, None
            self._loop.run(self._close(listener))

    async def _close(self, listener: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(listener)
        opening, self._opening = self._opening, None
        if opening is not None:
            await (await opening).close()
        listener.close()

    @property
    def _where(self) -> str:
        return f"SSH server {self._host} port {self.port}"

    def known_hosts_line(self) -> str:
        """The line of a running server for known_hosts."""
        return f"[{self._host}]:{self.port} {public_host_key(self._where, self._host_key)}\n"
