"""A real Prometheus with our rules and a collector whose target is silent for 7 s: the alert's time runs on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.test_prometheus_scrape import Prometheus
from tests.telemetry.rack import QUICK, Rack

from railfab.dashboards import Scrape, prometheus_files, write
from railfab.dashboards.monitoring import prometheus_config
from railfab.gnmi.server import ServerLoop
from railfab.intent import load_intent
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.topology import wire

pytestmark = pytest.mark.prometheus

LEAF = "pod1-seg1-leaf1"
SESSION = "/network-instance[name=default]/protocols/bgp/neighbor[peer-address=fe80::1%ethernet-1/25.0]/session-state"
LASTING_S, SILENT_S = 30.0, 7.0


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Rack]:
    with ServerLoop() as loop:
        made = Rack(tmp_path, loop)
        made.switches[LEAF].leaves.put(SESSION, "idle", on_change=True)
        yield made
        for name in made.servers:
            made.kill(name)


def alert(prometheus: Prometheus, state: str) -> dict[str, Any]:
    """The alert on the session, once it is in this state."""
    until_s = time.monotonic() + LASTING_S + 30
    while time.monotonic() < until_s:
        try:
            found = prometheus.ask("alerts")["alerts"]
        except OSError:
            found = []
        for one in found:
            if one["labels"]["alertname"] == "FabricBgpSessionDown" and one["state"] == state:
                return one  # type: ignore[no-any-return]
        time.sleep(0.3)
    raise AssertionError(f"the alert is not {state}")


def test_a_target_that_is_silent_for_7_s_restarts_no_for(rack: Rack, repository: Path, tmp_path: Path) -> None:
    topology = wire(load_intent(repository / "inventory" / "fabrics" / "pod64.yml"))
    collector = fabric_collector(topology, rack.endpoints(), interval_s=1.0, policy=QUICK)
    with MetricsServer(collector.exposition, collector, port=0) as server, collector:
        assert collector.wait_until_up(20)
        folder = tmp_path / "prometheus"
        write(prometheus_files(Scrape(interval_s=1)), folder)
        scrape = Scrape(collectors=(server.url.removeprefix("http://"),), interval_s=1)
        prometheus = Prometheus(folder, prometheus_config(scrape))
        try:
            pending = alert(prometheus, "pending")
            rack.kill(LEAF)
            time.sleep(SILENT_S)
            assert not prometheus.query(f'fabric_bgp_session_up{{device="{LEAF}"}}')
            rack.revive(LEAF)
            assert alert(prometheus, "firing")["activeAt"] == pending["activeAt"]
        finally:
            prometheus.process.terminate()
            prometheus.process.wait(10)
