"""The targets of benchmarks/gnmi_faulty_targets.py in a process, and `railfab collect` that streams from them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.signals import interruptible

from railfab.platforms import platform

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "benchmarks" / "gnmi_faulty_targets.py"
KEPT = ("/interfaces/interface[name=*]/state/counters", "/interfaces/interface[name=*]/state/oper-status")
"""Paths of EOS that the targets serve."""
SLOWED_STOP_S, SLOWED_RUN_S = 0.3, 0.1
"""A slowed collector has a quarter of the time."""


@dataclass
class Targets:
    """Running targets. ports: by name."""

    process: subprocess.Popen[str]
    journal: Path
    ports: dict[str, int]

    def power(self, state: str) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{state}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "OK\n"

    def entries(self) -> list[dict[str, Any]]:
        """The journal so far."""
        lines = self.journal.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]


@contextmanager
def targets(folder: Path, period_s: float, *specs: str) -> Iterator[Targets]:
    """Targets in a process. specs: name and faults of each."""
    journal = folder / "journal.jsonl"
    command = [sys.executable, str(PROGRAM), str(journal), str(period_s), *specs]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = [process.stdout.readline().split() for _ in specs]
            yield Targets(process, journal, {name: int(port) for _, name, port in said})
        finally:
            process.kill()


def mappings(folder: Path) -> Path:
    """A file that drops every subscription of EOS but two."""
    path = folder / "only.yml"
    dropped = [one.path for one in platform("eos").telemetry.subscriptions if one.path not in KEPT]
    lines = "".join(f"      - {{path: '{one}', drop: true}}\n" for one in dropped)
    path.write_text(f"version: 1\nplatforms:\n  eos:\n    subscriptions:\n{lines}")
    return path


def hosts(folder: Path, ports: dict[str, int], ca: Path | None = None) -> Path:
    """A list of these targets. ca: of their certificates; None for targets without TLS."""
    path = folder / "hosts.yml"
    data = f"{{gnmi_port: %d, {f'ca: {ca}' if ca else 'plaintext: true'}, credentials: none}}"
    path.write_text(
        "".join(
            f"{name}: {{hostname: 127.0.0.1, platform: eos, data: {data % port}}}\n" for name, port in ports.items()
        )
    )
    return path


@dataclass
class Collecting:
    """A running collector. said: its log. stopped: from when to when its process was stopped [Unix time]."""

    process: subprocess.Popen[str]
    url: str
    said: list[str]
    stopped: list[tuple[float, float]]

    def scrape(self) -> str:
        with urllib.request.urlopen(self.url, timeout=60) as answer:
            text: str = answer.read().decode()
        return text

    def stop_for(self, seconds: float) -> None:
        """Stop the process, as a machine does that has other work."""
        began_s = time.time()
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            os.kill(self.process.pid, signal.SIGCONT)
            self.stopped.append((began_s, time.time()))

    def slow_for(self, seconds: float) -> None:
        """Let the process run for a moment in turn with a longer one in which it is stopped."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            self.stop_for(SLOWED_STOP_S)
            time.sleep(SLOWED_RUN_S)


@contextmanager
def collecting(folder: Path, ports: dict[str, int], *arguments: str) -> Iterator[Collecting]:
    """`railfab collect` of targets."""
    command = [sys.executable, "-m", "railfab", "collect", "--targets", str(hosts(folder, ports))]
    command += ["--map", str(mappings(folder)), "--port", "0", *arguments]
    process = subprocess.Popen(interruptible(command), stderr=subprocess.PIPE, text=True)
    assert process.stderr
    said: list[str] = []
    try:
        url = ""
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"http://\S+/metrics", line):
                url = found[0]
                break
        assert url, "".join(said)
        threading.Thread(target=said.extend, args=(process.stderr,), daemon=True).start()
        yield Collecting(process, url, said, [])
    finally:
        process.kill()
        process.wait()


def cpu_s(pid: int) -> float:
    """User and system time of a process [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_target(entries: Sequence[dict[str, Any]], target: str) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["target"] == target]
