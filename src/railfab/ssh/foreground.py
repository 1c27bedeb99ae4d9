"""One SSH server in the foreground, until a signal ends it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import LabError
from railfab.ssh.server import SshAccess, serve


def access_of(host: str, credentials: Path, authorized_keys: Path | None = None) -> SshAccess:
    """The user in a file of credentials, and the keys of another file. Raises LabError when one cannot be read."""
    known = read_credentials(Endpoint(name=f"SSH server {host}", platform="", host=host, credentials=str(credentials)))
    try:
        keys = authorized_keys.read_text() if authorized_keys else ""
    except OSError as error:
        raise LabError(
            f"SSH server {host}", f"cannot read {authorized_keys} ({error.strerror})", "Use a readable file"
        ) from None
    return SshAccess(username=known.username, password=known.password, authorized_keys=keys)


async def serve_until_signal(host: str, port: int, *, host_key: Path, access: SshAccess) -> None:
    """Serve until SIGINT or SIGTERM; a line on stdout says when the server listens. Raises LabError."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with await serve(host, port, host_key=host_key, access=access) as server:
        sys.stdout.write(f"listening on {host} port {server.port}\n")
        sys.stdout.flush()
        await stop.wait()
