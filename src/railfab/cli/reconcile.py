"""reconcile: deploy the intent to the switches that drifted from it."""

from __future__ import annotations

from dataclasses import replace

import typer

from railfab.cli.acceptance import CUT, AcceptOrCutOption, design_codes
from railfab.cli.change import ChangeRun
from railfab.cli.change_options import (
    ChangeOptions,
    FullOption,
    PlanOption,
    StatOption,
    Waves,
    WavesOption,
    YesOption,
)
from railfab.cli.common import (
    CANNOT,
    FOUND,
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    print_json,
    print_text,
    report,
    stop_at_errors,
    uncollected,
)
from railfab.cli.drift import drift_counts, read_drift
from railfab.errors import Problems
from railfab.fabric import design, readable_endpoints


def reconcile(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
    waves: WavesOption = Waves.ON,
    stat: StatOption = False,
    full: FullOption = False,
    accept: AcceptOrCutOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Deploy the intent to the switches that drifted from it, as `drift` finds them, and to no other."""
    from railfab.deploy import DriftState

    options = ChangeOptions(plan=plan, yes=yes, stat=stat, full=full, output=output, waves=waves)
    options = replace(options, accept_cut=CUT in (accept or ()))
    with uncollected():
        fabric = design(intent)
        stop_at_errors(fabric, design_codes(accept), output)
    switches = read_drift(fabric, on, state, limit)
    unread = [switch.error for switch in switches if switch.error is not None]
    drifted = {switch.name for switch in switches if switch.state is DriftState.DRIFTED}
    if unread:
        report(Problems(tuple(unread)))
    code = 0
    if drifted:
        endpoints, _ = readable_endpoints(fabric, on, state, limit)
        chosen = replace(endpoints, nodes=tuple(node for node in endpoints.nodes if node.name in drifted))
        try:
            ChangeRun(fabric, chosen, state, options).change(fabric.texts, "deploy")
        except typer.Exit as done:
            code = done.exit_code
    elif output is Output.JSON:
        print_json([])
    else:
        print_text(drift_counts(fabric, switches))
    raise typer.Exit(code or ((FOUND if drifted else CANNOT) if unread else 0))
