"""`python -m railfab.lab.netns.ssh_servers STATE CREDENTIALS SWITCH...`: start an SSH server in each of these switches.

Each server is a process in the namespaces of its switch, with which it ends. All are forked from this process, because
imports take ten times the CPU of the start of a server. It ends when all of them have been forked.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path

from railfab.errors import LabError, RailfabError
from railfab.lab.netns.namespaces import enter
from railfab.lab.netns.processes import PROC, Process
from railfab.lab.netns.runtime import SSH_PORT, address, node_directory
from railfab.lab.netns.state import LabNode, NetnsState, load_state
from railfab.ssh.foreground import access_of, serve_until_signal
from railfab.ssh.server import SshAccess

NAMESPACE_KINDS = ("net", "uts", "pid_for_children", "mnt")
"""Namespaces of a switch, of which its first process has that of processes only for its children; `mnt` hides /proc."""


def start_servers(state: NetnsState, switches: list[str], credentials: Path) -> None:
    """Fork the server of each of these switches. Raises LabError."""
    access = access_of(state.fabric, credentials)
    holders = {process.purpose: process for process in state.processes}
    gc.freeze()
    for node in state.switches():
        if node.name in switches:
            _start(node, holders[node.name], node_directory(state, node.name), access)


def _start(node: LabNode, holder: Process, root: Path, access: SshAccess) -> None:
    """Leave a server behind in a switch, as a child of its first process, which reaps it."""

    def serve() -> None:
        _write_to(root / "log")
        host_key = root / "ssh_host_key"
        asyncio.run(serve_until_signal(address(node), SSH_PORT, host_key=host_key, access=access))

    def detach() -> None:
        os.setsid()
        _forked(serve)

    def enter_and_fork() -> None:
        _enter(node.name, holder)
        _wait_for(_forked(detach))  # only the children of a process are in the PID namespace that it enters

    _wait_for(_forked(enter_and_fork))


def _forked(action: Callable[[], None]) -> int:
    """Pid of a new process, which runs the action and exits; its errors end in `main`, as those of the first one."""
    pid = os.fork()
    if pid == 0:
        action()
        sys.exit()
    return pid


def _wait_for(pid: int) -> None:
    """Wait until a process has exited, and exit if it has said on stderr why it failed."""
    if os.waitpid(pid, 0)[1]:
        sys.exit(2)


def _enter(name: str, holder: Process) -> None:
    """Move this process into the namespaces of a switch. Raises LabError."""
    try:
        for kind in NAMESPACE_KINDS:
            enter(PROC / str(holder.pid) / "ns" / kind)
    except OSError as error:
        problem = f"its namespaces cannot be entered ({error.strerror})"
        raise LabError(f"switch {name}", problem, "Run `railfab lab status`") from None


def _write_to(log: Path) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for standard in (1, 2):
        os.dup2(handle, standard)
    os.close(handle)


def main() -> int:
    """Start the servers. Returns 2 after one line on stderr, without a remedy, when one of them cannot start."""
    state_file, credentials, *switches = sys.argv[1:]
    try:
        state = load_state(Path(state_file))
        if state is None:
            raise LabError(state_file, "no such file", "Start the lab with `railfab lab up`")
        start_servers(state, switches, Path(credentials))
    except RailfabError as error:
        sys.stderr.write(f"{str(error).partition('. ')[0]}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
