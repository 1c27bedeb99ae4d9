"""The collector: all targets of a fabric in one event loop, in one thread."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Self

from prometheus_client import CollectorRegistry

from railfab.compiled import WHY_INTERPRETED
from railfab.endpoints import Credentials, Endpoint, Endpoints, read_credentials
from railfab.errors import EndpointError, RailfabError, one_per_problem, raise_all
from railfab.gnmi.tls import address_of, context_of
from railfab.platforms import TelemetryMap, of_twin, platform, platform_names
from railfab.telemetry.exposition import FabricExposition, Snapshot
from railfab.telemetry.health import State
from railfab.telemetry.intended import intended_series, switch_names
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.retry import Policy
from railfab.telemetry.session import TargetSession
from railfab.telemetry.tasks import end_tasks
from railfab.telemetry.warm import compile_kernels
from railfab.topology import Topology

logger = logging.getLogger(__name__)

INTERPRETED_FACTOR = 150
"""How many times longer decoding takes where numba is not installed; measured in benchmarks/collector.md."""
POLL_S = 0.05
SWITCH_INTERVAL_S = 0.001
"""For sys.setswitchinterval of a process that collects: a scrape or a view is rendered in another thread, and the event
loop needs the interpreter several times for each message."""
NO_TELEMETRY = TelemetryMap(rules=(), subscriptions=())
"""Of a platform that railfab does not know."""
NO_MAPS: Mapping[str, TelemetryMap] = MappingProxyType({})
END_WITHIN_S = 2.0
"""Time for all sessions to end; what runs longer is logged and left."""


class Collector:
    """Streams from every endpoint; a context manager.

    exposition: the samples, for a metrics server. registry: where others add metrics to it. interval_s: how often a
    target samples. maps: of users, by platform, in place of those of the platforms.
    A switch of a platform that railfab does not know is refused, with all health metrics; the others are streamed.
    Raises EndpointError (or Problems) at once for endpoints that cannot be used: without a gNMI port or credentials,
    or not of this fabric; UnknownPlatform when railfab knows the platform of none.
    """

    def __init__(
        self,
        topology: Topology,
        endpoints: Endpoints,
        *,
        interval_s: float = 2.0,
        policy: Policy | None = None,
        maps: Mapping[str, TelemetryMap] = NO_MAPS,
    ) -> None:
        self._interval_s = interval_s
        self._policy = policy or Policy()
        self._clock = LoopClock()
        self._credentials = _read_all_credentials(topology, endpoints)
        intended = intended_series(topology)
        telemetry = _telemetry_maps(endpoints, maps)
        self._sessions = self._new_sessions(endpoints, telemetry, intended.speeds_gbps)
        own = {name: metric for found in telemetry.values() for name, metric in found.metrics.items()}
        self.registry = CollectorRegistry()
        self.exposition = FabricExposition(lambda: self._sessions, intended, self._clock, self.registry, own)
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

    def snapshot(self, names: Collection[str] | None = None) -> Snapshot:
        """Every sample that is true now. names: only those metrics of the switches, and the collector's own."""
        return self.exposition.snapshot(names)

    def value(self, name: str, **labels: str) -> float:
        """The sum of a metric over the samples with these labels, 0 when there are none."""
        return self.snapshot().value(name, **labels)

    def states(self) -> dict[str, State]:
        """The state of the session with each target."""
        return {session.name: session.health.state for session in self._sessions}

    def healthy(self) -> Mapping[str, bool]:
        """Whether the collector itself works, for /healthz; targets may come and go."""
        return {"collecting": self._thread.is_alive()}

    def wait_until_up(self, timeout_s: float) -> bool:
        """Wait until every target streams and is in sync; False when not all do in time."""
        until_s = time.monotonic() + timeout_s
        while any(state is not State.UP for state in self.states().values()):
            if time.monotonic() > until_s:
                return False
            time.sleep(POLL_S)
        return True

    def _new_sessions(
        self,
        endpoints: Endpoints,
        telemetry: Mapping[str, TelemetryMap],
        speeds_gbps: Mapping[str, Mapping[str, float]],
    ) -> list[TargetSession]:
        dials = asyncio.Semaphore(self._policy.dials)
        return [
            TargetSession(
                endpoint,
                self._credentials[endpoint.name],
                telemetry.get(endpoint.platform, NO_TELEMETRY),
                interval_s=self._interval_s,
                policy=self._policy,
                dials=dials,
                clock=self._clock,
                designed_gbps=speeds_gbps.get(endpoint.name, {}),
            )
            for endpoint in endpoints.nodes
        ]

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
        running = [asyncio.create_task(session.run(), name=session.name) for session in self._sessions]
        running.append(asyncio.create_task(self._clock.run(), name="clock"))
        self._started.set()
        ended, _ = await asyncio.wait((stop, *running), return_when=asyncio.FIRST_COMPLETED)
        left = await end_tasks(asyncio.all_tasks() - {asyncio.current_task()}, within_s=END_WITHIN_S)
        for task in ended - {stop}:
            task.result()  # only a defect ends one of them by itself; its traceback is wanted
        return left


def _names(tasks: Iterable[asyncio.Task[Any]]) -> str:
    return ", ".join(sorted(task.get_name() for task in tasks))


def _log_for_debugging(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log what asyncio says of tasks that were left; the warning has named them already."""
    logger.debug("%s", context.get("message"))


def _telemetry_maps(endpoints: Endpoints, own: Mapping[str, TelemetryMap]) -> dict[str, TelemetryMap]:
    """The telemetry map of each platform that has one: that of the user, else railfab's.

    Raises UnknownPlatform when none has one.
    """
    used = dict.fromkeys(endpoint.platform for endpoint in endpoints.nodes)
    known = [name for name in used if name in own or name in platform_names()]
    if used and not known:
        platform(next(iter(used)))
    maps = {name: own[name] if name in own else platform(name).telemetry for name in known}
    return {name: of_twin(held) for name, held in maps.items()} if endpoints.backend == "twin" else maps


def _read_all_credentials(topology: Topology, endpoints: Endpoints) -> dict[str, Credentials]:
    """The credentials of every endpoint. Raises EndpointError, or Problems with all that is wrong."""
    errors: list[RailfabError] = []
    credentials: dict[str, Credentials] = {}
    switches = switch_names(topology)
    for endpoint in endpoints.nodes:
        try:
            credentials[endpoint.name] = _checked_credentials(endpoint, topology.fabric, switches)
        except EndpointError as error:
            errors.append(error)
    raise_all(one_per_problem(errors))
    if missing := sorted(switches - set(credentials)):
        logger.warning("%s: no endpoint for %s", topology.fabric, ", ".join(missing))
    return credentials


def _checked_credentials(endpoint: Endpoint, fabric: str, switches: frozenset[str]) -> Credentials:
    if endpoint.name not in switches:
        raise EndpointError(endpoint.name, f"is no switch of {fabric}", "Correct the name, or take the right intent")
    address_of(endpoint)
    if endpoint.ca is not None:
        context_of(endpoint)
    return read_credentials(endpoint)
