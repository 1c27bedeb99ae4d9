"""Fabrics under load: flows, queues, marks, pauses and drops as numbers. Knows no vendor, no protocol and no names."""

from railfab.sim.cruise import Strides
from railfab.sim.dcqcn import Dcqcn, marking_probability
from railfab.sim.engine import Engine
from railfab.sim.network import QUEUES, Flow, Framing, Network, Path, plain_network
from railfab.sim.solver import max_min_rates
from railfab.sim.tally import Counters

__all__ = [
    "QUEUES",
    "Counters",
    "Dcqcn",
    "Engine",
    "Flow",
    "Framing",
    "Network",
    "Path",
    "Strides",
    "marking_probability",
    "max_min_rates",
    "plain_network",
]
