"""Fabrics under load: flows, queues, marks, pauses and drops as numbers. Knows no vendor, no protocol and no names."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from railfab.sim.counters import Counters, FlowResults, Paths
from railfab.sim.kernel.records import QUEUES
from railfab.sim.network import Balancing, Flow, FlowEnds, Framing, HashFields, Network, Routing, plain_network
from railfab.sim.transport import Dcqcn, Recovery, Transport

if TYPE_CHECKING:
    from railfab.sim.engine import Engine, EngineSnapshot

__all__ = [
    "QUEUES",
    "Balancing",
    "Counters",
    "Dcqcn",
    "Engine",
    "EngineSnapshot",
    "Flow",
    "FlowEnds",
    "FlowResults",
    "Framing",
    "HashFields",
    "Network",
    "Paths",
    "Recovery",
    "Routing",
    "Transport",
    "plain_network",
]


def __getattr__(name: str) -> Any:
    """Import the engine on use: it brings the compiler, and designs and their routes need only numbers."""
    if name in ("Engine", "EngineSnapshot"):
        return getattr(import_module("railfab.sim.engine"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
