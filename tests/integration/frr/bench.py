"""Switches of real FRR under test: how they are booted and wired, and how a test looks inside."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import asyncssh
from tests.integration.conftest import show
from tests.platforms.frr import switches
from tests.platforms.frr.switches import text, with_neighbors

from railfab.device import DeviceModel
from railfab.endpoints import Credentials, Endpoint
from railfab.platforms import ChangeName
from railfab.platforms.frr.on_switch import program
from railfab.platforms.frr.reload_output import with_sorted_prefix_lists
from railfab.platforms.frr.session import FrrSession

HANGS_AFTER_S = 120.0
"""No measure of a switch: beside tests that compute, a start or a session takes several times as long as alone."""
CREDENTIALS = Credentials("admin", "rft-only-here")
DAEMONS = """\
bgpd=yes
bfdd=yes
zebra_options="-A 127.0.0.1"
staticd_options="-A 127.0.0.1"
bgpd_options="-A 127.0.0.1 -P 0"
bfdd_options="-A 127.0.0.1"
"""
SPINE = with_neighbors(switches.SPINE, timers=replace(switches.TIMERS, connect_retry_s=2))
"""FRR waits 2 minutes before it connects again, as it must where both ends have connected at one time, or in vain."""
PROGRAM = "^[^ ]*python3 -I -S -c from __future__"
"""Command line of the program that a session runs on the switch."""


@dataclass(frozen=True)
class Node:
    name: str
    root: Path
    pid: int
    endpoint: Endpoint

    def session(self) -> FrrSession:
        return FrrSession(self.endpoint, CREDENTIALS)

    def inside(self, *command: str) -> str:
        """Output of a command in the switch's namespaces."""
        enter = ["nsenter", "--target", str(self.pid), "--all"]
        return subprocess.run([*enter, *command], check=True, capture_output=True, text=True, timeout=60).stdout

    def running(self) -> str:
        return with_sorted_prefix_lists(self.inside("vtysh", "-c", "show running-config no-header"))

    def show(self, command: str) -> Any:
        """What a daemon shows."""
        return show(self.root / "run", command)

    @property
    def startup(self) -> Path:
        """The configuration of the next boot."""
        return self.root / "etc" / "frr.conf"

    def left_behind(self) -> set[str]:
        """Files of a change on the switch."""
        folder = self.root / "run" / "railfab"
        return {path.name for path in folder.iterdir()} - {"lock", "ended.json"} if folder.exists() else set()

    def programs(self) -> list[int]:
        """Process ids, on the switch, of the session's program there and of its job."""
        return [int(pid) for pid in self.inside("sh", "-c", f"pgrep -f '{PROGRAM}' || true").split()]

    def job(self) -> int:
        """Process id, on the switch, of the job that reverts the pending change."""
        record = json.loads((self.root / "run" / "railfab" / "change" / "record.json").read_text())
        return int(record["job"][0])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of all changes."""
        with (self.root / "run" / "railfab" / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def waiting_for_lock(self) -> list[int]:
        """Process ids, on the switch, of the programs that have opened the lock."""
        opened = "ls -l /proc/$pid/fd 2>/dev/null | grep -q railfab/lock && echo $pid"
        found = self.inside("sh", "-c", f"for pid in $(pgrep -f '{PROGRAM}'); do {opened}; done; true")
        return [int(pid) for pid in found.split()]

    def kill(self, *pids: int) -> None:
        self.inside("sh", "-c", f"kill -9 {' '.join(map(str, pids))} 2>/dev/null || true")


def program_with(**limits: float) -> str:
    """The program of a session with other values of its constants."""
    source = program()
    assert all(re.search(rf"^(?:\w+, )*{name}(?:, \w+)* = \d", source, re.MULTILINE) for name in limits), limits
    return "\n".join(
        [source.removesuffix("main()"), *(f"{name} = {value}" for name, value in limits.items()), "main()"]
    )


def change(deploy: str = "deploy1") -> ChangeName:
    """A name for a change."""
    return ChangeName(deploy=deploy, user="alice", host="desk")


def without_version(running: str) -> str:
    return "".join(line for line in running.splitlines(keepends=True) if not line.startswith("frr version"))


def push(node: Node, model: DeviceModel) -> None:
    """Configure a switch for good."""
    with node.session() as session:
        session.commit(session.stage(text(model)), change("push"), 300)
        session.confirm(change("push"))


def settle(node: Node, model: DeviceModel) -> Node:
    """A switch with this model, no pending change and no drain by a verb, whatever the test before did to it.

    Without a session, which takes several times as long: by FRR's own program where the switch runs something else.
    """
    if node.left_behind():
        node.kill(*node.programs())
    shutil.rmtree(node.root / "run" / "railfab", ignore_errors=True)
    (node.root / "etc" / "railfab.drained").unlink(missing_ok=True)
    wanted = text(model)
    if without_version(node.startup.read_text()) != wanted:
        node.startup.write_text(wanted)
    for _ in range(3):  # as a session does, since the order of its lines may revert one of them
        if without_version(node.running()) == wanted:
            return node
        node.inside("sh", "-c", "/usr/lib/frr/frr-reload.py --reload --confdir /etc/frr /etc/frr/frr.conf || true")
    raise AssertionError(node.running())


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds before what it waits for must be taken to hang."""
    deadline = time.monotonic() + HANGS_AFTER_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


class Bench:
    """Boots switches, wires them and takes all of it down again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.holders: list[subprocess.Popen[bytes]] = []
        self.servers: list[subprocess.Popen[str]] = []

    def boot(self, name: str, configuration: str) -> tuple[Path, int]:
        root = self.folder / name
        for part in ("etc", "run", "tmp"):
            (root / part).mkdir(parents=True)
            shutil.chown(root / part, "frr", "frr")
        (root / "etc" / "vtysh.conf").write_text("service integrated-vtysh-config\n")
        (root / "etc" / "daemons").write_text(DAEMONS)
        (root / "etc" / "frr.conf").write_text(configuration)
        script = str(Path(__file__).with_name("frr_node.sh"))
        command = ["unshare", "-n", "-m", "-u", "-p", "--fork", "--kill-child", "sh", script, name, str(root)]
        with (root / "log").open("wb") as log:
            holder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.holders.append(holder)
        children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children")
        assert eventually((root / "namespaces").exists), (root / "log").read_text()
        return root, int(children.read_text().split()[0])

    def manage(self, name: str, root: Path, pid: int, place: int) -> Endpoint:
        """A management link to a switch, and an SSH server at its end of it."""
        ours, theirs = (f"100.127.{os.getpid() % 250}.{4 * place + end}" for end in (1, 2))
        outer = f"rft-{os.getpid() % 100000}-{place}"
        run("ip", "link", "add", outer, "type", "veth", "peer", "name", "mgmt0", "netns", str(pid))
        run("ip", "address", "add", f"{ours}/30", "dev", outer)
        run("ip", "link", "set", outer, "up")
        run("nsenter", "-t", str(pid), "-n", "ip", "address", "add", f"{theirs}/30", "dev", "mgmt0")
        run("nsenter", "-t", str(pid), "-n", "ip", "link", "set", "mgmt0", "up")
        for name_of_key in ("host.key", "user.key"):
            key = asyncssh.generate_private_key("ssh-ed25519")
            key.write_private_key(str(root / name_of_key))
            key.write_public_key(str(root / f"{name_of_key}.pub"))
        (root / "known_hosts").write_text(f"{theirs} {(root / 'host.key.pub').read_text()}")
        (root / "login.yml").write_text(f"username: {CREDENTIALS.username}\npassword: {CREDENTIALS.password}\n")
        self.servers.append(ssh_server(root, pid, theirs, 22))
        return Endpoint(
            name=name,
            platform="frr",
            host=theirs,
            ssh_port=22,
            known_hosts=str(root / "known_hosts"),
            credentials=str(root / "login.yml"),
        )

    def close(self) -> None:
        for holder in self.holders:
            os.killpg(holder.pid, signal.SIGKILL)
            holder.wait()
        for server in self.servers:
            server.kill()  # nsenter stops with the server that a test froze, and does not go on with it
            server.wait()
            assert server.stdout is not None
            server.stdout.close()


def ssh_server(root: Path, pid: int, host: str, port: int, *, user: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """An SSH server in a switch's namespaces. user: the command that makes it another user's."""
    server = [sys.executable, "-m", "railfab.ssh", "--host", host, "--port", str(port)]
    files = ["--host-key", str(root / "host.key"), "--credentials", str(root / "login.yml")]
    files += ["--authorized-keys", str(root / "user.key.pub")]
    command = ["nsenter", "--target", str(pid), "--all", *user, *server, *files]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("listening")
    return process


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=20)
