"""Observations of a fabric without switches: all as intended, but for what a test changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from railfab.deploy.gates import TelemetryReading, TelemetrySeries
from railfab.deploy.gates.contract import SIMULATED
from railfab.device import Observed, ObservedInterface
from railfab.diagnosis import FabricDiagnosis, Observations, TelemetryWindow, diagnose
from railfab.errors import DeviceError, RailfabError
from railfab.fabric import Design
from railfab.platforms import Identity, Running

WORDS = {"intent": "rack.yml", "on": " --on twin", "hosts": ""}
WINDOW_S = 20.0
Ports = Collection[tuple[str, str]]
Counted = Mapping[tuple[str, str, str], float]
"""Growth of a counter in the window, by metric, switch and interface."""


def intended_state(fabric: Design, name: str, down: Ports = ()) -> Observed:
    """The state of a switch whose ports are up, but for some, with the LLDP neighbors of the plan."""
    interfaces = tuple(
        ObservedInterface(
            name=port.name,
            oper_up=(name, port.name) not in down and (peer.node, peer.name) not in down,
            enabled=True,
            neighbor_device=peer.node if peer.node in fabric.models else None,
            neighbor_interface=peer.name if peer.node in fabric.models else None,
        )
        for port, peer, _ in fabric.topology.ports_of(name)
    )
    return Observed(interfaces=interfaces, sessions=())


def running(text: str, *, drained: bool = False) -> Running:
    return Running(
        text=text, revision="", identity=Identity(hostname="", model="", version=""), pending=None, drained=drained
    )


def observations(
    fabric: Design,
    *,
    texts: Mapping[str, str] | None = None,
    down: Ports = (),
    counted: Counted | None = None,
    gauges: Counted | None = None,
    silent: Collection[str] = (),
    stale: Collection[str] = (),
    uncollected: Collection[str] = (),
    unread: Collection[str] = (),
    states: Mapping[str, Observed] | None = None,
) -> Observations:
    """What a diagnosis sees of a fabric that is as intended, but for these.

    texts: running configurations. down: ports whose links are down. counted, gauges: series of ports. silent: switches
    that the collector cannot reach. stale: those of which no new sample arrives. uncollected: those without a series.
    unread: those that cannot be read. states: of switches.
    """
    ran, seen = {**fabric.configurations(), **(texts or {})}, states or {}
    inspected = {
        name: (running(ran[name]), seen.get(name) or intended_state(fabric, name, down))
        for name in fabric.models
        if name not in unread
    }
    errors: dict[str, RailfabError] = {name: DeviceError(name, "does not answer", "Check it") for name in unread}
    window = _window(fabric, counted or {}, gauges or {}, silent=silent, stale=stale, uncollected=uncollected)
    return Observations(fabric=fabric, inspected=inspected, unread=errors, window=window)


def _window(
    fabric: Design,
    counted: Counted,
    gauges: Counted,
    *,
    silent: Collection[str],
    stale: Collection[str],
    uncollected: Collection[str],
) -> TelemetryWindow:
    first, last = {}, {}
    heard = {name: name not in (*silent, *stale) for name in fabric.models if name not in uncollected}
    for name, is_heard in heard.items():
        clock = TelemetrySeries(SIMULATED, (("device", name),))
        last[TelemetrySeries("fabric_collector_session_up", (("device", name),))] = float(name not in silent)
        first[clock], last[clock] = 100.0, 100.0 + is_heard * WINDOW_S
    for (metric, switch, interface), value in counted.items():
        series = TelemetrySeries(metric, (("device", switch), ("interface", interface)))
        first[series], last[series] = 7.0, 7.0 + value
    for (metric, switch, interface), value in gauges.items():
        last[TelemetrySeries(metric, (("device", switch), ("interface", interface)))] = value
    updated = {name: 50.0 + is_heard * WINDOW_S for name, is_heard in heard.items()}
    return TelemetryWindow([TelemetryReading(first, dict.fromkeys(heard, 50.0)), TelemetryReading(last, updated)])


def diagnosed(seen: Observations) -> FabricDiagnosis:
    return diagnose(seen, WORDS, 0.0)


def with_interface(state: Observed, name: str, **changes: object) -> Observed:
    """The state of a switch with another state of one interface."""
    interfaces = tuple(
        replace(interface, **changes) if interface.name == name else interface  # type: ignore[arg-type]
        for interface in state.interfaces
    )
    return replace(state, interfaces=interfaces)
