"""The boards on the real thing: twin, collector and Prometheus with our configuration; no panel is empty.

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
from tests import commands
from tests.dashboards.grafana_variables import filled, selection, values
from tests.faults.mistakes import FOLDER, jobs
from tests.faults.test_model_job import JOB as MODEL_JOB
from tests.ports import free_port
from tests.twin.twins import switch

from railfab.app.configuration_check import ConfigurationCheck
from railfab.dashboards import BOARDS, Scrape, board_document, board_queries, prometheus_files, write
from railfab.fabric import design
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.twin import Twin

pytestmark = pytest.mark.prometheus

DOWN = "sum((fabric_interface_admin_up - fabric_interface_oper_up) > bool 0)"
LEAF, UPLINKS = "pod1-seg1-leaf1", ("ethernet-1/29", "ethernet-1/30", "ethernet-1/31")
SLOW_HOST, SPINE = "pod1-seg2-host2", "pod1-spine2"
CHECK_INTERVAL_S = 5.0
DRIFT = {"/bfd/subinterface[id=ethernet-1/32.0]/desired-minimum-transmit-interval": 10000}
HAZARD = {"/qos/pfc-mapping-profile[name=fabric]/received-pfc-pause-frames/deadlock/enable": False}
UNMODELLED = {"/system/banner/login-banner": '"no entry"'}
IN_TURN = {"fabric": "rack"}
WISHES = {"port": {**IN_TURN, "switch": LEAF}}
"""What is chosen on a board; All of the rest."""
MARKS = [mark["expr"] for mark in board_document(BOARDS["fabric"])["annotations"]["list"] if "expr" in mark]
"""Of every board."""


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
def twin(state: Path) -> Iterator[Twin]:
    """Two rail switches and two spines, configured, every rail busy."""
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


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a twin, a collector and the commands meet."""
    return tmp_path_factory.mktemp("state")


@contextmanager
def _collected(twin: Twin, state: Path) -> Iterator[str]:
    """The address of a collector of a twin, with the comparison of configurations beside it."""
    collector = fabric_collector(
        twin.design.topology, twin.endpoints, classes=twin.design.traffic_classes, interval_s=1.0
    )
    check = ConfigurationCheck(twin.design, twin.endpoints, state=state, interval_s=CHECK_INTERVAL_S)
    collector.registry.register(check)
    with MetricsServer(collector.exposition, collector, port=0) as server, collector, check:
        assert collector.wait_until_up(30)
        yield server.url.removeprefix("http://")


@pytest.fixture(scope="module")
def prometheus(twin: Twin, second: Twin, state: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Scrapes the collectors of both twins, and the jobs of the first, every second."""
    with _collected(twin, state) as first, _collected(second, state) as other:
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


def test_a_cut_link_is_seen_at_both_ends(cut: None, prometheus: Prometheus) -> None:
    assert _within(60, lambda: prometheus.value(DOWN) == 2)
    assert _within(60, lambda: prometheus.value('count(ALERTS{alertname="FabricLinkDown"})') == 2)


def test_a_mended_link_brings_its_sessions_back(twin: Twin, prometheus: Prometheus) -> None:
    twin.switch_job(None)
    assert _within(60, lambda: prometheus.value(DOWN) == 0)
    assert _within(60, lambda: prometheus.value("sum(fabric_bgp_session_up) - count(fabric_bgp_session_up)") == 0)


def _query(board: str, title: str, place: int = 0, since: str = "5m") -> str:
    """A query of a panel, of all switches of the fabric."""
    (panel,) = (panel for panel in BOARDS[board].panels if panel.title == title)
    return filled(panel.queries[place].expr, {"fabric": "rack", "switch": ".*"}, since=since)


def test_an_incast_shows_as_marks_and_pauses_and_drops_nothing(twin: Twin, prometheus: Prometheus) -> None:
    marks, pauses = _query("fabric", "ECN marks"), _query("fabric", "PFC frames")
    assert _within(60, lambda: (prometheus.value(marks), prometheus.value(pauses)) == (0, 0))
    began_s = time.monotonic()
    twin.switch_job(jobs()["incast"])
    assert _within(60, lambda: (prometheus.value(marks) or 0) > 0 and (prometheus.value(pauses) or 0) > 0)
    since = f"{time.monotonic() - began_s:.0f}s"  # the link that was cut before has dropped what was on it
    assert prometheus.value(_query("fabric", "Lossless drops", since=since)) == 0


def test_a_device_that_stops_streaming_is_counted_as_stale(twin: Twin, prometheus: Prometheus) -> None:
    stale = _query("fabric", "Silent switches")
    assert _within(60, lambda: prometheus.value(stale) == 0)
    twin.stop_switch(SPINE)
    try:
        assert _within(60, lambda: prometheus.value(stale) == 1)
    finally:
        twin.start_switch(SPINE)
    assert _within(60, lambda: prometheus.value(stale) == 0)


@pytest.mark.parametrize(
    ("wishes", "switches"),
    [
        ({}, ["pod1-seg1-leaf1", "pod1-seg2-leaf1", "pod1-spine1", "pod1-spine2"]),
        ({"pod": "1"}, ["pod1-seg1-leaf1", "pod1-seg2-leaf1", "pod1-spine1", "pod1-spine2"]),
        ({"pod": "1", "rail": "2"}, ["pod1-seg1-leaf1", "pod1-seg2-leaf1"]),
    ],
)
def test_the_choice_of_a_variable_limits_those_after_it(
    prometheus: Prometheus, wishes: dict[str, str], switches: list[str]
) -> None:
    board = BOARDS["fabric"]
    chosen = selection(prometheus.ask, board, {**IN_TURN, **wishes})
    assert values(prometheus.ask, board.variables[3], chosen) == switches


class Unanswered:
    """The queries of all boards, and of their marks, that have returned no data yet, by board."""

    def __init__(self, prometheus: Prometheus) -> None:
        self._prometheus = prometheus
        self.queries: dict[tuple[str, str], str] = {}
        for name, board in BOARDS.items():
            chosen = selection(prometheus.ask, board, WISHES.get(name, IN_TURN))
            marks = MARKS if name == "fabric" else ()
            self.queries |= {(name, query): filled(query, chosen) for query in (*board_queries(board), *marks)}

    def ask(self) -> list[str]:
        """Those that are still without data."""
        self.queries = {key: query for key, query in self.queries.items() if not self._prometheus.query(query)}
        return list(self.queries.values())


@pytest.mark.timeout(300)
def test_every_query_of_every_board_returns_data(twin: Twin, state: Path, prometheus: Prometheus) -> None:
    """A fabric under a job in which everything happens that a panel shows only then."""
    assert _within(60, lambda: prometheus.value("count(fabric_device_info)") == 8)
    assert _within(60, lambda: (prometheus.value("count(training_job_running)") or 0) > 0)
    left = Unanswered(prometheus)
    twin.switch_job(jobs()["allreduce"])
    for uplink in UPLINKS:
        twin.set_link(LEAF, uplink, up=False)
    twin.set_host_rate(SLOW_HOST, 10)
    with switch(twin, LEAF) as leaf:
        leaf.client.set(update=list({**DRIFT, **HAZARD, **UNMODELLED}.items()))
    assert _within(90, lambda: all(_needs_model(query) or _needs_drain(query) for query in left.ask())), left.queries
    drained = commands.run("drain", str(FOLDER / "rack.yml"), SPINE, "--on", "twin", "--state", str(state), cwd=state)
    assert drained.returncode == 0, drained.stderr
    twin.switch_job(MODEL_JOB)
    assert _within(90, lambda: not left.ask()), left.queries


def _needs_model(query: str) -> bool:
    return "training_step_ideal" in query or "training_step_present" in query or "training_step_progress" in query


def _needs_drain(query: str) -> bool:
    return "fabric_maintenance_info" in query
