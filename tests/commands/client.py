"""Ask the server of the tests to run a command with this program's own streams.

Run as `python -IS client.py ADDRESS railfab ARGUMENT ...` it takes arguments, working directory, environment, streams,
SIGINT and SIGTERM, and ends as the command does. It imports little, since a shell starts it for each command.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from json import dumps


def ask(
    connection: socket.socket, command: Sequence[str], cwd: str, environment: Mapping[str, str], streams: Sequence[int]
) -> int:
    """Process of the command; its exit code is the next message."""
    asked = {"arguments": command, "cwd": cwd, "environment": dict(environment)}
    socket.send_fds(connection, [dumps(asked).encode()], list(streams))
    return int(connection.recv(64))


def main() -> None:
    """Run the command, and end with its exit code. A signal waits until there is a command to send it to."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect("\0" + sys.argv[1])
        here = os.getcwd()  # noqa: PTH109 - pathlib takes as long to import as all else here
        pid = ask(connection, sys.argv[2:], here, os.environ, (0, 1, 2))
        for number in numbers:
            signal.signal(number, lambda caught, _: os.kill(pid, caught))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        code = int(connection.recv(64))
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
