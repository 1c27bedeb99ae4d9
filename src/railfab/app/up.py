"""`railfab up`: twin, deploy, jobs, collector, Prometheus and the live view, in one process group."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from railfab.app.children import Child, Children
from railfab.app.ports import LOCALHOST, free_ports
from railfab.app.reading import METRICS, FabricTotals, Totals, reading
from railfab.app.sampling import Sampling
from railfab.app.summary import JobSummary, Summary
from railfab.app.view import Scene
from railfab.dashboards import Scrape, prometheus_files, write
from railfab.deploy import apply_all, new_change, nornir_of
from railfab.errors import EndpointError, LabError, RailfabError, raise_all
from railfab.fabric import Design, resolve_endpoints
from railfab.findings import DesignCode
from railfab.intent import Job
from railfab.telemetry import SWITCH_INTERVAL_S, Collector, MetricsServer
from railfab.topology import Role
from railfab.twin.control import Control, connect
from railfab.twin.files import claimed
from railfab.twin.status import TwinStatus

TWIN_STARTS_WITHIN_S = 30.0
TWIN_STARTS_WITHIN_S_PER_SWITCH = 0.5
POLL_S = 0.1
TICK_S = 0.5
"""Least time between two frames [s]; at long sample intervals there are two frames an interval."""
RATE_INTERVALS = 2
"""Sample intervals that rates are averaged over: samples of different switches arrive at different moments."""
SETTLE_INTERVALS = 2
"""Sample intervals after a job's start until what a switch sends is of that job alone."""
TURN_INTERVALS = 5
"""Sample intervals of a job's turn, at least TURN_S."""
TURN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """jobs: run in turn, turn_s each; None is long enough for the sample interval. for_s: end by itself after so long.

    Ports: 0 is any free one. prometheus_port: 0 starts no Prometheus, None takes PROMETHEUS_PORT or any free one.
    accept: codes of the design's errors that are accepted.
    """

    jobs: tuple[Job, ...]
    state: Path
    sampling: Sampling
    for_s: float | None = None
    turn_s: float | None = None
    twin_port: int = 57400
    metrics_port: int = 9804
    prometheus_port: int | None = None
    accept: tuple[DesignCode, ...] = ()

    @property
    def interval_s(self) -> float:
        return self.sampling.interval_s

    @property
    def frame_s(self) -> float:
        """Time between two frames."""
        return max(TICK_S, self.interval_s / 2)

    @property
    def job_turn_s(self) -> float:
        """Time that one job runs before the next."""
        return max(TURN_S, TURN_INTERVALS * self.interval_s) if self.turn_s is None else self.turn_s


class _StopRequested(Exception):
    """A stop was requested before all of it ran."""


def up(
    fabric: Design,
    options: Options,
    *,
    show: Callable[[Scene], None],
    report: Callable[[str], None],
    stop_requested: threading.Event,
) -> Summary | None:
    """Run a whole fabric until a stop is requested, or for as long as the options say; None when it never ran.

    show: called with each frame. report: called with each step of the start. Raises RailfabError when a part does not
    start or ends by itself. A stop ends every part within 5 s.
    """
    _check_turn(options)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    prometheus_port = free_ports(options.metrics_port, options.prometheus_port)
    start = _Start(fabric, options, report, stop_requested, began_s=time.monotonic())
    with (
        _twin_files_removed(options.state, fabric.intent.fabric),
        Children(stop_requested) as children,
        ExitStack() as stack,
    ):
        try:
            run = start.start_all(stack, children, prometheus_port)
            return run.until(stop_requested, show)
        except _StopRequested:
            return None
        except RailfabError:
            if stop_requested.wait(TICK_S):  # Ctrl-C at a terminal reaches the children too, and they may be first
                return None
            raise


def _check_turn(options: Options) -> None:
    """Raises LabError for turns so short that nothing is measured in them."""
    least_s = (SETTLE_INTERVALS + 1) * options.interval_s
    if options.job_turn_s < least_s:
        problem = f"is too short: samples every {options.interval_s:g} s measure a job after {least_s:g} s"
        raise LabError(f"--turn {options.job_turn_s:g}", problem, f"Use {least_s:g} or more, or a shorter --interval")


@contextmanager
def _twin_files_removed(state: Path, fabric: str) -> Iterator[None]:
    """Remove at the end the files of a twin that was killed; those of a twin that still runs stay."""
    try:
        yield
    finally:
        if state.is_dir():
            with suppress(LabError), claimed(state, fabric):
                pass


class _Start:
    """The parts in the order in which they start."""

    def __init__(
        self,
        fabric: Design,
        options: Options,
        report: Callable[[str], None],
        stop_requested: threading.Event,
        *,
        began_s: float,
    ) -> None:
        self._fabric = fabric
        self._options = options
        self._report = report
        self._stop_requested = stop_requested
        self._began_s = began_s

    def start_all(self, stack: ExitStack, children: Children, prometheus_port: int | None) -> _Run:
        """Start everything. Raises _StopRequested when a stop is requested before it has finished."""
        fabric, options = self._fabric, self._options
        self._report(f"starting the twin of {fabric.intent.fabric}")
        twin = children.start("twin", self._twin_command(), options.state / "twin.log")
        control = self._connect(twin)
        self._deploy()
        self._report(str(options.sampling))
        endpoints = resolve_endpoints(fabric, "twin", options.state)
        collector = Collector(fabric.topology, endpoints, interval_s=options.interval_s)
        server = MetricsServer(collector.registry, collector.healthy, port=options.metrics_port)
        stack.enter_context(server)
        stack.enter_context(collector)
        urls = {"metrics": f"{server.url}/metrics"}
        if prometheus_port is not None:
            self._start_prometheus(children, server.url, control, prometheus_port)
            urls["Prometheus"] = f"http://{LOCALHOST}:{prometheus_port}"
        return _Run(fabric, options, control, collector, children, urls, self._began_s)

    def _twin_command(self) -> list[str]:
        state, port = str(self._options.state), str(self._options.twin_port)
        accept = [f"--accept={code}" for code in self._options.accept]
        return [
            *(sys.executable, "-m", "railfab", "twin", str(self._fabric.path), "--state", state, "--port", port),
            *accept,
        ]

    def _connect(self, twin: Child) -> Control:
        """The control of the twin, once it answers."""
        within_s = TWIN_STARTS_WITHIN_S + TWIN_STARTS_WITHIN_S_PER_SWITCH * len(self._fabric.models)
        until_s = time.monotonic() + within_s
        while time.monotonic() < until_s:
            twin.check()
            with suppress(EndpointError):
                control = connect(self._options.state, self._fabric.intent.fabric)
                if control.status().pid == twin.process.pid:
                    return control
            if self._stop_requested.wait(POLL_S):
                raise _StopRequested
        raise LabError("twin", f"did not answer within {within_s:.0f} s", f"Its output is in {twin.log}")

    def _deploy(self) -> None:
        """Bring every switch of the twin to the intent."""
        endpoints = resolve_endpoints(self._fabric, "twin", self._options.state)
        outcomes = apply_all(
            nornir_of(self._fabric, endpoints, self._stop_requested),
            self._fabric.configurations(self._options.accept),
            new_change(),
            lambda name: self._report(f"deployed {name}"),
            stop_requested=self._stop_requested,
            abandoned=self._stop_requested,
        )
        if self._stop_requested.is_set():
            raise _StopRequested
        raise_all(
            [LabError(one.name, "was not deployed", str(one.error).rstrip(".")) for one in outcomes if one.failed]
        )

    def _start_prometheus(self, children: Children, metrics_url: str, control: Control, port: int) -> None:
        """Start Prometheus with our configuration."""
        directory = self._options.state / "prometheus"
        scrape = Scrape(
            collector=metrics_url.removeprefix("http://"),
            jobs=control.url.removeprefix("http://"),
            interval_s=round(max(1, self._options.interval_s)),
        )
        write(prometheus_files(scrape), directory)
        command = [
            "prometheus",
            f"--config.file={directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'data'}",
            "--storage.tsdb.retention.time=2h",
            f"--web.listen-address={LOCALHOST}:{port}",
        ]
        children.start("Prometheus", command, directory / "prometheus.log")


class _Run:
    """The loop: jobs in turn, frames, and the sums of each turn."""

    def __init__(
        self,
        fabric: Design,
        options: Options,
        control: Control,
        collector: Collector,
        children: Children,
        urls: Mapping[str, str],
        began_s: float,
    ) -> None:
        self._options = options
        self._fabric = fabric
        self._control = control
        self._collector = collector
        self._children = children
        self._urls = urls
        self._began_s = began_s
        self._totals = _totals(fabric)
        self._shown_s = time.monotonic()
        self._recent: deque[Totals] = deque()
        self._simulated: deque[tuple[float, float]] = deque()
        self._summaries = {job.job: JobSummary(job.job) for job in options.jobs}
        self._ready_s: float | None = None

    def until(self, stop_requested: threading.Event, show: Callable[[Scene], None]) -> Summary:
        """Run until a stop is requested or the time is up. Raises _StopRequested for a stop before the first frame."""
        for job in cycle(self._options.jobs):
            try:
                if not self._turn(job, stop_requested, show):
                    break
            except RailfabError:
                if not stop_requested.wait(TICK_S):
                    raise
                break
        if not self._recent and stop_requested.is_set():
            raise _StopRequested
        last = self._recent[-1] if self._recent else self._read()
        return Summary(
            fabric=self._fabric.intent.fabric,
            interval_s=self._options.interval_s,
            ready_s=self._ready_s,
            sessions_up=last.sessions_up,
            sessions=last.sessions,
            series=last.series,
            jobs=tuple(summary for summary in self._summaries.values() if summary.seconds),
        )

    def _turn(self, job: Job, stop_requested: threading.Event, show: Callable[[Scene], None]) -> bool:
        """Run a job for one turn; whether another follows."""
        self._control.switch_job(job)
        began_s = time.monotonic()
        settled_s = time.time() + SETTLE_INTERVALS * self._options.interval_s
        first: Totals | None = None
        steps_seen = 0
        try:
            while not (over := stop_requested.wait(self._options.frame_s) or self._time_is_up()):
                now = self._read()
                if first is None and now.oldest_sample_s >= settled_s:
                    first = now
                steps_seen = self._watch(job, now, steps_seen, show)
                if now.at_s - began_s >= self._options.job_turn_s:
                    break
        finally:
            if first is not None:
                self._summaries[job.job].add(first, self._recent[-1])
        return not over

    def _watch(self, job: Job, now: Totals, steps_seen: int, show: Callable[[Scene], None]) -> int:
        """Show a frame and count a step that has ended; the steps so far. Raises RailfabError when a part has ended."""
        self._children.check()
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
        """Add the newest samples to the totals, and keep them for rates."""
        now = self._totals.read(self._collector.snapshot(METRICS), time.monotonic())
        self._recent.append(now)
        while now.at_s - self._recent[0].at_s > self._rates_over_s():
            self._recent.popleft()
        if self._ready_s is None and now.sessions_up == now.sessions > 0 and _moved(self._recent[0], now):
            self._ready_s = now.at_s - self._began_s
        return now

    def _rates_over_s(self) -> float:
        return RATE_INTERVALS * max(1.0, self._options.interval_s) + self._options.frame_s

    def _pace(self, now_s: float, simulated_s: float) -> float:
        """Simulated seconds a second, averaged over the same time as the rates."""
        self._simulated.append((now_s, simulated_s))
        while now_s - self._simulated[0][0] > self._rates_over_s():
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
            sampling=str(self._options.sampling),
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


def _totals(fabric: Design) -> FabricTotals:
    """Totals of nothing yet, with the sessions and switches that the intent has."""
    host_rails = {(switch, interface): rail for switch, interface, rail, _ in _host_ports(fabric)}
    sessions = sum(len(model.neighbors) for model in fabric.models.values())
    return FabricTotals(host_rails, sessions=sessions, targets=len(fabric.models))


def _rail_capacity_gbps(fabric: Design) -> float:
    """The capacity of the host ports of one rail; all rails have the same."""
    return float(sum(rate for _, _, rail, rate in _host_ports(fabric) if rail == 1))
