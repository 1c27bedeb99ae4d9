"""Two SR Linux switches of pod64 on this machine, and a collector that streams from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack

from railfab.gnmi.server import ServerLoop
from railfab.intent import load_intent
from railfab.telemetry import Collector, fabric_collector
from railfab.topology import Topology, wire


@pytest.fixture(scope="session")
def topology(repository: Path) -> Topology:
    return wire(load_intent(repository / "inventory" / "fabrics" / "pod64.yml"))


@pytest.fixture(scope="session")
def server_loop() -> Iterator[ServerLoop]:
    with ServerLoop() as loop:
        yield loop


@pytest.fixture
def rack(tmp_path: Path, server_loop: ServerLoop) -> Iterator[Rack]:
    made = Rack(tmp_path, server_loop)
    yield made
    for name in made.servers:
        made.kill(name)


@pytest.fixture
def running(topology: Topology, rack: Rack) -> Iterator[Collector]:
    """A collector of both switches, in sync."""
    with fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK) as collector:
        assert collector.wait_until_up(10)
        yield collector
