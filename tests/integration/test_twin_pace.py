"""A twin that has a tenth of a core shows the rates of the fabric: in its samples, and in Prometheus beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.integration.test_prometheus_scrape import Prometheus
from tests.twin.twins import INCAST, LEAF, RECEIVER_PORT, made_job, pod64, started, switch

from railfab.dashboards import Scrape, prometheus_files, write
from railfab.dashboards.monitoring import prometheus_config
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.twin import Twin

# pygnmi's reading thread dies with its channel and says so by an exception.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

PORT_GBPS = 100
CPU = 0.1
SAMPLES = 40
EVALUATIONS = 12
UTILIZATION = (
    f'device_interface:fabric_transmit_utilization:ratio_rate1m{{device="{LEAF}",interface="{RECEIVER_PORT}"}}'
)
BYTES = f'fabric_interface_transmit_bytes_total{{device="{LEAF}",interface="{RECEIVER_PORT}"}}'
PACE = f'rate(fabric_twin_simulated_seconds_total{{device="{LEAF}"}}[1m])'


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with started(tmp_path_factory.mktemp("slow"), cpu=CPU) as twin:
        twin.switch_job(made_job(**{**INCAST, "repeat": None}))
        yield twin


class Counted(NamedTuple):
    """A sample of the receiver's port. All in seconds and octets; simulated_s: simulated time of the counter."""

    stamp_s: float
    arrived_s: float
    simulated_s: float
    octets: int


def stream(twin: Twin) -> Iterator[Counted]:
    paths = (f"/interface[name={RECEIVER_PORT}]/statistics/out-octets", "/railfab-twin/simulated-time")
    entries = [{"path": path, "mode": "sample", "sample_interval": 100_000_000} for path in paths]
    with switch(twin) as leaf:
        answers = leaf.client.subscribe2(subscribe={"subscription": entries, "mode": "stream", "encoding": "proto"})
        try:
            yield from filter(None, map(counted, answers))
        finally:
            answers.close()


def counted(answer: dict[str, Any]) -> Counted | None:
    """The sample in an answer; None of one that has none."""
    notification = answer.get("update", {})
    values = {update["path"].split("/")[-1]: int(update["val"]) for update in notification.get("update", ())}
    if len(values) < 2:
        return None
    return Counted(notification["timestamp"] / 1e9, time.time(), values["simulated-time"] / 1e9, values["out-octets"])


def gbps(octets: int, seconds: float) -> float:
    return octets * 8 / 1e9 / seconds if seconds > 0 else float("inf")


def test_two_samples_never_show_more_than_the_rate_of_the_port_and_no_stamp_is_of_the_future(slow: Twin) -> None:
    with closing(stream(slow)) as samples:
        found = [next(samples) for _ in range(SAMPLES)]
    for earlier, later in pairwise(found):
        octets = later.octets - earlier.octets
        if octets:
            assert gbps(octets, later.stamp_s - earlier.stamp_s) <= PORT_GBPS
        else:
            assert later.stamp_s >= earlier.stamp_s
    assert all(sample.arrived_s - sample.stamp_s > -0.1 for sample in found)
    assert slow.status().slipped_s > 1.0


def test_stamps_are_within_a_second_of_wall_time(slow: Twin) -> None:
    """Against the time of the request, since an answer may wait for this process to run."""
    with switch(slow) as leaf:
        for _ in range(20):
            asked_s = time.time()
            answer = leaf.client.get(path=[f"/interface[name={RECEIVER_PORT}]/statistics/out-octets"])
            for notification in answer["notification"]:
                assert asked_s - 1.0 < notification["timestamp"] / 1e9 < time.time() + 0.1


def test_simulated_time_and_counters_of_a_sample_are_of_one_moment(slow: Twin) -> None:
    with closing(stream(slow)) as samples:
        first = next(samples)
        last = next(sample for sample in samples if sample.simulated_s > first.simulated_s + 0.1)
    assert gbps(last.octets - first.octets, last.simulated_s - first.simulated_s) == pytest.approx(98, abs=2)


@pytest.mark.prometheus
def test_prometheus_shows_the_rates_of_the_fabric_and_the_pace(slow: Twin, tmp_path: Path) -> None:
    one = replace(slow.endpoints, nodes=(slow.endpoints.by_name()[LEAF],))
    collector = fabric_collector(pod64().topology, one, interval_s=0.5)
    with MetricsServer(collector.exposition, collector, port=0) as server, collector:
        assert collector.wait_until_up(20)
        collected, jobs = (url.removeprefix("http://") for url in (server.url, slow.control.url))
        scrape = Scrape(collectors=(collected,), jobs=jobs, interval_s=1)
        write(prometheus_files(scrape), tmp_path)
        prometheus = Prometheus(tmp_path, prometheus_config(scrape))
        try:
            prometheus.eventually(f"count_over_time({UTILIZATION}[1m]) > {EVALUATIONS}")
            (shown,) = prometheus.eventually(UTILIZATION)
            (most,) = prometheus.eventually(f"max_over_time({UTILIZATION}[1m])")
            (raw,) = prometheus.eventually(f"rate({BYTES}[1m]) * 8 / 1e11")
            (pace,) = prometheus.eventually(PACE)
            twin = prometheus.eventually('fabric_twin_simulated_seconds_total{device="",fabric="pod64"}')
        finally:
            prometheus.process.kill()
            prometheus.process.wait()
    assert len(twin) == 1
    assert float(pace["value"][1]) < 0.6
    assert float(raw["value"][1]) < 0.65
    assert float(shown["value"][1]) == pytest.approx(0.98, abs=0.03)
    assert float(most["value"][1]) <= 1.0
