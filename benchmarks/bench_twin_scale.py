"""What a large twin of a platform costs: its start, the first deploy, one that changes nothing, a QoS Set, collection.

    python benchmarks/bench_twin_scale.py srlinux                   # 256 switches
    python benchmarks/bench_twin_scale.py srlinux --switches 1024
    python benchmarks/bench_twin_scale.py eos --collect 60
    python benchmarks/bench_twin_scale.py srlinux --collect 180 --late 120      # then the collector gets little CPU

`railfab twin FILE` and the commands that use it are processes of their own, as for a user; CPU is user and system time,
interpreter and imports included, of the twin and of the command. A switch is up when its port accepts connections.
QoS Sets change a WRED threshold of SR Linux switches over gNMI, each on another switch.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measured import Cost, as_installed, cost, machine
from platform_fabric import MODELS, intent
from twin_process import Process, endpoints, twin

from railfab.endpoints import Endpoint, read_credentials
from railfab.fabric import design
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges

ROUNDS = 20
RAILFAB = (sys.executable, "-m", "railfab")
IDLE_S = 5.0
CHANGED, FINDINGS = 0, 1


class Costs:
    """Prints what each step has cost the twin and the command."""

    def __init__(self, process: Process, switches: int) -> None:
        self._process = process
        self._switches = switches

    def show(self, step: str, twin_s: float, command: Cost | None = None) -> None:
        own_s = command.cpu_s if command else 0.0
        figures = f"twin {twin_s:7.2f} s"
        if command:
            figures += f"  command {own_s:7.2f} s {command.peak_mb:6.0f} MB"
        a_switch = (twin_s + own_s) / self._switches
        print(f"{step:14} {figures}  a switch {a_switch:.4f} s  twin {self._process.resident_mb():.0f} MB", flush=True)

    def of_command(self, step: str, run: Callable[[], Cost]) -> None:
        """Run a command and show what it and the twin have used meanwhile."""
        before_s = self._process.cpu_s()
        command = run()
        self.show(step, self._process.cpu_s() - before_s, command)

    def of_process(self, step: str, pid: int, wait: Callable[[], object]) -> None:
        """Wait, and show what a running command and the twin have used meanwhile."""
        before_s, command, began_s = self._process.cpu_s(), Process(pid), time.monotonic()
        command_s = command.cpu_s()
        wait()
        used_s, wall_s = command.cpu_s() - command_s, time.monotonic() - began_s
        self.show(step, self._process.cpu_s() - before_s, Cost(cpu_s=used_s, wall_s=wall_s, peak_mb=command.peak_mb()))


def wait_until_up(nodes: Sequence[Endpoint]) -> None:
    """Connect to each switch."""
    for node in nodes:
        port = node.gnmi_port or node.ssh_port
        assert port is not None
        with socket.create_connection((node.host, port), timeout=60):
            pass


def qos_sets(path: Path, nodes: Sequence[Endpoint], process: Process) -> float:
    """CPU-s of the twin for one QoS Set, less what it uses when idle."""
    models = design(path).models
    before_s = process.cpu_s()
    time.sleep(IDLE_S)
    idle = (process.cpu_s() - before_s) / IDLE_S
    used_s = 0.0
    for number, node in enumerate(nodes[:ROUNDS]):
        qos = models[node.name].qos
        assert qos is not None
        slope = f"/qos/buffer-management/queue-management-profile[name={qos.profiles[0].name}]/wred/wred-slope"
        slope += "[traffic-type=all][drop-probability=all]"
        with BlockingGnmiClient(node, read_credentials(node)) as client:
            client.capabilities()
            before_s, began_s = process.cpu_s(), time.monotonic()
            client.set(SetChanges(update=((slope, {"min-threshold": str(150_000 + number)}),)))
            used_s += process.cpu_s() - before_s - idle * (time.monotonic() - began_s)
    return used_s / ROUNDS


@contextmanager
def collector(path: Path, state: Path, interval_s: int) -> Iterator[Collector]:
    """`railfab collect`, as a user starts it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    command = [*RAILFAB, "collect", str(path), "--on", "twin", "--state", str(state), "--port", str(port)]
    command += ["--drift", "0", "--interval", str(interval_s)]
    with (state / "collector").open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=as_installed())
    try:
        yield Collector(process, port, state / "collector")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


@dataclass(frozen=True, slots=True)
class Collector:
    """A collector in a process of its own. said: the file of its log."""

    process: subprocess.Popen[bytes]
    port: int
    said: Path

    def sums(self) -> Counter[str]:
        """Its own metrics, summed over the switches."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=120) as answer:
            text = answer.read().decode()
        sums: Counter[str] = Counter()
        for name, labels, value in re.findall(r"^fabric_collector_(\w+)\{?([^}]*)\}? (\S+)$", text, re.MULTILINE):
            reason = re.search(r'reason="(\w+)"', labels)
            sums[f"{name} {reason[1]}" if reason else name] += float(value)  # type: ignore[assignment]
        return sums

    def throttle(self, seconds: float) -> None:
        """Let it run for a fifth of each of so many seconds only."""
        for _ in range(math.ceil(seconds)):
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(0.8)
            self.process.send_signal(signal.SIGCONT)
            time.sleep(0.2)


def collect(path: Path, state: Path, options: argparse.Namespace, costs: Costs) -> None:
    """Collect for so long, and then with little CPU."""
    with collector(path, state, options.interval) as running:
        costs.of_process("collection", running.process.pid, lambda: time.sleep(options.collect))
        show_collected(running.sums(), running.said.read_text())
        if options.late:
            said = len(running.said.read_text())
            costs.of_process("late", running.process.pid, lambda: running.throttle(options.late))
            show_collected(running.sums(), running.said.read_text()[said:])


def show_collected(sums: Counter[str], said: str) -> None:
    print(f"  {sums['session_up']:.0f} sessions, {sums['reconnects_total']:.0f} reconnects,", end=" ")
    print(f"{sums['updates_total']:,.0f} updates, {sums['lag_seconds']:.1f} s late,", end=" ")
    print(f"overloaded {sums['overloaded']:.0f}", json.dumps({n: v for n, v in sums.items() if "errors" in n and v}))
    lines = said.splitlines()
    warnings = [line for line in lines if " WARNING " in line or " ERROR " in line]
    print("\n".join([f"  {line}" for line in warnings[:8]]))
    print(f"  {len(lines)} lines, {len(warnings)} of them warnings", flush=True)


def measure(path: Path, state: Path, platform: str, options: argparse.Namespace) -> None:
    words = ["--configured"] if options.configured else []
    with twin(path, state, *words) as process:
        nodes = endpoints(path, state, process)
        wait_until_up(nodes)
        costs = Costs(process, len(nodes))
        costs.show("up", process.cpu_s())
        command = [*RAILFAB, "deploy", str(path), "--on", "twin", "--yes", "--state", str(state)]
        env = as_installed()
        for step in options.deploys * ["deploy"]:
            costs.of_command(step, lambda: cost(command, state, env))
        if platform == "srlinux":
            costs.show("QoS Set", qos_sets(path, nodes, process) * len(nodes))
        if options.collect:
            collect(path, state, options, costs)
        print(f"most memory of the twin: {process.peak_mb():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform", choices=sorted(MODELS), nargs="?", default="srlinux")
    parser.add_argument("--switches", type=int, choices=(256, 640, 1024), default=256)
    parser.add_argument("--configured", action="store_true", help="start with configured switches")
    parser.add_argument("--deploys", type=int, default=2)
    parser.add_argument("--collect", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--interval", type=int, default=10, metavar="SECONDS", help="between two samples of a counter")
    parser.add_argument("--late", type=float, default=0.0, metavar="SECONDS", help="then collect with little CPU")
    options = parser.parse_args()
    print(f"{options.platform}, {options.switches} switches: {machine()}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        measure(intent(state, options.platform, switches=options.switches), state, options.platform, options)


if __name__ == "__main__":
    main()
