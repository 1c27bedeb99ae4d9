"""Cost of `railfab up` on 72 switches: time until ready, CPU time, errors of the collector, and how long Ctrl-C takes.

Runs the command as a user does, reads the collector's own metrics, and presses Ctrl-C at the end, or with --stop-at in
the middle of its start. A longer run is a soak test: it fails when a session is down, a target was called stalled, or
anything is left of the run. Figures of several processes are those of railfab, of its twin, and of Prometheus.

    python benchmarks/bench_up.py                               # 60 s after it is ready
    python benchmarks/bench_up.py --seconds 600 --rounds 3
    python benchmarks/bench_up.py --prometheus --interval 10    # with Prometheus, at another sample interval
    python benchmarks/bench_up.py --stop-at deployed            # Ctrl-C once a switch is deployed
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measured import machine

REPOSITORY = Path(__file__).resolve().parent.parent
FABRIC = REPOSITORY / "benchmarks" / "fabrics" / "multi-pod-72.yml"
READY_WITHIN_S = 300.0
END_WITHIN_S = 60.0
SAMPLE = re.compile(r"^(fabric_collector_\w+)\{?([^}]*)\}? (\S+)$", re.MULTILINE)


def metrics(port: int) -> Counter[str]:
    """Sums over all switches of the collector's own metrics; errors and updates also by reason and subscription."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    sums: Counter[str] = Counter()
    for name, labels, value in SAMPLE.findall(text):
        found = re.search(r'(?:reason|subscription)="(\w+)"', labels)
        sums[f"{name}.{found[1]}" if found else name] += float(value)  # type: ignore[assignment]
    return sums


def cpu_s(pid: int) -> float:
    """User and system time of a process so far, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def running(fabric: Path, state: Path, port: int, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """`railfab up`, in which Ctrl-C works though we may run in the background; ended if the benchmark fails."""
    jobs = [str(REPOSITORY / "inventory" / "jobs" / name) for name in ("ring.yml", "incast.yml")]
    ports = ["--twin-port", "0", "--metrics-port", str(port)]
    command = [sys.executable, "-m", "railfab", "up", str(fabric), "--state", str(state), *ports, "--output", "json"]
    process = subprocess.Popen(
        [*command, "--job", jobs[0], "--job", jobs[1], *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # type: ignore[arg-type, return-value]
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=END_WITHIN_S)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_for(process: subprocess.Popen[str], pattern: str) -> str:
    """Read lines of stderr until one matches."""
    assert process.stderr is not None
    until_s = time.monotonic() + READY_WITHIN_S
    seen = []
    for line in process.stderr:
        seen.append(line)
        if re.search(pattern, line):
            return line
        if time.monotonic() > until_s:
            break
    raise SystemExit("".join(["not ready in time, or ended:\n", *seen[-20:]]))


def stop(process: subprocess.Popen[str], state: Path) -> tuple[float, str]:
    """Press Ctrl-C: seconds until the process has ended, and its stdout. Fails when something is left."""
    began_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=END_WITHIN_S)
    seconds = time.monotonic() - began_s
    left = [path.name for path in state.iterdir() if path.name not in ("twin.log", "prometheus")]
    if left:
        raise SystemExit(f"left in the state directory: {', '.join(left)}")
    return seconds, out


def measure(fabric: Path, words: list[str], seconds: float) -> dict[str, Any]:
    """One run: ready, then so many seconds, then Ctrl-C."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, running(fabric, Path(folder), port, words) as process:
        sampling = wait_for(process, "^sampling every").strip()
        wait_for(process, r"bgp (\d+)/\1\b")
        pids = [process.pid, *children(process.pid)]
        ready_cpu_s = [cpu_s(pid) for pid in pids]
        at_first, began_s = metrics(port), time.monotonic()
        before_s = [cpu_s(pid) for pid in pids]
        drain(process, seconds)
        used_s = [cpu_s(pid) - before for pid, before in zip(pids, before_s, strict=True)]
        at_last, took_s = metrics(port), time.monotonic() - began_s
        peaks_mb = [peak_mb(pid) for pid in pids]
        stop_s, out = stop(process, Path(folder))
    summary = json.loads(out)
    updates = at_last["fabric_collector_updates_total.sample"] - at_first["fabric_collector_updates_total.sample"]
    return {
        "sampling": sampling,
        "ready_s": summary["ready_s"],
        "sessions": f"{summary['sessions_up']}/{summary['sessions']}",
        "targets_up": at_last["fabric_collector_session_up"],
        "series": summary["series"],
        "updates_per_s": updates / took_s,
        "cpu_until_ready_s": ready_cpu_s,
        "core_percent": [100 * used / took_s for used in used_s],
        "peak_mb": peaks_mb,
        "lag_s": at_last["fabric_collector_lag_seconds"],
        "errors": {
            name.partition(".")[2]: value
            for name, value in at_last.items()
            if name.startswith("fabric_collector_errors_total.") and value
        },
        "stop_s": stop_s,
        "healthy": summary["healthy"],
    }


def drain(process: subprocess.Popen[str], seconds: float) -> None:
    """Read what the command prints for so long, or its pipe fills and it waits."""
    until_s = time.monotonic() + seconds
    assert process.stderr is not None
    while time.monotonic() < until_s and process.stderr.readline():
        pass


def stop_seconds(fabric: Path, words: list[str], line: str) -> float:
    """Ctrl-C at the first line of stderr that has this text: seconds until the end."""
    with tempfile.TemporaryDirectory() as folder, running(fabric, Path(folder), 0, words) as process:
        wait_for(process, re.escape(line))
        return stop(process, Path(folder))[0]


def written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, list):
        return " + ".join(f"{one:,.1f}" for one in value)
    return str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabric", type=Path, default=FABRIC)
    parser.add_argument("--seconds", type=float, default=60.0, help="measured time of each run")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--interval", type=float, help="sample interval instead of the chosen one [s]")
    parser.add_argument("--prometheus", action="store_true", help="run Prometheus too; it has to be installed")
    parser.add_argument("--stop-at", metavar="TEXT", help="only press Ctrl-C at this line, such as `deployed`")
    options = parser.parse_args()
    words = ["--prometheus-port", str(free_port() if options.prometheus else 0)]
    words += [] if options.interval is None else ["--interval", str(options.interval)]
    print(machine(), flush=True)
    failed = False
    for _ in range(options.rounds):
        if options.stop_at:
            print(f"Ctrl-C at {options.stop_at!r}: {stop_seconds(options.fabric, words, options.stop_at):.1f} s")
            continue
        figures = measure(options.fabric, words, options.seconds)
        for name, value in figures.items():
            print(f"{name:20}", written(value), flush=True)
        failed |= not figures["healthy"] or "stalled" in figures["errors"]
    sys.exit(failed)


if __name__ == "__main__":
    main()
