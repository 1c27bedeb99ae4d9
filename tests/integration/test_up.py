"""The main job, as `make demo` runs it: the bars that a stranger would hold it to."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.faults.mistakes import FOLDER
from tests.ports import free_port
from tests.signals import interruptible

TURN_S = 8
LEAST_S = 4
"""Simulated time of a turn in which the part of a step that it ends with changes little of the rate."""
WAITS_S = 60


def command_of(intent: Path, state: Path) -> list[str]:
    """`railfab up` of a fabric on any ports, without a Prometheus."""
    ports = ["--twin-port", "0", "--metrics-port", "0", "--prometheus-port", "0"]
    return [sys.executable, "-m", "railfab", "up", str(intent), "--state", str(state), *ports]


@pytest.fixture
def command(repository: Path, tmp_path: Path) -> list[str]:
    """`railfab up` of two rail switches and two spines."""
    ring = repository / "inventory" / "jobs" / "ring.yml"
    return [*command_of(FOLDER / "rack.yml", tmp_path / "state"), "--job", str(ring)]


def processes_of(state: Path) -> list[str]:
    """Command lines of processes that were started with this state directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(state).encode() in b" ".join(words):
                found.append(b" ".join(words).decode())
    return found


@pytest.mark.timeout(330)
def test_a_run_of_two_turns_ends_by_itself_with_marks_and_pauses_in_the_incast_and_none_in_the_ring(
    repository: Path, tmp_path: Path
) -> None:
    command = command_of(repository / "inventory" / "fabrics" / "pod64.yml", tmp_path / "state")
    for turn_s in (TURN_S, 4 * TURN_S):  # a busy machine simulates little within the shorter turn
        words = ["--for", str(2 * turn_s + 6), "--turn", str(turn_s), "--output", "json"]
        done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=160)
        assert done.returncode == 0, done.stderr
        summary = conforming("up", done.stdout)
        jobs = {job["job"]: job for job in summary["jobs"]}
        if len(jobs) == 2 and all(job["sent_bytes"] and job["seconds"] > LEAST_S for job in jobs.values()):
            break
    assert (summary["sessions_up"], summary["sessions"], summary["healthy"]) == (64, 64, True)
    assert (summary["targets_up"], summary["targets"]) == (8, 8)
    assert 0 < summary["pace"] <= 1.1
    assert summary["ready_s"] is not None
    assert jobs["ring"]["sent_bytes"] > 1e9
    assert (jobs["ring"]["marks"], jobs["ring"]["pauses"]) == (0, 0)
    assert jobs["incast"]["marks"] > 0
    assert jobs["incast"]["pauses"] > 0
    assert jobs["incast"]["peak_bytes"] > 1e6
    assert 8 * jobs["ring"]["sent_bytes"] / jobs["ring"]["seconds"] / 1e9 == pytest.approx(8031, rel=0.15)
    assert (jobs["ring"]["drops"], jobs["incast"]["drops"]) == (0, 0)
    assert jobs["ring"]["step_s"]
    assert processes_of(tmp_path / "state") == []
    assert not (tmp_path / "state" / "pod64.twin.json").exists()


def test_ctrl_c_ends_everything_and_leaves_nothing_also_with_an_intent_from_standard_input(
    command: list[str], tmp_path: Path
) -> None:
    state, fabric = tmp_path / "state", FOLDER / "rack.yml"
    words = ["-" if word == str(fabric) else word for word in command]
    with fabric.open() as intent:
        running = subprocess.Popen(
            interruptible(words), cwd=tmp_path, stdin=intent, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    deadline = time.monotonic() + WAITS_S
    assert running.stderr is not None
    page = ""
    for line in running.stderr:
        assert time.monotonic() < deadline
        page = line.partition("live page: ")[2].strip() or page
        if "bgp 16/16  gnmi 4/4" in line and re.search(r" [1-9]\d* Gb/s", line):
            break
    assert any("twin" in words for words in processes_of(state))
    with urllib.request.urlopen(page.partition("#")[0] + "api/fabric", timeout=WAITS_S) as answer:
        assert json.load(answer)["has_actions"] is True
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=30)
    assert running.returncode == 0, out
    assert "16/16 BGP session ends up" in out
    assert processes_of(state) == []


@pytest.mark.prometheus
def test_prometheus_runs_with_our_rules_when_it_is_installed_and_dies_with_up(
    command: list[str], tmp_path: Path
) -> None:
    """Up is killed at the end, so that it can end nothing itself: twin and Prometheus are gone all the same."""
    port = free_port()
    words = interruptible([*command, "--prometheus-port", str(port), "--for", "40"])
    running = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE)
    deadline = time.monotonic() + WAITS_S
    query = f"http://127.0.0.1:{port}/api/v1/query?query=count(fabric_bgp_session_up==1)"
    sessions: list[str] = []
    while sessions != ["16"] and time.monotonic() < deadline:
        time.sleep(0.5)
        try:
            with urllib.request.urlopen(query, timeout=5) as answer:
                sessions = [found["value"][1] for found in json.load(answer)["data"]["result"]]
        except OSError:
            continue
    assert any("railfab twin" in words for words in processes_of(tmp_path / "state"))
    running.kill()
    running.communicate(timeout=30)
    assert sessions == ["16"]
    deadline = time.monotonic() + WAITS_S
    while left := processes_of(tmp_path / "state"):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_a_port_in_use_is_one_clear_line(command: list[str], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for option in ("--metrics-port", "--twin-port"):
            words = list(command)
            words[words.index(option) + 1] = port
            done = subprocess.run([*words, "--for", "5"], cwd=tmp_path, capture_output=True, text=True, timeout=90)
            assert done.returncode == 2, done.stderr
            lines = [line for line in done.stderr.splitlines() if line.startswith("railfab: ")]
            assert len(lines) == 1
            assert port in lines[0]
            assert "Traceback" not in done.stderr
            assert processes_of(tmp_path / "state") == []
