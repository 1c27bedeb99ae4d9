"""The end of a deploy that returns every switch of it to what it ran before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from railfab.deploy.drain import operate_all
from railfab.deploy.journal import OpenDeploy
from railfab.deploy.run import Outcome, apply_all, nornir_of
from railfab.deploy.schedulers import Scheduler
from railfab.deploy.steps import StepKind, StepState
from railfab.deploy.tasks import IsOwn
from railfab.endpoints import Endpoints
from railfab.fabric import Design
from railfab.platforms import Verb


def abort_all(
    fabric: Design,
    endpoints: Endpoints,
    entry: OpenDeploy,
    former: Mapping[str, str],
    *,
    is_own: IsOwn,
    scheduler: Scheduler | None,
    on_outcome: Callable[[Outcome], None],
    stop_requested: threading.Event,
) -> list[Outcome]:
    """Return every switch of a deploy to what it ran before, end its drains, and release its hosts.

    former: what each ran; endpoints: of these switches. A switch that fails is named in its outcome.
    """
    change, names = entry.rename_change(), sorted(former)
    entry.steps.write(StepKind.REVERT, StepState.BEGINS, names)
    reverted: dict[str, Outcome] = {}

    def done(outcome: Outcome) -> None:
        reverted[outcome.name] = outcome = replace(outcome, reverted=outcome.changed, changed=False)
        entry.steps.write(StepKind.REVERT, StepState.FAILED if outcome.failed else StepState.DONE, [outcome.name])
        on_outcome(outcome)

    nornir = nornir_of(fabric, endpoints, stop_requested)
    applied = apply_all(nornir, former, change, done, is_own=is_own, stop_requested=stop_requested)
    drained = [node for node in endpoints.nodes if node.name in entry.past.drained()]
    if drained:
        nornir = nornir_of(fabric, replace(endpoints, nodes=tuple(drained)), stop_requested)
        back = operate_all(nornir, Verb.UNDRAIN, lambda _outcome: None, again=True)
        entry.steps.write(StepKind.UNDRAIN, StepState.DONE, [outcome.name for outcome in back if not outcome.failed])
        reverted |= {outcome.name: outcome for outcome in back if outcome.failed}
    if scheduler is not None and entry.past.held():
        scheduler.release(sorted(entry.past.held()), entry.record.deploy)
    return [reverted.get(outcome.name, outcome) for outcome in applied]
