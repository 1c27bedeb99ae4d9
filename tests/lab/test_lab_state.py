"""The state file of an embedded lab, and the processes of a lab."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from railfab.errors import LabError
from railfab.lab.contract import LabPlace
from railfab.lab.netns.lifecycle import start_ssh_servers
from railfab.lab.netns.processes import MARK, Process, is_running, kill, marked_processes, process, started
from railfab.lab.netns.state import LabNode, NetnsState, lab_state_file, load_state, save_state

STATE = NetnsState(
    fabric="f",
    tag="rf012345",
    boot="b",
    topology_digest="w",
    bridge="rf012345-br",
    gateway=IPv4Interface("172.31.0.1/24"),
    runtime=Path("/run/railfab/rf012345"),
    nodes=(
        LabNode(name="h", kind="host", namespace="rf012345-h", address=None, management_port=None),
        LabNode(
            name="l",
            kind="leaf",
            namespace="rf012345-l",
            address=IPv4Interface("172.31.0.2/24"),
            management_port="rf012345-m0",
        ),
    ),
    processes=(Process(purpose="l", pid=7, started=99),),
)


def test_a_saved_state_is_loaded_unchanged(tmp_path: Path) -> None:
    save_state(tmp_path / "s.json", STATE)
    assert load_state(tmp_path / "s.json") == STATE
    assert (tmp_path / "s.json").stat().st_mode & 0o777 == 0o600
    assert [node.name for node in STATE.switches()] == ["l"]


def test_an_ssh_server_that_cannot_start_is_an_error_with_its_switch(tmp_path: Path) -> None:
    place = LabPlace(fabric="f", folder=tmp_path, state=tmp_path)
    gone = replace(STATE, processes=(Process(purpose="l", pid=2**30, started=99),))
    save_state(lab_state_file(place), gone)
    (tmp_path / "f.lab.credentials.yml").write_text("username: root\npassword: secret\n")
    with pytest.raises(LabError) as raised:
        start_ssh_servers(place, gone, gone.switches())
    assert str(raised.value) == (
        "SSH servers: did not start (switch l: its namespaces cannot be entered (No such file or directory)). "
        "Run `railfab lab doctor`."
    )


def test_a_missing_state_file_is_no_lab(tmp_path: Path) -> None:
    assert load_state(tmp_path / "s.json") is None


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 2}', '{"version": 9}', "\udcff"])
def test_a_broken_state_file_is_an_error_with_a_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(LabError) as raised:
        load_state(path)
    line = str(raised.value)
    assert line.startswith(f"{path}: is not a state file of this version of railfab (")
    assert line.endswith("Remove the file and run `railfab lab down`, which finds the lab by its names.")
    assert "\n" not in line


def _sleeper(**environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    child = subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_a_process_with_a_reused_pid_is_not_killed() -> None:
    with _sleeper() as child:
        own = process("sleeper", child.pid)
        kill([Process(purpose="an earlier one of this pid", pid=own.pid, started=own.started - 1)])
        assert child.poll() is None
        kill([own])
        assert child.wait(5) == -9
        assert not is_running(own)


def test_a_zombie_and_an_absent_process_are_not_running() -> None:
    with _sleeper() as child:
        own = process("sleeper", child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert started(child.pid) is None
        kill([own])
    assert started(child.pid) is None


def test_processes_of_a_lab_are_found_by_their_mark() -> None:
    with _sleeper(**{MARK: "rf99ee99"}) as own, _sleeper(**{MARK: "rf99ee9"}) as other:
        assert [found.pid for found in marked_processes("rf99ee99")] == [own.pid]
        kill(marked_processes("rf99ee99"))
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        (None, "ended immediately"),
        ("", "ended immediately (empty log)"),
        ("a\n\nline 2: % bad\n  stopped\n\n", "ended immediately (line 2: % bad; stopped)"),
    ],
)
def test_a_process_that_ended_immediately_is_an_error_with_the_end_of_its_log(
    tmp_path: Path, log: str | None, problem: str
) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    if log is not None:
        (tmp_path / "log").write_text(log)
    with pytest.raises(LabError) as raised:
        process("switch leaf1", child.pid, None if log is None else tmp_path / "log")
    assert str(raised.value) == f"switch leaf1: {problem}. Run `railfab lab doctor`."
