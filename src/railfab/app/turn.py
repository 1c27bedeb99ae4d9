"""One turn of a job. All that the switches count in it is the job's: no other runs until they have sent it."""

from __future__ import annotations

from railfab.app.reading import Totals
from railfab.app.summary import JobSummary
from railfab.twin.status import TwinStatus


class Turn:
    """Adds to the summary of a job what is counted from the start of a turn to the samples after its end.

    before: the last totals before the job started, None when there are none. began_s: when it started [s, simulated].
    """

    def __init__(self, summary: JobSummary, before: Totals | None, began_s: float) -> None:
        self._summary = summary
        self._before = before
        self._began_s = began_s
        self._ended_s: float | None = None
        self._first_s: dict[str, float] = {}
        self._counted_s = 0.0
        self._steps = 0

    @property
    def job(self) -> str:
        return self._summary.job

    @property
    def ended(self) -> bool:
        """Whether the job has stopped; what is counted from now on was on its way then."""
        return self._ended_s is not None

    def end(self, ended_s: float) -> None:
        """Note when the job stopped [s, simulated]."""
        self._ended_s = ended_s

    def count(self, now: Totals, status: TwinStatus) -> None:
        """Add what was counted since the last call, and a step that has ended."""
        seconds = self._seconds(now)
        self._summary.add(self._before or now, now, seconds - self._counted_s)
        self._before, self._counted_s = now, seconds
        if status.job == self.job and status.steps > self._steps and status.last_step_s is not None:
            self._steps = status.steps
            self._summary.step_s.append(status.last_step_s)

    def _seconds(self, now: Totals) -> float:
        """Simulated time in which these totals were counted, the mean of the switches that serve hosts.

        What these send to hosts is divided by it, which a spine whose samples are older or newer must not change.
        """
        serving = {name: switch for name, switch in now.switches.items() if switch.sampled_s and switch.rail_bytes}
        spans_s = [self._span_s(name, switch.counted_s) for name, switch in serving.items()]
        return max(self._counted_s, sum(spans_s) / len(spans_s)) if spans_s else self._counted_s

    def _span_s(self, name: str, counted_s: float) -> float:
        """From the start of the job, or from the first sample of a switch, which counts nothing, to the last one."""
        simulated_s = max(self._began_s, counted_s)
        if self._ended_s is not None:
            simulated_s = min(simulated_s, self._ended_s)
        return simulated_s - self._first_s.setdefault(name, simulated_s if self._is_first(name) else self._began_s)

    def _is_first(self, name: str) -> bool:
        return self._before is None or not self._before.switches[name].sampled_s
