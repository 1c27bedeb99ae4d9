"""`python -m railfab.ssh`: one server in the foreground, in the namespaces of this process."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from railfab.errors import RailfabError
from railfab.ssh.foreground import access_of, serve_until_signal
from railfab.text.printable import printable_lines


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m railfab.ssh", description=__doc__)
    parser.add_argument("--host", required=True, help="address to listen on")
    parser.add_argument("--port", type=int, default=22, help="port to listen on; 0 selects a free one")
    parser.add_argument("--host-key", type=Path, required=True, help="private key file; created if missing")
    parser.add_argument("--credentials", type=Path, required=True, help="YAML file with username and password")
    parser.add_argument("--authorized-keys", type=Path, help="OpenSSH authorized_keys file of that user")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM. Returns 2 after one line on stderr when the server cannot start."""
    arguments = _arguments(argv)
    host, port = arguments.host, arguments.port
    try:
        access = access_of(host, arguments.credentials, arguments.authorized_keys)
        asyncio.run(serve_until_signal(host, port, host_key=arguments.host_key, access=access))
    except RailfabError as error:
        sys.stderr.write(f"{printable_lines(str(error))}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
