"""Gates of a roll-out: what the fabric must still do after a wave of changes, before the next one begins."""

from __future__ import annotations

import os
import threading

from railfab.deploy.gates.configuration import ConfigurationGate
from railfab.deploy.gates.contract import Gate, GateFailure, Source, TelemetryReading, TelemetrySeries
from railfab.deploy.gates.source import PREFIX, TelemetrySource
from railfab.deploy.gates.state import StateGate
from railfab.deploy.gates.telemetry import TelemetryGate
from railfab.deploy.gates.traffic import wait_until_idle
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.run import nornir_of
from railfab.endpoints import Endpoints
from railfab.endpoints.secrets import SecretSource
from railfab.fabric import Design

__all__ = [
    "ConfigurationGate",
    "Gate",
    "GateFailure",
    "Source",
    "StateGate",
    "TelemetryGate",
    "TelemetryReading",
    "TelemetrySeries",
    "TelemetrySource",
    "gates_of",
    "source_of",
    "wait_until_idle",
]


def source_of(fabric: Design, url: str | None = None) -> Source | None:
    """The telemetry behind a URL, or behind that of `change.telemetry`; None without any.

    Its login is in the environment: see `endpoints.secrets`. Raises EndpointError for what is no URL.
    """
    address = url or fabric.intent.change.telemetry
    if address is None:
        return None
    return TelemetrySource(address, fabric.intent.fabric, SecretSource(PREFIX, os.environ))


def gates_of(
    fabric: Design,
    endpoints: Endpoints,
    kept: KeptSessions,
    source: Source | None = None,
    stop_requested: threading.Event | None = None,
) -> tuple[Gate, ...]:
    """The gates of a roll-out over these switches that read them, and their telemetry.

    kept: the open sessions of the roll-out. source: without it there is no gate of the telemetry. stop_requested: ends
    every wait.
    """
    stop = stop_requested or threading.Event()
    state = StateGate(fabric, nornir_of(fabric, endpoints, stop), kept, stop_requested=stop)
    return (state,) if source is None else (state, TelemetryGate(fabric, source, stop))
