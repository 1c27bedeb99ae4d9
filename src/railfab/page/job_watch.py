"""The job of a twin, its steps, and the faults that were made in it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from railfab.errors import RailfabError
from railfab.page.event_log import EntryKind, EntrySeverity, EventLog
from railfab.page.history import HISTORY_S, PastValues
from railfab.page.plan import PagePlan
from railfab.page.rates import PortRates
from railfab.page.totals import number
from railfab.twin import Control, TwinStatus
from railfab.twin.status import PassingFlow, StepTimes

MOST_STEPS = 20_000
"""Steps that are kept for charts."""
SHOWN_STEPS = 10
Document = dict[str, Any]


class TwinWatch:
    """Asks a twin for its job and its faults in each tick, and tells the log what has changed."""

    def __init__(self, plan: PagePlan, control: Control, log: EventLog) -> None:
        self._plan, self._control, self._log = plan, control, log
        self._steps: deque[tuple[float, StepTimes]] = deque(maxlen=MOST_STEPS)
        self._job: str | None = None
        self._jobs: dict[str, Document] = {}
        self._faults: dict[str, str] | None = None
        self._lock = threading.Lock()

    @property
    def state(self) -> Path:
        """The directory of the twin."""
        return self._control.state

    def watch(self, rates: PortRates) -> Document:
        """The event `job` of now. Raises RailfabError when the twin does not answer."""
        status = self._control.status()
        self._tell_of_job(status)
        self._tell_of_faults(status)
        with self._lock:
            self._keep(status, rates.at_s)
            document = self._document(status)
            if status.job is not None:
                self._jobs[status.job] = document
        return {"event": "job", **document}

    def flows_through(self, switch: str, interface: str) -> tuple[PassingFlow, ...]:
        """The flows that leave by a port now; none where the twin does not answer."""
        with suppress(RailfabError):
            return self._control.flows_through(switch, interface)
        return ()

    def jobs(self) -> list[str]:
        """The jobs that were seen."""
        with self._lock:
            return list(self._jobs)

    def of_job(self, name: str) -> Document | None:
        """The last state of a job; None where it was never seen."""
        with self._lock:
            return self._jobs.get(name)

    def past(self, metric: str, job: str) -> PastValues | None:
        """The steps of the present job: `step_s`, `communication_s` or `compute_s`; None of another one."""
        with self._lock:
            steps = list(self._steps) if job == self._job else []
        if not steps:
            return None
        total_s = np.array([step.step_s for _, step in steps])
        communication_s = np.array([step.communication_s for _, step in steps])
        values = {
            "step_s": total_s,
            "communication_s": communication_s,
            "compute_s": total_s - communication_s,
        }
        return PastValues("s", np.array([at_s for at_s, _ in steps]), values[metric])

    def _keep(self, status: TwinStatus, at_s: float) -> None:
        """Keep the steps that have ended since; of more than a status has, the last."""
        if status.job != self._job or (self._steps and status.steps < self._steps[-1][1].number):
            self._steps.clear()
            self._job = status.job
        last = self._steps[-1][1].number if self._steps else 0
        self._steps.extend((at_s, step) for step in status.last_steps if step.number > last)
        while self._steps and at_s - self._steps[0][0] > HISTORY_S:
            self._steps.popleft()

    def _document(self, status: TwinStatus) -> Document:
        last = status.last_steps[-1] if status.last_steps else None
        steps = list(self._steps)[-SHOWN_STEPS:]
        return {
            "job": status.job,
            "running": status.job is not None,
            "steps": status.steps,
            "step_s": None if last is None else number(last.step_s),
            "ideal_s": None if last is None else number(last.ideal_s),
            "compute_s": None if last is None else number(last.step_s - last.communication_s),
            "communication_s": None if last is None else number(last.communication_s),
            "waiting_s": None if last is None else number(max(0.0, last.step_s - last.ideal_s)),
            "slowest": None if last is None else self._slowest(last),
            "stalled": list(status.stalled),
            "failure": status.failure,
            "progress": self._progress(status),
            "last": [self._step(at_s, step) for at_s, step in steps],
        }

    def _slowest(self, step: StepTimes) -> Document | None:
        """The GPU that the step waited for last, and the link of its NIC."""
        if step.waited_for is None:
            return None
        (host, nic), (target, target_nic) = step.waited_for
        link = next((port for port, _, _ in self._plan.design.topology.ports_of(host) if port.name == nic), None)
        rail = None if link is None else link.rail
        per_nic = self._plan.design.intent.hosts.gpus_per_nic
        return {
            "rank": None if rail is None else (rail - 1) * per_nic,
            "host": host,
            "link": f"{host} {nic}",
            "target": f"{target} {target_nic}",
        }

    @staticmethod
    def _progress(status: TwinStatus) -> Document | None:
        """The step that runs, of a job with a model."""
        if status.step_share is None:
            return None
        ideal_s, elapsed_s = status.step_ideal_s, status.step_elapsed_s
        return {"share": number(status.step_share), "elapsed_s": elapsed_s, "ideal_s": ideal_s}

    @staticmethod
    def _step(at_s: float, step: StepTimes) -> Document:
        return {
            "number": step.number,
            "at_s": round(at_s, 3),
            "step_s": number(step.step_s),
            "ideal_s": number(step.ideal_s),
            "compute_s": number(step.step_s - step.communication_s),
            "communication_s": number(step.communication_s),
        }

    def _tell_of_job(self, status: TwinStatus) -> None:
        if status.job != self._job:
            title = f"job {status.job} runs" if status.job else f"job {self._job} has stopped"
            self._log.tell(EntryKind.JOB, title, where=tuple(filter(None, (status.job or self._job,))))

    def _tell_of_faults(self, status: TwinStatus) -> None:
        """Tell of faults that were made and undone since."""
        present = {str(fault): fault.problem for fault in status.fault_details}
        before: Mapping[str, str] = {} if self._faults is None else self._faults
        for fault in status.fault_details:
            if str(fault) not in before:
                where = tuple(filter(None, (fault.node, fault.port)))
                text = f"Undo it with railfab twin {fault.undo}"
                self._log.tell(EntryKind.FAULT, fault.problem, text=text, severity=EntrySeverity.WARNING, where=where)
        for text in before.keys() - present.keys():
            self._log.tell(EntryKind.FAULT, f"no longer: {before[text]}")
        self._faults = present
