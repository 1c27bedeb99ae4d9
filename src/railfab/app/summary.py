"""The results of a run, job by job, each measured over its own turns."""

from __future__ import annotations

from dataclasses import dataclass, field

from railfab.app.reading import Totals
from railfab.units import gbps


@dataclass(slots=True)
class JobSummary:
    """The sums over a job's turns.

    seconds: simulated by the switches that serve hosts. step_s: durations of the steps that ended [s, simulated].
    peak_bytes: the highest peak of a queue; None where no switch sends peaks.
    """

    job: str
    seconds: float = 0.0
    sent_bytes: float = 0.0
    marks: float = 0.0
    pauses: float = 0.0
    drops: float = 0.0
    peak_bytes: float | None = None
    step_s: list[float] = field(default_factory=list)

    def add(self, first: Totals, last: Totals, seconds: float) -> None:
        """Add what was counted from the totals before a turn, or before a part of it, to those after it."""
        self.seconds += seconds
        self.sent_bytes += last.sent_bytes - first.sent_bytes
        self.marks += last.marks - first.marks
        self.pauses += last.pauses - first.pauses
        self.drops += last.drops - first.drops
        if last.peak_bytes is not None:
            self.peak_bytes = max(self.peak_bytes or 0.0, last.peak_bytes)

    @property
    def rate_gbps(self) -> float:
        """Mean rate to the hosts of all rails per simulated second [Gb/s]."""
        return gbps(self.sent_bytes / self.seconds) if self.seconds else 0.0

    @property
    def mean_step_s(self) -> float | None:
        return sum(self.step_s) / len(self.step_s) if self.step_s else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A whole run.

    interval_s: between two samples of a switch. ready_s: from the start until all sessions and switches of the intent
    were up and counters rose; None when that never was. sessions, targets: BGP session ends and switches of the intent;
    sessions_up, targets_up: of these, at the end. pace: simulated seconds a second since the first frame. overloaded_s:
    how long the collector was overloaded, and judged no switch.
    """

    fabric: str
    interval_s: float
    ready_s: float | None
    sessions_up: int
    sessions: int
    targets_up: int
    targets: int
    pace: float
    overloaded_s: float
    series: int
    jobs: tuple[JobSummary, ...]

    @property
    def healthy(self) -> bool:
        """Whether the fabric became ready, and all sessions and switches of the intent were up at the end."""
        return self.ready_s is not None and self.sessions_up == self.sessions and self.targets_up == self.targets > 0
