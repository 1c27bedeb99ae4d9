"""deploy: bring switches to the intent."""

from __future__ import annotations

from railfab.cli.acceptance import AcceptOption
from railfab.cli.change import ChangeOptions, ChangeRun, FullOption, PlanOption, StatOption, YesOption
from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    stop_at_errors,
    uncollected,
)
from railfab.fabric import design, session_endpoints


def deploy(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
    stat: StatOption = False,
    full: FullOption = False,
    accept: AcceptOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Bring switches to the intent: show the differences, apply them, read back; a switch that fails is rolled back."""
    options = ChangeOptions(plan=plan, yes=yes, stat=stat, full=full, output=output)
    with uncollected():
        fabric = design(intent)
        stop_at_errors(fabric, accept, output)
        endpoints, texts = session_endpoints(fabric, on, state, limit), fabric.texts
    ChangeRun(fabric, endpoints, state, options).change(texts, "deploy")
