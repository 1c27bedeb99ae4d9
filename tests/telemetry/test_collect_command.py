"""`railfab collect` as an operator runs it."""

from __future__ import annotations

import gzip
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.signals import interruptible, is_running
from tests.telemetry.rack import Rack

from railfab.cli.from_gnmic import from_gnmic
from railfab.cli.target_check import check
from railfab.endpoints import save_endpoints
from railfab.process.listeners import in_use
from railfab.telemetry.targets import Shard

FABRIC = "inventory/fabrics/pod64.yml"
RACK = ("--limit", "pod1-seg1-leaf1,pod1-spine1")
"""The switches of the rack."""


@pytest.fixture
def endpoints_file(rack: Rack, tmp_path: Path) -> Path:
    path = tmp_path / "pod64.twin.json"
    save_endpoints(path, rack.endpoints())
    return path


@contextmanager
def collecting(repository: Path, *arguments: str, log: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "railfab", *log, "collect", str(repository / FABRIC), *arguments]
    process = subprocess.Popen(interruptible(command), stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def refused(repository: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and what was said, of a run that ends by itself."""
    done = commands.run("collect", repository / FABRIC, *arguments)
    return done.returncode, done.stderr


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_stops_it(repository: Path, endpoints_file: Path, sign: signal.Signals) -> None:
    with collecting(repository, "--on", str(endpoints_file), *RACK, "--port", "0", "--interval", "0.5") as process:
        assert process.stderr is not None
        url = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/metrics", line)))
        wanted = b'fabric_interface_oper_up{device="pod1-spine1"'
        until_s = time.monotonic() + 20
        assert os.sched_getscheduler(process.pid) == os.SCHED_BATCH
        while wanted not in urllib.request.urlopen(url, timeout=5).read():
            assert time.monotonic() < until_s
            time.sleep(0.2)
        process.send_signal(sign)
        assert process.wait(10) == 0
        said = process.stderr.read()
        assert "Traceback" not in said
        assert "correct horse" not in said


def test_its_log_is_json_where_a_log_store_reads_it(repository: Path, endpoints_file: Path) -> None:
    options = ("--on", str(endpoints_file), *RACK, "--port", "0", "--interval", "0.5")
    with collecting(repository, *options, log=("--log-format", "json")) as process:
        assert process.stderr is not None
        found: list[dict[str, str]] = []
        while not any(record.get("device") == "pod1-spine1" for record in found):
            found.append(json.loads(process.stderr.readline()))
    assert any("/metrics" in record["message"] for record in found)
    assert {record["level"] for record in found} <= {"info", "warning"}


def test_what_is_wrong_with_lists_is_said_at_the_start(tmp_path: Path) -> None:
    lists = [tmp_path / "one.yml", tmp_path / "two.yml"]
    for number, path in enumerate(lists):
        path.write_text(f"leaf1: {{hostname: 192.0.2.{number}, platform: srlinux, data: {{credentials: none}}}}\n")
    url = "http://127.0.0.1:1/sd"
    options = [part for where in (*lists, url) for part in ("--targets", str(where))]
    command = [sys.executable, "-m", "railfab", "collect", *options, "--port", "0"]
    with subprocess.Popen(interruptible(command), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = "".join(takewhile(lambda line: "/metrics" not in line, process.stderr))
        process.terminate()
    assert f"{url}: " in said
    assert "The last list is kept: 0 targets." in said
    assert "leaf1: is in several lists with different content. The first one counts" in said


def test_the_page_of_targets_counts_series_that_nobody_has_scraped(repository: Path, endpoints_file: Path) -> None:
    with collecting(repository, "--on", str(endpoints_file), *RACK, "--port", "0", "--interval", "0.5") as process:
        assert process.stderr is not None
        url = next(found[1] for line in process.stderr if (found := re.search(r"(http://\S+)/metrics", line)))
        until_s = time.monotonic() + 60
        while not all(one["series"] for one in json.loads(urllib.request.urlopen(f"{url}/targets").read())):
            assert time.monotonic() < until_s
            time.sleep(0.2)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "targets.tap"


def test_a_list_of_targets_is_enough_and_what_they_send_is_recorded_and_replayed(
    endpoints_file: Path, recording: Path, rack: Rack
) -> None:
    served(endpoints_file, "--record", str(recording))
    for name in tuple(rack.servers):
        rack.kill(name)
    rack.secret.unlink()
    served(endpoints_file, recording=recording)


def served(endpoints_file: Path, *options: str, recording: Path | None = None) -> None:
    """Collect from a list, or a recording of it, until a port's state is there."""
    verb = ["collect"] if recording is None else ["collect", "replay", str(recording)]
    command = [sys.executable, "-m", "railfab", *verb, "--targets", str(endpoints_file), "--port", "0", *options]
    process = subprocess.Popen(interruptible([*command, "--interval", "0.5"]), stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        url = next(
            found[0] for line in process.stderr if (found := re.search(r"2 targets: (http://\S+)/metrics", line))
        )
        url = url.removeprefix("2 targets: ").removesuffix("/metrics")
        until_s = time.monotonic() + 20
        while b'fabric_interface_oper_up{device="pod1-spine1"' not in urllib.request.urlopen(f"{url}/metrics").read():
            assert time.monotonic() < until_s
            time.sleep(0.2)
        ready = json.load(urllib.request.urlopen(f"{url}/readyz"))
        assert ready == {"collecting": True, str(endpoints_file): True}
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name the fabric's intent, or targets with --targets."),
        (("--targets", "none.yml"), "none.yml: no such file"),
        (("--targets", "none.yml", "--limit", "leaf"), "Name the fabric's intent, or leave out --limit."),
        (("--targets", "none.yml", "--drift", "5", "--state", "x"), "intent, or leave out --drift, --state."),
        ((FABRIC, "--shard", "3/3"), "there is no shard 3 of 3"),
        ((FABRIC, "--processes", "many"), "--processes many: is no number of processes. Use auto, or 1 to 256."),
        ((FABRIC, "--processes", "257"), "--processes 257: is no number of processes. Use auto, or 1 to 256."),
        ((FABRIC, "--processes", "2", "--record", "x"), "--record needs a single process"),
        (("-", "--processes", "2"), "--processes needs the intent as a file"),
        (("--targets", "none.yml", "--processes", "2", "--port", "0"), "none.yml: no such file"),
        ((FABRIC, "--push-label", "replica=a"), "Add --remote-write, --kafka or --nats, or leave out --push-label."),
        ((FABRIC, "--push-interval", "10"), "Add --remote-write, --kafka or --nats, or leave out --push-interval."),
        (
            ("replay", "inventory/fabrics/pod64.yml", FABRIC),
            "pod64.yml: is not a recording. Name the file that a tap",
        ),
        (("replay", "none.gz", FABRIC), "none.gz: no such recording."),
        (("replay", "none.gz"), "Name the fabric's intent, or targets with --targets."),
        (("replay", "none.gz", FABRIC, "--receiver", "fast"), "No such option: --receiver"),
        ((FABRIC, "--remote-write", "http://a:b@c/write"), "the address has a user name or a password in it"),
    ],
)
def test_options_that_cannot_be_together_are_refused(arguments: tuple[str, ...], said: str, repository: Path) -> None:
    done = commands.run("collect", *arguments, cwd=repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((FABRIC, "--check"), "collect --check: is part of another command. Use `railfab targets check FILE`."),
        (
            (FABRIC, "--replay", "tap.gz"),
            "collect --replay: is part of another command. Use `railfab collect replay RECORDING FILE`.",
        ),
        (
            (FABRIC, "--replay=tap.gz"),
            "collect --replay: is part of another command. Use `railfab collect replay RECORDING FILE`.",
        ),
        (
            ("--from-gnmic", "g.yml", "--write", "x"),
            "collect --from-gnmic: is part of another command. Use `railfab import gnmic FILE`.",
        ),
        (
            ("--write", "x"),
            "collect --write: is part of another command. Use `railfab import gnmic FILE --write DIR`.",
        ),
        ((FABRIC, "--receiver", "pygnmi"), "--receiver pygnmi: is no receiver. Use grpc, which reads with grpcio."),
        ((FABRIC, "--receiver=pygnmi"), "--receiver pygnmi: is no receiver. Use grpc, which reads with grpcio."),
    ],
)
def test_a_former_spelling_is_answered_by_the_present_one(arguments: tuple[str, ...], said: str) -> None:
    done = commands.run("collect", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"railfab: {said}\n")


def test_the_parts_of_collect_are_commands_with_few_options(repository: Path) -> None:
    for command in (("collect", "replay"), ("targets", "check"), ("import", "gnmic")):
        assert f"Usage: railfab {' '.join(command)} [OPTIONS]" in commands.run(*command, "--help").stdout
    assert "Usage: railfab collect  [OPTIONS] [FILE]" in commands.run("collect", "--help").stdout
    assert len(inspect.signature(check).parameters) == 8
    assert len(inspect.signature(from_gnmic).parameters) == 4


def test_a_port_in_use_is_one_line(repository: Path, endpoints_file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refused(repository, "--on", str(endpoints_file), *RACK, "--port", str(port))
        wanted = in_use(port)
    assert (code, said) == (
        2,
        f"railfab: 127.0.0.1:{port}: cannot be listened on ({wanted}). End what uses it, or choose another --port.\n",
    )


def test_without_addresses_it_says_where_they_could_stand(repository: Path, tmp_path: Path) -> None:
    code, said = refused(repository)
    assert (code, said.count("\n")) == (2, 1)
    assert "contains no addresses of switches. Add `inventory` to it, or use --on twin" in said
    code, said = refused(repository, "--on", "twin", "--state", str(tmp_path))
    assert (code, said.count("\n")) == (2, 1)
    assert "no twin of pod64 is running" in said


def test_a_shard_reads_the_configurations_of_its_own_switches(repository: Path, endpoints_file: Path) -> None:
    with collecting(repository, "--on", str(endpoints_file), *RACK, "--shard", "0/2", "--port", "0") as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "/metrics" in line)
        url = next(iter(re.findall(r"http://\S+", said)))
        text = urllib.request.urlopen(url, timeout=5).read().decode()
    compared = re.findall(r'^fabric_configuration_checked_timestamp_seconds{device="(.*?)"', text, re.MULTILINE)
    assert compared == [name for name in RACK[1].split(",") if Shard(0, 2).owns(name)] != []
    assert said.startswith("1 of 8 switches of pod64: ")


def test_processes_share_the_targets_and_end_with_their_parent(endpoints_file: Path, rack: Rack) -> None:
    command = [sys.executable, "-m", "railfab", "--log-format", "json", "collect", "--targets", str(endpoints_file)]
    shared = ["--interval=0.5", "--processes", "2", "--shard", "0/1", "--port", "0", "--max-series-per-target", "1"]
    process = subprocess.Popen(interruptible([*command, *shared]), stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        url = next(found[1] for line in process.stderr if (found := re.search(r"2 processes: (\S+)/http_sd", line)))
        said = Lines(process.stderr)
        until_s = time.monotonic() + 60
        while (status := status_of(f"{url}/targets"))[0] != 200 or {one["state"] for one in status[1]} != {"up"}:
            assert time.monotonic() < until_s
            time.sleep(0.2)
        assert sorted(one["name"] for one in status[1]) == sorted(rack.servers)
        children = children_of(process.pid)
        assert len(children) == 2
        assert not any("correct horse" in Path(f"/proc/{child}/cmdline").read_text() for child in children)
        first, second, parent = json.load(urllib.request.urlopen(f"{url}/http_sd"))
        assert [entry["labels"].get("shard") for entry in (first, second, parent)] == ["0.0", "0.1", None]
        devices = [device for entry in (first, second) for device in devices_up(entry)]
        assert sorted(devices) == sorted(rack.servers)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert not any(map(is_running, children))
        logged = [json.loads(line)["message"] for line in said.rest()]  # the log format too is passed on
        assert {"shard 0/2", "shard 1/2"} <= {line.partition(":")[0] for line in logged}
        assert not [line for line in logged if "ended" in line]
    finally:
        process.kill()
        process.wait()


class Lines:
    """Reads what a process writes until its end, so that it never waits."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._found: list[str] = []
        self._thread = threading.Thread(target=lambda: self._found.extend(stream), daemon=True)
        self._thread.start()

    def rest(self) -> list[str]:
        self._thread.join(10)
        return self._found


def status_of(url: str) -> tuple[int, list[dict[str, str]]]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as answer:
        return answer.code, []


def children_of(process_id: int) -> list[int]:
    return [
        int(text) for text in Path(f"/proc/{process_id}/task").glob("*/children") for text in text.read_text().split()
    ]


def devices_up(entry: dict[str, Any]) -> list[str]:
    """The devices whose session is up, in the scrape that an entry of service discovery names."""
    request = urllib.request.Request(f"http://{entry['targets'][0]}{entry['labels']['__metrics_path__']}")
    request.add_header("Accept-Encoding", "gzip")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        text = gzip.decompress(answer.read()).decode()
    up = re.findall(r'^fabric_collector_session_up{device="(.*?)",fabric="pod64"} 1$', text, re.MULTILINE)
    series = 'fabric_collector_series{{device="{}",fabric="pod64"}} 1\n'
    assert all(series.format(name) in text for name in up), "options are passed on"
    return up
