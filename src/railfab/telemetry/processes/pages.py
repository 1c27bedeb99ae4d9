"""What the parent of several collectors serves besides their health: their metrics, its own, and where they are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from wsgiref.types import WSGIEnvironment

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from railfab.metrics import metric
from railfab.telemetry.exposition import RegistryExposition, family
from railfab.telemetry.http_server import Answer, Page, text_answer
from railfab.telemetry.processes.asking import ask
from railfab.telemetry.processes.child import CollectorChild
from railfab.telemetry.processes.supervisor import Processes
from railfab.telemetry.targets import sd_document

SCRAPE_WITHIN_S = 30.0
PASSED_ON = {"HTTP_ACCEPT": "Accept", "HTTP_ACCEPT_ENCODING": "Accept-Encoding"}
"""Headers of a scrape, as WSGI and HTTP call them."""
UP, RESTARTS = "fabric_collector_process_up", "fabric_collector_process_restarts_total"
PASSED_BACK = ("Content-Type", "Content-Encoding", "Content-Length")


class ProcessMetrics(RegistryExposition):
    """The metrics of the parent: which processes are up, and how often each was started again.

    fabric: that of the intent; empty without one.
    """

    def __init__(self, processes: Processes, fabric: str = "") -> None:
        registry = CollectorRegistry()
        registry.register(_Collector(processes, {"fabric": fabric} if fabric else {}))
        super().__init__(registry)


class _Collector(Collector):
    def __init__(self, processes: Processes, labels: dict[str, str]) -> None:
        self._processes, self._labels = processes, labels

    def describe(self) -> list[Family]:
        """The metrics without samples: asking the processes takes time."""
        return [family(metric(name), ()) for name in (UP, RESTARTS)]

    def collect(self) -> Iterator[Family]:
        found = self._processes.up()
        yield family(metric(UP), [({**self._labels, "shard": child.shard}, float(is_up)) for child, is_up in found])
        yield family(
            metric(RESTARTS), [({**self._labels, "shard": child.shard}, float(child.restarts)) for child, _ in found]
        )


def pages_of(processes: Processes) -> dict[str, Page]:
    """The pages of the parent: /metrics/0 and so on, as their processes serve them, and /http_sd, which lists them."""
    paths = {child.shard: f"/metrics/{number}" for number, child in enumerate(processes.children)}
    scrapes: dict[str, Page] = {paths[child.shard]: partial(_scrape, child) for child in processes.children}
    return {**scrapes, "/http_sd": partial(_service_discovery, paths)}


def _scrape(child: CollectorChild, environ: WSGIEnvironment) -> Answer:
    """The metrics of a process, compressed by it, or why there are none."""
    headers = {name: environ[wsgi] for wsgi, name in PASSED_ON.items() if wsgi in environ}
    query = f"?{environ['QUERY_STRING']}" if environ.get("QUERY_STRING") else ""
    method = environ["REQUEST_METHOD"]
    asked = ask(child.socket, f"/metrics{query}", within_s=SCRAPE_WITHIN_S, method=method, headers=headers)
    if not asked.status:
        return text_answer("502 Bad Gateway", f"shard {child.shard}: {asked.problem}\n")
    found = {name.title(): value for name, value in asked.headers.items()}
    return Answer(asked.status_line, [(name, found[name]) for name in PASSED_BACK if name in found], [asked.body])


def _service_discovery(paths: dict[str, str], environ: WSGIEnvironment) -> Answer:
    """Where the metrics of each process and of the parent are, at the address that was asked."""
    here = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    text = sd_document({shard: f"{here}{path}" for shard, path in paths.items()}, parent=here)
    body = f"{text}\n".encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return Answer("200 OK", headers, [body])
