"""reconcile: deploy the intent to the switches that drifted from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from railfab.cli.acceptance import AcceptOrCutOption, design_codes
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
from railfab.cli.completion import CUT
from railfab.cli.drift import drift_counts, read_drift
from railfab.cli.junit import JunitOption, JunitReport, switch_cases
from railfab.errors import Problems
from railfab.fabric import Design, design, readable_endpoints

if TYPE_CHECKING:
    from railfab.deploy import SwitchDrift


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
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Deploy the intent to the switches that drifted from it, as `drift` finds them, and to no other."""
    from railfab.deploy import DriftState

    file = JunitReport("reconcile", junit)
    options = ChangeOptions(plan=plan, yes=yes, stat=stat, full=full, output=output, waves=waves, junit=file)
    options = replace(options, accept_cut=CUT in (accept or ()))
    with uncollected():
        fabric = design(intent)
        stop_at_errors(fabric, design_codes(accept), output)
    switches = read_drift(fabric, on, state, limit)
    errors = {switch.name: switch.error for switch in switches if switch.error is not None}
    unread = list(errors.values())
    drifted = {switch.name for switch in switches if switch.state is DriftState.DRIFTED}
    if unread:
        report(Problems(tuple(unread)))
    file.also.extend(
        switch_cases("reconcile", [each.name for each in switches if each.name not in drifted], (), errors)
    )
    code = 0
    if drifted:
        endpoints, _ = readable_endpoints(fabric, on, state, limit)
        chosen = replace(endpoints, nodes=tuple(node for node in endpoints.nodes if node.name in drifted))
        try:
            ChangeRun(fabric, chosen, state, options).change(fabric.texts, "deploy")
        except typer.Exit as done:
            code = done.exit_code
    else:
        file.write(fabric.intent.fabric, ())
        _print_in_step(fabric, switches, output)
    raise typer.Exit(code or ((FOUND if drifted else CANNOT) if unread else 0))


def _print_in_step(fabric: Design, switches: Sequence[SwitchDrift], output: Output) -> None:
    """Print that nothing has drifted."""
    if output is Output.JSON:
        print_json([])
    else:
        print_text(drift_counts(fabric, switches))
