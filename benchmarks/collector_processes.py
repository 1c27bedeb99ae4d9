"""A replay server and a collector beside it, each a process on a core of its own, and what /proc says of the latter."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from railfab.gnmi.certificates import Authority

HERE = Path(__file__).parent
FIRST_PORT = 20_000 + os.getpid() % 10_000
"""Ports from here on are taken, where they are free; below those that systems give to clients."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SCRAPE_TIMEOUT_S = 300.0
READY_WITHIN_S = 300.0
GNMIC = shutil.which("gnmic")
HARDLY = 0.05
"""Share of a core below which a collector has nothing left to do."""
IDLE_CHECKS = 3


@dataclass(slots=True)
class Replay:
    """A running replay server. targets: name, address and port of each. ended: what it has said of ended streams."""

    targets: list[tuple[str, str, int]]
    ca: str | None
    ended: list[dict[str, float]] = field(default_factory=list)

    def wait_for(self, streams: int, timeout_s: float) -> None:
        """Wait until so many streams have ended."""
        until_s = time.monotonic() + timeout_s
        while len(self.ended) < streams:
            if time.monotonic() > until_s:
                raise SystemExit(f"the replay server has ended {len(self.ended)} of {streams} streams")
            time.sleep(0.1)


@contextmanager
def replay(folder: Path, *arguments: str, targets: int, tls: bool = False) -> Iterator[Replay]:
    """A replay server on the first core."""
    command = [sys.executable, str(HERE / "gnmi_replay_server.py"), *arguments]
    command += ["--base-port", str(free_ports(targets)), "--targets", str(targets)]
    command += certificates(folder) if tls else ()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(0))
    assert server.stdout is not None
    lines = [server.stdout.readline().split() for _ in range(targets)]
    if any(line[:1] != ["LISTEN"] for line in lines):
        raise SystemExit("the replay server does not start; its engine needs the package hpack")
    running = Replay(
        [(name, host, int(port)) for _, name, host, port, *_ in lines], str(folder / "ca.pem") if tls else None
    )
    threading.Thread(target=lambda: running.ended.extend(map(json.loads, server.stdout or ())), daemon=True).start()
    try:
        yield running
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def certificates(folder: Path) -> tuple[str, ...]:
    """Arguments for TLS."""
    authority = Authority("benchmark")
    identity = authority.issue("replay")
    for name, pem in (("ca", authority.certificate), ("cert", identity.certificate), ("key", identity.key)):
        (folder / f"{name}.pem").write_bytes(pem)
    return ("--tls-cert", str(folder / "cert.pem"), "--tls-key", str(folder / "key.pem"))


def pinned(core: int) -> Callable[[], None] | None:
    """Keep server and collector apart where there are cores enough."""
    if (os.cpu_count() or 1) < 2:
        return None
    return lambda: os.sched_setaffinity(0, {core})


def free_ports(count: int) -> int:
    """The first of so many ports in a row that are free."""
    for first in range(FIRST_PORT, 65_536 - count, count):
        with ExitStack() as opened:
            try:
                for port in range(first, first + count):
                    opened.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return first
    raise SystemExit("no ports are free")


@dataclass(slots=True)
class Running:
    """A collector on the second core. metrics_port: where it is scraped. ready_cpu_s, idle_mb: CPU time until it could
    begin, and its memory then; None where it cannot be told to wait.
    """

    process: subprocess.Popen[str]
    metrics_port: int
    ready_cpu_s: float | None = None
    idle_mb: float | None = None

    def cpu_s(self) -> float:
        """User and system time of all threads so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def memory_mb(self, name: str) -> float:
        """VmRSS or VmHWM."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0]) / 1024

    def wait_until_idle(self) -> None:
        """Wait until it has worked off what it was sent: for a while, since others may keep it from its core."""
        before, idle = self.cpu_s(), 0
        while idle < IDLE_CHECKS:
            time.sleep(2.0)
            now = self.cpu_s()
            idle = idle + 1 if now - before < 2.0 * HARDLY else 0
            before = now

    def scrape(self) -> int:
        """Scrape it as Prometheus does; return the number of samples."""
        address = f"http://127.0.0.1:{self.metrics_port}/metrics"
        request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=SCRAPE_TIMEOUT_S) as response:
            lines = gzip.GzipFile(fileobj=io.BytesIO(response.read()))
        return sum(not line.startswith(b"#") for line in lines)

    def say(self) -> int:
        """Send it a line; return the number that it answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def collector(kind: str, served: Replay, folder: Path) -> Iterator[Running]:
    """A collector that streams from all targets: `fast`, `grpc`, `interpreted`, `floor` or `gnmic`."""
    running = _gnmic(served, folder) if kind == "gnmic" else _client(kind, served)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def _client(kind: str, served: Replay) -> Running:
    receiver = "fast" if kind == "interpreted" else kind
    port = free_ports(1)
    asked = {"receiver": receiver, "ca": served.ca, "targets": served.targets, "metrics_port": port}
    running = Running(_started([sys.executable, str(HERE / "collector_client.py")], _environment(kind)), port)
    assert running.process.stdin is not None
    assert running.process.stdout is not None
    running.process.stdin.write(json.dumps(asked) + "\n")
    running.process.stdin.flush()
    if running.process.stdout.readline().strip() != "READY":
        raise SystemExit(f"{kind} does not start")
    running.ready_cpu_s, running.idle_mb = running.cpu_s(), running.memory_mb("VmRSS")
    running.say()
    return running


def _environment(kind: str) -> Mapping[str, str]:
    return os.environ | ({"RAILFAB_INTERPRETED": "1"} if kind == "interpreted" else {})


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=pinned(1)
    )


def _gnmic(served: Replay, folder: Path) -> Running:
    """gnmic with its Prometheus output, in the mode `subscribe`, where a slow output holds the targets back."""
    port = free_ports(1)
    config = {
        "encoding": "proto",
        "timeout": "10s",
        "insecure": served.ca is None,
        "targets": {name: {"address": f"{host}:{port}"} | _trust(served.ca) for name, host, port in served.targets},
        "subscriptions": {
            "counters": {
                "paths": ["/interfaces/interface/state/counters"],
                "mode": "stream",
                "stream-mode": "sample",
                "sample-interval": "1s",
            }
        },
        "outputs": {
            "prom": {
                "type": "prometheus",
                "listen": f"127.0.0.1:{port}",
                "path": "/metrics",
                "expiration": "1h",
                "num-workers": 1,
                "buffer-size": 100,
                "export-timestamps": False,
            }
        },
    }
    file = folder / "gnmic.yaml"
    file.write_text(json.dumps(config))  # JSON is YAML
    command = [str(GNMIC), "--config", str(file), "subscribe", "--quiet"]
    return Running(_started(command, os.environ | {"GOMAXPROCS": "1"}), port)


def _trust(ca: str | None) -> dict[str, str]:
    return {"tls-ca": ca} if ca else {}
