"""A job under way: which stage it is in, which flows it waits for, and how long its steps took."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from railfab.sim import Engine
from railfab.workload.stages import Stage
from railfab.workload.transfer import Transfer

RECENT_STEPS = 256

Launch = Callable[[tuple[Transfer, ...]], tuple[set[int], float]]
"""Starts transfers; returns the flows' numbers and how long they would last if all links were shared fairly [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A pass through a job's phases that has ended. ideal_s: with fair shares of the links from the first octet on."""

    duration_s: float
    communication_s: float
    ideal_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """job, stage: None and empty when nothing runs. steps: how many have ended; recent: the last of them.

    stalled: why flows have no way, each reason once. simulated_s: since the fabric was made.
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
    """Drives an engine through the stages of a job."""

    def __init__(
        self, name: str, stages: tuple[Stage, ...], repeat: int | None, engine: Engine, launch: Launch
    ) -> None:
        self.name, self._stages, self._repeat = name, stages, repeat
        self._engine, self._launch = engine, launch
        self.steps = 0
        self.recent: deque[Step] = deque(maxlen=RECENT_STEPS)
        self._place = 0
        self._waiting: set[int] = set()
        self.rests_until_ns = self.stage_began_ns = self._step_began_ns = engine.now_ns
        self._open = False
        self._communication_ns, self._ideal_s = 0, 0.0

    @property
    def stage(self) -> str:
        """The name of the present stage; empty after the end."""
        return "" if self._over else self._stages[self._place].name

    @property
    def _over(self) -> bool:
        return self._repeat is not None and self.steps >= self._repeat

    def drive(self, until_ns: int) -> None:
        """Let time pass until then."""
        while not self._over:
            if not self._open:
                self._begin()
            elif not self._passed(until_ns):
                return
            else:
                self._finish()
        self._engine.run(until_ns)

    def _begin(self) -> None:
        stage, now_ns = self._stages[self._place], self._engine.now_ns
        self._open, self.stage_began_ns = True, now_ns
        self.rests_until_ns = now_ns + stage.compute_ns
        if stage.transfers:
            self._waiting, ideal_s = self._launch(stage.transfers)
            self._ideal_s += ideal_s

    def _passed(self, until_ns: int) -> bool:
        """Run to the end of the stage; false when the time is up before."""
        engine = self._engine
        while self._waiting:
            ended = engine.run(until_ns)
            if not ended:
                return False
            self._waiting.difference_update(ended)
        if engine.now_ns < self.rests_until_ns:
            engine.run(min(until_ns, self.rests_until_ns))
        return engine.now_ns >= self.rests_until_ns

    def _finish(self) -> None:
        now_ns = self._engine.now_ns
        if self._stages[self._place].transfers:
            self._communication_ns += now_ns - self.stage_began_ns
        self._open = False
        self._place = (self._place + 1) % len(self._stages)
        if self._place == 0:
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
