"""`railfab up`: twin, deploy, jobs, collector, Prometheus and the live view, in one process group."""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from math import inf
from pathlib import Path

from railfab.app.children import Child, Children
from railfab.app.configuration_check import CHECK_INTERVAL_S, ConfigurationCheck
from railfab.app.ports import LOCALHOST, free_ports
from railfab.app.rates import FabricRates, Rates, SimulatedClock
from railfab.app.reading import METRICS, FabricTotals, Intended, Totals
from railfab.app.sampling import Sampling
from railfab.app.summary import JobSummary, RunSummary
from railfab.app.turn import Turn
from railfab.app.twin_metrics import TwinMetricsRelay
from railfab.app.view import JobState, Scene
from railfab.dashboards import Scrape, prometheus_files, write
from railfab.deploy import apply_all, new_change, nornir_of
from railfab.endpoints import Endpoints
from railfab.errors import EndpointError, LabError, RailfabError, raise_all
from railfab.fabric import Design, resolve_endpoints, session_endpoints
from railfab.findings import DesignCode
from railfab.intent import Job
from railfab.intent.document import input_for
from railfab.telemetry import Collector, MetricsServer, fabric_collector
from railfab.text.counted import counted
from railfab.text.remedies import install
from railfab.topology import Role
from railfab.twin import twin_command
from railfab.twin.control import Control, connect
from railfab.twin.files import claimed
from railfab.twin.status import TwinStatus
from railfab.units import COLLECTOR_PORT
from railfab.workload import RecordedJob

STARTS_WITHIN_S = 30.0
STARTS_WITHIN_S_PER_SWITCH = 0.5
"""Time in which the twin answers on a machine that is not busy [s]; after it, the wait is reported."""
DEPLOYS = 3
"""Attempts to deploy a switch."""
SWITCH_INTERVAL_S = 0.001
"""For sys.setswitchinterval: the view is drawn in another thread than that of the event loop."""
POLL_S = 0.1
TICK_S = 0.5
"""Least time between two frames [s]; at long sample intervals there are two frames an interval."""
RATE_INTERVALS = 2
"""Sample intervals that rates are averaged over; a switch whose last sample is older is stale."""
SETTLE_INTERVALS = 2
"""Sample intervals after a job's end within which every switch that answers has sent what it counted."""
ARRIVED_WITHIN_S = 0.1
"""Simulated time in which what was on its way at a job's end arrives [s]."""
ARRIVES_WITHIN_S = 30.0
"""Time that a slow machine gets for it [s]."""
PACE_S = 5.0
"""Time over which the pace of simulated time is averaged."""
HISTORY = 240
"""Readings that are kept for the view."""
TURN_INTERVALS = 5
"""Sample intervals of a job's turn, at least TURN_S."""
TURN_S = 10.0
NO_JOB = "none"
"""What is shown as the job of a fabric on which none can run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """jobs: run in turn, turn_s each; None is long enough for the sample interval, and for the first step of a job with
    a model, or of another tool. Without jobs only the switches run.
    for_s: end by itself after so long.

    Ports: 0 is any free one. prometheus_port: 0 starts no Prometheus, None takes PROMETHEUS_PORT or any free one;
    page_port: likewise of the live page.
    cpu: how much of a core the simulation may use. accept: codes of the design's errors that are accepted.
    """

    jobs: tuple[Job | RecordedJob, ...]
    state: Path
    sampling: Sampling
    for_s: float | None = None
    turn_s: float | None = None
    twin_port: int = 57400
    metrics_port: int = COLLECTOR_PORT
    prometheus_port: int | None = None
    page_port: int | None = None
    cpu: float = 1.0
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
        """Time that one job runs before the next; a single one without an end runs on."""
        if self.turn_s is not None:
            return self.turn_s
        repeats = [job.repeat if isinstance(job, Job) else None for job in self.jobs]
        return inf if repeats == [None] else max(TURN_S, TURN_INTERVALS * self.interval_s)


class _StopRequested(Exception):
    """A stop was requested before all of it ran."""


def up(
    fabric: Design,
    options: Options,
    *,
    show: Callable[[Scene], None],
    report: Callable[[str], None],
    stop_requested: threading.Event,
) -> RunSummary | None:
    """Run a whole fabric until a stop is requested, or for as long as the options say; None when it never ran.

    show: called with each frame. report: called with each step of the start. Raises RailfabError when a part does not
    start or ends by itself. A stop ends every part within 5 s.
    """
    _check_turn(options)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    count = len(fabric.topology.switches()) if options.twin_port else 0
    twin_ports = range(options.twin_port, options.twin_port + count)
    prometheus_port = free_ports(options.metrics_port, options.prometheus_port, twin_ports)
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
        self._change = new_change()

    def start_all(self, stack: ExitStack, children: Children, prometheus_port: int | None) -> _Run:
        """Start everything. Raises _StopRequested when a stop is requested before it has finished."""
        fabric, options = self._fabric, self._options
        self._report(f"starting the twin of {fabric.intent.fabric}")
        command = twin_command(
            fabric.path, options.state, port=options.twin_port, accept=options.accept, cpu=options.cpu
        )
        twin = children.start("twin", command, options.state / "twin.log", input_for(fabric.path))
        control = self._connect(twin)
        self._deploy()
        self._report(str(options.sampling))
        endpoints = resolve_endpoints(fabric, "twin", options.state)
        collector = fabric_collector(
            fabric.topology, endpoints, classes=fabric.traffic_classes, interval_s=options.interval_s
        )
        server = MetricsServer(collector.exposition, collector, port=options.metrics_port)
        stack.enter_context(server)
        stack.enter_context(collector)
        check = ConfigurationCheck(
            fabric,
            endpoints,
            state=options.state,
            interval_s=CHECK_INTERVAL_S,
            has_samples=partial(collector.wait_until_up, 0),
        )
        collector.registry.register(stack.enter_context(check))
        collector.registry.register(TwinMetricsRelay(options.state, fabric.intent.fabric))
        urls = self._start_page(stack, collector, check, endpoints)
        urls["metrics"] = f"{server.url}/metrics"
        if prometheus_port is not None:
            self._start_prometheus(children, server.url, prometheus_port)
            urls["Prometheus"] = f"http://{LOCALHOST}:{prometheus_port}"
        return _Run(fabric, options, control, collector, children, urls, self._began_s)

    def _connect(self, twin: Child) -> Control:
        """The control of the twin, once it answers. Raises LabError when it ends before."""
        every_s = STARTS_WITHIN_S + STARTS_WITHIN_S_PER_SWITCH * len(self._fabric.models)
        began_s = time.monotonic()
        report_s = began_s + every_s
        while (control := self._answering(twin)) is None:
            twin.check()
            if (now_s := time.monotonic()) > report_s:
                waited_s = now_s - began_s
                self._report(f"no answer of the twin for {waited_s:.0f} s, as on a busy machine; see {twin.log}")
                report_s = now_s + every_s
            if self._stop_requested.wait(POLL_S):
                raise _StopRequested
        return control

    def _answering(self, twin: Child) -> Control | None:
        """The control of the twin; None while it does not answer."""
        with suppress(EndpointError):
            control = connect(self._options.state, self._fabric.intent.fabric)
            if control.status().pid == twin.process.pid:
                return control
        return None

    def _deploy(self) -> None:
        """Bring every switch of the twin to the intent. A switch of a busy machine may answer in a later attempt."""
        endpoints = session_endpoints(self._fabric, "twin", self._options.state)
        errors = self._deploy_once(endpoints)
        for _ in range(DEPLOYS - 1):
            if errors:
                self._report(f"trying {counted(len(errors), 'switch')} again")
                nodes = tuple(node for node in endpoints.nodes if node.name in errors)
                errors = self._deploy_once(replace(endpoints, nodes=nodes))
        raise_all([LabError(name, "was not deployed", error.rstrip(".")) for name, error in errors.items()])

    def _deploy_once(self, endpoints: Endpoints) -> dict[str, str]:
        """Deploy these switches; the errors of those that failed, by name."""
        outcomes = apply_all(
            nornir_of(self._fabric, endpoints, self._stop_requested),
            self._fabric.configurations(self._options.accept),
            self._change,
            lambda outcome: self._report(f"{'not ' if outcome.failed else ''}deployed {outcome.name}"),
            stop_requested=self._stop_requested,
            abandoned=self._stop_requested,
        )
        if self._stop_requested.is_set():
            raise _StopRequested
        return {each.name: str(each.error).removeprefix(f"{each.name}: ") for each in outcomes if each.failed}

    def _start_page(
        self, stack: ExitStack, collector: Collector, check: ConfigurationCheck, endpoints: Endpoints
    ) -> dict[str, str]:
        """Start the live page, where it is wanted and installed; its URL, by name."""
        options = self._options
        if options.page_port == 0:
            return {}
        if find_spec("starlette") is None or find_spec("uvicorn") is None:
            self._report(f"no live page: starlette and uvicorn are not installed. {install('page')}")
            return {}
        from railfab.app.page import CollectedFabric, listener_of_up

        collected = CollectedFabric(
            design=self._fabric,
            endpoints=endpoints,
            collector=collector,
            check=check,
            interval_s=options.interval_s,
            on="twin",
            state=options.state,
        )
        url = stack.enter_context(collected.page(listener_of_up(options.page_port))).url
        self._report(f"live page: {url}")
        return {"page": url}

    def _start_prometheus(self, children: Children, metrics_url: str, port: int) -> None:
        """Start Prometheus with our configuration."""
        directory = self._options.state / "prometheus"
        scrape = Scrape(
            collectors=(metrics_url.removeprefix("http://"),),
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
        self._shown_s = time.monotonic()
        intended = intended_of(fabric)
        self._totals = FabricTotals(intended)
        self._clock = SimulatedClock()
        self._rates = Rates(intended, self._window_s)
        self._history: deque[FabricRates] = deque(maxlen=HISTORY)
        self._rail_capacity_gbps = rail_capacity_gbps(fabric)
        self._switch_capacity_gbps = switch_capacity_gbps(intended)
        self._summaries = {job.job: JobSummary(job.job) for job in options.jobs}
        self._last: Totals | None = None
        self._ready_s: float | None = None
        self._overloaded_s = 0.0

    def until(self, stop_requested: threading.Event, show: Callable[[Scene], None]) -> RunSummary:
        """Run until a stop is requested or the time is up. Raises _StopRequested for a stop before the first frame."""
        for job in cycle(self._options.jobs or (None,)):
            try:
                if not self._turn(job, stop_requested, show):
                    break
            except RailfabError:
                if not stop_requested.wait(TICK_S):
                    raise
                break
        if self._last is None:
            raise _StopRequested
        return RunSummary(
            fabric=self._fabric.intent.fabric,
            interval_s=self._options.interval_s,
            ready_s=self._ready_s,
            sessions_up=self._last.sessions_up,
            sessions=self._last.sessions,
            targets_up=self._last.targets_up,
            targets=self._last.targets,
            pace=self._clock.pace(),
            overloaded_s=self._overloaded_s,
            series=self._last.series,
            jobs=tuple(summary for summary in self._summaries.values() if summary.seconds),
        )

    def _turn(
        self, job: Job | RecordedJob | None, stop_requested: threading.Event, show: Callable[[Scene], None]
    ) -> bool:
        """Run a job for one turn, then none until every switch has sent what it counted; whether another follows."""
        self._totals.begin_job()
        self._rates.restart()
        self._control.switch_job(job)
        summary = self._summaries[job.job] if job else JobSummary(NO_JOB)
        turn = Turn(summary, self._last, self._read_clock().simulated_s)
        until_s = time.monotonic() + self._options.job_turn_s
        while time.monotonic() < until_s or self._awaits_step():
            if self._is_over(stop_requested):
                return False
            self._next_frame(turn, show)
        self._control.switch_job(None)
        ended_s = self._read_clock().simulated_s
        turn.end(ended_s)
        return self._passes(ended_s + ARRIVED_WITHIN_S, turn, stop_requested, show)

    def _awaits_step(self) -> bool:
        """Whether the first step of the present job is under way, which of a large model takes longer than a turn."""
        return self._options.turn_s is None and self._status.steps == 0 and self._status.step_share is not None

    def _passes(
        self, simulated_s: float, turn: Turn, stop_requested: threading.Event, show: Callable[[Scene], None]
    ) -> bool:
        """Show frames until every switch that answers has sent a sample of this simulated time; false for a stop."""
        has_passed, until_s = False, time.monotonic() + ARRIVES_WITHIN_S
        while time.monotonic() < until_s:
            if self._is_over(stop_requested):
                return False
            if self._next_frame(turn, show).counted_since(simulated_s):
                break
            if not has_passed and self._clock.simulated_s >= simulated_s:
                has_passed = True
                until_s = time.monotonic() + SETTLE_INTERVALS * self._options.interval_s + self._options.frame_s
        return True

    def _is_over(self, stop_requested: threading.Event) -> bool:
        """Wait for the next frame; whether a stop is requested or the time is up instead."""
        for_s = self._options.for_s
        time_is_up = for_s is not None and time.monotonic() - self._shown_s >= for_s
        return stop_requested.wait(self._options.frame_s) or time_is_up

    def _next_frame(self, turn: Turn, show: Callable[[Scene], None]) -> Totals:
        """Read the collector and the twin, count for the turn, and show. Raises RailfabError when a part has ended."""
        self._children.check()
        series, at_s = self._collector.snapshot(METRICS), time.time()
        status = self._read_clock()
        now = self._totals.read(series, at_s)
        turn.count(now, status)
        if self._last is not None:
            is_loaded = now.sent_bytes > self._last.sent_bytes or not self._options.jobs
            if self._ready_s is None and now.complete and is_loaded:
                self._ready_s = time.monotonic() - self._began_s
            if now.overloaded:
                self._overloaded_s += now.at_s - self._last.at_s
        self._last = now
        show(self._scene(turn, status, self._rates.add(now)))
        return now

    def _read_clock(self) -> TwinStatus:
        """The status of the twin; notes simulated time."""
        self._status = self._control.status()
        self._clock.add(time.time(), self._status.simulated_s)
        return self._status

    @property
    def _window_s(self) -> float:
        return RATE_INTERVALS * max(1.0, self._options.interval_s) + self._options.frame_s

    @property
    def _history_s(self) -> float:
        """Time between two readings of the history."""
        return max(1.0, self._options.interval_s)

    def _scene(self, turn: Turn, status: TwinStatus, reading: FabricRates) -> Scene:
        if not self._history or reading.totals.at_s - self._history[-1].totals.at_s >= self._history_s:
            self._history.append(reading)
        state = JobState(
            job=turn.job,
            steps=status.steps,
            step_s=status.last_step_s,
            communication_s=status.last_communication_s,
            share=status.step_share,
            elapsed_s=status.step_elapsed_s,
            ideal_s=status.step_ideal_s,
            ended=turn.ended,
        )
        return Scene(
            fabric=self._fabric.intent.fabric,
            elapsed_s=time.monotonic() - self._began_s,
            job=state,
            jobs=tuple(self._summaries.values()),
            reading=reading,
            history=tuple(self._history),
            history_s=self._history_s,
            rail_capacity_gbps=self._rail_capacity_gbps,
            interval_s=self._options.interval_s,
            pace=self._clock.pace(PACE_S),
            urls=self._urls,
            failures=tuple(filter(None, (status.failure, *status.stalled))),
            switch_capacity_gbps=self._switch_capacity_gbps,
        )


def _host_ports(fabric: Design) -> Iterator[tuple[str, str, int, int]]:
    """(switch, interface, rail, Gb/s) of every host-facing port."""
    roles = {node.name: node.role for node in fabric.topology.nodes}
    for port, _, link in fabric.topology.ports():
        if port.rail is not None and roles[port.node] is not Role.HOST:
            yield port.node, port.name, port.rail, link.rate_gbps


def intended_of(fabric: Design) -> Intended:
    """The switches, host ports and BGP session ends of an intent."""
    return Intended(
        switches=frozenset(fabric.models),
        host_rails={
            (switch, interface): rail for switch, interface, rail, _ in _host_ports(fabric) if switch in fabric.models
        },
        sessions=frozenset(
            (name, str(neighbor.peer)) for name, model in fabric.models.items() for neighbor in model.neighbors
        ),
        port_gbps={
            (port.node, port.name): link.rate_gbps
            for port, _, link in fabric.topology.ports()
            if port.node in fabric.models
        },
    )


def rail_capacity_gbps(fabric: Design) -> dict[int, float]:
    """The capacity of the host ports of each rail."""
    found: dict[int, float] = defaultdict(float)
    for _, _, rail, rate in _host_ports(fabric):
        found[rail] += rate
    return found


def switch_capacity_gbps(intended: Intended) -> dict[str, float]:
    """What all ports of each switch can transmit."""
    found: dict[str, float] = defaultdict(float)
    for (switch, _), rate in intended.port_gbps.items():
        found[switch] += rate
    return found
