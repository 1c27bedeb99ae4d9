"""The Prometheus metrics of the job and of the twin."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from railfab.intent import Collective
from railfab.metrics import metric
from railfab.twin.clock import Clock
from railfab.units import NS_PER_S
from railfab.workload import OPERATIONS, JobSteps, StagedJob, Step, StepProgress
from railfab.workload.call_times import CallTimes

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STEP = "training_step_duration_seconds"
IDEAL = "training_step_ideal_seconds_total"
COLLECTIVE = "training_collective_duration_seconds"
RUNNING = "training_job_running"
PRESENT_STEP = (
    "training_step_progress_ratio",
    "training_step_present_elapsed_seconds",
    "training_step_present_ideal_seconds",
)
BANDWIDTH = "training_collective_bus_bandwidth_bytes_per_second"

Labels = tuple[str, ...]


class Durations:
    """One histogram of the catalogue, by label values."""

    def __init__(self, name: str) -> None:
        self._metric = metric(name)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, labels: Labels, *durations_s: float) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(BUCKETS_S) + 1))
        for duration_s in durations_s:
            counts[bisect_left(BUCKETS_S, duration_s)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + sum(durations_s)

    def family(self) -> Metric:
        family = HistogramMetricFamily(self._metric.name, self._metric.help, labels=self._metric.labels)
        bounds = (*map(str, BUCKETS_S), "+Inf")
        for labels, counts in self._counts.items():
            buckets = [(bound, float(below)) for bound, below in zip(bounds, accumulate(counts), strict=True)]
            family.add_metric(labels, buckets, sum_value=self._sums[labels])
        return family


class JobMetrics(Collector):
    """The job's steps as the training_* metrics: each step counts once, on every host of the job.

    progress: of the step that runs; None where it is not known.
    """

    def __init__(self, fabric: str, progress: Callable[[], StepProgress | None] = lambda: None) -> None:
        self._fabric, self._progress = fabric, progress
        self._lock = threading.Lock()
        self._steps, self._collectives = Durations(STEP), Durations(COLLECTIVE)
        self._bandwidth: dict[Labels, float] = {}
        self._ideal_s: dict[Labels, float] = {}
        self._job: StagedJob | None = None
        self._names: dict[str, None] = {}
        self._seen = 0
        self._counted: dict[Labels, int] = {}

    def begin(self, job: StagedJob | None) -> None:
        """Count for another job, or for none, from its beginning."""
        with self._lock:
            self._job, self._seen = job, 0
            self._counted.clear()
            if job is not None:
                self._names[job.job] = None

    def take(self, status: JobSteps) -> None:
        """Count the steps that have ended since the last time."""
        with self._lock:
            if self._job is None or status.job != self._job.job or status.steps <= self._seen:
                return
            fresh = min(status.steps - self._seen, len(status.recent))
            self._seen = status.steps
            for step in status.recent[-fresh:]:
                self._count(self._job, step)

    def take_calls(self, calls: Sequence[CallTimes]) -> None:
        """Count the operations of the present step that have ended since the last time: a step may take minutes."""
        with self._lock:
            if self._job is not None:
                self._count_calls(self._job, calls)

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            yield self._steps.family()
            yield self._collectives.family()
            ideal = CounterMetricFamily(IDEAL, metric(IDEAL).help, labels=metric(IDEAL).labels)
            for labels, seconds in self._ideal_s.items():
                ideal.add_metric(labels, seconds)
            yield ideal
            bandwidth = GaugeMetricFamily(BANDWIDTH, metric(BANDWIDTH).help, labels=metric(BANDWIDTH).labels)
            for labels, bytes_per_s in self._bandwidth.items():
                bandwidth.add_metric(labels, bytes_per_s)
            yield bandwidth
            yield self._running()
            yield from self._present_step()

    def _present_step(self) -> Iterator[Metric]:
        """The step that runs, which of a large model takes minutes: its share, its time so far, and the ideal one."""
        progress = None if self._job is None else self._progress()
        values = (None, None, None) if progress is None else (progress.share, progress.elapsed_s, progress.ideal_s)
        for name, value in zip(PRESENT_STEP, values, strict=True):
            family = GaugeMetricFamily(name, metric(name).help, labels=metric(name).labels)
            if value is not None and self._job is not None:
                family.add_metric((self._fabric, self._job.job), value)
            yield family

    def _running(self) -> Metric:
        """Whether each job that was started has steps before it."""
        entry = metric(RUNNING)
        family = GaugeMetricFamily(entry.name, entry.help, labels=entry.labels)
        for name in self._names:
            job = self._job
            has_steps = job is not None and job.job == name and (job.repeat is None or self._seen < job.repeat)
            family.add_metric((self._fabric, name), float(has_steps))
        return family

    def _count(self, job: StagedJob, step: Step) -> None:
        for host in job.hosts:
            self._steps.observe((self._fabric, job.job, host), step.duration_s)
            if job.collective is not None and step.communication_s > 0:
                labels = (self._fabric, job.job, host, job.collective.op)
                self._collectives.observe(labels, step.communication_s)
                self._bandwidth[labels] = bus_bytes(job.collective, len(job.hosts)) / step.communication_s
        if job.ideal_s is not None:
            key = (self._fabric, job.job)
            self._ideal_s[key] = self._ideal_s.get(key, 0.0) + step.ideal_s
        self._count_calls(job, step.calls)
        self._counted.clear()

    def _count_calls(self, job: StagedJob, calls: Sequence[CallTimes]) -> None:
        """Count the operations of a step that are not counted yet: the last ones of each kind."""
        for each in calls:
            kind = (each.op, *each.hosts)
            fresh = each.seconds[self._counted.get(kind, 0) :].tolist()
            self._counted[kind] = max(len(each.seconds), self._counted.get(kind, 0))
            for host in each.hosts:
                series = (self._fabric, job.job, host, each.op)
                if fresh:
                    self._collectives.observe(series, *fresh)
                    self._bandwidth[series] = each.bus_bytes_per_s


def bus_bytes(collective: Collective, ranks: int) -> float:
    """The bytes that a collective moves over the link of each rank, as in nccl-tests."""
    return OPERATIONS[collective.op].bus_factor(ranks) * collective.bytes


class TwinMetrics(Collector):
    """Lag of simulated time behind the wall clock, and the error that stopped the simulation.

    counted_ns: simulated time of the counters that the switches show [ns].
    """

    def __init__(self, clock: Clock, fabric: str, counted_ns: Callable[[], int]) -> None:
        self._clock = clock
        self._fabric = fabric
        self._counted_ns = counted_ns

    def collect(self) -> Iterator[Metric]:
        for name, value_ns in (("simulated", self._counted_ns()), ("slipped", self._clock.slipped_ns)):
            entry = metric(f"fabric_twin_{name}_seconds_total")
            family = CounterMetricFamily(entry.name, entry.help, labels=("fabric",))
            family.add_metric((self._fabric,), value_ns / NS_PER_S)
            yield family
        entry = metric("fabric_twin_failure_info")
        failure = GaugeMetricFamily(entry.name, entry.help, labels=entry.labels)
        if self._clock.failure:
            failure.add_metric((self._fabric, self._clock.failure), 1.0)
        yield failure


class ConfigurationMetrics(Collector):
    """The number of lines of each switch's configuration that have no effect.

    unmodelled: these lines, by switch.
    """

    def __init__(self, unmodelled: Callable[[], Mapping[str, Sequence[str]]], fabric: str) -> None:
        self._unmodelled = unmodelled
        self._fabric = fabric

    def collect(self) -> Iterator[Metric]:
        entry = metric("fabric_twin_unmodelled_leaves")
        family = GaugeMetricFamily(entry.name, entry.help, labels=entry.labels)
        for device, lines in self._unmodelled().items():
            family.add_metric((device, self._fabric), len(lines))
        yield family


def registry(*collectors: Collector) -> CollectorRegistry:
    """A registry of these collectors, without the metrics of the process."""
    made = CollectorRegistry()
    for collector in collectors:
        made.register(collector)
    return made
