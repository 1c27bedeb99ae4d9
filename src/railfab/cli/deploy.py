"""deploy, rollback and verify: commands that connect to switches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli.common import (
    CANNOT,
    FOUND,
    STATE_DEFAULT,
    AcceptOption,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    findings_exit,
    print_findings,
    print_json,
    print_table,
    progress_bar,
    stderr,
    stdout,
    stop_at_errors,
    stop_on_signal,
)
from railfab.errors import RailfabError
from railfab.fabric import Design, design, resolve_endpoints
from railfab.units import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nornir.core import Nornir

    from railfab.deploy import Outcome
    from railfab.deploy.tasks import Keep

PlanOption = Annotated[bool, typer.Option("--plan", metavar="", help="Show the differences and stop.")]
FINISHING = "stopping: changes that have begun are finished, no other is begun"
YesOption = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]


@contextmanager
def _bar(title: str, total: int) -> Iterator[Any]:
    """A progress bar; yields the function to call after each switch."""
    with progress_bar() as progress:
        task = progress.add_task(title, total=total)
        yield lambda _name: progress.advance(task)


def deploy(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
    accept: AcceptOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Bring switches to the intent: show the differences, apply them, read back; a switch that fails is rolled back."""
    from railfab.deploy import PreviousConfigurations, nornir_of

    fabric = design(intent)
    stop_at_errors(fabric, accept, output)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, on, state, limit))
    keep = PreviousConfigurations(state, fabric.intent.fabric).keep
    _change(fabric, nornir, fabric.texts, plan=plan, yes=yes, output=output, keep=keep)


def rollback(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Return the switches that the last deploy changed to the configuration that they had before it."""
    from railfab.deploy import load_previous, nornir_of

    fabric = design(intent)
    previous = load_previous(state, fabric.intent.fabric)
    if gone := sorted(previous.keys() - {node.name for node in fabric.topology.switches()}):
        problem = f"{listed(gone)} was changed by the last deploy and is not in this intent"
        raise RailfabError("rollback", problem, "Use the intent that was deployed")
    endpoints = resolve_endpoints(fabric, on, state, limit, among=previous.keys())
    if not endpoints.nodes:
        raise RailfabError("rollback", "none of these switches was changed", f"Choose among {listed(list(previous))}")
    _change(fabric, nornir_of(fabric, endpoints), previous, plan=plan, yes=yes, output=output, keep=None)


def _change(
    fabric: Design,
    nornir: Nornir,
    texts: Mapping[str, str],
    *,
    plan: bool,
    yes: bool,
    output: Output,
    keep: Keep | None,
) -> None:
    """Preview all switches, ask, apply, report, and leave with the exit code of the outcome."""
    from railfab.deploy import apply_all, preview_all

    hosts = len(nornir.inventory.hosts)
    with _bar("reading", hosts) as on_done:
        outcomes = preview_all(nornir, texts, on_done)
    changing = [outcome for outcome in outcomes if outcome.changed]
    if output is Output.TABLE and (plan or not yes):
        _print_diffs(changing)
    if changing and not plan:
        if not yes and stdout().is_terminal and output is Output.TABLE:
            typer.confirm(f"Change {counted(len(changing), 'switch')}?", abort=True)
        approved = {outcome.name: outcome.diff for outcome in outcomes}
        with stop_on_signal(FINISHING) as stop_requested, _bar("changing", hosts) as on_done:
            outcomes = apply_all(nornir, texts, on_done, approved=approved, keep=keep, stop_requested=stop_requested)
    _report(fabric, outcomes, plan=plan, output=output)


def _print_diffs(changing: list[Outcome]) -> None:
    from rich.syntax import Syntax

    console = stdout()
    for outcome in changing:
        console.print(f"[bold]{outcome.name}[/bold]")
        console.print(Syntax(outcome.diff, "diff", theme="ansi_dark", background_color="default", word_wrap=True))


def _report(fabric: Design, outcomes: list[Outcome], *, plan: bool, output: Output) -> None:
    """Print the result of each switch; exit 0 when all succeeded, 1 when some failed, 2 when all failed."""
    if output is Output.JSON:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        rows = [(outcome.name, _verdict(outcome, plan=plan), _extent(outcome.diff)) for outcome in outcomes]
        print_table("", ("switch", "result", "lines"), rows)
        stdout().print(_totals(fabric, outcomes, plan=plan))
    failed = [outcome for outcome in outcomes if outcome.failed]
    for outcome in failed:
        stderr().print(f"railfab: {outcome.error}", soft_wrap=True, markup=False)
    if failed:
        raise typer.Exit(CANNOT if len(failed) == len(outcomes) else FOUND)


def _totals(fabric: Design, outcomes: list[Outcome], *, plan: bool) -> str:
    """`5 of 6 switches: 4 changed, 1 failed`; the second number is that of the intent."""
    changed = sum(outcome.changed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    of = f"{len(outcomes)} of {counted(len(fabric.topology.switches()), 'switch')}"
    result = f"{changed} would change" if plan else f"{changed} changed"
    return f"{of}: {result}, {failed} failed" if failed else f"{of}: {result}"


def _verdict(outcome: Outcome, *, plan: bool) -> str:
    if outcome.failed:
        return "failed, check it" if outcome.unsettled else "failed, unchanged"
    if not outcome.changed:
        return "no change"
    return "would change" if plan else "changed"


def _extent(diff: str) -> str:
    """Number of added and removed lines: `+120 -3`."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"+{added} -{removed}" if diff else ""


def verify(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="S", help="Repeat the check for this long until nothing is found.")
    ] = 15.0,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Check the live state against the intent: sessions, neighbours, MTU, and both ends of every link."""
    from railfab.deploy import nornir_of, verify_all

    fabric = design(intent)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, on, state, limit))
    with stderr().status("reading the switches"):
        found = verify_all(nornir, fabric, wait_s=wait, on_done=lambda _name: None)
    switches = sorted(nornir.inventory.hosts)
    if output is Output.JSON:
        document = {"fabric": fabric.intent.fabric, "checked": switches, "findings": [asdict(one) for one in found]}
        print_json(document)
    else:
        print_findings(found)
        sessions = sum(len(fabric.models[name].neighbors) for name in switches)
        verdict = counted(len(found), "finding") if found else f"all {sessions} BGP session ends are as the intent says"
        stdout().print(f"{len(switches)} of {counted(len(fabric.models), 'switch')} checked: {verdict}")
    findings_exit(found)
