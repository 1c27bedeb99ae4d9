"""A run of a job on an engine: current stage, and duration of the steps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from railfab.sim.fast_forward import FastForward
from railfab.workload.stages import Stage
from railfab.workload.transfer import Transfer

RECENT_STEPS = 256

Launch = Callable[[tuple[Transfer, ...]], float]
"""Starts transfers on the engine; returns their duration under fair sharing of all links [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A finished pass through the phases of a job. ideal_s: duration with fair sharing of the links throughout."""

    duration_s: float
    communication_s: float
    ideal_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """State of a job. job, stage: None and empty when nothing runs. steps: number of finished steps; recent: the last.

    stalled: reasons for which flows have no path, without duplicates. simulated_s: simulated time since the start.
    """

    job: str | None
    stage: str
    steps: int
    recent: tuple[Step, ...]
    active_flows: int
    stalled_flows: int
    stalled: tuple[str, ...]
    simulated_s: float


class JobRun:
    """Runs the stages of a job on an engine."""

    def __init__(
        self, name: str, stages: tuple[Stage, ...], repeat: int | None, engine: FastForward, launch: Launch
    ) -> None:
        self.name, self._stages, self._repeat = name, stages, repeat
        self._engine, self._launch = engine, launch
        self.steps = 0
        self.recent: deque[Step] = deque(maxlen=RECENT_STEPS)
        self._stage_index = 0
        self.rests_until_ns = self.stage_began_ns = self._step_began_ns = self._now_ns
        self._in_stage = self._sending = False
        self._communication_ns, self._ideal_s = 0, 0.0

    @property
    def stage(self) -> str:
        """Name of the current stage; empty after the end."""
        return "" if self.finished else self._stages[self._stage_index].name

    @property
    def _now_ns(self) -> int:
        """The engine's time, which may stop between two nanoseconds."""
        return math.ceil(self._engine.now_ns)

    @property
    def finished(self) -> bool:
        """Whether the last of its steps has ended."""
        return self._repeat is not None and self.steps >= self._repeat

    def continue_on(self, engine: FastForward) -> None:
        """Begin the present stage again, on an engine without its flows."""
        self._engine, self._in_stage, self._sending = engine, False, False

    def advance(self, until_ns: int) -> None:
        """Run until this simulated time."""
        while not self.finished:
            if not self._in_stage:
                self._begin_stage()
            elif not self._run_stage(until_ns):
                return
            else:
                self._end_stage()
        self._engine.run(until_ns, stop_when_done=False)

    def _begin_stage(self) -> None:
        stage, now_ns = self._stages[self._stage_index], self._now_ns
        self._in_stage, self.stage_began_ns = True, now_ns
        self.rests_until_ns = now_ns + stage.compute_ns
        if stage.transfers:
            self._sending = True
            self._ideal_s += self._launch(stage.transfers)

    def _run_stage(self, until_ns: int) -> bool:
        """Run to the end of the stage, when the last flow is acknowledged; False when `until_ns` is reached first."""
        engine = self._engine
        if self._sending:
            if not engine.run(until_ns):
                return False
            self._sending = False
            self.rests_until_ns = max(self.rests_until_ns, math.ceil(engine.flows().finish_ns.max(initial=0)))
        engine.run(min(until_ns, self.rests_until_ns), stop_when_done=False)
        return self._now_ns >= self.rests_until_ns

    def _end_stage(self) -> None:
        now_ns = self._now_ns
        if self._stages[self._stage_index].transfers:
            self._communication_ns += now_ns - self.stage_began_ns
        self._in_stage = False
        self._stage_index = (self._stage_index + 1) % len(self._stages)
        if self._stage_index == 0:
            self._end_step(now_ns)

    def _end_step(self, now_ns: int) -> None:
        self.steps += 1
        self.recent.append(
            Step(
                duration_s=(now_ns - self._step_began_ns) / 1e9,
                communication_s=self._communication_ns / 1e9,
                ideal_s=self._ideal_s,
            )
        )
        self._step_began_ns, self._communication_ns, self._ideal_s = now_ns, 0, 0.0
