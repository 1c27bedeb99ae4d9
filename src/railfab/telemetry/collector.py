"""The collector: all targets of a fabric in one event loop, in one thread."""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry

from railfab.endpoints import Credentials, Endpoint, Endpoints, read_credentials
from railfab.errors import EndpointError, RailfabError, raise_all
from railfab.platforms import platform
from railfab.telemetry.design import design_series, port_speeds_gbps, switch_names
from railfab.telemetry.exposition import Design, FabricCollector, Snapshot
from railfab.telemetry.health import State
from railfab.telemetry.retry import Policy
from railfab.telemetry.session import TargetSession
from railfab.topology import Topology

logger = logging.getLogger(__name__)

POLL_S = 0.05


class Collector:
    """Streams from every endpoint while it is entered.

    registry: what to serve.
    interval_s: how often a target samples. Raises EndpointError (or Problems) at once for endpoints that
    cannot be used: without a gNMI port or credentials, or not of this fabric.
    """

    def __init__(
        self, topology: Topology, endpoints: Endpoints, *, interval_s: float = 2.0, policy: Policy | None = None
    ) -> None:
        self._interval_s = interval_s
        self._policy = policy or Policy()
        self._credentials = _usable(topology, endpoints)
        self._sessions = self._made(endpoints)
        design = Design(design_series(topology), port_speeds_gbps(topology))
        self._fabric = FabricCollector(self._sessions, design)
        self.registry = CollectorRegistry()
        self.registry.register(self._fabric)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-collector", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def snapshot(self) -> Snapshot:
        """Every sample there is now."""
        return self._fabric.snapshot()

    def value(self, name: str, **labels: str) -> float:
        """The sum of a metric over the samples with these labels, 0 when there are none."""
        return self.snapshot().value(name, **labels)

    def states(self) -> dict[str, State]:
        """Where the session with each target stands."""
        return {session.name: session.health.state for session in self._sessions}

    def healthy(self) -> Mapping[str, bool]:
        """What /healthz answers: whether the collector itself works; targets may come and go."""
        return {"collecting": self._thread.is_alive()}

    def wait_until_up(self, timeout_s: float) -> bool:
        """Wait until every target streams and is in sync; whether they all do."""
        until_s = time.monotonic() + timeout_s
        while any(state is not State.UP for state in self.states().values()):
            if time.monotonic() > until_s:
                return False
            time.sleep(POLL_S)
        return True

    def _made(self, endpoints: Endpoints) -> list[TargetSession]:
        dials = asyncio.Semaphore(self._policy.dials)
        return [
            TargetSession(
                endpoint,
                self._credentials[endpoint.name],
                platform(endpoint.platform).telemetry,
                interval_s=self._interval_s,
                policy=self._policy,
                dials=dials,
            )
            for endpoint in endpoints.nodes
        ]

    def _run(self) -> None:
        asyncio.run(self._collect())

    async def _collect(self) -> None:
        """Run all sessions until told to stop."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(session.run(), name=session.name) for session in self._sessions]
            await self._stop.wait()
            for task in running:
                task.cancel()


def _usable(topology: Topology, endpoints: Endpoints) -> dict[str, Credentials]:
    """The credentials of every endpoint. Raises EndpointError or Problems for all that is wrong with them."""
    errors: list[RailfabError] = []
    credentials: dict[str, Credentials] = {}
    switches = switch_names(topology)
    for endpoint in endpoints.nodes:
        try:
            credentials[endpoint.name] = _checked(endpoint, topology.fabric, switches)
        except EndpointError as error:
            errors.append(error)
    raise_all(errors)
    if missing := sorted(switches - set(credentials)):
        logger.warning("%s: no endpoint for %s", topology.fabric, ", ".join(missing))
    return credentials


def _check_authority(name: str, ca: str) -> None:
    """Raises EndpointError for a file that cannot be read or holds no certificate: no target would ever be trusted."""
    try:
        ssl.create_default_context(cafile=ca)
    except OSError as error:
        fault = "holds no certificate" if isinstance(error, ssl.SSLError) else "cannot be read"
        problem = f"the authority's certificate {ca} {fault}"
        raise EndpointError(name, problem, "Point ca at the PEM file") from None


def _checked(endpoint: Endpoint, fabric: str, switches: frozenset[str]) -> Credentials:
    if endpoint.name not in switches:
        raise EndpointError(endpoint.name, f"is no switch of {fabric}", "Correct the name, or take the right intent")
    if endpoint.gnmi_port is None:
        raise EndpointError(endpoint.name, "has no gNMI port", "Give it a gnmi_port")
    if endpoint.ca is not None:
        _check_authority(endpoint.name, endpoint.ca)
    return read_credentials(endpoint)
