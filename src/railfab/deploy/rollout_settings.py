"""Settings and result of a roll-out, and who watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from railfab.deploy.gates import Gate, GateFailure
from railfab.deploy.run import Outcome
from railfab.deploy.schedulers import Scheduler
from railfab.deploy.waves import Wave

UntilIdle = Callable[[Sequence[str]], Mapping[str, float]]
"""Waits until drained switches carry nothing, within a limit; returns what still flows, by switch [Gb/s]."""


class Observer(Protocol):
    """Watches a roll-out; called in the thread that drives it, and with each outcome in that of its switch."""

    def approves(self, wave: Wave) -> bool:
        """Whether a wave may begin."""
        ...

    def begins(self, wave: Wave) -> None: ...

    def says(self, line: str) -> None:
        """Take a line about what happens."""
        ...

    def changing(self, wave: Wave) -> AbstractContextManager[Callable[[Outcome], None]]:
        """Follow the changes of a wave; yields the function that takes each outcome."""
        ...

    def ends(self, wave: Wave, stopped: str) -> None:
        """A wave has ended. stopped: why the roll-out ends with it, else empty."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutSettings:
    """Settings of a roll-out.

    gates: checked after each wave, and some of them before drained switches get their traffic back. until_idle: waits
    until telemetry shows no traffic on drained switches. scheduler: holds jobs away from hosts that a switch cuts off.
    reverts_all: whether a failed gate reverts every wave. pause_after: the number of the wave after which the roll-out
    ends, to be continued. accept_cut: whether hosts may be cut off while jobs run there. jobs_within_s: limit of the
    wait for jobs [s].
    """

    gates: Sequence[Gate] = ()
    until_idle: UntilIdle | None = None
    scheduler: Scheduler | None = None
    reverts_all: bool = False
    pause_after: int | None = None
    accept_cut: bool = False
    jobs_within_s: float = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutResult:
    """End of a roll-out. stopped: why it ended before each switch had its change, else empty. failures: of the gates.

    at_gate: whether a wave failed its gates, or could not be drained. paused, declined: whether it ends as the operator
    has said before, or as an answer says.
    """

    outcomes: tuple[Outcome, ...]
    stopped: str = ""
    failures: tuple[GateFailure, ...] = ()
    at_gate: bool = False
    paused: bool = False
    declined: bool = False


class GateStop(Exception):
    """A wave that must not stay: a gate failed, or traffic or jobs did not leave its switches."""

    def __init__(self, problem: str, failures: Sequence[GateFailure] = ()) -> None:
        super().__init__(problem)
        self.failures = tuple(failures)
