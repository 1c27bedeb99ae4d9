"""Several processes of one command: each is started again, asked, and ended; one that is silent is never left out."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.signals import is_running
from tests.telemetry.test_serve import got

from railfab.telemetry import MetricsServer
from railfab.telemetry.processes import CollectorChild, Processes, ProcessMetrics, ask, pages_of, supervisor
from railfab.telemetry.processes import child as child_module
from railfab.telemetry.processes import watchdog as watchdog_module
from railfab.telemetry.processes.watchdog import Patience, ProcessWatchdog

QUICK = Patience(every_s=0.2, answer_within_s=0.5, hung_after_s=1.5)

SHARD = """\
import json, os, signal, socket, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
number, path = sys.argv[1:]
STATUS = dict(name=f"leaf{number}", platform="eos", address="", state="up", receiver="fast", encoding="PROTO",
              interval_s=2.0, series=1, age_s=0.1, reconnects=0, error="", overloaded=False, labels={})
LATE = {"overloaded": {"since": "2026-11-28T12:00:00Z", "lag_s": 9.5}} if number == "1" else {}
PAGES = {"/healthz": {"collecting": True, **LATE}, "/readyz": {"collecting": True, "hosts.yml": number != "1"},
         "/targets": [STATUS]}
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        page = self.path.partition("?")[0]
        found = json.dumps(PAGES[page]) if page in PAGES else f"{self.path} {self.headers['Accept-Encoding']}"
        self.send_response(200 if ": false}" not in found else 503)
        self.send_header("content-encoding", "identity")
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found.encode())
    def address_string(self): return ""
    def log_message(self, *_): pass
class Server(HTTPServer):
    address_family = socket.AF_UNIX
    def server_bind(self):
        if os.path.exists(path): os.unlink(path)
        self.socket.bind(path)
    def get_request(self): return self.socket.accept()[0], ("", 0)
Server(path, Handler).serve_forever()
"""
"""What a collector answers, without a collector; number 1 is overloaded, and a list of it has not been read."""
LATE = {"since": "2026-11-28T12:00:00Z", "lag_s": 9.5}
ENDS = "import sys; sys.exit({})"


def command(number: int, socket: Path) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", SHARD, str(number), str(socket)]


def until(true: Callable[[], object]) -> None:
    until_s = time.monotonic() + 30
    while not true():
        assert time.monotonic() < until_s
        time.sleep(0.02)


@contextmanager
def served(count: int = 2, patience: Patience = supervisor.PATIENCE) -> Iterator[tuple[Processes, str]]:
    """Processes that all answer, and the address of their parent."""
    with (
        Processes([str(number) for number in range(count)], command, threading.Event(), patience) as running,
        MetricsServer(ProcessMetrics(running), running, port=0, further=pages_of(running)) as server,
    ):
        assert running.start()
        until(lambda: all(is_up for _, is_up in running.up()))
        yield running, server.url


def killed(child: CollectorChild, number: signal.Signals = signal.SIGKILL) -> int:
    process_id = child.process_id
    assert process_id is not None
    os.kill(process_id, number)
    return process_id


def test_health_and_targets_are_of_all_and_a_scrape_is_of_one() -> None:
    with served() as (_, url):
        status, _, body = got(f"{url}/healthz")
        assert (status, json.loads(body)) == (
            200,
            {"shard 0: collecting": True, "shard 1: collecting": True, "shard 1: overloaded": LATE},
        )
        assert b"<p>shard 1: overloaded since 2026-11-28T12:00:00Z, up to 9.5 s late</p>" in got(url)[2]
        status, _, body = got(f"{url}/readyz")
        assert (status, json.loads(body)["shard 1: hosts.yml"]) == (503, False)
        status, _, body = got(f"{url}/targets")
        assert (status, [target["name"] for target in json.loads(body)]) == (200, ["leaf0", "leaf1"])
        status, _, body = got(f"{url}/metrics/1?name[]=up", Accept_Encoding="gzip")
        assert (status, body) == (200, b"/metrics?name[]=up gzip")
        assert got(f"{url}/metrics/2")[0] == 404
        assert b"/metrics/1 or /http_sd." in got(f"{url}/metrics/2")[2]


def test_prometheus_finds_each_and_the_parent_at_the_address_that_it_asked() -> None:
    with served() as (_, url):
        entries = json.loads(got(f"{url}/http_sd", Host="collector.example:80")[2])
    assert [(entry["targets"], entry["labels"]) for entry in entries] == [
        (["collector.example:80"], {"__metrics_path__": "/metrics/0", "shard": "0"}),
        (["collector.example:80"], {"__metrics_path__": "/metrics/1", "shard": "1"}),
        (["collector.example:80"], {"__metrics_path__": "/metrics"}),
    ]


def test_one_that_hangs_is_an_error_and_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "ASK_WITHIN_S", 0.3)
    with served() as (running, url):
        stopped = killed(running.children[0], signal.SIGSTOP)
        status, _, body = got(f"{url}/healthz")
        assert (status, json.loads(body)) == (
            503,
            {"shard 0": False, "shard 1: collecting": True, "shard 1: overloaded": LATE},
        )
        assert (got(f"{url}/readyz")[0], json.loads(got(f"{url}/readyz")[2])["shard 0"]) == (503, False)
        status, _, body = got(f"{url}/targets")
        unknown, known = json.loads(body)
        assert (status, known["name"]) == (503, "leaf1")
        assert (unknown["name"], unknown["state"]) == ("targets of shard 0", "unknown")
        assert unknown["error"] == "no answer within 0.3 s"
        assert b'fabric_collector_process_up{shard="0"} 0.0' in got(f"{url}/metrics")[2]
        os.kill(stopped, signal.SIGCONT)
        until(lambda: got(f"{url}/healthz")[0] == 200)


def test_one_that_hangs_is_killed_and_started_again_while_the_others_run_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), served(patience=QUICK) as (running, url):
        untouched = running.children[1].process_id
        hung = killed(running.children[0], signal.SIGSTOP)
        until(lambda: not is_running(hung))
        until(lambda: got(f"{url}/healthz")[0] == 200)
        assert running.children[1].process_id == untouched
        assert b'fabric_collector_process_restarts_total{shard="0"} 1.0' in got(f"{url}/metrics")[2]
    [line] = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r"shard 0: hung for [1-4] s, and killed after \d+ s; started again in 1 s", line)


def test_one_that_hangs_for_a_moment_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(patience=replace(QUICK, hung_after_s=5.0)) as (running, url):
        stopped = killed(running.children[0], signal.SIGSTOP)
        time.sleep(1)
        os.kill(stopped, signal.SIGCONT)
        until(lambda: got(f"{url}/healthz")[0] == 200)
        time.sleep(1)
        assert (running.children[0].process_id, running.children[0].restarts) == (stopped, 0)


def watching(patience: Patience, rounds: Iterable[tuple[bool, float]]) -> list[int]:
    """In which of these rounds a process would be killed, of which each has its answer and its length [s]."""
    found = []

    class Watched(CollectorChild):
        process_id = 7

        def kill_hung(self, process_id: int, _: float) -> None:
            found.append(place)

    watchdog = ProcessWatchdog([Watched("0", [], Path())], patience)
    for place, (is_well, passed_s) in enumerate(rounds):  # noqa: B007 read by kill_hung
        watchdog.judge([7], [is_well], passed_s)
    return found


def test_time_that_the_parent_was_late_itself_is_not_counted() -> None:
    """A machine that was suspended, or has no time for anything, says nothing of one process."""
    patience = Patience(every_s=5, answer_within_s=10, hung_after_s=60, starts_within_s=180, late_s=1)
    well, silent, late = (True, 5.0), (False, 15.0), (False, 300.0)
    assert watching(patience, [well, *[late] * 10, *[silent] * 4, late]) == []
    assert watching(patience, [well, *[late] * 10, *[silent] * 5]) == [15]
    assert watching(patience, [well, *[silent] * 4, well, *[silent] * 4]) == []
    assert watching(patience, [*[silent] * 12, well]) == []
    assert watching(patience, [silent] * 13) == [12]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_watchdog_that_is_ended_while_a_question_waits_ends_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog_module, "ThreadPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1))
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        children = [CollectorChild(shard, [], tmp_path / "silent") for shard in ("0", "1")]
        watchdog = ProcessWatchdog(children, Patience(every_s=0.01, answer_within_s=0.5))
        watchdog.start()
        silent.accept()
        watchdog.end()
        until(lambda: "railfab-watchdog" not in {thread.name for thread in threading.enumerate()})


def test_a_process_that_hangs_again_and_again_is_started_after_longer_pauses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time in which it hung is none in which it was healthy."""
    monkeypatch.setattr(child_module, "HEALTHY_S", 0.5)
    child = CollectorChild("0", [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], tmp_path / "0")
    with caplog.at_level(logging.WARNING):
        child.start()
        for restarts in (0, 1):
            until(lambda: child.process_id and child.restarts == restarts)  # noqa: B023
            time.sleep(0.6)
            child.kill_hung(child.process_id or 0, 0.6)
            until(lambda: len(caplog.records) == restarts + 1)  # noqa: B023
        child.request_end()
        child.end(10)
    assert [record.getMessage().rpartition(" in ")[2] for record in caplog.records] == ["1 s", "2 s"]


def test_one_that_ends_is_started_again_counted_and_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), served() as (running, url):
        before = killed(running.children[1])
        until(lambda: not is_running(before))
        status, _, body = got(f"{url}/metrics/1")
        assert (status, body) == (502, b"shard 1: does not run\n")
        until(lambda: all(is_up for _, is_up in running.up()))
        assert running.children[1].process_id != before
        assert b'fabric_collector_process_restarts_total{shard="1"} 1.0' in got(f"{url}/metrics")[2]
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("shard 1: ended by SIGKILL after ")
    assert line.endswith(" s; started again in 1 s")


def test_input_that_cannot_be_used_is_said_once_and_nothing_is_started_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the parent looks late."""
    monkeypatch.setattr(supervisor, "POLL_S", 1.5)

    def refused(_: int, __: Path) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", ENDS.format(supervisor.BAD_INPUT)]

    with caplog.at_level(logging.WARNING), Processes(["0", "1"], refused, threading.Event()) as running:
        assert not running.start()
    assert caplog.records == []


def test_pauses_between_restarts_double(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    child = CollectorChild("0", [sys.executable, "-I", "-S", "-c", ENDS.format(3)], tmp_path / "0")
    with caplog.at_level(logging.WARNING):
        child.start()
        until(lambda: child.restarts == 1 and len(caplog.records) == 2)
        child.request_end()
        child.end(10)
    assert [record.getMessage().rpartition(" in ")[2] for record in caplog.records] == ["1 s", "2 s"]
    assert "ended with exit code 3" in caplog.text


def test_input_that_the_first_one_refuses_starts_no_other() -> None:
    refusing = [sys.executable, "-I", "-S", "-c", ENDS.format(2)]
    with Processes(["0", "1"], lambda *_: refusing, threading.Event()) as running:
        assert not running.start()
        assert running.children[1].process_id is None


def test_all_end_with_the_context_and_one_that_ignores_it_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "END_WITHIN_S", 0.5)
    with served() as (running, _):
        folder = running.children[0].socket.parent
        processes = [killed(running.children[0], signal.SIGSTOP), running.children[1].process_id or 0]
    assert not any(map(is_running, processes))
    assert not folder.exists()


PARENT = """\
import sys, threading, time
from railfab.telemetry.processes import Processes
sys.path.insert(0, {folder!r})
from tests.telemetry.processes.test_processes import command
with Processes(["0", "1"], command, threading.Event()) as running:
    running.start()
    while not all(is_up for _, is_up in running.up()):
        time.sleep(0.02)
    print(*(child.process_id for child in running.children), flush=True)
    threading.Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a parent's death reaches its children on Linux only")
def test_all_end_with_a_parent_that_is_killed(repository: Path) -> None:
    code = PARENT.format(folder=str(repository))
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    children = [int(text) for text in parent.stdout.readline().split()]
    parent.kill()
    parent.wait()
    until(lambda: not any(map(is_running, children)))


def test_an_answer_that_breaks_off_is_none(tmp_path: Path) -> None:
    path = tmp_path / "0"
    code = SHARD.replace("str(len(found))", "str(len(found) + 1)")
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", code, "0", str(path)])
    try:
        until(path.exists)
        asked = ask(path, "/healthz", within_s=10)
    finally:
        process.kill()
        process.wait()
    assert asked.status == 0
    assert asked.problem.startswith("no answer (incompleteread(")
