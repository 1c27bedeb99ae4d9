"""A real Prometheus scrapes the collector: the series are there, typed, and go stale when a switch does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.prometheus_server import Prometheus
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack

from railfab.dashboards.monitoring import Scrape, prometheus_config
from railfab.gnmi.server import ServerLoop
from railfab.intent import load_intent
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.topology import wire

pytestmark = pytest.mark.prometheus

LEAF = "pod1-seg1-leaf1"


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Rack]:
    with ServerLoop() as loop:
        made = Rack(tmp_path, loop)
        yield made
        for name in made.servers:
            made.kill(name)


@pytest.fixture
def prometheus(rack: Rack, repository: Path, tmp_path: Path) -> Iterator[Prometheus]:
    topology = wire(load_intent(repository / "inventory" / "fabrics" / "pod64.yml"))
    collector = fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK)
    with MetricsServer(collector.exposition, collector, port=0) as server, collector:
        assert collector.wait_until_up(10)
        scrape = Scrape(collector=server.url.removeprefix("http://"), interval_s=1)
        with Prometheus(tmp_path, prometheus_config(scrape)) as running:
            yield running


def test_prometheus_finds_the_series_typed_and_loses_them_when_a_switch_dies(
    prometheus: Prometheus, rack: Rack
) -> None:
    prometheus.eventually("rate(fabric_interface_receive_bytes_total[5s]) > 0")
    joined = prometheus.eventually(
        "fabric_interface_receive_bytes_total * on (device, interface) group_left (rail)"
        ' fabric_interface_info{link="host"}'
    )
    assert joined[0]["metric"]["rail"] == "1"
    assert len(prometheus.query("up == 1")) == 1
    metadata = prometheus.ask("metadata")
    for name, kind, help_ in (
        ("fabric_interface_receive_bytes_total", "counter", "Received octets of frames without preamble."),
        ("fabric_interface_oper_up", "gauge", "Whether the interface is operationally up (1) or not (0)."),
    ):
        assert metadata.get(name, metadata.get(name.removesuffix("_total")))[0] | {"unit": ""} == {
            "type": kind,
            "help": help_,
            "unit": "",
        }
    rack.kill(LEAF)
    prometheus.eventually(f'fabric_interface_oper_up{{device="{LEAF}"}}', empty=True)
    assert prometheus.query(f'fabric_collector_session_up{{device="{LEAF}"}} == 0')
    assert prometheus.query('fabric_interface_oper_up{device="pod1-spine1"}')
    rack.revive(LEAF)
    prometheus.eventually(f'fabric_interface_oper_up{{device="{LEAF}"}}')
