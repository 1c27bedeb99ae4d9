"""Sessions on a terminal, in a server that runs in a process with other threads."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import asyncssh

from railfab.ssh.server import SshAccess, serve

forks: list[int] = []
os.register_at_fork(before=lambda: forks.append(1))  # called when Python code is to run between fork and exec


def at_terminal(folder: Path, command: str) -> str:
    """Output of a command on a terminal of a server in this process."""

    async def ask() -> str:
        access = SshAccess(username="admin", password="quite-secret-9")
        async with (
            await serve("127.0.0.1", 0, host_key=folder / "host.key", access=access) as server,
            asyncssh.connect(
                "127.0.0.1", server.port, username="admin", password=access.password, known_hosts=None, config=None
            ) as client,
        ):
            done = await client.run(command, term_type="vt100", timeout=20)
            return str(done.stdout)

    return asyncio.run(ask())


def test_no_python_code_runs_between_fork_and_exec(tmp_path: Path) -> None:
    """Python code there would run the fork handlers of other libraries; gRPC's sometimes abort."""
    before = len(forks)
    assert at_terminal(tmp_path, "echo output") == "output\r\n"
    assert len(forks) == before


def test_a_command_has_its_terminal_as_the_controlling_one(tmp_path: Path) -> None:
    assert at_terminal(tmp_path, "echo output > /dev/tty") == "output\r\n"


def test_a_command_is_the_leader_of_a_new_session(tmp_path: Path) -> None:
    leader, pid = at_terminal(tmp_path, "ps -o sid=,pid= -p $$").split()
    assert leader == pid
