"""`python -m railfab.ssh`: one server in the foreground, started by a lab inside a namespace."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import LabError, RailfabError
from railfab.ssh.server import SshAccess, serve
from railfab.text.printable import printable_lines


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m railfab.ssh", description=__doc__)
    parser.add_argument("--host", required=True, help="address to listen on")
    parser.add_argument("--port", type=int, default=22, help="port to listen on; 0 selects a free one")
    parser.add_argument("--host-key", type=Path, required=True, help="private key file; created if missing")
    parser.add_argument("--credentials", type=Path, required=True, help="YAML file with username and password")
    parser.add_argument("--authorized-keys", type=Path, help="OpenSSH authorized_keys file of that user")
    return parser.parse_args(argv)


def _access(host: str, credentials: Path, authorized_keys: Path | None) -> SshAccess:
    known = read_credentials(Endpoint(name=f"SSH server {host}", platform="", host=host, credentials=str(credentials)))
    try:
        keys = authorized_keys.read_text() if authorized_keys else ""
    except OSError as error:
        raise LabError(
            f"SSH server {host}", f"cannot read {authorized_keys} ({error.strerror})", "Use a readable file"
        ) from None
    return SshAccess(username=known.username, password=known.password, authorized_keys=keys)


async def _run(arguments: argparse.Namespace, access: SshAccess) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with await serve(arguments.host, arguments.port, host_key=arguments.host_key, access=access) as server:
        sys.stdout.write(f"listening on {arguments.host} port {server.port}\n")
        sys.stdout.flush()
        await stop.wait()


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM. Returns 2 after one line on stderr when the server cannot start."""
    arguments = _arguments(argv)
    try:
        asyncio.run(_run(arguments, _access(arguments.host, arguments.credentials, arguments.authorized_keys)))
    except RailfabError as error:
        sys.stderr.write(f"{printable_lines(str(error))}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
