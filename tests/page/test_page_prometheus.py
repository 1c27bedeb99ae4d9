"""The page from a real Prometheus that scrapes the collector of a real twin, and from the collector's exposition."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.integration.prometheus_server import Prometheus
from tests.page.live_page import INCAST, INTERVAL_S, LivePage
from tests.twin.qos_twin import LEAF, RECEIVER_PORT, small

from railfab.app import page
from railfab.app.page import PageOptions, prometheus_page
from railfab.page.frames import UNKNOWN, ShownState
from railfab.page.settings import PageAddress
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.twin import Twin

pytestmark = pytest.mark.prometheus
RULES = """\
groups:
  - name: test
    rules:
      - alert: Marked
        expr: sum by (device, fabric) (fabric_queue_ecn_marked_packets_total) > 0
        labels: {severity: warning}
        annotations: {summary: "{{ $labels.device }} marks packets", description: "It does.", runbook_url: "https://x/y"}
"""


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Twin, MetricsServer, Prometheus, Path]]:
    folder = tmp_path_factory.mktemp("scraped")
    design = small(folder)
    (folder / "rules.yml").write_text(RULES)
    with Twin(design, state=folder, base_port=0, configured=True, job=INCAST) as twin:
        collector = fabric_collector(
            design.topology, twin.endpoints, classes=design.traffic_classes, interval_s=INTERVAL_S
        )
        with MetricsServer(collector.exposition, collector, port=0) as server, collector:
            config = {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(folder / "rules.yml")],
                "scrape_configs": [
                    {"job_name": "railfab", "static_configs": [{"targets": [server.url.removeprefix("http://")]}]}
                ],
            }
            with Prometheus(folder, config) as prometheus:
                prometheus.eventually("sum(fabric_queue_ecn_marked_packets_total) > 0")
                yield twin, server, prometheus, folder


def options(folder: Path) -> PageOptions:
    return PageOptions(on=None, state=folder, address=PageAddress("127.0.0.1", 0), interval_s=INTERVAL_S)


def test_a_prometheus_gives_the_present_the_past_and_alerts(
    scraped: tuple[Twin, MetricsServer, Prometheus, Path],
) -> None:
    twin, _, prometheus, folder = scraped
    with prometheus_page(twin.design, f"http://{prometheus.address}", options(folder)) as server:
        shown = LivePage(server, twin.design, twin, folder)
        fabric = shown.get("api/fabric")
        assert (fabric["source"], fabric["has_actions"], fabric["interval_s"]) == ("prometheus", False, 1.5)
        assert "#" not in server.url
        with shown.events() as events:
            events.until(lambda now: now.seen.get("totals", {}).get("targets_up") == 4)
            events.until(lambda now: now.columns["ecn"][0] not in (0, UNKNOWN))
            assert set(events.columns["state"].tolist()) == {ShownState.UP}
        while not (alerts := [entry for entry in shown.get("api/log")["entries"] if entry["kind"] == "alert"]):
            time.sleep(0.5)  # one that has fired before is in no stream
        alert = alerts[0]
        assert (alert["severity"], alert["link"]) == ("warning", "https://x/y")
        for metric in ("transmit_gbps", "utilisation", "queue_bytes", "ecn_share", "pause_frames_per_s", "drops_per_s"):
            series = shown.get(f"api/series?metric={metric}&switch={LEAF}&interface={RECEIVER_PORT}")
            times, values = series["columns"]
            assert len(times) == len(values) > 100, metric
            assert any(value is not None for value in values), metric
        assert shown.ask("api/actions/job", {"job": "ring"}, Authorization="Bearer ").status == 404
        while (answer := shown.ask("api/doctor")).status == 503:
            time.sleep(1.0)
        diagnosis = answer.document
        assert (diagnosis["healthy"], diagnosis["read"], diagnosis["sampled"], diagnosis["causes"]) == (False, 0, 4, [])
        assert all("its configuration and state were not read" in line for line in diagnosis["unread"])
        assert {each["text"] for each in diagnosis["unexplained"]} == {"has the alert Marked"}


def test_a_diagnosis_lasts_several_scrapes(
    scraped: tuple[Twin, MetricsServer, Prometheus, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    twin, _, prometheus, folder = scraped
    monkeypatch.setattr(page, "SAMPLES", 40)
    with prometheus_page(twin.design, f"http://{prometheus.address}", options(folder)) as server:
        answer = LivePage(server, twin.design, twin, folder).ask("api/doctor")
        assert (answer.status, "takes about 60 s" in answer.document["error"]) == (503, True)


def doctor(folder: Path, url: str, *more: str) -> tuple[int, Any]:
    """Exit code and document of a diagnosis with the telemetry of a URL."""
    arguments = ("--on", "twin", "--state", folder, "--telemetry", url, "--for", "6", "--output", "json", *more)
    done = commands.run("doctor", folder / "small.yml", *arguments)
    assert done.returncode in (0, 1, 2), done
    return done.returncode, conforming("doctor", done.stdout)


def test_the_doctor_reads_a_prometheus_with_its_alerts_and_a_collector(
    scraped: tuple[Twin, MetricsServer, Prometheus, Path],
) -> None:
    _, collector, prometheus, folder = scraped
    code, seen = doctor(folder, f"http://{prometheus.address}")
    assert (code, seen["sampled"], seen["read"], seen["unread"], seen["causes"]) == (1, 4, 4, {}, [])
    assert LEAF in {each["place"]["switch"] for each in seen["unexplained"]}
    assert {each["text"] for each in seen["unexplained"]} == {"has the alert Marked"}
    code, seen = doctor(folder, collector.url)
    assert (code, seen["sampled"], seen["unread"], seen["unexplained"]) == (0, 4, {}, [])


def test_a_prometheus_without_our_series_leaves_every_switch_unknown(
    scraped: tuple[Twin, MetricsServer, Prometheus, Path], tmp_path: Path
) -> None:
    _, _, _, folder = scraped
    with Prometheus(tmp_path, {"scrape_configs": []}) as empty:
        code, seen = doctor(folder, f"http://{empty.address}")
        assert (code, seen["healthy"], seen["sampled"], len(seen["unread"])) == (2, False, 0, 4)
    done = commands.run(
        "doctor", folder / "small.yml", "--on", "twin", "--state", folder, "--telemetry", f"http://{empty.address}"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_the_metrics_of_a_collector_are_a_source_and_its_end_is_said(tmp_path: Path) -> None:
    design = small(tmp_path)
    with Twin(design, state=tmp_path, base_port=0, configured=True, job=INCAST) as twin:
        collector = fabric_collector(
            design.topology, twin.endpoints, classes=design.traffic_classes, interval_s=INTERVAL_S
        )
        metrics = MetricsServer(collector.exposition, collector, port=0)
        with collector, metrics, prometheus_page(design, metrics.url, options(tmp_path)) as server:
            shown = LivePage(server, design, twin, tmp_path)
            with shown.events() as events:
                events.until(lambda now: now.seen.get("totals", {}).get("targets_up") == 4)
                assert events.seen["totals"]["source_error"] is None
                metrics._server.server_close()
                events.until(lambda now: bool(now.seen["totals"]["source_error"]))
                events.until(lambda now: set(now.columns["state"].tolist()) == {ShownState.STALE})
                assert "no data" in [entry["title"] for entry in events.log]
