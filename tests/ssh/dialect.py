"""A small CLI dialect in the manner of EOS, and a server that speaks it from a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from railfab.ssh import CliUser, NewCli, ReadInput, Reply, execute_lines
from railfab.ssh.server import SshAccess, SshServer, serve

PASSWORD = "quite-secret-9"


class Dialect:
    """A CLI in the manner of EOS: `leaf1#`, `leaf1(config)#`, and `% Invalid input` for what it does not know."""

    def __init__(self, user: CliUser) -> None:
        self.user = user
        self._configures = False
        self._lines: list[str] = []

    def execute(self, command: str, _read_input: ReadInput) -> Reply:
        return execute_lines(self, command)

    def closed(self) -> None: ...

    def greeting(self) -> Reply:
        return Reply(output="Last login: never\n", prompt=self._prompt())

    def _prompt(self) -> str:
        return "leaf1(config)#" if self._configures else "leaf1#"

    def answer(self, line: str, _more: bool = False) -> Reply:
        word = line.strip()
        if word == "exit" and not self._configures:
            return Reply(closes=True)
        output, status = self._output(word)
        return Reply(output=output, prompt=self._prompt(), status=status)

    def _output(self, word: str) -> tuple[str, int]:
        if word in ("configure terminal", "end", "exit"):
            self._configures = word == "configure terminal"
            return "", 0
        if word == "show running-config":
            return "".join(f"{line}\n" for line in self._lines), 0
        if self._configures and word.startswith(("hostname", "interface")):
            self._lines.append(word)
            return "", 0
        if word.startswith("terminal "):
            return {"width": "Width set to 511 columns.\n", "length": "Pagination disabled.\n"}[word.split()[1]], 0
        if not word or word.startswith("!"):
            return "", 0
        return "% Invalid input\n", 1


@contextmanager
def serving(folder: Path, cli: NewCli = Dialect) -> Iterator[SshServer]:
    """A running server; its host key lies in the folder."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    access = SshAccess(username="admin", password=PASSWORD)
    starting = serve("127.0.0.1", 0, host_key=folder / "host.key", access=access, cli=cli)
    server = asyncio.run_coroutine_threadsafe(starting, loop).result(30)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: SshServer) -> None:
    """Close the server, and wait for the answers that it is giving."""
    await server.close()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()} or {asyncio.create_task(asyncio.sleep(0))})
