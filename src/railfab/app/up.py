"""`railfab up`: twin, deploy, jobs, collector, Prometheus and the live view, in one process group."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from railfab.app.children import Child, child
from railfab.app.ports import LOCALHOST, free_ports
from railfab.app.reading import Tally, Totals, reading
from railfab.app.summary import JobSummary, Summary
from railfab.app.view import Scene
from railfab.dashboards import Scrape, prometheus_files, write
from railfab.deploy import apply_all, nornir_of
from railfab.errors import EndpointError, LabError, RailfabError, raise_all
from railfab.fabric import Design, resolve_endpoints
from railfab.intent import Job
from railfab.telemetry import Collector, MetricsServer
from railfab.topology import Role
from railfab.twin.control import Control, connect
from railfab.twin.status import TwinStatus

TWIN_STARTS_WITHIN_S = 30
TICK_S = 0.5
RATE_OVER_S = 2.0
"""Rates are shown over so long: samples of different switches arrive at different moments."""

SETTLE_INTERVALS = 2
"""Sample intervals after a job's start until what a switch sends is of that job alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """jobs: run in turn, turn_s each. for_s: end by itself when it has been shown for so long.

    Ports: 0 is any free one. prometheus_port: 0 starts no Prometheus, None takes PROMETHEUS_PORT or any free one.
    """

    jobs: tuple[Job, ...]
    state: Path
    for_s: float | None = None
    turn_s: float = 10.0
    interval_s: float = 1.0
    twin_port: int = 57400
    metrics_port: int = 9804
    prometheus_port: int | None = None


def up(
    fabric: Design,
    options: Options,
    *,
    show: Callable[[Scene], None],
    say: Callable[[str], None],
    until: Callable[[], AbstractContextManager[threading.Event]],
) -> Summary:
    """Run a whole fabric until told to stop, or for as long as the options say.

    show: called with each frame. say: called with what is being done. until: entered when all of it runs, gives the
    event that ends it. Raises RailfabError when a part does not start or ends by itself.
    """
    began_s = time.monotonic()
    prometheus_port = free_ports(options.metrics_port, options.prometheus_port)
    with ExitStack() as stack:
        say(f"starting the twin of {fabric.intent.fabric}")
        twin = stack.enter_context(child("twin", _twin_command(fabric, options), options.state / "twin.log"))
        control = _connected(twin, options.state, fabric.intent.fabric)
        _deploy(fabric, options, say)
        endpoints = resolve_endpoints(fabric, "twin", options.state)
        collector = Collector(fabric.topology, endpoints, interval_s=options.interval_s)
        server = MetricsServer(collector.registry, collector.healthy, port=options.metrics_port)
        stack.enter_context(server)
        stack.enter_context(collector)
        urls = {"metrics": f"{server.url}/metrics"}
        children = [twin]
        if prometheus_port is not None:
            children.append(_prometheus(stack, options, server.url, control, prometheus_port))
            urls["Prometheus"] = f"http://{LOCALHOST}:{prometheus_port}"
        run = _Run(fabric, options, control, collector, urls, began_s)
        return run.until(stack.enter_context(until()), show, children)


def _twin_command(fabric: Design, options: Options) -> list[str]:
    state, port = str(options.state), str(options.twin_port)
    return [sys.executable, "-m", "railfab", "twin", str(fabric.path), "--state", state, "--port", port]


def _connected(twin: Child, state: Path, fabric: str) -> Control:
    """The twin's control, once it answers."""
    until_s = time.monotonic() + TWIN_STARTS_WITHIN_S
    while time.monotonic() < until_s:
        twin.check()
        try:
            control = connect(state, fabric)
        except EndpointError:
            time.sleep(0.1)
            continue
        if control.status().pid == twin.process.pid:
            return control
        time.sleep(0.1)
    raise LabError("twin", f"did not answer within {TWIN_STARTS_WITHIN_S} s", f"Its output is in {twin.log}")


def _deploy(fabric: Design, options: Options, say: Callable[[str], None]) -> None:
    """Bring every switch of the twin to the intent."""
    nornir = nornir_of(fabric, resolve_endpoints(fabric, "twin", options.state))
    outcomes = apply_all(nornir, fabric.configurations(), lambda name: say(f"deployed {name}"))
    raise_all(
        [LabError(found.name, "was not deployed", str(found.error).rstrip(".")) for found in outcomes if found.failed]
    )


def _prometheus(stack: ExitStack, options: Options, metrics_url: str, control: Control, port: int) -> Child:
    """Prometheus with our configuration."""
    directory = options.state / "prometheus"
    jobs = control.url.removeprefix("http://")
    scrape = Scrape(
        collector=metrics_url.removeprefix("http://"), jobs=jobs, interval_s=round(max(1, options.interval_s))
    )
    write(prometheus_files(scrape), directory)
    command = [
        "prometheus",
        f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        "--storage.tsdb.retention.time=2h",
        f"--web.listen-address={LOCALHOST}:{port}",
    ]
    return stack.enter_context(child("Prometheus", command, directory / "prometheus.log"))


class _Run:
    """The loop: jobs in turn, a frame a tick, and the sums of each turn."""

    def __init__(
        self,
        fabric: Design,
        options: Options,
        control: Control,
        collector: Collector,
        urls: Mapping[str, str],
        began_s: float,
    ) -> None:
        self._options = options
        self._fabric = fabric
        self._control = control
        self._collector = collector
        self._urls = urls
        self._began_s = began_s
        self._tally = Tally(_host_rails(fabric))
        self._shown_s = time.monotonic()
        self._recent: deque[Totals] = deque()
        self._simulated: deque[tuple[float, float]] = deque()
        self._summaries = {job.job: JobSummary(job.job) for job in options.jobs}
        self._ready_s: float | None = None

    def until(self, ended: threading.Event, show: Callable[[Scene], None], children: list[Child]) -> Summary:
        """Run until told to end or until the time is up."""
        for job in cycle(self._options.jobs):
            try:
                if not self._turn(job, ended, show, children):
                    break
            except RailfabError:
                if not ended.wait(TICK_S):  # Ctrl-C at a terminal reaches the children too, and they may be first
                    raise
                break
        last = self._recent[-1] if self._recent else self._read()
        return Summary(
            fabric=self._fabric.intent.fabric,
            ready_s=self._ready_s,
            sessions_up=last.sessions_up,
            sessions=last.sessions,
            series=last.series,
            jobs=tuple(summary for summary in self._summaries.values() if summary.seconds),
        )

    def _turn(self, job: Job, ended: threading.Event, show: Callable[[Scene], None], children: list[Child]) -> bool:
        """One job's turn; whether another follows."""
        self._control.switch_job(job)
        begun_s = time.monotonic()
        settled_s = time.time() + SETTLE_INTERVALS * self._options.interval_s
        first: Totals | None = None
        steps_seen = 0
        try:
            while not (over := ended.wait(TICK_S) or self._time_is_up()):
                now = self._read()
                if first is None and now.heard_s >= settled_s:
                    first = now
                steps_seen = self._watch(job, now, steps_seen, show, children)
                if now.at_s - begun_s >= self._options.turn_s:
                    break
        finally:
            if first is not None:
                self._summaries[job.job].add(first, self._recent[-1])
        return not over

    def _watch(
        self, job: Job, now: Totals, steps_seen: int, show: Callable[[Scene], None], children: list[Child]
    ) -> int:
        """Show a frame and count a step that has ended; the steps so far. Raises RailfabError when a part has ended."""
        for one in children:
            one.check()
        status = self._control.status()
        if status.steps > steps_seen and status.last_step_s is not None:
            steps_seen = status.steps
            self._summaries[job.job].step_s.append(status.last_step_s)
        show(self._scene(job, status, now))
        return steps_seen

    def _time_is_up(self) -> bool:
        for_s = self._options.for_s
        return for_s is not None and time.monotonic() - self._shown_s >= for_s

    def _read(self) -> Totals:
        """The newest totals, remembered for rates."""
        now = self._tally.read(self._collector.snapshot(), time.monotonic())
        self._recent.append(now)
        while now.at_s - self._recent[0].at_s > RATE_OVER_S + TICK_S:
            self._recent.popleft()
        if self._ready_s is None and now.sessions_up == now.sessions > 0 and _moved(self._recent[0], now):
            self._ready_s = now.at_s - self._began_s
        return now

    def _pace(self, now_s: float, simulated_s: float) -> float:
        """Simulated seconds a second, over the same time as the rates."""
        self._simulated.append((now_s, simulated_s))
        while now_s - self._simulated[0][0] > RATE_OVER_S + TICK_S:
            self._simulated.popleft()
        began_s, began_simulated_s = self._simulated[0]
        return (simulated_s - began_simulated_s) / (now_s - began_s) if now_s > began_s else 1.0

    def _scene(self, job: Job, status: TwinStatus, now: Totals) -> Scene:
        return Scene(
            fabric=self._fabric.intent.fabric,
            elapsed_s=now.at_s - self._began_s,
            job=job.job,
            steps=status.steps,
            step_s=status.last_step_s,
            reading=reading(self._recent[0], now),
            rail_capacity_gbps=_rail_capacity_gbps(self._fabric),
            urls=self._urls,
            pace=self._pace(now.at_s, status.simulated_s),
        )


def _moved(before: Totals, after: Totals) -> bool:
    return sum(after.rail_bytes.values()) > sum(before.rail_bytes.values())


def _host_ports(fabric: Design) -> Iterator[tuple[str, str, int, int]]:
    """(switch, interface, rail, Gb/s) of every host-facing port."""
    roles = {node.name: node.role for node in fabric.topology.nodes}
    for port, _, link in fabric.topology.ports():
        if port.rail is not None and roles[port.node] is not Role.HOST:
            yield port.node, port.name, port.rail, link.rate_gbps


def _host_rails(fabric: Design) -> dict[tuple[str, str], int]:
    return {(switch, interface): rail for switch, interface, rail, _ in _host_ports(fabric)}


def _rail_capacity_gbps(fabric: Design) -> float:
    """What the host ports of one rail can carry; rails are alike."""
    return float(sum(rate for _, _, rail, rate in _host_ports(fabric) if rail == 1))
