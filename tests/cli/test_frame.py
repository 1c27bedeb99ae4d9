"""What holds for every command: misuse, unwritable places, closed pipes, narrow terminals, Ctrl-C."""

from __future__ import annotations

import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.commands import run
from tests.docs.schemas import conforming
from tests.signals import interruptible

from railfab.cli.common import json_wanted
from railfab.process import listeners

ROOT = Path(__file__).parents[2]
POD64 = ROOT / "inventory" / "fabrics" / "pod64.yml"
COMMAND = [sys.executable, "-m", "railfab"]


def said(*arguments: str | Path, cwd: Path, code: int = 2) -> str:
    """What a refusal says: one line, no traceback, nothing on stdout."""
    done = run(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr.strip()


def test_misuse_is_one_line_that_names_the_help(tmp_path: Path) -> None:
    assert "Missing argument 'FILE'. See " in said("plan", cwd=tmp_path)
    assert said("plan", "x", "--state", "y", cwd=tmp_path).endswith("plan --help.")
    assert "No such command 'deplo'. Did you mean 'deploy'? See " in said("deplo", cwd=tmp_path)
    assert "'xml' is not one of 'table', 'json'." in said("plan", POD64, "--output", "xml", cwd=tmp_path)
    for option in ("--twin-port", "--metrics-port", "--prometheus-port", "--page-port"):
        assert f"Invalid value for '{option}'" in said("up", POD64, option, "70000", cwd=tmp_path)


def test_errors_are_json_where_json_is_asked_for_one_line_on_stderr_with_the_same_exit_code(tmp_path: Path) -> None:
    intent = tmp_path / "six.yml"
    intent.write_text(POD64.read_text().replace("count: 4", "count: 6"))
    (found,) = conforming("errors", said("plan", intent, "--output", "json", cwd=tmp_path))["errors"]
    assert found == {
        "message": f"{found['where']}: {found['problem']}. {found['remedy']}.",
        "where": f"{intent}:24: backend.spines.count",
        "problem": "the 16 uplinks of a full rail switch do not divide evenly among 6 spines",
        "remedy": "Use 1, 2, 4 or 8",
    }
    (misuse,) = conforming("errors", said("plan", "--output=json", cwd=tmp_path))["errors"]
    assert (misuse["where"], misuse["problem"], misuse["remedy"]) == (None, None, None)
    assert misuse["message"].startswith("Missing argument 'FILE'. See ")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["plan", "x", "--output", "json"], True),
        (["plan", "--output=json"], True),
        (["plan", "--output", "table", "json"], False),
        (["plan", "--output"], False),
    ],
)
def test_json_is_recognised_in_a_command_line_that_cannot_be_parsed(arguments: list[str], wanted: bool) -> None:
    assert json_wanted(arguments) is wanted


def test_an_intent_can_come_from_standard_input(tmp_path: Path) -> None:
    def plan(text: str) -> subprocess.CompletedProcess[str]:
        return run("plan", "-", cwd=tmp_path, text=text)

    text = POD64.read_text()
    assert plan(text).stdout.startswith("pod64: 64 GPUs on 8 hosts")
    assert plan(text.replace("count: 4", "count: 6")).stderr.startswith("railfab: -:24: backend.spines.count: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", POD64, "-o"),
        ("render", POD64, "-o"),
        ("up", POD64, "--twin-port", "0", "--metrics-port", "0", "--state"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, arguments: tuple[str | Path, ...]) -> None:
    file = tmp_path / "file"
    file.touch()
    done = run(*arguments, file / "below", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"railfab: {file / 'below'}" in done.stderr
    assert "(not a directory)" in done.stderr


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "railfab: output: cannot be used (no space left on device). Check the place and its permissions."
    ]


@pytest.mark.parametrize("arguments", [("plan", POD64), ("schema",), ("plan", POD64, "--output", "json")])
def test_a_reader_that_has_gone_is_no_finding(tmp_path: Path, arguments: tuple[str | Path, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, *map(str, arguments)], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_names_stay_whole_on_a_narrow_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "40", "NO_COLOR": "1", "TERM": "dumb"}
    with subprocess.Popen([*COMMAND, "plan", str(POD64)], stdout=theirs, env=environment, cwd=tmp_path) as running:
        os.close(theirs)
        shown = _drained(ours)
    os.close(ours)
    assert running.returncode == 0
    for name in ("pod1-seg[1-2]-leaf[1-2]", "7220-ixr-d5", "4200001001-4200001004", "3.2 / 3.2 Tb/s", "non-blocking"):
        assert name in shown
    assert max(map(len, shown.splitlines())) <= 40


def _drained(terminal: int) -> str:
    """All that is written to a terminal until it closes."""
    found = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            found += os.read(terminal, 65_536)
        except OSError:  # how Linux says that the last writer has gone
            break
    return found.decode()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_while_it_waits_end_it_with_one_line_and_130(tmp_path: Path, sign: signal.Signals) -> None:
    pipe = tmp_path / "intent.yml"
    os.mkfifo(pipe)
    command = interruptible([*COMMAND, "plan", str(pipe)])
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        writer = _writer(pipe)
        _until_it_reads(running.pid)
        running.send_signal(sign)
        _, stderr = running.communicate(timeout=60)
        os.close(writer)
    assert (running.returncode, stderr) == (130, "railfab: interrupted\n")


def _until_it_reads(pid: int) -> None:
    """Wait until a process sleeps in a read of a pipe: Python would handle an earlier signal only after the read."""
    until_s = time.monotonic() + 60
    while "pipe_read" not in Path(f"/proc/{pid}/wchan").read_text():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def _writer(pipe: Path) -> int:
    """A writing end of a named pipe, as soon as somebody reads it."""
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(pipe)


def test_up_names_a_port_in_use_before_it_starts_anything(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        in_use = listeners.in_use(port)
        assert in_use.startswith(f"in use by process {os.getpid()} (")
        ports = ("--metrics-port", str(port), "--twin-port", "0")
        line = said("up", POD64, *ports, "--state", tmp_path / "state", cwd=tmp_path)
    assert line == (
        f"railfab: 127.0.0.1:{port}: cannot be listened on ({in_use}). "
        "End what uses it, or choose another --metrics-port."
    )
    assert not (tmp_path / "state").exists()


def test_an_empty_listen_address_does_not_open_the_collector_to_every_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("pod1-spine1: {hostname: 127.0.0.1, platform: srlinux, data: {gnmi_port: 1}}\n")
    monkeypatch.setenv("RAILFAB_USERNAME", "a")
    monkeypatch.setenv("RAILFAB_PASSWORD", "b")
    line = said("collect", POD64, "--on", hosts, "--limit", "pod1-spine1", "--listen", "", cwd=tmp_path)
    assert line == "railfab: --listen: names no address. Write 127.0.0.1, or 0.0.0.0 for every network."


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("--collector", "a b", "--collector: 'a b' is not HOST:PORT. Use for example collector.example:9804."),
        ("--jobs", "http://a:1", "--jobs: 'http://a:1' is not HOST:PORT. Use for example collector.example:9804."),
        ("--prometheus", "a:9090", "--prometheus: 'a:9090' is not a URL. Use for example http://127.0.0.1:9090."),
    ],
)
def test_an_address_that_prometheus_could_not_use_is_not_written(
    tmp_path: Path, option: str, value: str, line: str
) -> None:
    assert said("dashboards", "build", "-o", "out", option, value, cwd=tmp_path) == f"railfab: {line}"
    assert not (tmp_path / "out").exists()
