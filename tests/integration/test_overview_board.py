"""The overview board on the real thing: twin, collector and Prometheus with our configuration; no panel is empty.

The same Prometheus holds a second fabric, whose switches have the same names.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from tests.faults.mistakes import FOLDER, jobs
from tests.ports import free_port

from railfab.dashboards import Scrape, board_queries, boards, prometheus_files, write
from railfab.fabric import design
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.twin import Twin

pytestmark = pytest.mark.prometheus

DOWN = "sum((fabric_interface_admin_up - fabric_interface_oper_up) > bool 0)"
VARIABLES = {"$__rate_interval": "10s", "$__range": "5m", "$fabric": "rack"}


class Prometheus:
    """A running Prometheus."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, **parameters: str) -> Any:
        with urlopen(f"{self.url}{path}?{urlencode(parameters)}", timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, expr: str) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = self.ask("/api/v1/query", query=expr)["result"]
        return result

    def value(self, expr: str) -> float | None:
        """The value of a query of one series; None when there is none."""
        result = self.query(expr)
        return float(result[0]["value"][1]) if result else None

    def ready(self) -> bool:
        try:
            with urlopen(f"{self.url}/-/ready", timeout=1) as answer:
                return bool(answer.status == 200)
        except (URLError, TimeoutError):
            return False


def _within(seconds: float, met: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not (now := met()) and time.monotonic() < until:
        time.sleep(0.5)
    return now


@contextmanager
def _prometheus(directory: Path, scrape: Scrape) -> Iterator[Prometheus]:
    write(prometheus_files(scrape), directory)
    address = f"127.0.0.1:{free_port()}"
    binary = shutil.which("prometheus")
    assert binary is not None
    files = (f"--config.file={directory / 'prometheus.yml'}", f"--storage.tsdb.path={directory / 'data'}")
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen([binary, *files, f"--web.listen-address={address}"], stdout=log, stderr=log)
    try:
        prometheus = Prometheus(f"http://{address}")
        assert _within(60, prometheus.ready), (directory / "log").read_text()
        yield prometheus
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """Two rail switches and two spines, configured, every rail busy."""
    state = tmp_path_factory.mktemp("state")
    with Twin(design(FOLDER / "rack.yml"), state=state, base_port=0, configured=True, job=jobs()["ring"]) as running:
        yield running


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A fabric of the same shape and the same names, without a job."""
    state = tmp_path_factory.mktemp("second")
    intent = state / "second.yml"
    intent.write_text((FOLDER / "rack.yml").read_text().replace("fabric: rack", "fabric: second"))
    with Twin(design(intent), state=state, base_port=0, configured=True) as running:
        yield running


@contextmanager
def _collected(twin: Twin) -> Iterator[str]:
    """The address of a collector of a twin."""
    collector = fabric_collector(
        twin.design.topology, twin.endpoints, classes=twin.design.traffic_classes, interval_s=1.0
    )
    with MetricsServer(collector.exposition, collector, port=0) as server, collector:
        assert collector.wait_until_up(30)
        yield server.url.removeprefix("http://")


@pytest.fixture(scope="module")
def prometheus(twin: Twin, second: Twin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Scrapes the collectors of both twins, and the jobs of the first, every second."""
    with _collected(twin) as first, _collected(second) as other:
        scrape = Scrape(collectors=(first, other), jobs=twin.control.url.removeprefix("http://"), interval_s=1)
        with _prometheus(tmp_path_factory.mktemp("prometheus"), scrape) as running:
            yield running


def test_every_target_of_the_scrape_file_answers(prometheus: Prometheus) -> None:
    assert _within(60, lambda: prometheus.value("sum(up)") == 3)

    def errors() -> list[str]:
        return [target["lastError"] for target in prometheus.ask("/api/v1/targets")["activeTargets"]]

    assert _within(60, lambda: errors() == ["", "", ""]), errors()


def test_every_series_names_its_fabric(prometheus: Prometheus) -> None:
    assert _within(60, lambda: prometheus.value("count(count by (fabric) (fabric_bgp_session_up))") == 2)
    assert prometheus.query('count by (__name__) ({__name__=~"(fabric|training)_.+", fabric=""})') == []


def test_every_rule_is_evaluated_without_complaint(prometheus: Prometheus) -> None:
    assert _within(60, lambda: all(rule["health"] == "ok" for rule in _rules(prometheus)))
    assert not [(rule["name"], rule["lastError"]) for rule in _rules(prometheus) if rule.get("lastError")]


@pytest.fixture
def cut(twin: Twin) -> Iterator[None]:
    """An uplink that does not work for the time of the test."""
    switches = {node.name for node in twin.design.topology.switches()}
    port = next(link.a for link in twin.design.topology.links if link.a.node in switches)
    twin.set_link(port.node, port.name, up=False)
    yield
    twin.set_link(port.node, port.name, up=True)


def _rules(prometheus: Prometheus) -> list[dict[str, Any]]:
    return [rule for group in prometheus.ask("/api/v1/rules")["groups"] for rule in group["rules"]]


def test_a_healthy_fabric_at_work_raises_no_critical_alert(prometheus: Prometheus) -> None:
    assert _within(60, lambda: (prometheus.value("sum(rail:fabric_transmit_bytes:rate1m)") or 0) > 0)
    assert prometheus.query('ALERTS{severity="critical"}') == []


def test_every_query_of_every_board_returns_data(cut: None, prometheus: Prometheus) -> None:
    """A link is cut so that there is an alert to list."""
    empty = [query for board in boards().values() for query in board_queries(board, VARIABLES)]

    def every_one_has_returned_data() -> bool:
        empty[:] = [query for query in empty if not prometheus.query(query)]
        return not empty

    assert _within(120, every_one_has_returned_data), empty


def test_a_cut_link_is_seen_at_both_ends(cut: None, prometheus: Prometheus) -> None:
    assert _within(60, lambda: prometheus.value(DOWN) == 2)
    assert _within(60, lambda: prometheus.value('count(ALERTS{alertname="FabricLinkDown"})') == 2)


def test_a_mended_link_brings_its_sessions_back(twin: Twin, prometheus: Prometheus) -> None:
    twin.switch_job(None)
    assert _within(60, lambda: prometheus.value(DOWN) == 0)
    assert _within(60, lambda: prometheus.value("sum(fabric_bgp_session_up) - count(fabric_bgp_session_up)") == 0)


def test_an_incast_shows_as_marks_and_pauses_and_drops_nothing(twin: Twin, prometheus: Prometheus) -> None:
    def query_of(metric: str, since: str = "5m") -> str:
        queries = board_queries(boards()["overview"], {**VARIABLES, "$__range": since})
        (text,) = (query for query in queries if metric in query)
        return text

    marks, pauses = query_of("rate(fabric_queue_ecn_marked"), query_of("rate(fabric_pfc_transmit")
    assert _within(60, lambda: (prometheus.value(marks), prometheus.value(pauses)) == (0, 0))
    began_s = time.monotonic()
    twin.switch_job(jobs()["incast"])
    assert _within(60, lambda: (prometheus.value(marks) or 0) > 0 and (prometheus.value(pauses) or 0) > 0)
    since = f"{time.monotonic() - began_s:.0f}s"  # the link that was cut before has dropped what was on it
    assert prometheus.value(query_of("fabric_pfc_dropped", since)) == 0


def test_a_device_that_stops_streaming_is_counted_as_stale(twin: Twin, prometheus: Prometheus) -> None:
    (stale,) = (query for query in board_queries(boards()["overview"], VARIABLES) if "last_update" in query)
    assert _within(60, lambda: prometheus.value(stale) == 0)
    twin.stop_switch("pod1-spine2")
    try:
        assert _within(60, lambda: prometheus.value(stale) == 1)
    finally:
        twin.start_switch("pod1-spine2")
    assert _within(60, lambda: prometheus.value(stale) == 0)
