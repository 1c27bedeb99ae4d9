"""The collector: all targets of a fabric in one event loop, in one thread."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Any, Self

from prometheus_client import CollectorRegistry

from railfab.compiled import WHY_INTERPRETED
from railfab.endpoints import Endpoint, Endpoints, read_credentials
from railfab.errors import EndpointError, RailfabError, one_per_problem, raise_all
from railfab.gnmi.tls import address_of, context_of
from railfab.metrics import Metric
from railfab.platforms import TelemetryMap, has_platform, of_twin, platform
from railfab.telemetry.exposition import FabricExposition, Snapshot
from railfab.telemetry.fleet import Fleet
from railfab.telemetry.health import SessionState
from railfab.telemetry.intended import NOTHING_INTENDED, IntendedSeries, intended_series, switch_names
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.push import Pusher
from railfab.telemetry.receive.choice import receiver as made_receiver
from railfab.telemetry.receive.contract import Receiver
from railfab.telemetry.replay import RecordingReplay
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.sinks.contract import Labels
from railfab.telemetry.sinks.queued import QueuedSink
from railfab.telemetry.status import Parts, TargetStatus, target_statuses
from railfab.telemetry.targets import WHOLE, Diff, Loader, Share, TargetSpec, targets_of_intent
from railfab.telemetry.tasks import end_tasks
from railfab.telemetry.traffic_classes import NO_CLASSES, TrafficClasses, named_by_classes, roce_classes
from railfab.telemetry.warm import compile_kernels
from railfab.topology import Topology

logger = logging.getLogger(__name__)

INTERPRETED_FACTOR = 80
"""How many times longer decoding takes where numba is not installed; measured in benchmarks/collector.md."""
BLOCKED_S = 30.0
"""An event loop that did not run for so long does not collect."""
POLL_S = 0.05
NO_TELEMETRY = TelemetryMap(rules=(), subscriptions=())
"""Of a platform that railfab does not know."""
NO_MAPS: Mapping[str, TelemetryMap] = MappingProxyType({})
END_WITHIN_S = 2.0
PUSH_S = 10.0
FLUSH_WITHIN_S = 5.0
"""Time for what is queued to leave at the end."""
NO_METRICS: Mapping[str, Metric] = MappingProxyType({})
"""Time for all sessions to end; what runs longer is logged and left."""


class Collector:
    """Streams from targets in a thread of its own; a context manager.

    exposition: the samples, for a metrics server. registry: where others add metrics to it. fleet: the sessions.

    specs: targets that are there from the start. intended: of the intent, exposed for the switches that it owns,
    whether they answer or not. interval_s: how often a target samples. receiver: one, or the name of one of
    `receive.choice.RECEIVERS`. loaders: of further targets, which come and go. share: which of all these targets are
    streamed by this collector. sinks: what samples are pushed to every push_s, with push_labels besides their own.
    own: metrics of users.
    """

    def __init__(
        self,
        specs: Sequence[TargetSpec],
        intended: IntendedSeries = NOTHING_INTENDED,
        *,
        interval_s: float = 2.0,
        policy: RetryPolicy | None = None,
        receiver: str | Receiver = "auto",
        loaders: Sequence[Loader] = (),
        share: Share = WHOLE,
        sinks: Sequence[QueuedSink] = (),
        push_s: float = PUSH_S,
        push_labels: Labels = (),
        own: Mapping[str, Metric] = NO_METRICS,
    ) -> None:
        policy = policy or RetryPolicy()
        if isinstance(receiver, RecordingReplay):  # a recording keeps the times of its day, and is not dialed
            policy = replace(policy, skew_s=0.0, dials=sys.maxsize, dials_per_s=math.inf)
        self._clock = LoopClock()
        self._static, self._share, self._loaders, self._sinks, self._push_s = specs, share, loaders, sinks, push_s
        self._push_labels = push_labels
        self.fleet = Fleet(
            receiver_of(receiver, policy) if isinstance(receiver, str) else receiver,
            self._clock,
            interval_s=interval_s,
            policy=policy,
            speeds_gbps=intended.speeds_gbps,
        )
        self._named_twice: set[str] = set()
        self._apply()
        self.registry = CollectorRegistry()
        self.exposition = FabricExposition(
            self.fleet, intended.of(share.owns), self._clock, self.registry, own, loaders=loaders, sinks=sinks
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-collector", daemon=True)

    def __enter__(self) -> Self:
        if WHY_INTERPRETED:
            logger.warning(
                "Decoding takes about %d times longer than compiled: %s.", INTERPRETED_FACTOR, WHY_INTERPRETED
            )
        compile_kernels()
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(END_WITHIN_S + 1.0)
        if self._thread.is_alive():
            logger.warning("the collector's event loop is blocked; its thread is left running")
        for sink in self._sinks:
            sink.close(FLUSH_WITHIN_S)

    def snapshot(self, names: Collection[str] | None = None) -> Snapshot:
        """Every sample that is true now. names: only those metrics of the switches, and the collector's own."""
        return self.exposition.snapshot(names)

    def value(self, name: str, **labels: str) -> float:
        """The sum of a metric over the samples with these labels, 0 when there are none."""
        return self.snapshot().value(name, **labels)

    def states(self) -> dict[str, SessionState]:
        """The state of the session with each target."""
        return {session.name: session.health.state for session in self.fleet.sessions}

    def healthy(self) -> Parts:
        """Whether the collector itself works, for /healthz; targets may come and go."""
        return {"collecting": self._thread.is_alive() and self._clock.blocked_s() < BLOCKED_S, **self._overloaded()}

    def wait_until_up(self, timeout_s: float) -> bool:
        """Wait until every target that has an endpoint streams and is in sync; False when not all do in time."""
        until_s = time.monotonic() + timeout_s
        while any(session.endpoint and session.health.state is not SessionState.UP for session in self.fleet.sessions):
            if time.monotonic() > until_s:
                return False
            time.sleep(POLL_S)
        return True

    def ready(self) -> Parts:
        """Whether the collector has begun to stream, for /readyz: every list of targets was read once."""
        read = {loader.source.name: loader.health.last_success_s > 0 for loader in self._loaders}
        return {"collecting": self._thread.is_alive(), **read, **self._overloaded()}

    def _overloaded(self) -> Parts:
        """Since when it is overloaded, and how late, where it is: it needs time, and a restart would make it later."""
        if not self._thread.is_alive() or (overload := self._clock.overload()) is None:
            return {}
        since = datetime.fromtimestamp(overload.since_s, UTC).isoformat(timespec="seconds")
        return {"overloaded": {"since": since.replace("+00:00", "Z"), "lag_s": round(overload.lag_s, 1)}}

    def targets(self) -> list[TargetStatus]:
        """The targets and their states, those that are not up first."""
        return target_statuses(self.fleet.sessions)

    def _apply(self, _: Diff | None = None) -> None:
        """Stream from the targets that are known now and that are ours; of two with one name the first counts."""
        known: dict[str, TargetSpec] = {}
        others: set[str] = set()
        for spec in (*self._static, *(spec for loader in self._loaders for spec in loader.specs)):
            if known.setdefault(spec.name, spec) != spec:
                others.add(spec.name)
        for name in sorted(others - self._named_twice):
            logger.warning("%s: is in several lists with different content. The first one counts", name)
        self._named_twice = others
        self.fleet.apply(spec for spec in known.values() if self._share.owns(spec.name))

    async def _apply_later(self, changes: Diff) -> None:
        self._apply(changes)

    def _run(self) -> None:
        """Run the event loop. Not asyncio.run, which waits for every task, however long it takes to end."""
        loop = asyncio.new_event_loop()
        try:
            left = loop.run_until_complete(self._collect())
            if left:
                logger.warning("%s: still running after %.0f s, and left", _names(left), END_WITHIN_S)
                loop.set_exception_handler(_log_for_debugging)
            else:
                loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    async def _collect(self) -> set[asyncio.Task[Any]]:
        """Run all sessions until stopped; return the tasks that did not end in time."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        stop = asyncio.create_task(self._stop.wait(), name="stop")
        running = [asyncio.create_task(self._clock.run(), name="clock")]
        for loader in self._loaders:
            running.append(asyncio.create_task(loader.run(self._apply_later), name=loader.source.name))
        if self._sinks:
            pusher = Pusher(self.exposition, self._sinks, shard=self._share.label, labels=self._push_labels)
            running.append(asyncio.create_task(pusher.run(self._push_s), name="push"))
        defect = await self.fleet.start()
        self._started.set()
        watched: set[asyncio.Future[Any]] = {stop, defect, *running}
        ended, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        left = await end_tasks(asyncio.all_tasks() - {asyncio.current_task()}, within_s=END_WITHIN_S)
        for task in ended - {stop}:
            task.result()  # only a defect ends one of them by itself; its traceback is wanted
        return left


def receiver_of(name: str, policy: RetryPolicy) -> Receiver:
    """The receiver of this name, one of `receive.choice.RECEIVERS`, with the bounds of a policy."""
    return made_receiver(name, dial_timeout_s=policy.dial_timeout_s)


def _names(tasks: Iterable[asyncio.Task[Any]]) -> str:
    return ", ".join(sorted(task.get_name() for task in tasks))


def _log_for_debugging(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log what asyncio says of tasks that were left; the warning has named them already."""
    logger.debug("%s", context.get("message"))


def fabric_collector(
    topology: Topology,
    endpoints: Endpoints,
    *,
    among: Collection[str] | None = None,
    maps: Mapping[str, TelemetryMap] = NO_MAPS,
    classes: TrafficClasses = NO_CLASSES,
    **options: Any,
) -> Collector:
    """The collector of a fabric. options: of `Collector`.

    among: the switches that are expected, with or without an endpoint; None for those that have one. maps: of users, by
    platform, in place of those of the platforms. classes: of the intent, by switch; they name the queues.
    A switch of a platform that railfab does not know is refused, with all health metrics; the others are streamed.
    Raises EndpointError (or Problems) at once for endpoints that cannot be used: without a gNMI port or credentials,
    or not of this fabric; UnknownPlatform when railfab knows the platform of none.
    """
    telemetry = _telemetry_maps(endpoints, maps)
    expected = endpoints.by_name() if among is None else among
    specs = targets_of_intent(
        topology, endpoints, among=expected, telemetry=lambda name: telemetry.get(name, NO_TELEMETRY)
    )
    _check(topology, endpoints)
    own = {name: metric for found in telemetry.values() for name, metric in found.metrics.items()}
    of_roce = {spec.name: roce_classes(spec.telemetry, classes.get(spec.name, ())) for spec in specs}
    specs = tuple(
        replace(spec, telemetry=named_by_classes(spec.telemetry, classes.get(spec.name, ()))) for spec in specs
    )
    return Collector(specs, intended_series(topology, of_roce), own=own, **options)


def _telemetry_maps(endpoints: Endpoints, own: Mapping[str, TelemetryMap]) -> dict[str, TelemetryMap]:
    """The telemetry map of each platform that has one: that of the user, else railfab's.

    Raises UnknownPlatform when none has one.
    """
    used = dict.fromkeys(endpoint.platform for endpoint in endpoints.nodes)
    known = [name for name in used if name in own or has_platform(name)]
    if used and not known:
        platform(next(iter(used)))
    maps = {name: own[name] if name in own else platform(name).telemetry for name in known}
    return {name: of_twin(held) for name, held in maps.items()} if endpoints.backend == "twin" else maps


def _check(topology: Topology, endpoints: Endpoints) -> None:
    """Raise EndpointError, or Problems with all that is wrong with the endpoints of a fabric."""
    errors: list[RailfabError] = []
    switches = switch_names(topology)
    for endpoint in endpoints.nodes:
        try:
            _check_endpoint(endpoint, topology.fabric, switches)
        except EndpointError as error:
            errors.append(error)
    raise_all(one_per_problem(errors))


def _check_endpoint(endpoint: Endpoint, fabric: str, switches: frozenset[str]) -> None:
    if endpoint.name not in switches:
        raise EndpointError(endpoint.name, f"is no switch of {fabric}", "Correct the name, or take the right intent")
    address_of(endpoint)
    if endpoint.ca is not None:
        context_of(endpoint)
    read_credentials(endpoint)
