"""A real Prometheus scrapes the collector: the series are there, typed, and go stale when a switch does."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.integration.prometheus_server import Prometheus
from tests.signals import interruptible
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack

from railfab.dashboards.monitoring import Scrape, prometheus_config
from railfab.endpoints import save_endpoints
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
        scrape = Scrape(collectors=(server.url.removeprefix("http://"),), interval_s=1)
        with Prometheus(tmp_path, prometheus_config(scrape)) as running:
            yield running


def test_prometheus_finds_the_series_typed_and_loses_them_when_a_switch_dies(
    prometheus: Prometheus, rack: Rack
) -> None:
    prometheus.eventually("rate(fabric_interface_receive_bytes_total[5s]) > 0")
    joined = prometheus.eventually(
        "fabric_interface_receive_bytes_total * on (fabric, device, interface) group_left (rail)"
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


def test_prometheus_finds_the_processes_of_a_collector_with_the_configuration_that_we_write(
    rack: Rack, tmp_path: Path
) -> None:
    save_endpoints(tmp_path / "rack.json", rack.endpoints())
    command = [sys.executable, "-m", "railfab", "collect", "--targets", str(tmp_path / "rack.json")]
    options = ["--processes", "2", "--port", "0", "--interval", str(INTERVAL_S)]
    with subprocess.Popen(interruptible([*command, *options]), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            listed = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/http_sd", line)))
            build = [sys.executable, "-m", "railfab", "dashboards", "build", "-o", str(tmp_path), "--interval", "1"]
            subprocess.run([*build, "--collector", listed], check=True, capture_output=True)
            config = yaml.safe_load((tmp_path / "prometheus.yml").read_text())
            with Prometheus(tmp_path, config) as running:
                running.eventually('count(up{job="railfab-collector"} == 1) == 3')
                running.eventually("count(count by (device) (fabric_interface_oper_up)) == 2")
                assert {found["metric"].get("shard") for found in running.query("up")} == {"0", "1", None}
                assert running.ask("rules")["groups"]
        finally:
            process.terminate()
