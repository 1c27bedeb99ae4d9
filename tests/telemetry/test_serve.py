"""The HTTP side: what answers, what is refused."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.core import CounterMetricFamily, Metric

from railfab.telemetry import ListenError, MetricsServer
from railfab.telemetry.exposition import RegistryExposition
from railfab.telemetry.processes import ask
from railfab.telemetry.status import TargetStatus


@dataclass
class Parts:
    """What is asked besides the metrics."""

    parts: dict[str, bool]

    def healthy(self) -> dict[str, bool]:
        return self.parts

    def ready(self) -> dict[str, bool]:
        return {**self.parts, "targets.yml": False}

    def targets(self) -> list[TargetStatus]:
        down = TargetStatus(
            name="leaf1",
            platform="eos",
            address="192.0.2.1:6030",
            state="retrying",
            receiver="grpc",
            encoding="PROTO",
            interval_s=30.0,
            series=0,
            age_s=None,
            reconnects=3,
            error="leaf1: no answer <b>",
            overloaded=False,
            labels={"site": "fra1"},
        )
        return [down]


@pytest.fixture
def parts() -> dict[str, bool]:
    return {"collecting": True}


@pytest.fixture
def server(parts: dict[str, bool]) -> Iterator[MetricsServer]:
    registry = CollectorRegistry()
    Gauge("fabric_interface_oper_up", "Up.", ["device"], registry=registry).labels("leaf1").set(1)
    with MetricsServer(RegistryExposition(registry), Parts(parts), port=0) as running:
        yield running


def got(url: str, **headers: str) -> tuple[int, str, bytes]:
    request = urllib.request.Request(url, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers["Content-Type"], answer.read()


def test_metrics_are_served_as_text_and_compressed_when_asked(server: MetricsServer) -> None:
    status, kind, body = got(f"{server.url}/metrics")
    assert (status, kind.partition(";")[0]) == (200, "text/plain")
    assert b'fabric_interface_oper_up{device="leaf1"} 1.0' in body
    assert gzip.decompress(got(f"{server.url}/metrics", Accept_Encoding="gzip")[2]) == body
    assert got(f"{server.url}/metrics", Accept="application/openmetrics-text;version=1.0.0")[2].endswith(b"# EOF\n")


def test_health_follows_its_parts(server: MetricsServer, parts: dict[str, bool]) -> None:
    status, _, body = got(f"{server.url}/healthz")
    assert (status, json.loads(body)) == (200, {"collecting": True})
    parts["collecting"] = False
    assert got(f"{server.url}/healthz")[0] == 503
    parts["jobs"] = True
    assert got(f"{server.url}/healthz")[0] == 503, "one part that fails is enough"


def test_readiness_and_targets_are_served(server: MetricsServer) -> None:
    status, _, body = got(f"{server.url}/readyz")
    assert (status, json.loads(body)) == (503, {"collecting": True, "targets.yml": False})
    status, kind, body = got(f"{server.url}/targets")
    assert (status, kind) == (200, "application/json")
    [target] = json.loads(body)
    assert (target["name"], target["state"], target["age_s"]) == ("leaf1", "retrying", None)
    assert target["receiver"] == "grpc"
    status, kind, body = got(f"{server.url}/targets", Accept="text/html,*/*")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert b"<td>leaf1: no answer &lt;b&gt;</td>" in body
    assert b"<td>retrying</td><td>grpc</td>" in body


def test_the_index_leads_to_both_and_the_rest_is_not_found(server: MetricsServer) -> None:
    status, kind, body = got(server.url)
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert b'href="/metrics"' in body
    assert b'href="/healthz"' in body
    assert got(f"{server.url}/admin")[0] == 404


def test_a_port_in_use_is_one_line(server: MetricsServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(
        ListenError,
        match=rf"^127\.0\.0\.1:{port}: cannot be listened on \(in use by process {os.getpid()} \(.*\)\)\. End what",
    ):
        MetricsServer(RegistryExposition(CollectorRegistry()), Parts({}), port=port)


def test_an_address_of_another_machine_is_one_line() -> None:
    with pytest.raises(
        ListenError,
        match=r"^192\.0\.2\.1:0: cannot be listened on \(cannot assign requested address\)\. Choose another --listen",
    ):
        MetricsServer(RegistryExposition(CollectorRegistry()), Parts({}), host="192.0.2.1", port=0)
    with pytest.raises(ListenError, match="is no port"):
        MetricsServer(RegistryExposition(CollectorRegistry()), Parts({}), port=70000)


class SlowMetrics:
    """Counts how often it is rendered, each time as long as the test wants."""

    def __init__(self) -> None:
        self.rendering, self.may_end = threading.Event(), threading.Event()
        self.times = 0

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        self.times += 1
        self.rendering.set()
        self.may_end.wait(20)
        yield CounterMetricFamily("fabric_test", "Test.", value=self.times)


def test_scrapes_that_arrive_while_one_is_rendered_get_its_answer() -> None:
    slow = SlowMetrics()
    registry = CollectorRegistry()
    registry.register(slow)  # type: ignore[arg-type]
    with MetricsServer(RegistryExposition(registry), Parts({}), port=0) as server, ThreadPoolExecutor(5) as pool:
        first = pool.submit(got, f"{server.url}/metrics")
        slow.rendering.wait(20)
        later = [pool.submit(got, f"{server.url}/metrics") for _ in range(3)]
        other = pool.submit(got, f"{server.url}/metrics", Accept_Encoding="gzip")
        until_s = time.monotonic() + 20
        while slow.times < 2:
            assert time.monotonic() < until_s
            time.sleep(0.01)
        time.sleep(0.3)  # for the later ones to arrive; what comes after the answer is rendered again
        slow.may_end.set()
        assert {answer.result()[2] for answer in (first, *later)} == {first.result()[2]}
        assert other.result()[0] == 200
        assert slow.times == 2
        assert b"fabric_test_total 3.0" in got(f"{server.url}/metrics")[2]


def test_another_method_does_not_get_the_answer_of_a_scrape() -> None:
    slow = SlowMetrics()
    registry = CollectorRegistry()
    registry.register(slow)  # type: ignore[arg-type]
    with MetricsServer(RegistryExposition(registry), Parts({}), port=0) as server, ThreadPoolExecutor(1) as pool:
        scrape = pool.submit(got, f"{server.url}/metrics")
        slow.rendering.wait(20)
        post = urllib.request.Request(f"{server.url}/metrics", method="POST", data=b"")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(post, timeout=20)
        assert refused.value.code == 405
        slow.may_end.set()
        assert scrape.result()[0] == 200


def test_after_a_scrape_that_failed_the_next_is_rendered() -> None:
    slow = SlowMetrics()
    slow.may_end.set()
    registry = CollectorRegistry()
    registry.register(slow)  # type: ignore[arg-type]
    with MetricsServer(RegistryExposition(registry), Parts({}), port=0) as server:
        assert got(f"{server.url}/metrics")[0] == 200
        assert slow.times == 1
        slow.collect = lambda: 1 / 0  # type: ignore[assignment, method-assign, return-value]
        assert got(f"{server.url}/metrics")[0] == 500
        del slow.collect
        assert got(f"{server.url}/metrics")[0] == 200


def test_a_socket_is_served_in_the_place_of_one_that_was_left(tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with MetricsServer(RegistryExposition(CollectorRegistry()), Parts({}), host=f"unix:{path}") as server:
        assert server.url == f"unix:{path}"
        assert ask(path, "/healthz", within_s=5).status == 200
        with pytest.raises(
            ListenError, match=rf"^unix:{path}: cannot be listened on \(address already in use\)\. Choose"
        ):
            MetricsServer(RegistryExposition(CollectorRegistry()), Parts({}), host=f"unix:{path}")
        assert ask(path, "/healthz", within_s=5).status == 200, "a server that could not be made removes no socket"
    assert not path.exists()


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("kept")
    with pytest.raises(ListenError, match="address already in use"):
        MetricsServer(RegistryExposition(CollectorRegistry()), Parts({}), host=f"unix:{path}")
    assert path.read_text() == "kept"
