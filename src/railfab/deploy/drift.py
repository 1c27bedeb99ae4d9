"""Drift of switches: their running configurations against the intent, as `audit` and the collector compare them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nornir.core import Nornir
from nornir.core.task import Result, Task

from railfab.deploy.run import OnDone, readings_of
from railfab.deploy.tasks import open_session
from railfab.deploy.verify import pending_finding
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.audit import most_harmful_first, switch_audit
from railfab.findings import Finding, Severity, without_accepted


class DriftState(StrEnum):
    IN_STEP = "in step"
    DRIFTED = "drifted"
    UNKNOWN = "unknown"
    """It could not be read, and is not known to be in step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchDrift:
    """The drift of one switch. findings: errors and warnings, most harmful first; accepted: those that are accepted.

    drained: by `railfab drain`, which is no drift. error: why it could not be read.
    """

    name: str
    findings: tuple[Finding, ...] = ()
    accepted: tuple[Finding, ...] = ()
    drained: bool = False
    error: RailfabError | None = None

    @property
    def state(self) -> DriftState:
        if self.error is not None:
            return DriftState.UNKNOWN
        return DriftState.DRIFTED if self.findings else DriftState.IN_STEP


def drift(task: Task, fabric: Design, accept: Collection[str] = ()) -> Result:
    """Compare the running configuration of a switch with the intent; the result is its SwitchDrift.

    What the chip rounds is no drift, nor is what belongs to the operator: see `fabric.audit.switch_audit`. A change
    that is neither confirmed nor reverted is one.
    """
    name = task.host.name
    with open_session(task) as session:
        running = session.running()
    audit = switch_audit(fabric, name, running.text, drained=running.drained)
    pending = () if running.pending is None else (pending_finding(name, running.pending),)
    differing = (finding for finding in (*pending, *audit.findings) if finding.severity is not Severity.NOTE)
    left, accepted = without_accepted(most_harmful_first(differing), accept)
    found = SwitchDrift(name=name, findings=left, accepted=accepted, drained=running.drained)
    return Result(host=task.host, result=found)


def drift_all(
    nornir: Nornir,
    fabric: Design,
    *,
    accept: Collection[str] = (),
    without_address: Sequence[RailfabError] = (),
    on_done: OnDone = lambda _name: None,
) -> tuple[SwitchDrift, ...]:
    """The drift of every switch, in the order of the intent; a switch that cannot be read is unknown.

    without_address: the error of each switch that no endpoint has, by its place.
    """
    _ = fabric.texts  # computed once, before several threads ask for it
    read = readings_of(nornir, drift, on_done, fabric=fabric, accept=accept)
    unread = {**{error.where: error for error in without_address}, **read.unread}
    switches = {**read.answers, **{name: SwitchDrift(name=name, error=error) for name, error in unread.items()}}
    return tuple(switches[name] for name in fabric.models if name in switches)
