"""The checks of a design."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import SwitchBuffers
from railfab.fabric.buffers import all_buffer_findings
from railfab.fabric.time_servers import time_servers
from railfab.fabric.watchdog import watchdog_findings
from railfab.findings import Finding
from railfab.hosts import nic_findings
from railfab.intent import FabricIntent
from railfab.topology import Topology, findings
from railfab.topology.racks import rack_findings


def design_findings(topology: Topology, intent: FabricIntent, buffers: tuple[SwitchBuffers, ...]) -> Iterator[Finding]:
    """Findings of every check: topology, buffers, watchdog, time servers, racks and NICs.

    Raises TopologyError for an unknown NIC model.
    """
    yield from findings(topology, intent)
    yield from all_buffer_findings(buffers, intent)
    yield from watchdog_findings(buffers, intent)
    yield from time_servers(topology, intent)
    yield from rack_findings(topology, intent)
    yield from nic_findings(intent)
