"""The page put together: its source, what it watches, what it can be asked, and what it can do."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from railfab.diagnosis import FabricDiagnosis
from railfab.findings import Finding
from railfab.page.actions import TwinActions
from railfab.page.alert_watch import AlertWatch
from railfab.page.deploy_watch import DeployWatch
from railfab.page.details import Details
from railfab.page.doctor_rounds import WINDOW_S, DoctorRounds
from railfab.page.drift_watch import DriftWatch
from railfab.page.event_log import EventLog
from railfab.page.job_watch import TwinWatch
from railfab.page.live_state import LiveState, Watcher
from railfab.page.plan import PagePlan
from railfab.page.range_series import PrometheusPast, RangeSeries
from railfab.page.series import RingSeries
from railfab.page.server import Act, Ask, PageServer
from railfab.page.settings import new_token
from railfab.page.sources.contract import PageSource
from railfab.page.thresholds import ThresholdChange
from railfab.twin import Control


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is beside a source. state: directory of twins, labs and the journal. on: the option `--on` of commands, with
    a space before it. control: of the twin that the source reads; None of other switches. jobs: files that it can run,
    by name. past: a Prometheus; None without one. diagnose: takes the window [s], which is window_s.
    findings: of the last comparison of configurations.
    """

    state: Path
    on: str = ""
    control: Control | None = None
    jobs: Mapping[str, Path]
    past: PrometheusPast | None = None
    diagnose: Callable[[float], FabricDiagnosis] | None = None
    window_s: float = WINDOW_S
    findings: Callable[[], Iterable[Finding]] = tuple


def page_server(plan: PagePlan, source: PageSource, listener: socket.socket, beside: Surroundings) -> PageServer:
    """The server of a page; a context manager."""
    log = EventLog()
    watch = None if beside.control is None else TwinWatch(plan, beside.control, log)
    deploys = DeployWatch(plan.fabric, plan.design.path, beside.state, log)
    watchers: list[Watcher] = [deploys, DriftWatch(beside.findings, log)]
    watchers += [] if watch is None else [watch]
    watchers += [] if beside.past is None else [AlertWatch(plan.fabric, beside.past, log)]
    state = LiveState(plan, source, log, watchers=watchers)
    details = Details(plan, lambda: state.rates, on=beside.on, watch=watch)
    ring = RingSeries(plan, state.history, past_of_job=None if watch is None else watch.past)
    past = beside.past
    answer = ring.answer if past is None else RangeSeries(plan, past, ring, step_s=source.interval_s).answer
    actions = _actions(plan, beside, log)
    token = new_token() if actions else None
    doctor = None if beside.diagnose is None else DoctorRounds(beside.diagnose, beside.window_s).document
    return PageServer(state, Ask(details, answer, doctor), listener, actions=actions, token=token)


def _actions(plan: PagePlan, beside: Surroundings, log: EventLog) -> dict[str, Act]:
    """What can be done, by name; nothing without a twin."""
    if beside.control is None:
        return {}
    twin = TwinActions(plan, beside.control, state=beside.state, jobs=beside.jobs)
    thresholds = ThresholdChange(plan.design, state=beside.state, log=log)
    return {
        "job": twin.job,
        "fault": twin.fault,
        "cable": twin.cable,
        "threshold": thresholds.propose,
        "deploy": thresholds.deploy,
    }
