"""Ctrl-C in every phase of `railfab up`: it ends in time and leaves no process and no state file."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.faults.mistakes import FOLDER
from tests.integration.test_up import command_of, processes_of
from tests.ports import free_port
from tests.sampled import sampled
from tests.signals import interruptible

WITHIN_S = 5.0
INTERRUPTED = 130


def started(repository: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    """`railfab up` of two rail switches and two spines in a process group of its own, as a terminal starts it."""
    job = ["--job", str(repository / "inventory" / "jobs" / "ring.yml")]
    command = [*command_of(FOLDER / "rack.yml", folder / "state"), *job, *options]
    return subprocess.Popen(
        interruptible(command),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_line(running: subprocess.Popen[str], word: str) -> None:
    assert running.stderr is not None
    lines = []
    for line in running.stderr:
        lines.append(line)
        if word in line:
            return
    raise AssertionError("".join(lines))


def stop_seconds(running: subprocess.Popen[str], *, times: int = 1, group: bool = False) -> tuple[float, str]:
    """Press Ctrl-C; seconds until the process has ended, and what it printed. group: to its children too."""
    began_s = time.monotonic()
    for _ in range(times):
        (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
        time.sleep(0.2)
    try:
        _, said = running.communicate(timeout=30)
    finally:
        running.kill()
    return time.monotonic() - began_s, said


def assert_nothing_is_left(folder: Path) -> None:
    state = folder / "state"
    assert processes_of(state) == []
    stays = (".ca.key", ".ca.pem", ".credentials.yml", ".ssh_host_key")
    kept = {path for path in state.iterdir() if path.name.endswith(stays)}
    assert {path.name for path in {*state.iterdir()} - kept} <= {"twin.log", "prometheus"}


STOPS = {
    "before the twin": ("starting the twin", 0.0, False),
    "twin starting": ("starting the twin", 1.0, True),
    "deploying": ("deployed", 0.0, False),
    "collector starting": ("sampling every", 0.0, True),
}


@pytest.mark.parametrize(("line", "wait_s", "group"), sampled(STOPS, few=["deploying"]))
def test_a_stop_before_all_of_it_runs_is_an_interrupt(
    repository: Path, tmp_path: Path, line: str, wait_s: float, group: bool
) -> None:
    running = started(repository, tmp_path)
    wait_for_line(running, line)
    time.sleep(wait_s)
    seconds, said = stop_seconds(running, group=group)
    assert running.returncode == INTERRUPTED, said
    assert seconds < WITHIN_S
    assert "Traceback" not in said
    assert said.endswith("railfab: interrupted\n")
    assert_nothing_is_left(tmp_path)


def test_the_twin_of_up_gets_the_share_of_a_core_that_up_was_given(repository: Path, tmp_path: Path) -> None:
    running = started(repository, tmp_path, "--cpu", "0.25")
    wait_for_line(running, "deployed")
    twins = [command for command in processes_of(tmp_path / "state") if " twin " in command]
    stop_seconds(running)
    assert len(twins) == 1
    assert "--cpu=0.25" in twins[0].split()


@pytest.mark.matrix
@pytest.mark.prometheus
def test_a_stop_while_prometheus_starts(repository: Path, tmp_path: Path) -> None:
    running = started(repository, tmp_path, "--prometheus-port", str(free_port()))
    log = tmp_path / "state" / "prometheus" / "prometheus.log"
    until_s = time.monotonic() + 60
    while not log.exists():
        assert time.monotonic() < until_s
        time.sleep(0.02)
    seconds, said = stop_seconds(running)
    assert running.returncode in (0, 1, INTERRUPTED), said
    assert seconds < WITHIN_S
    assert_nothing_is_left(tmp_path)


def test_a_twin_that_does_not_answer_is_killed_however_often_we_ask(repository: Path, tmp_path: Path) -> None:
    """A stopped process neither answers nor ends when asked: up kills it and removes its files. Two Ctrl-C are one."""
    running = started(repository, tmp_path)
    wait_for_line(running, "bgp ")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGSTOP)
    seconds, said = stop_seconds(running, times=2)
    assert seconds < WITHIN_S
    assert "Traceback" not in said
    assert_nothing_is_left(tmp_path)
