"""Waiting until the traffic has moved off drained switches, by their counters."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from time import monotonic

from railfab.deploy.gates.contract import Source, TelemetryReading
from railfab.deploy.gates.rates import rates

CONTROL_SHARE = 0.001
"""Share of the speed of its ports that BGP, BFD and LLDP of a switch stay below: 0.1 Gb/s of a port of 100 Gb/s."""
SENT = "fabric_interface_transmit_bytes_total"
RECEIVED = "fabric_interface_receive_bytes_total"
SPEED = "fabric_interface_speed_bytes_per_second"
READ_EVERY_S = 1.0
QUIET_S = 5.0
"""Time without traffic after which it has moved: a job that computes sends nothing for a moment [s]."""
GBPS = 8e-9
"""Gigabits of a byte."""


def wait_until_idle(
    source: Source, switches: Sequence[str], *, within_s: float, stop_requested: threading.Event
) -> Mapping[str, float]:
    """Wait until these switches carry nothing but control traffic; returns what still flows, in Gb/s by switch.

    Empty: the traffic has moved. A switch without new samples counts with all its ports at full speed, and one whose
    speed is not known with infinity. Ends after within_s, or when a stop is requested. Raises RailfabError where the
    telemetry cannot be read.
    """
    end = monotonic() + within_s
    before = source.read((SENT, RECEIVED, SPEED), switches)
    flows = {name: _full(before, name) for name in switches}
    while flows and monotonic() < end and not stop_requested.wait(READ_EVERY_S):
        after = source.read((SENT, RECEIVED, SPEED), switches)
        known = [name for name in switches if name in before.updated_s]
        if all(after.updated_s.get(name, 0.0) >= before.updated_s[name] + QUIET_S for name in known):
            flows = {name: gbps for name in switches if (gbps := _flowing(before, after, name)) > 0}
            before = after
    return flows


def _flowing(before: TelemetryReading, after: TelemetryReading, name: str) -> float:
    """Traffic through the ports of a switch that carry more than control traffic, both directions [Gb/s]."""
    speeds = {
        series["interface"]: speed
        for series, speed in after.values.items()
        if series.metric == SPEED and series.device == name
    }
    flows = {
        series: rate
        for series, rate in rates(before, after).items()
        if series.device == name and series.metric in (SENT, RECEIVED)
    }
    if not flows:
        return _full(after, name)
    return GBPS * sum(
        rate for series, rate in flows.items() if rate > CONTROL_SHARE * speeds.get(series["interface"], 0.0)
    )


def _full(reading: TelemetryReading, name: str) -> float:
    speeds = [speed for series, speed in reading.values.items() if series.metric == SPEED and series.device == name]
    return 2 * sum(speeds) * GBPS if speeds else float("inf")
