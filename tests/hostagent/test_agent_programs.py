"""Programs of a host run as often as their CPU allows, and again after the kernel has announced a change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hostagent.trees import tools_of
from tests.hosts.rig import fabric, host

from railfab.hostagent.changes import InterfaceChanges
from railfab.hostagent.checker import HostChecker
from railfab.hostagent.host_tree import host_system
from railfab.hostagent.programs import CHEAP_S, LONGEST_S, MeteredSystem

CHEAP = ("sh", "-c", "echo cheap; echo >>CALLS")
COSTLY = (sys.executable, "-c", "sum(range(6_000_000)); print('costly', file=open('CALLS', 'a'))")
"""About 0.15 s of CPU, as a tool of a vendor that is written in Python."""


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Announced(InterfaceChanges):
    """The kernel's announcements, without a kernel: those of one interface."""

    def __init__(self) -> None:
        self.interface = ""

    def happened(self, interfaces: object) -> bool:
        changed, self.interface = self.interface != "" and self.interface in interfaces, ""  # type: ignore[operator]
        return changed


@pytest.fixture
def system(tmp_path: Path) -> MeteredSystem:
    return MeteredSystem(tmp_path, now_s=Clock(), changes=Announced())


@pytest.fixture
def runs(system: MeteredSystem, tmp_path: Path) -> Callable[[], tuple[int, int]]:
    """Compares: how often the cheap and the costly program ran so far."""
    calls = [tmp_path / name for name in ("cheap", "costly")]

    def compare() -> tuple[int, int]:
        system.forget(["enp1s0"])
        for command, log in zip((CHEAP, COSTLY), calls, strict=True):
            system.output([word.replace("CALLS", str(log)) for word in command])
        cheap, costly = (len(log.read_text().splitlines()) for log in calls)
        return cheap, costly

    return compare


def test_a_costly_program_runs_less_often_than_a_cheap_one(
    system: MeteredSystem, runs: Callable[[], tuple[int, int]]
) -> None:
    assert runs() == (1, 1)
    system.now_s.now_s = 1.0  # type: ignore[attr-defined]
    assert runs() == (2, 1)
    system.now_s.now_s = LONGEST_S  # type: ignore[attr-defined]
    assert runs() == (3, 2)


def test_a_change_of_an_interface_makes_all_run_again(
    system: MeteredSystem, runs: Callable[[], tuple[int, int]]
) -> None:
    runs()
    system.changes.interface = "veth17"  # type: ignore[attr-defined]
    assert runs() == (2, 1), "of another interface"
    system.changes.interface = "enp1s0"  # type: ignore[attr-defined]
    assert runs() == (3, 2)


def test_programs_that_cost_little_run_each_time(tmp_path: Path) -> None:
    system = MeteredSystem(tmp_path, now_s=Clock(), changes=Announced())
    for number in (1, 2, 3):
        system.forget([])
        system.output(["sh", "-c", f"echo >>{tmp_path / 'calls'}"])
        assert len((tmp_path / "calls").read_text()) == number
    assert CHEAP_S < LONGEST_S


ANNOUNCED = """
import subprocess, sys
from railfab.hostagent.changes import InterfaceChanges
def ip(*words): subprocess.run(["ip", "link", *words], check=True)
ip("add", "enp1s0", "type", "veth", "peer", "name", "peer1")
ip("add", "enp1s0f1", "type", "veth", "peer", "name", "peer2")
changes = InterfaceChanges()
seen = [changes.happened(["enp1s0"])]
ip("set", "enp1s0f1", "mtu", "9000")
seen.append(changes.happened(["enp1s0"]))
ip("set", "enp1s0", "mtu", "9000")
seen += [changes.happened(["enp1s0"]), changes.happened(["enp1s0"])]
ip("del", "enp1s0")
seen.append(changes.happened(["enp1s0"]))
print(*seen)
"""


@pytest.mark.lldp
def test_the_kernel_announces_the_mtu_and_the_end_of_an_interface() -> None:
    """In a network namespace of its own."""
    command = ["unshare", "--net", sys.executable, "-c", ANNOUNCED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False", "True", "False", "True"]


def test_the_agent_of_a_host_runs_its_tools_as_often(tmp_path: Path) -> None:
    """Its tools are scripts here, which log each call: those of one minute cost little."""
    made = host(tmp_path, fabric("connectx-7"), "connectx-7")
    made.run("--apply")
    system = host_system(made.root)
    assert isinstance(system, MeteredSystem)
    checker = HostChecker(json.loads((tmp_path / "plan" / "nic.json").read_text()), "host1", system)
    with tools_of(made):
        made.calls()
        checker.check()
        first = made.calls()
        system._costs_s = {command: 1.0 for command in system._costs_s if command[0] == "mlnx_qos"}
        assert not checker.check().document.nics[0].settings[3].problem
    again = made.calls()
    assert {call.partition(" ")[0] for call in first} - {call.partition(" ")[0] for call in again} == {"mlnx_qos"}
