"""Fabrics under load: flows, queues, marks, pauses and drops as numbers. Knows no vendor, no protocol and no names."""

from railfab.sim.counters import Counters, FlowResults
from railfab.sim.engine import Engine, Snapshot
from railfab.sim.kernel.records import QUEUES
from railfab.sim.network import Balancing, Flow, Framing, HashFields, Network, Routing, plain_network
from railfab.sim.solver import max_min_rates
from railfab.sim.transport import Dcqcn, Recovery, Transport

__all__ = [
    "QUEUES",
    "Balancing",
    "Counters",
    "Dcqcn",
    "Engine",
    "Flow",
    "FlowResults",
    "Framing",
    "HashFields",
    "Network",
    "Recovery",
    "Routing",
    "Snapshot",
    "Transport",
    "max_min_rates",
    "plain_network",
]
