"""The sample interval that a machine can keep up with."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.fabric import Design
from railfab.process.cores import usable_cores

INTERVALS_S = (1, 2, 5, 10, 15, 20, 30, 60)
LEAVES_PER_PORT = 50
"""Leaves that a switch sends for one port, its queues and priorities."""
CPU_S_PER_LEAF = 40e-6
"""CPU time of one sample of a leaf in the twin, the collector and a scrape of it."""
CPU_SHARE = 0.5
"""Share of the cores that sampling may take; the rest is for the simulation and the view."""
USED_CORES = 2
"""The twin and the collector compute in one thread each: more cores do not make them faster."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often every switch is sampled. cores: that this process may use."""

    interval_s: float
    switches: int
    cores: int

    def __str__(self) -> str:
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return f"sampling every {self.interval_s:g} s: {self.switches} switches on {cores}"


def choose_sampling(fabric: Design, interval_s: float | None) -> Sampling:
    """Take the given interval, else the shortest for which sampling needs at most CPU_SHARE of the cores."""
    cores = usable_cores()
    if interval_s is None:
        ports = sum(len(fabric.topology.ports_of(name)) for name in fabric.models)
        interval_s = shortest_interval_s(ports * LEAVES_PER_PORT, cores)
    return Sampling(interval_s, len(fabric.models), cores)


def shortest_interval_s(leaves: int, cores: int) -> float:
    """The shortest of INTERVALS_S at which these leaves can be sampled; the longest when none is long enough."""
    needed_s = leaves * CPU_S_PER_LEAF / (min(cores, USED_CORES) * CPU_SHARE)
    return next((interval_s for interval_s in INTERVALS_S if interval_s >= needed_s), INTERVALS_S[-1])
