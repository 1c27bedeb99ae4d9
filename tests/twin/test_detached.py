"""Twins without a terminal: started, listed, stopped, and what is said when one does not start."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.twin.twins import KEPT, REPOSITORY, left
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import Endpoints, save_endpoints
from railfab.errors import EndpointError, IntentError, LabError
from railfab.process.listeners import in_use
from railfab.twin import connect, found_twins
from railfab.twin.files import claimed, twin_files

POD64 = str(REPOSITORY / "inventory" / "fabrics" / "pod64.yml")
RING = str(REPOSITORY / "inventory" / "jobs" / "ring.yml")


def twin(*arguments: str, state: Path) -> tuple[int, str]:
    """Exit code and stdout of `railfab twin`; errors are raised."""
    done = CliRunner().invoke(app, ["twin", *arguments, "--state", str(state)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def test_a_detached_twin_is_ready_when_the_command_returns_and_is_listed_until_it_is_stopped(tmp_path: Path) -> None:
    code, printed = twin(POD64, "--detach", "--port", "0", state=tmp_path)
    status = connect(tmp_path, "pod64").status()
    assert (code, all(switch.running for switch in status.switches)) == (0, True)
    assert printed.splitlines() == [
        f"twin of pod64: 8 switches can be reached (process {status.pid})",
        f"endpoints: {tmp_path}/pod64.twin.json",
        f"log: {tmp_path}/pod64.twin.log",
        f"next: railfab deploy {POD64} --on twin --state {tmp_path}; to end it: railfab twin stop --state {tmp_path}",
    ]
    with pytest.raises(
        LabError, match=r"^pod64: a twin is already running .* Stop it: railfab twin stop --state \S+\.$"
    ):
        twin(POD64, "--detach", state=tmp_path)
    assert twin(POD64, "--job", RING, "--configured", state=tmp_path) == (2, "")  # only the job would change
    assert connect(tmp_path, "pod64").status().job is None
    (found,) = conforming("twin-status", twin("status", "--output", "json", state=tmp_path)[1])
    assert (found["fabric"], found["pid"], len(found["status"]["switches"])) == ("pod64", status.pid, 8)
    assert twin("status", POD64, state=tmp_path)[1].splitlines()[1].split()[:4] == [
        "pod64", str(status.pid), "8/8", "0/0"
    ]  # fmt: skip
    assert os.getsid(status.pid) == status.pid
    assert twin("stop", state=tmp_path) == (0, "")
    assert left(tmp_path) == sorted([*KEPT, "pod64.twin.log"])
    assert twin("status", state=tmp_path) == (1, f"no twin is running in {tmp_path}\n")


def test_what_is_next_for_a_configured_twin_is_to_verify_it(tmp_path: Path) -> None:
    printed = twin(POD64, "--detach", "--configured", "--port", "0", state=tmp_path)[1]
    stopped = twin("stop", "--output", "json", state=tmp_path)[1]
    assert conforming("twin-stop", stopped) == {"fabric": "pod64", "stopped": True}
    assert f"next: railfab verify {POD64} --on twin --state {tmp_path}; to end it: " in printed


def test_a_twin_that_does_not_start_is_an_error_with_the_reason_of_its_log(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LabError) as caught:
            twin(POD64, "--detach", "--port", str(port), state=tmp_path)
        occupied = in_use(port)
    assert str(caught.value) == (
        f"pod64: the twin ended: pod1-seg1-leaf1: cannot listen on 127.0.0.1:{port}, it is {occupied}. "
        f"End what uses the port, or choose another with --port. Its log is {tmp_path}/pod64.twin.log."
    )
    assert found_twins(tmp_path) == []


def test_a_twin_that_does_not_answer_is_listed_and_one_of_several_is_stopped_by_its_intent(tmp_path: Path) -> None:
    with claimed(tmp_path, "a"), claimed(tmp_path, "b"):
        assert [(found.fabric, found.pid, found.status) for found in found_twins(tmp_path)] == [
            ("a", os.getpid(), None),
            ("b", os.getpid(), None),
        ]
        assert [line.split()[:2] for line in twin("status", state=tmp_path)[1].splitlines()[1:3]] == [
            ["a", str(os.getpid())],
            ["b", str(os.getpid())],
        ]
        with pytest.raises(LabError, match=r"the twins of a, b are running\. Name the intent of one of them"):
            twin("stop", state=tmp_path)
        with pytest.raises(
            EndpointError, match=rf"no twin is running\. Start one with railfab twin FILE --state {tmp_path}\.$"
        ):
            twin("stop", POD64, state=tmp_path)


def test_a_file_called_stop_is_named_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EndpointError, match="no twin is running"):
        twin("stop", state=tmp_path)
    for name in ("./stop", "serve"):
        with pytest.raises(IntentError, match="no such file"):
            twin(name, state=tmp_path)


def test_files_of_a_killed_twin_are_no_running_one(tmp_path: Path) -> None:
    files = twin_files(tmp_path, "pod64")
    files.lock.write_text(f"{os.getpid()}\n")
    save_endpoints(files.endpoints, Endpoints(fabric="pod64", backend="twin", nodes=()))
    assert found_twins(tmp_path) == []
