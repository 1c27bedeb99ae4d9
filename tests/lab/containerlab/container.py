"""The first process of a container in which FRR's daemons answer: their sockets, on a /run of its own.

Run as a program in a mount namespace of its own: container.py SECONDS_UNTIL_THE_LAST_ANSWERS. It says `running`.
"""

# ruff: noqa: T201
from __future__ import annotations

import signal
import socketserver
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from railfab.lab.netns.node import DAEMONS

RUN = Path("/run")


@contextmanager
def container(*, last_after_s: float = 0) -> Iterator[int]:
    """Such a process, by its pid (root)."""
    unshare = ["unshare", "--mount", "--propagation", "private"]
    command = [*unshare, sys.executable, __file__, str(last_after_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "running\n"
            yield process.pid
        finally:
            process.kill()


def main(last_after_s: float) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(RUN)], check=True)
    (RUN / "frr").mkdir()
    print("running", flush=True)
    *first, last = DAEMONS
    for daemon in first:
        answer(daemon)
    time.sleep(last_after_s)
    answer(last)
    signal.pause()


class Answer(socketserver.BaseRequestHandler):
    """Answers one command with its status, as FRR does."""

    def handle(self) -> None:
        self.request.recv(100)
        self.request.sendall(b"\0\0\0\0")


def answer(daemon: str) -> None:
    server = socketserver.ThreadingUnixStreamServer(str(RUN / f"frr/{daemon}.vty"), Answer)
    Thread(target=server.serve_forever, daemon=True).start()


if __name__ == "__main__":
    main(float(sys.argv[1]))
