"""Time servers of switches, whose telemetry is compared by the time at which each of them sampled it."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, note, warning
from railfab.intent import FabricIntent
from railfab.platforms import Support, has_platform, platform
from railfab.platforms.admission import support_of
from railfab.topology import Topology

KEY = "management.services.ntp"
PROBLEM = "no time servers are stated, so that telemetry and logs of the switches have times that do not compare"
REMEDY = f"State {KEY}, unless the switches have their time servers from elsewhere"


def time_servers(topology: Topology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that an intent with the management access of its switches states how these get the time.

    A note where it states neither services nor gNMI: as without `management`, the access is the operator's then.
    """
    management = intent.management
    if management is None or management.services.ntp or management.services.ptp:
        return
    if any(map(_configures_time, {switch.platform for switch in topology.switches()})):
        severity = warning if management.gnmi or any(servers for _, servers in management.services) else note
        yield severity(DesignCode.NO_TIME_SERVERS, KEY, PROBLEM, REMEDY)


def _configures_time(name: str | None) -> bool:
    return name is not None and has_platform(name) and support_of(platform(name).capabilities, "ntp") is Support.YES
