"""`railfab page`: the live page of a fabric, with a collector of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from railfab.app.configuration_check import CHECK_INTERVAL_S, ConfigurationCheck
from railfab.app.default_jobs import default_jobs
from railfab.endpoints import Endpoints, state_option
from railfab.fabric import Design, present_endpoints
from railfab.page.columns import VectorLayout
from railfab.page.plan import PagePlan
from railfab.page.server import PageServer, page_listener
from railfab.page.serving import Surroundings, page_server
from railfab.page.settings import PageAddress
from railfab.page.sources.collected import CollectedSource
from railfab.telemetry import fabric_collector
from railfab.twin import running


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
