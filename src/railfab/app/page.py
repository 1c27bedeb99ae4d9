"""`railfab page`: the live page of a fabric, with a collector of its own."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from railfab.app.configuration_check import CHECK_INTERVAL_S, ConfigurationCheck
from railfab.app.default_jobs import default_jobs
from railfab.app.doctor import CollectorSource, diagnosed
from railfab.deploy.gates.source import PREFIX, TelemetrySource
from railfab.diagnosis import FabricDiagnosis
from railfab.endpoints import Endpoints, state_option
from railfab.endpoints.http_client import HttpClient
from railfab.endpoints.secrets import SecretSource
from railfab.fabric import Design, present_endpoints
from railfab.page.columns import VectorLayout
from railfab.page.doctor_rounds import WINDOW_S
from railfab.page.plan import PagePlan
from railfab.page.range_series import PrometheusPast
from railfab.page.server import PageListenError, PageServer, page_listener
from railfab.page.serving import Surroundings, page_server
from railfab.page.settings import LOCALHOST, PAGE_PORT, PageAddress
from railfab.page.sources.collected import CollectedSource
from railfab.page.sources.remote import RemoteSource
from railfab.telemetry import Collector, fabric_collector
from railfab.twin import running

SAMPLES = 3
"""Intervals of samples that a diagnosis takes at least; in a shorter window a switch may have none that is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """on: `twin`, `lab` or a file, as of `present_endpoints`. state: of twins and labs. interval_s: of samples.
    check_interval_s: of comparisons of the running configurations with the intent."""

    on: str | None
    state: Path
    address: PageAddress = field(default_factory=PageAddress)
    interval_s: float = 2.0
    check_interval_s: float = CHECK_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFabric:
    """A fabric with a collector in this process. on: where its endpoints are, as of `PageOptions`."""

    design: Design
    endpoints: Endpoints
    collector: Collector
    check: ConfigurationCheck
    interval_s: float
    on: str | None
    state: Path

    def page(self, listener: socket.socket) -> PageServer:
        """The page of the fabric; a context manager."""
        plan = PagePlan(self.design)
        source = CollectedSource(
            VectorLayout(plan),
            self.collector,
            name=self.endpoints.backend,
            interval_s=self.interval_s,
            others=(self.check,),
        )
        return page_server(plan, source, listener, self._surroundings())

    def _surroundings(self) -> Surroundings:
        control = running(self.state, self.design.intent.fabric) if self.endpoints.backend == "twin" else None
        return Surroundings(
            state=self.state,
            on=self._option,
            control=control,
            jobs={path.stem: path for path in default_jobs(self.design.path)},
            diagnose=self._diagnosis,
            findings=lambda: self.check.findings,
        )

    @property
    def _option(self) -> str:
        """The option `--on` of commands about the fabric, with a space before it."""
        if self.on is None:
            return ""
        return f" --on {quote(self.on)}{state_option(self.state) if self.on in ('twin', 'lab') else ''}"

    def _diagnosis(self, window_s: float) -> FabricDiagnosis:
        """The causes of what the fabric shows in a time. Raises RailfabError."""
        words = {"intent": quote(str(self.design.path)), "on": self._option, "hosts": ""}
        twin = self.state if self.endpoints.backend == "twin" else None
        source = CollectorSource(self.collector, self.design.intent.fabric, twin)
        return diagnosed(self.design, self.endpoints, source, window_s=window_s, state=self.state, words=words)


@contextmanager
def page(design: Design, options: PageOptions) -> Iterator[PageServer]:
    """The page of a fabric. Raises RailfabError when it cannot start."""
    endpoints, expected = present_endpoints(design, options.on, options.state)
    is_file_of_twin = endpoints.backend == "twin" and options.on not in (None, "twin")
    state = Path(options.on or ".").parent if is_file_of_twin else options.state
    listener = page_listener(options.address.host, options.address.port)
    with ExitStack() as stack:
        stack.callback(listener.close)
        collector = fabric_collector(
            design.topology,
            endpoints,
            among=[node.name for node in expected],
            classes=design.traffic_classes,
            interval_s=options.interval_s,
        )
        stack.enter_context(collector)
        check = ConfigurationCheck(design, endpoints, state=state, interval_s=options.check_interval_s)
        collected = CollectedFabric(
            design=design,
            endpoints=endpoints,
            collector=collector,
            check=stack.enter_context(check),
            interval_s=options.interval_s,
            on=options.on,
            state=state,
        )
        yield stack.enter_context(collected.page(listener))


@contextmanager
def prometheus_page(design: Design, url: str, options: PageOptions) -> Iterator[PageServer]:
    """The page of a fabric from a Prometheus, or from the exposition of a collector. Raises RailfabError."""
    secrets = SecretSource(PREFIX, os.environ)
    telemetry = TelemetrySource(url, design.intent.fabric, secrets)
    past = PrometheusPast(HttpClient(url, secrets), urlsplit(url).path.rstrip("/")) if telemetry.is_prometheus else None
    listener = page_listener(options.address.host, options.address.port)
    with closing(listener):
        plan = PagePlan(design)
        interval_s = options.interval_s + (0.0 if past is None else past.scrape_interval_s())
        source = RemoteSource(VectorLayout(plan), telemetry, interval_s=interval_s)
        words = {"intent": quote(str(design.path)), "on": "", "hosts": ""}

        def diagnose(window_s: float) -> FabricDiagnosis:
            return diagnosed(design, None, telemetry, window_s=window_s, state=options.state, words=words)

        window_s = max(WINDOW_S, SAMPLES * interval_s)
        beside = Surroundings(state=options.state, jobs={}, past=past, diagnose=diagnose, window_s=window_s)
        with page_server(plan, source, listener, beside) as server:
            yield server


def listener_of_up(port: int | None) -> socket.socket:
    """A socket of this machine alone. port: None is that of the page, or any where it is taken. Raises RailfabError."""
    if port is not None:
        return page_listener(LOCALHOST, port)
    try:
        return page_listener(LOCALHOST, PAGE_PORT)
    except PageListenError:
        return page_listener(LOCALHOST, 0)
