"""The process of the agent: what it imports, serves and ends with, and files of a real sysfs that come and go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.hostagent.trees import HostTree, host_tree
from tests.ports import free_port

HEAVY = ("asyncio", "numpy", "pydantic", "rich", "ssl", "typer", "yaml")
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> HostTree:
    return host_tree(tmp_path_factory.mktemp("host"), "connectx-7")


def test_it_imports_little() -> None:
    program = f"import railfab.hostagent.__main__, sys; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@contextmanager
def serving(tree: HostTree, port: int, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The agent as a process that serves on a port."""
    command = [sys.executable, "-m", "railfab", "agent", "--root", str(tree.root), "--data", str(tree.data)]
    process = subprocess.Popen(
        [*command, "--host", "host1", "--port", str(port), *words],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def asked(port: int, awaited: str) -> str:
    """The metrics once they have this text."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                if awaited in (text := answer.read().decode()):
                    return str(text)
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{awaited}: not within {PATIENCE_S} s")


def test_railfab_agent_serves_until_a_signal(tree: HostTree) -> None:
    port = free_port()
    with serving(tree, port, "--standalone") as process:
        assert "roce_nic_cnp_sent_packets_total" in asked(port, "roce_nic_wanted")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert errors == f"railfab agent: metrics on http://127.0.0.1:{port}/metrics\n"


def test_a_tool_that_hangs_holds_up_neither_metrics_nor_the_end(tree: HostTree, tmp_path: Path) -> None:
    (tmp_path / "ip").write_text(f"#!/bin/sh\ntouch {tmp_path}/called\nexec sleep 600\n")
    (tmp_path / "ip").chmod(0o755)
    port = free_port()
    bare = HostTree(root=tmp_path, data=tree.data)
    with serving(bare, port, PATH=f"{tmp_path}:{os.environ['PATH']}") as process:
        until_s = time.monotonic() + PATIENCE_S
        while not (tmp_path / "called").exists() and time.monotonic() < until_s:
            time.sleep(0.1)
        assert asked(port, "") == ""
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S / 2)
    assert process.returncode == 0


def test_a_port_in_use_is_one_line(tree: HostTree) -> None:
    port = free_port()
    with serving(tree, port):
        asked(port, "roce_nic_wanted")
        with serving(tree, port) as second:
            _, errors = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 2
    (line,) = errors.splitlines()
    assert line.startswith(f"railfab: 127.0.0.1:{port}: cannot be listened on (in use by process ")
    assert line.endswith("Choose another --listen or --port.")


UNPLUGGED = """
import subprocess
from pathlib import Path
from railfab.hostagent.ethtool import KernelEthtool
from railfab.hostagent.host_files import KeptFile
from railfab.hosts.nic import Unreadable
def ip(*words): subprocess.run(["ip", "link", *words], check=True)
def plug():
    ip("add", "enp1s0", "type", "veth", "peer", "name", "peer1")
    ip("set", "enp1s0", "up")
    ip("set", "peer1", "up")
subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)
plug()
carrier = KeptFile(Path("/sys/class/net/enp1s0/carrier"))
print(carrier.number(), carrier.problem)
ethtool, iflink = KernelEthtool("enp1s0"), Path("/sys/class/net/enp1s0/iflink").read_text()
print("peer_ifindex" in ethtool.names(), ethtool.values({"peer_ifindex"}) == {"peer_ifindex": int(iflink)})
ip("del", "enp1s0")
print(carrier.number(), carrier.problem)
try:
    ethtool.values({"peer_ifindex"})
except Unreadable as error:
    print(error)
plug()
print(carrier.number(), carrier.problem)
"""


@pytest.mark.lldp
def test_an_interface_that_is_unplugged_has_no_value_and_one_that_comes_back_has() -> None:
    """With the kernel's own sysfs and ethtool, in a network namespace."""
    command = ["unshare", "--net", "--mount", sys.executable, "-c", UNPLUGGED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    there, statistics, gone, none, back = (line.strip() for line in done.stdout.splitlines())
    assert (statistics, none) == ("True True", "ethtool: no such device")
    assert there == back == "b'1'"
    assert gone == "None /sys/class/net/enp1s0/carrier cannot be read (no such file or directory)"
