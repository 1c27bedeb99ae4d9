"""Gates of a roll-out: what the fabric must still do after a wave of changes, before the next one begins."""

from __future__ import annotations

import threading

from railfab.deploy.gates.contract import Gate, GateFailure, Source, TelemetryReading, TelemetrySeries
from railfab.deploy.gates.state import StateGate
from railfab.deploy.run import nornir_of
from railfab.endpoints import Endpoints
from railfab.fabric import Design

__all__ = ["Gate", "GateFailure", "Source", "StateGate", "TelemetryReading", "TelemetrySeries", "gates_of"]


def gates_of(fabric: Design, endpoints: Endpoints, stop_requested: threading.Event | None = None) -> tuple[Gate, ...]:
    """The gates of a roll-out over these switches; the first is that of the state.

    stop_requested: ends every wait.
    """
    stop = stop_requested or threading.Event()
    return (StateGate(fabric, nornir_of(fabric, endpoints, stop), stop_requested=stop),)
