"""`railfab collect` as an operator runs it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import commands
from tests.signals import interruptible
from tests.telemetry.rack import Rack

from railfab.endpoints import save_endpoints
from railfab.listeners import in_use
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
    with collecting(repository, *arguments) as process:
        _, said = process.communicate(timeout=60)
        return process.returncode, said


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_stops_it(repository: Path, endpoints_file: Path, sign: signal.Signals) -> None:
    with collecting(repository, "--on", str(endpoints_file), *RACK, "--port", "0", "--interval", "0.5") as process:
        assert process.stderr is not None
        url = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/metrics", line)))
        wanted = b'fabric_interface_oper_up{device="pod1-spine1"'
        until_s = time.monotonic() + 20
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


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "targets.tap"


def test_a_list_of_targets_is_enough_and_what_they_send_is_recorded_and_replayed(
    endpoints_file: Path, recording: Path, rack: Rack
) -> None:
    served(endpoints_file, "--record", str(recording))
    for name in tuple(rack.servers):
        rack.kill(name)
    served(endpoints_file, "--replay", str(recording))


def served(endpoints_file: Path, *options: str) -> None:
    """Collect from a list until a port's state is there."""
    command = [sys.executable, "-m", "railfab", "collect", "--targets", str(endpoints_file), "--port", "0", *options]
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
        (("--targets", "none.yml", "--limit", "leaf"), "--on and --limit need the fabric's intent."),
        (("--targets", "none.yml", "--replicas", "2"), "--replicas needs --shard."),
        ((FABRIC, "--shard", "3/3"), "there is no shard 3 of 3"),
        ((FABRIC, "--remote-write", "http://a:b@c/write"), "the address has a user name or a password in it"),
    ],
)
def test_options_that_cannot_be_together_are_refused(arguments: tuple[str, ...], said: str, repository: Path) -> None:
    done = commands.run("collect", *arguments, cwd=repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.replace("\n", " ")


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
