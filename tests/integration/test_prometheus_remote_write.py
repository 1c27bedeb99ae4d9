"""A real Prometheus takes what is written to it: values, labels and times by query, and the end of a series."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.integration.prometheus_server import Prometheus
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack
from tests.telemetry.sinks.samples import batch, eventually

from railfab.endpoints.secrets import SecretSource
from railfab.gnmi.server import ServerLoop
from railfab.intent import load_intent
from railfab.telemetry import fabric_collector
from railfab.telemetry.sinks.config import sinks_of
from railfab.telemetry.sinks.remote_write import remote_write_sink
from railfab.topology import wire

pytestmark = pytest.mark.prometheus

LEAF = "pod1-seg1-leaf1"
NAME = "fabric_interface_receive_bytes_total"


def test_prometheus_answers_with_what_was_written_and_knows_which_series_have_ended(tmp_path: Path) -> None:
    with Prometheus(tmp_path, {}, "--web.enable-remote-write-receiver") as prometheus:
        url = urlsplit(f"http://{prometheus.address}/api/v1/write")
        sink = remote_write_sink(url, SecretSource("NONE", {}))
        now_ms = time.time_ns() // 1_000_000
        for step in range(4):  # begins before Prometheus listens, which is a retry
            at_ms = now_ms - 3_000 + 1_000 * step
            sink.emit(batch({n: (1000.5 * n + step, at_ms - n % 900) for n in range(3_000)}, now_ms=at_ms))
        eventually(lambda: sink.outbox.counts.sent == 12_000, 40)
        assert prometheus.query(f"count({NAME})")[0]["value"][1] == "3000"
        (series,) = prometheus.query(f'{NAME}{{interface="ethernet-1/7"}}[1m]')
        assert series["metric"] == {"__name__": NAME, "device": "leaf2", "interface": "ethernet-1/7"}
        times = [now_ms - 3_000, *(now_ms - 3_007 + 1_000 * step for step in range(1, 4))]
        assert series["values"] == [[at_ms / 1000, str(7003.5 + step)] for step, at_ms in enumerate(times)]
        sink.emit(batch([8, 9], gone=[7], now_ms=now_ms + 1))
        sink.close()
        assert sink.outbox.counts.sent == 12_003
        assert not sink.outbox.counts.failed
        sink = remote_write_sink(url, SecretSource("NONE", {}))  # the collector starts again, with a sample of before
        sink.emit(batch({8: (5.0, now_ms - 60_000), 10: (6.0, now_ms)}, now_ms=now_ms + 2))
        sink.close()
        assert not sink.outbox.counts.failed
        assert prometheus.query(f'{NAME}{{interface="ethernet-1/8"}}')[0]["value"][1] == "5"
        assert prometheus.query(f'{NAME}{{interface="ethernet-1/7"}}') == []


def test_a_collector_that_pushes_shows_in_prometheus_what_a_scrape_would(tmp_path: Path, repository: Path) -> None:
    topology = wire(load_intent(repository / "inventory" / "fabrics" / "pod64.yml"))
    with ServerLoop() as loop, Prometheus(tmp_path, {}, "--web.enable-remote-write-receiver") as prometheus:
        rack = Rack(tmp_path, loop)
        sinks = sinks_of(remote_write=f"http://{prometheus.address}/api/v1/write", environment={})
        with fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK, sinks=sinks, push_s=0.5):
            prometheus.eventually(f"rate({NAME}[5s]) > 0")
            rack.kill(LEAF)
            prometheus.eventually(f'fabric_interface_oper_up{{device="{LEAF}"}}', empty=True)
            prometheus.eventually(f'fabric_collector_session_up{{device="{LEAF}"}} == 0')
            assert prometheus.query('fabric_interface_oper_up{device="pod1-spine1"}')
            rack.revive(LEAF)
            prometheus.eventually(f'fabric_interface_oper_up{{device="{LEAF}"}}')
            prometheus.eventually('fabric_collector_sink_sent_samples_total{sink="remote_write"} > 0')
        for name in rack.servers:
            rack.kill(name)
    assert not sinks[0].outbox.counts.failed
    assert not sinks[0].outbox.counts.dropped
