"""`railfab page`: the live page of a fabric, with a collector of its own."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from railfab.app.configuration_check import CHECK_INTERVAL_S, ConfigurationCheck
from railfab.app.default_jobs import default_jobs
from railfab.deploy.gates.source import PREFIX, TelemetrySource
from railfab.endpoints import Endpoints, state_option
from railfab.endpoints.http_client import HttpClient
from railfab.endpoints.secrets import SecretSource
from railfab.fabric import Design, present_endpoints
from railfab.page.columns import VectorLayout
from railfab.page.plan import PagePlan
from railfab.page.range_series import PrometheusPast
from railfab.page.server import PageListenError, PageServer, page_listener
from railfab.page.serving import Surroundings, page_server
from railfab.page.settings import LOCALHOST, PAGE_PORT, PageAddress
from railfab.page.sources.collected import CollectedSource
from railfab.page.sources.remote import RemoteSource
from railfab.telemetry import Collector, fabric_collector
from railfab.twin import Control, running


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """on: `twin`, `lab` or a file, as of `present_endpoints`. state: of twins and labs. interval_s: of samples."""

    on: str | None
    state: Path
    address: PageAddress = field(default_factory=PageAddress)
    interval_s: float = 2.0


@contextmanager
def page(design: Design, options: PageOptions) -> Iterator[PageServer]:
    """The page of a fabric. Raises RailfabError when it cannot start."""
    endpoints, expected = present_endpoints(design, options.on, options.state)
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
        beside = surroundings(design, endpoints, options.on, options.state)
        check = ConfigurationCheck(design, endpoints, state=beside.state, interval_s=CHECK_INTERVAL_S)
        stack.enter_context(collector)
        stack.enter_context(check)
        plan = PagePlan(design)
        source = CollectedSource(
            VectorLayout(plan), collector, name=endpoints.backend, interval_s=options.interval_s, others=(check,)
        )
        yield stack.enter_context(page_server(plan, source, listener, beside))


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
        beside = Surroundings(state=options.state, jobs={}, past=past)
        with page_server(plan, source, listener, beside) as server:
            yield server


def page_of_up(
    design: Design,
    collector: Collector,
    check: ConfigurationCheck,
    control: Control,
    port: int | None,
    interval_s: float,
) -> PageServer:
    """The page of `railfab up`. port: None is that of the page, or any where it is taken. Raises RailfabError."""
    plan = PagePlan(design)
    source = CollectedSource(VectorLayout(plan), collector, name="twin", interval_s=interval_s, others=(check,))
    beside = Surroundings(
        state=control.state,
        on=f" --on twin{state_option(control.state)}",
        control=control,
        jobs={path.stem: path for path in default_jobs(design.path)},
    )
    return page_server(plan, source, _listener(port), beside)


def _listener(port: int | None) -> socket.socket:
    """A socket of this machine alone."""
    if port is not None:
        return page_listener(LOCALHOST, port)
    try:
        return page_listener(LOCALHOST, PAGE_PORT)
    except PageListenError:
        return page_listener(LOCALHOST, 0)


def surroundings(design: Design, endpoints: Endpoints, on: str | None, state: Path) -> Surroundings:
    """The twin that endpoints are of, if they are of one, and where its files are."""
    is_twin = endpoints.backend == "twin"
    folder = Path(on).parent if is_twin and on not in (None, "twin") else state
    option = "" if on is None else f" --on {on}{state_option(state) if on in ('twin', 'lab') else ''}"
    return Surroundings(
        state=folder,
        on=option,
        control=running(folder, design.intent.fabric) if is_twin else None,
        jobs={path.stem: path for path in default_jobs(design.path)},
    )
