"""The results of a run, job by job, each measured between the first and the last totals of its turns."""

from __future__ import annotations

from dataclasses import dataclass, field

from railfab.app.reading import Totals
from railfab.units import gbps


@dataclass(slots=True)
class JobSummary:
    """The sums over a job's turns. step_s: durations of the steps that ended [s, simulated]."""

    job: str
    seconds: float = 0.0
    sent_bytes: float = 0.0
    marks: float = 0.0
    pauses: float = 0.0
    drops: float = 0.0
    step_s: list[float] = field(default_factory=list)

    def add(self, first: Totals, last: Totals) -> None:
        """Add what happened between two totals of one turn."""
        self.seconds += last.at_s - first.at_s
        self.sent_bytes += sum(last.rail_bytes.values()) - sum(first.rail_bytes.values())
        self.marks += last.marks - first.marks
        self.pauses += last.pauses - first.pauses
        self.drops += last.drops - first.drops

    @property
    def rate_gbps(self) -> float:
        """Mean rate to the hosts of all rails [Gb/s]."""
        return gbps(self.sent_bytes / self.seconds) if self.seconds else 0.0

    @property
    def mean_step_s(self) -> float | None:
        return sum(self.step_s) / len(self.step_s) if self.step_s else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A whole run. interval_s: between two samples of a switch. ready_s: from the start until all sessions were up and
    counters rose; None when that never was.
    """

    fabric: str
    interval_s: float
    ready_s: float | None
    sessions_up: int
    sessions: int
    series: int
    jobs: tuple[JobSummary, ...]

    @property
    def healthy(self) -> bool:
        """Whether the fabric became ready and all sessions were up at the end."""
        return self.ready_s is not None and self.sessions_up == self.sessions > 0
