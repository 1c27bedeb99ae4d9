"""The status of a twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchStatus:
    """One virtual switch. running: whether its gNMI server answers. fault: `hung`, `off`, or empty.

    configured: whether it has more than its factory configuration. unmodelled: lines of its configuration that have no
    effect on the twin.
    """

    name: str
    port: int
    running: bool
    configured: bool
    unmodelled: tuple[str, ...] = ()
    fault: str = ""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SwitchStatus:
        return cls(**{**document, "unmodelled": tuple(document["unmodelled"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinStatus:
    """A twin at one moment.

    job: None when none runs. steps: finished ones of the job. last_step_s, last_communication_s: duration of the last
    and of the part of it in which hosts communicated, in simulated time.
    stalled: why flows of the job have no path, each reason once. slow_hosts: NICs whose host takes packets slowly.
    faults: switches that hang or have no power, ports that miss light or receive nothing, broken cables, and those
    that lead elsewhere than planned.
    sessions_up, sessions: BGP sessions established and configured, both ends counted. simulated_s: that of the counters
    which the switches show; never behind it. slipped_s: wall time that the
    simulation fell behind by. failure: the error that stopped the simulation's job; empty when there is none.
    """

    fabric: str
    pid: int
    job: str | None
    steps: int
    last_step_s: float | None
    last_communication_s: float | None
    stalled: tuple[str, ...]
    slow_hosts: tuple[str, ...]
    faults: tuple[str, ...]
    sessions_up: int
    sessions: int
    simulated_s: float
    slipped_s: float
    failure: str
    switches: tuple[SwitchStatus, ...]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TwinStatus:
        switches = tuple(map(SwitchStatus.from_json, document["switches"]))
        texts = {name: tuple(document[name]) for name in ("stalled", "slow_hosts", "faults")}
        return cls(**{**document, "switches": switches, **texts})
