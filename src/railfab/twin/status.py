"""The status of a twin, and what can be done to a switch of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from railfab.topology import PortKey

if TYPE_CHECKING:
    from railfab.workload.run import JobSteps

RECENT_STEPS = 10
"""Finished steps that a status has."""


class FaultKind(StrEnum):
    """Of a switch: HUNG, OFF, STOPPED (its servers), SLOW (its answers). Of a port: DARK (no light), LOSING (what it is
    sent is lost), DIRTY (it misses light). Of a cable: MISCABLED, BROKEN."""

    HUNG = "hung"
    OFF = "off"
    STOPPED = "stopped"
    SLOW = "slow"
    DARK = "dark"
    LOSING = "losing"
    DIRTY = "dirty"
    MISCABLED = "miscabled"
    BROKEN = "broken"


class SwitchOperation(StrEnum):
    """Pairs of which each undoes the other. STOP, START: the servers of the management. HANG, RESUME: the control
    plane. SLOW, QUICK: its answers. OFF, ON: the power."""

    STOP = "stop"
    START = "start"
    HANG = "hang"
    RESUME = "resume"
    SLOW = "slow"
    QUICK = "quick"
    OFF = "off"
    ON = "on"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that was made. node, port: where; of a cable one end. port: empty for a switch.

    undo: arguments of `railfab twin` that undo it.
    """

    kind: FaultKind
    node: str
    port: str
    problem: str
    undo: str

    def __str__(self) -> str:
        return f"{self.problem}. Undo it with railfab twin {self.undo}"

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Fault:
        return cls(**{**document, "kind": FaultKind(document["kind"])})


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
class StepTimes:
    """A finished step of a job [simulated s]. number: from 1. ideal_s: the whole step where nothing is slow.

    waited_for: source and target, each as node and port, of the transfer that ended last in the stage whose transfers
    took longest; None without transfers.
    """

    number: int
    step_s: float
    communication_s: float
    ideal_s: float
    waited_for: tuple[PortKey, PortKey] | None

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> StepTimes:
        ends = document["waited_for"]
        return cls(**{**document, "waited_for": None if ends is None else (tuple(ends[0]), tuple(ends[1]))})


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinStatus:
    """A twin at one moment.

    job: None when none runs. steps: finished ones of the job. last_step_s, last_communication_s: duration of the last
    and of the part of it in which hosts communicated, in simulated time.
    stalled: why flows of the job have no path, each reason once. slow_hosts: NICs whose host takes packets slowly.
    faults: switches that hang, have no power or no servers, ports that miss light or receive nothing, broken cables,
    and those that lead elsewhere than planned; each with the command that undoes it. fault_details: the same in parts.
    sessions_up, sessions: BGP sessions established and configured, both ends counted. simulated_s: that of the counters
    which the switches show; never behind it. slipped_s: wall time that the
    simulation fell behind by. failure: the error that stopped the simulation's job; empty when there is none.
    step_share: of the computations and transfers of the present step those that have ended. step_elapsed_s: simulated
    time since it began; step_ideal_s: how long it takes where nothing is slow; all None of a job of phases.
    last_steps: the last RECENT_STEPS of them, oldest first.
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
    fault_details: tuple[Fault, ...] = ()
    step_share: float | None = None
    step_elapsed_s: float | None = None
    step_ideal_s: float | None = None
    last_steps: tuple[StepTimes, ...] = ()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TwinStatus:
        switches = tuple(map(SwitchStatus.from_json, document["switches"]))
        texts = {name: tuple(document[name]) for name in ("stalled", "slow_hosts", "faults")}
        details = tuple(map(Fault.from_json, document["fault_details"]))
        steps = tuple(map(StepTimes.from_json, document["last_steps"]))
        return cls(**{**document, "switches": switches, "fault_details": details, "last_steps": steps, **texts})


@dataclass(frozen=True, slots=True)
class PassingFlow:
    """A flow that is under way, by the NIC ports at its ends. payload_bytes: of the whole flow; None of background
    traffic, which does not end."""

    source: PortKey
    target: PortKey
    payload_bytes: int | None

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> PassingFlow:
        return cls(tuple(document["source"]), tuple(document["target"]), document["payload_bytes"])


def step_times(job: JobSteps) -> tuple[StepTimes, ...]:
    """The last steps of a job. The ideal of a job of phases is that of its transfers alone."""
    recent = job.recent[-RECENT_STEPS:]
    return tuple(
        StepTimes(
            number=number,
            step_s=step.duration_s,
            communication_s=step.communication_s,
            ideal_s=step.ideal_s if step.calls else step.duration_s - step.communication_s + step.ideal_s,
            waited_for=step.waited_for,
        )
        for number, step in enumerate(recent, job.steps - len(recent) + 1)
    )
