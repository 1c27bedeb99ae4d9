"""What the agent of a host costs beside node_exporter: CPU at a scrape a second, and memory, in turns on one tree.

    python -m benchmarks.bench_agent [SECONDS [TURNS]]

The tree is that of a host with eight ConnectX-7 (`tests.hostagent.trees`), with as many statistics as mlx5 has. Both
are asked each second over a connection that stays open; CPU is user and system time of all threads and child processes.
"""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from tests.hostagent.trees import CABLES, HostTree, host_tree
from tests.ports import free_port

RAILS = 8
SETTLED_S = 3.0
DEFAULTS = ("65", "3")
"""Seconds of a run, which has a comparison of settings in it, and turns."""
STATISTICS = 450
"""Statistics that `ethtool -S` prints of a ConnectX-7 with the default number of channels, about."""
ENCODINGS: Mapping[str, Mapping[str, str]] = {"plain": {}, "gzip": {"Accept-Encoding": "gzip"}}
"""Headers: gzip is what Prometheus asks for, and what the agent does not do."""


@dataclass(frozen=True, slots=True)
class ExporterCost:
    """CPU of a run [% of a core], largest resident memory [MiB], and the bytes of an answer."""

    cpu_percent: float
    peak_mib: float
    answer_bytes: int


def commands(tree: HostTree, port: int) -> Mapping[str, Sequence[str]]:
    """Each exporter's command line, serving on a port."""
    agent = [sys.executable, "-m", "railfab.hostagent", f"--root={tree.root}", f"--data={tree.data}", f"--port={port}"]
    node = ["prometheus-node-exporter", f"--path.sysfs={tree.path('/sys')}", f"--web.listen-address=127.0.0.1:{port}"]
    collectors = ["--collector.disable-defaults", "--collector.infiniband", "--collector.netclass"]
    return {"agent": agent, "agent --standalone": [*agent, "--standalone"], "node_exporter": [*node, *collectors]}


@contextmanager
def running(command: Sequence[str]) -> Iterator[int]:
    """The process of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def cpu_s(pid: int) -> float:
    """User and system time of all threads, and of the child processes that have ended [s]."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    running_ns = sum(int(thread.read_text().split()[0]) for thread in threads)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return running_ns / 1e9 + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid: int) -> float:
    """The largest resident set so far."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measured(command: Sequence[str], port: int, seconds: int, headers: Mapping[str, str]) -> ExporterCost:
    """The cost of an exporter that is asked once a second."""
    with running(command) as pid:
        time.sleep(SETTLED_S)
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        size = asked(client, headers)
        began_s, before_s = time.monotonic(), cpu_s(pid)
        for second in range(1, seconds + 1):
            size = asked(client, headers)
            time.sleep(max(0.0, began_s + second - time.monotonic()))
        used_s, lasted_s = cpu_s(pid) - before_s, time.monotonic() - began_s
        client.close()
        return ExporterCost(100 * used_s / lasted_s, peak_mib(pid), size)


def asked(client: http.client.HTTPConnection, headers: Mapping[str, str]) -> int:
    """Bytes of an answer."""
    client.request("GET", "/metrics", headers=dict(headers))
    answer = client.getresponse()
    if answer.status != 200:
        raise SystemExit(f"{client.host}:{client.port} answered {answer.status}")
    return len(answer.read())


def pad_statistics(tree: HostTree) -> None:
    """Add statistics that the agent does not expose, up to the number of a real NIC."""
    for interface in list(CABLES)[:RAILS]:
        path = tree.captured("ethtool", "-S", interface)
        text = path.read_text()
        names = (f"rx{queue}_{name}" for queue in range(99) for name in ("packets", "bytes", "csum_complete", "wake"))
        missing = STATISTICS - text.count("\n")
        path.write_text(
            text + "".join(f"     {name}: 123456789\n" for name, _ in zip(names, range(missing), strict=False))
        )


def main() -> None:
    """Measure each exporter in turns, and print a row for each."""
    seconds, turns = (int(word) for word in (*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        tree = host_tree(Path(folder), "connectx-7", rails=RAILS)
        pad_statistics(tree)
        port = free_port()
        costs: dict[tuple[str, str], list[ExporterCost]] = {}
        for _ in range(turns):
            for name, command in commands(tree, port).items():
                for encoding, headers in ENCODINGS.items():
                    costs.setdefault((name, encoding), []).append(measured(command, port, seconds, headers))
    print("| exporter | asked for | CPU, each turn [% of a core] | mean | memory [MiB] | bytes of an answer |")
    print("|---|---|---|---|---|---|")
    for (name, encoding), made in costs.items():
        turns_text = ", ".join(f"{cost.cpu_percent:.2f}" for cost in made)
        row = (mean(cost.cpu_percent for cost in made), max(cost.peak_mib for cost in made), made[-1].answer_bytes)
        print(f"| {name} | {encoding} | {turns_text} | {row[0]:.2f} | {row[1]:.1f} | {row[2]:,} |")


if __name__ == "__main__":
    main()
