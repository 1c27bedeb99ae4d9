"""Steps of a job on a design, as `railfab simulate` shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from railfab.simulate import FabricEstimate, OperationWait
    from railfab.workload import JobEstimate


@dataclass(frozen=True, slots=True)
class JobResult:
    """Steps of a job on a design. step: the median of those with different seeds. why: reason for the tier.

    runs: of each seed, without the closed form.
    """

    step: JobEstimate
    why: str
    runs: tuple[FabricEstimate, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[FabricEstimate], why: str) -> JobResult:
        """The result of runs with different seeds."""
        middle = sorted(runs, key=lambda run: run.step.step_s)[(len(runs) - 1) // 2]
        return cls(middle.step, why, tuple(runs))

    @property
    def slowest(self) -> FabricEstimate | None:
        """The run with the longest step."""
        return max(self.runs, key=lambda run: run.step.step_s, default=None)

    @property
    def shown(self) -> FabricEstimate:
        """The slowest run; in closed form the step alone, with seed 0."""
        from railfab.simulate import FabricEstimate

        return self.slowest or FabricEstimate(seed=0, step=self.step, contentions=())

    @property
    def waits(self) -> tuple[OperationWait, ...]:
        """Who waits for which link in the slowest run, where details were asked for."""
        return self.slowest.waits() if self.slowest else ()


Estimates = dict[str, JobResult]
"""Results by the name of the fabric."""
