"""A run of a job on an engine: current stage, and duration of the steps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from railfab.sim.fast_forward import FastForward
from railfab.sim.kernel.records import DONE
from railfab.topology import PortKey
from railfab.units import NS_PER_S
from railfab.workload.call_times import CallTimes, Times, call_times, transferring_ns
from railfab.workload.ideal_times import is_crossing
from railfab.workload.staged_job import StagedJob
from railfab.workload.transfer import Stage, Transfer

RECENT_STEPS = 256

Launch = Callable[[Stage], float]
"""Starts the transfers of a stage on the engine; returns their ideal duration [s]."""
POLL_NS = 100_000
"""Interval in which the end of a stage is looked for while asynchronous transfers are under way [simulated ns]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A finished pass through the stages of a job. ideal_s: duration of its transfers with fair sharing of the links
    throughout; of a training step see `IdealSteps`. communication_s: in which transfers were under way. calls:
    operations of a training step over the network. waited_for: source and target of the transfer that ended last in the
    stage whose transfers took longest; None without transfers.
    """

    duration_s: float
    communication_s: float
    ideal_s: float
    calls: tuple[CallTimes, ...] = ()
    waited_for: tuple[PortKey, PortKey] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSteps:
    """Finished steps of a job. job: None when none runs. recent: the last of them."""

    job: str | None
    steps: int
    recent: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """The step that runs: its computations and transfers that have ended, of all, the simulated time since it began,
    and how long it takes where nothing is slow [s]; None where that is not known before."""

    ended: int
    total: int
    elapsed_s: float
    ideal_s: float | None

    @property
    def share(self) -> float:
        """Share of its computations and transfers that have ended."""
        return self.ended / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus(JobSteps):
    """State of a job. stage: empty when nothing runs. active_flows: those that send. progress: of a step with a model,
    or of a recorded one; None of others.

    stalled: reasons for which flows have no path, without duplicates. simulated_s: simulated time since the start.
    """

    stage: str
    active_flows: int
    stalled_flows: int
    stalled: tuple[str, ...]
    simulated_s: float
    progress: StepProgress | None = None


class IdealSteps:
    """Ideals of the steps of a training job: at fair rates, and no shorter than the fastest step that the fabric ran as
    it is designed: congestion control takes time that fair rates do not have, where flows meet."""

    def __init__(self) -> None:
        self._fastest: dict[float, float] = {}

    def ideal_s(self, fair_s: float, duration_s: float, *, as_designed: bool) -> float:
        """The ideal of a step of this duration; steps with equal stages have equal fair durations [s]."""
        if as_designed:
            self._fastest[fair_s] = min(duration_s, self._fastest.get(fair_s, duration_s))
        return max(fair_s, self._fastest.get(fair_s, 0.0))


class JobRun:
    """Runs the stages of a job on an engine. as_designed: whether all of the present step runs as in the design; only
    of a job with ideals and without stragglers. asynchronous: counts the transfers under way that no stage waits
    for."""

    def __init__(
        self, job: StagedJob, engine: FastForward, launch: Launch, asynchronous: Callable[[], int] = lambda: 0
    ) -> None:
        self.name, self._stages, self._repeat, self._step_s = job.job, job.stages, job.repeat, job.ideal_s
        self._engine, self._launch, self._asynchronous = engine, launch, asynchronous
        self.steps = 0
        self.recent: deque[Step] = deque(maxlen=RECENT_STEPS)
        self._stage_index = 0
        self.rests_until_ns = self.stage_began_ns = self._step_began_ns = self._now_ns
        self._in_stage = self._sending = False
        self._communication_ns, self._ideal_s = 0, 0.0
        self._calls: tuple[CallTimes, ...] = ()
        self._waited_for: tuple[PortKey, PortKey] | None = None
        self._waited_ns = 0.0
        self._ideals = IdealSteps()
        self._is_healthy = all(stage.ideal_s is not None and not stage.slowed for stage in job.stages)
        self.as_designed = self._is_healthy

    @property
    def stage(self) -> str:
        """Name of the current stage; empty after the end."""
        return "" if self.finished else self._stages[self._stage_index].name

    def finished_steps(self) -> JobSteps:
        """The steps that have ended so far."""
        return JobSteps(job=self.name, steps=self.steps, recent=tuple(self.recent))

    def ended_calls(self) -> tuple[CallTimes, ...]:
        """The operations of the present step that have ended so far."""
        stage = self._stages[self._stage_index]
        if not self._sending or not stage.calls:
            return self._calls
        start_ns, finish_ns = self._times(stage)
        return (*self._calls, *call_times(stage.calls, start_ns, finish_ns))

    def progress(self) -> StepProgress | None:
        """The step that runs; None of a job whose stages have no ideal, and after the end."""
        if self._step_s is None or self.finished:
            return None
        due = [(number, stage) for number, stage in enumerate(self._stages) if self._is_due(stage)]
        ended = sum(len(stage.transfers) for number, stage in due if number < self._stage_index)
        if self._in_stage:
            stage = self._stages[self._stage_index]
            ended += len(stage.transfers) - (self._open_count() if self._sending else 0)
        return StepProgress(
            ended=ended,
            total=sum(len(stage.transfers) for _, stage in due),
            elapsed_s=(self._now_ns - self._step_began_ns) / NS_PER_S,
            ideal_s=self._step_s,
        )

    def _open_count(self) -> int:
        """Transfers for which the present stage waits."""
        return self._engine.open_count - self._asynchronous()

    def _is_due(self, stage: Stage) -> bool:
        """Whether a stage is in the present step."""
        return (self.steps + 1) % stage.every == 0

    def _times(self, stage: Stage) -> tuple[Times, Times]:
        """(transfer,) when the transfers of the present stage began and ended, infinite for those that have not."""
        flows, count = self._engine.flows(), len(stage.transfers)
        finish_ns = np.where(flows.state == DONE, flows.finish_ns, np.inf)
        return flows.start_ns[-count:], finish_ns[-count:]

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
        self._in_stage, self.stage_began_ns, self.rests_until_ns = True, now_ns, now_ns
        if not self._is_due(stage):
            return
        self.rests_until_ns += stage.compute_ns
        self._ideal_s += stage.ideal_s or 0.0
        if stage.transfers:
            self._sending = True
            fair_s = self._launch(stage)
            self._ideal_s += fair_s if stage.ideal_s is None else 0.0

    def _run_stage(self, until_ns: int) -> bool:
        """Run to the end of the stage, when the last flow is acknowledged; False when `until_ns` is reached first."""
        engine = self._engine
        if self._sending:
            if not self._run_transfers(until_ns):
                return False
            self._sending = False
            self._end_transfers()
        engine.run(min(until_ns, self.rests_until_ns), stop_when_done=False)
        return self._now_ns >= self.rests_until_ns

    def _run_transfers(self, until_ns: int) -> bool:
        """Run to the end of the transfers for which the stage waits; False when `until_ns` is reached first."""
        engine = self._engine
        while self._asynchronous():
            if self._open_count() <= 0:
                return True
            if self._now_ns >= until_ns:
                return False
            engine.run(min(until_ns, self._now_ns + POLL_NS), stop_when_done=False)
        return engine.run(until_ns)

    def _end_transfers(self) -> None:
        """Note when the transfers of the stage were under way."""
        stage = self._stages[self._stage_index]
        waited = np.array([not transfer.asynchronous for transfer in stage.transfers])
        start_ns, finish_ns = (times[waited] for times in self._times(stage))
        self.rests_until_ns = max(self.rests_until_ns, math.ceil(finish_ns.max(initial=0)))
        transfers = [transfer for transfer in stage.transfers if not transfer.asynchronous]
        self._communication_ns += transferring_ns(transfers, start_ns, finish_ns)
        self._calls = (*self._calls, *call_times(stage.calls, start_ns, finish_ns))
        self._note_last(transfers, finish_ns)

    def _note_last(self, transfers: Sequence[Transfer], finish_ns: Times) -> None:
        """Note which of these transfers ended last, where they took longer than those of the stages before."""
        crossing = is_crossing(transfers)
        if not crossing.any():
            return
        last = int(np.where(crossing, finish_ns, -np.inf).argmax())
        waited_ns = float(finish_ns[last]) - self.stage_began_ns
        if waited_ns > self._waited_ns:
            self._waited_ns, self._waited_for = waited_ns, (transfers[last].source, transfers[last].target)

    def _end_stage(self) -> None:
        now_ns = self._now_ns
        self._in_stage = False
        self._stage_index = (self._stage_index + 1) % len(self._stages)
        if self._stage_index == 0:
            self._end_step(now_ns)

    def _end_step(self, now_ns: int) -> None:
        self.steps += 1
        duration_s, ideal_s = (now_ns - self._step_began_ns) / NS_PER_S, self._ideal_s
        if self._is_healthy:
            ideal_s = self._ideals.ideal_s(ideal_s, duration_s, as_designed=self.as_designed)
        self.recent.append(
            Step(
                duration_s=duration_s,
                communication_s=self._communication_ns / NS_PER_S,
                ideal_s=ideal_s,
                calls=self._calls,
                waited_for=self._waited_for,
            )
        )
        self._waited_for, self._waited_ns = None, 0.0
        self._step_began_ns, self._communication_ns, self._ideal_s, self._calls = now_ns, 0, 0.0, ()
        self.as_designed = self._is_healthy
