"""The one entry point of the kernel: what it calls is compiled once, and kept in one file."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import compiled, from_start
from railfab.sim.kernel.park import park
from railfab.sim.kernel.records import State
from railfab.sim.kernel.reroute import reroute
from railfab.sim.kernel.routing import walk_flows
from railfab.sim.kernel.run import advance
from railfab.sim.kernel.wheel import add_start_timers

ADVANCE, REROUTE, START_FLOWS, PARK, WALK = range(5)


@compiled
def kernel(st: State, action: int, argument: int, stop_when_done: bool, keys: Any, spare: Any, starts: Any) -> int:
    """ADVANCE to a time [ps], the result says why it stopped; REROUTE; START_FLOWS from a number on; PARK; WALK."""
    arrays = from_start(st)
    if action == REROUTE:
        reroute(arrays)
        return 0
    if action == START_FLOWS:
        add_start_timers(arrays, argument)
        return 0
    if action == PARK:
        park(arrays)
        return 0
    if action == WALK:
        walk_flows(arrays)
        return 0
    return int(advance(arrays, argument, stop_when_done, from_start(keys), from_start(spare), from_start(starts)))
