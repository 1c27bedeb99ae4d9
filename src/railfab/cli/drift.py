"""drift: running configurations against the intent, switch by switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from railfab.cli.acceptance import AcceptFindingsOption, accepted_count, print_accepted
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
    findings_document,
    print_findings,
    print_folded,
    print_json,
    print_text,
    refuse_state,
    report,
    ticking_bar,
    uncollected,
)
from railfab.cli.echo import echo_line
from railfab.cli.junit import JunitOption, JunitReport, switch_cases
from railfab.errors import Problems
from railfab.fabric import Design, design, readable_endpoints
from railfab.findings import findings_text
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.deploy import SwitchDrift


def drift(
    context: typer.Context,
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    accept: AcceptFindingsOption = None,
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Compare the running configuration of each switch with the intent; what the chip rounds is no drift."""
    refuse_state(context, on)
    file = JunitReport("drift", junit)
    with uncollected():
        fabric = design(intent)
    switches = read_drift(fabric, on, state, limit, accept or ())
    if output is Output.JSON:
        print_json({"fabric": fabric.intent.fabric, "switches": [_document(switch) for switch in switches]})
    else:
        print_drift(fabric, switches)
    unread = {switch.name: switch.error for switch in switches if switch.error is not None}
    findings = [finding for switch in switches for finding in switch.findings]
    file.write(fabric.intent.fabric, switch_cases("drift", [switch.name for switch in switches], findings, unread))
    if unread:
        report(Problems(tuple(unread.values())))
    if findings or unread:
        raise typer.Exit(FOUND if findings else CANNOT)


def read_drift(
    fabric: Design, on: str | None, state: Path, limit: str | None, accept: Sequence[str] = ()
) -> tuple[SwitchDrift, ...]:
    """The drift of every switch that is selected, with a progress bar."""
    from railfab.deploy import drift_all, nornir_of

    endpoints, without_address = readable_endpoints(fabric, on, state, limit)
    nornir = nornir_of(fabric, endpoints)
    with ticking_bar("reading", len(endpoints.nodes)) as on_done:
        return drift_all(nornir, fabric, accept=accept, without_address=without_address, on_done=on_done)


def print_drift(fabric: Design, switches: Sequence[SwitchDrift]) -> None:
    """Print the findings, the state of each switch, and their number."""
    from railfab.fabric.audit import folded

    accepted = [finding for switch in switches for finding in switch.accepted]
    print_accepted(folded(accepted))
    print_findings(folded([finding for switch in switches for finding in switch.findings]))
    rows = [(each.name, each.state, findings_text(each.findings) if each.findings else "") for each in switches]
    print_folded(("switch", "state", "drift"), rows)
    for switch in switches:
        if switch.drained:
            echo_line(f"{switch.name}: is drained by railfab drain, which is no drift")
    print_text(f"{drift_counts(fabric, switches)}{accepted_count(accepted)}")


def drift_counts(fabric: Design, switches: Sequence[SwitchDrift]) -> str:
    """`3 of 4 switches read: 2 in step, 1 drifted, 1 unknown`; the second number is that of the intent."""
    from railfab.deploy import DriftState

    counts = {state: sum(switch.state is state for switch in switches) for state in DriftState}
    read = f"{len(switches) - counts[DriftState.UNKNOWN]} of {counted(len(fabric.models), 'switch')} read"
    return f"{read}: {', '.join(f'{count} {state}' for state, count in counts.items() if count)}"


def _document(switch: SwitchDrift) -> dict[str, Any]:
    return {
        "name": switch.name,
        "state": switch.state,
        "findings": findings_document(switch.findings),
        "accepted": findings_document(switch.accepted),
        "drained": switch.drained,
        "error": None if switch.error is None else str(switch.error),
    }
