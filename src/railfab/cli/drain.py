"""drain, undrain: take the traffic off switches now, and give it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli import completion
from railfab.cli.change import FINISHING, require_answer
from railfab.cli.change_options import YesOption
from railfab.cli.change_report import exit_code
from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    print_findings,
    print_json,
    print_table,
    print_text,
    report,
    report_switches,
    ticking_bar,
)
from railfab.cli.echo import echo
from railfab.endpoints import Endpoints
from railfab.errors import Problems
from railfab.fabric import Design, design, named, session_endpoints
from railfab.findings import Finding
from railfab.platforms import Verb
from railfab.process.signals import INTERRUPTED, stop_on_signal
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.deploy import OpenDeploy, Outcome

SwitchNames = Annotated[
    list[str],
    typer.Argument(
        metavar="SWITCH...", help="Switches, by name.", show_default=False, autocompletion=completion.switches
    ),
]
RESULTS = {
    Verb.DRAIN: {"changed": "drained", "no change": "drained already"},
    Verb.UNDRAIN: {"changed": "undrained", "no change": "not drained"},
}
"""The result of a switch that did not fail, in a table."""
FAILURES = {"failed": "failed, unchanged", "unsettled": "failed, check it"}


def drain(
    intent: IntentFile,
    switches: SwitchNames,
    on: OnOption = None,
    yes: YesOption = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take the traffic off switches now, before work on them; their sessions stay, and deploys keep the drain."""
    fabric = design(intent)
    names = named(fabric.topology, switches)
    _operate(fabric, names, on, state, Verb.DRAIN, yes=yes, output=output)


def undrain(
    intent: IntentFile,
    switches: SwitchNames,
    on: OnOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Give switches their traffic back: end what `drain` did."""
    fabric = design(intent)
    names = named(fabric.topology, switches)
    _operate(fabric, names, on, state, Verb.UNDRAIN, yes=True, output=output)


def _operate(
    fabric: Design, names: Sequence[str], on: str | None, state: Path, verb: Verb, *, yes: bool, output: Output
) -> None:
    """Do a verb on switches, and leave with the exit code of the outcome."""
    from railfab.deploy import Journal, check_verb, remaining_traffic

    check_verb(fabric, names, verb)
    endpoints = session_endpoints(fabric, on, state, among=names)
    with Journal(state, fabric.intent.fabric).open(str(verb)) as entry:
        findings: tuple[Finding, ...] = ()
        if verb is Verb.DRAIN:
            findings, unread = remaining_traffic(fabric, names, on, state)
            if findings:
                _name_remaining(findings, Problems(unread) if unread else None, output)
            if findings and not yes:
                require_answer("drain", output, "Drain other switches, or add --yes")
                typer.confirm("Drain all the same?", abort=True)
        outcomes, is_interrupted = _outcomes(fabric, endpoints, verb, entry)
    _print(fabric, verb, findings, outcomes, output)
    raise typer.Exit(INTERRUPTED if is_interrupted else exit_code(outcomes))


def _name_remaining(findings: Sequence[Finding], unread: Problems | None, output: Output) -> None:
    """Print the traffic that stays, and why other switches count as drained; JSON has the findings in its document."""
    if unread is not None:
        report(unread)
    if output is Output.TABLE:
        print_findings(findings)


def _outcomes(fabric: Design, endpoints: Endpoints, verb: Verb, entry: OpenDeploy) -> tuple[list[Outcome], bool]:
    """The outcome of each switch, which the journal gets too, and whether a signal stopped the run."""
    from railfab.deploy import nornir_of, operate_all

    with stop_on_signal(lambda: echo(FINISHING, err=True)) as stop_requested:
        nornir = nornir_of(fabric, endpoints, stop_requested)
        with ticking_bar(f"{verb}ing", len(endpoints.nodes)) as on_done:
            outcomes = operate_all(
                nornir, verb, lambda one: on_done(one.name), keep=entry.keep, stop_requested=stop_requested
            )
    entry.finish({outcome.name: outcome.result for outcome in outcomes})
    return outcomes, stop_requested.is_set()


def _print(
    fabric: Design, verb: Verb, findings: Sequence[Finding], outcomes: Sequence[Outcome], output: Output
) -> None:
    if output is Output.JSON:
        print_json(_document(fabric, findings, outcomes))
        return
    words = RESULTS[verb] | FAILURES
    print_table("", ("switch", "result"), [(outcome.name, words[outcome.result]) for outcome in outcomes])
    done = sum(outcome.changed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    of = f"{len(outcomes)} of {counted(len(fabric.topology.switches()), 'switch')}: {done} {verb}ed"
    print_text(f"{of}, {failed} failed" if failed else of)
    report_switches((outcome.name, str(outcome.error)) for outcome in outcomes if outcome.failed)


def _document(fabric: Design, findings: Sequence[Finding], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    keys = ("name", "changed", "failed", "error", "unsettled", "drained")
    return {
        "fabric": fabric.intent.fabric,
        "findings": [asdict(finding) for finding in findings],
        "switches": [{key: getattr(outcome, key) for key in keys} for outcome in outcomes],
    }
