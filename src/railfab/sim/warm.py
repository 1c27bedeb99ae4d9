"""Compile the kernel before it is needed: `python -m railfab.sim.warm`."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from railfab.sim.engine import Engine
from railfab.sim.fluid import FluidFlows, fluid_ends, fluid_rates
from railfab.sim.network import Routing, plain_network
from railfab.sim.readiness import is_ready, slowness


def compile_kernel() -> None:
    """Run an empty network, and a fluid flow: what any network needs is compiled, and kept where that is possible."""
    near, far = np.array([0, 1]), np.array([1, 0])
    network = plain_network(near, far, np.zeros(2, bool), np.full(2, 100.0))
    nowhere = np.full(2, -1)
    routing = Routing(
        destination=np.arange(2), row=nowhere, group=np.zeros((0, 2), int), begin=np.zeros(1, int), members=nowhere[:0]
    )
    Engine(network, routing).run(0.0)
    nothing = np.zeros(0, np.int64)
    flow = FluidFlows(
        paths=np.zeros((1, 1), np.int64),
        route=np.zeros(1, np.int64),
        alike=np.ones(1, np.int64),
        payload_bytes=np.ones(1),
        latency_s=np.zeros(1),
        earlier=nothing,
        later=nothing,
    )
    fluid_ends(flow, np.ones(1))
    fluid_rates(flow.paths, np.ones(1))


def prepare(say: Callable[[str], object], *, here: bool = True) -> None:
    """Say why the simulator starts or runs slowly, if it does; and load it now, or compile it.

    here: this process runs it; else one that it starts, for which compiled code need only be there.
    """
    if text := slowness():
        say(text)
    if here or not is_ready():
        compile_kernel()


if __name__ == "__main__":
    prepare(lambda text: sys.stderr.write(f"{text}\n"))
