"""deploy, rollback and verify: commands that connect to switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
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
)
from railfab.device import change_lines
from railfab.endpoints import Endpoints
from railfab.errors import ConfigError, Problems, RailfabError
from railfab.fabric import Design, design, resolve_endpoints
from railfab.platforms import platform
from railfab.process_signals import INTERRUPTED, stop_on_signal
from railfab.units import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from railfab.deploy import DeployRecord, OpenDeploy, Outcome, Preview
    from railfab.deploy.tasks import IsOwn

ToOption = Annotated[
    str | None, typer.Option("--to", metavar="ID", help="Undo this deploy and all later ones.", show_default=False)
]
ListOption = Annotated[bool, typer.Option("--list", metavar="", help="List the deploys that can be undone.")]
RESULTS = {
    "changed": "changed",
    "no change": "no change",
    "failed": "failed, unchanged",
    "unsettled": "failed, check it",
}
PlanOption = Annotated[bool, typer.Option("--plan", metavar="", help="Show the differences and stop.")]
FINISHING = "stopping: changes that have begun get 4 s to finish, no other is begun"
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
    fabric = design(intent)
    stop_at_errors(fabric, accept, output)
    endpoints = resolve_endpoints(fabric, on, state, limit)
    _Run(fabric, endpoints, state, plan=plan, yes=yes, output=output).change(fabric.texts, "deploy")


def rollback(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    to: ToOption = None,
    show: ListOption = False,
    plan: PlanOption = False,
    yes: YesOption = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Return switches to the configurations that they had before the last deploy, or before the one of --to."""
    from railfab.deploy import Journal

    fabric = design(intent)
    journal = Journal(state, fabric.intent.fabric)
    if show:
        _print_deploys(journal.deploys(), output)
        return
    texts = journal.texts_before(to or journal.last().deploy)
    gone = sorted(texts.keys() - {node.name for node in fabric.topology.switches()})
    if gone and limit is None:
        problem = f"that deploy changed {listed(gone)}, which this intent lacks"
        raise RailfabError("rollback", problem, "Use the intent that was deployed, or name the other switches: --limit")
    endpoints = resolve_endpoints(fabric, on, state, limit, among=texts.keys())
    if not endpoints.nodes:
        raise RailfabError("rollback", "none of these switches was changed", f"Choose among {listed(list(texts))}")
    _Run(fabric, endpoints, state, plan=plan, yes=yes, output=output).change(texts, "rollback")


def _print_deploys(deploys: Sequence[DeployRecord], output: Output) -> None:
    """The deploys that can be rolled back, newest first."""
    newest = list(reversed(deploys))
    if output is Output.JSON:
        print_json([asdict(record) for record in newest])
        return
    rows = [
        (record.deploy, record.verb, f"{record.user}@{record.host}", len(record.switches), _ending(record))
        for record in newest
    ]
    print_table("", ("deploy", "verb", "by", "switches", "result"), rows)
    if not rows:
        stdout().print("no deploy has changed a switch yet")


def _ending(record: DeployRecord) -> str:
    """`8 changed`, `7 changed, 1 failed`, `running`, or `interrupted`."""
    if not record.finished:
        return "running" if record.running else "interrupted"
    counts = Counter(result for result in record.results.values() if result != "no change")
    return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))


@dataclass(frozen=True, slots=True)
class _Run:
    """A change of switches from the command line: preview, question, change, report, exit code."""

    fabric: Design
    endpoints: Endpoints
    state: Path
    _: KW_ONLY
    plan: bool
    yes: bool
    output: Output

    def change(self, texts: Mapping[str, str], verb: str) -> None:
        """Bring the switches to these configurations, and leave with the exit code of the outcome."""
        from railfab.deploy import Journal

        if self.plan:
            self._print_previews(self._previews(texts, None), texts)
            return
        journal = Journal(self.state, self.fabric.intent.fabric)
        with journal.open(verb) as entry:
            previews = self._previews(texts, journal.is_own)
            changing = [found for found in previews if found.changed]
            if self.output is Output.TABLE and not self.yes:
                self._print_changes(changing, texts)
            if changing and not self.yes and stdout().is_terminal and self.output is Output.TABLE:
                typer.confirm(f"Change {counted(len(changing), 'switch')}?", abort=True)
            self._apply(texts, previews, entry)

    def _previews(self, texts: Mapping[str, str], is_own: IsOwn | None) -> list[Preview]:
        from railfab.deploy import nornir_of, preview_all

        nornir = nornir_of(self.fabric, self.endpoints)
        with _bar("reading", len(nornir.inventory.hosts)) as on_done:
            previews = preview_all(nornir, texts, on_done, is_own=is_own)
        for found in previews:
            if found.reverted is not None:
                line = f"{found.name}: reverted the unconfirmed change of deploy {found.reverted.deploy}"
                stderr().print(line, soft_wrap=True, markup=False)
        return previews

    def _apply(self, texts: Mapping[str, str], previews: Sequence[Preview], entry: OpenDeploy) -> None:
        from railfab.deploy import apply_all, nornir_of

        approved = {found.name: found.diff for found in previews}
        with stop_on_signal(lambda: typer.echo(FINISHING, err=True)) as stop_requested:
            nornir = nornir_of(self.fabric, self.endpoints, stop_requested)
            with _bar("changing", len(previews)) as on_done:
                outcomes = apply_all(
                    nornir,
                    texts,
                    entry.change,
                    on_done,
                    approved=approved,
                    keep=entry.keep,
                    stop_requested=stop_requested,
                    abandoned=stop_requested,
                )
        try:
            entry.finish({outcome.name: outcome.result for outcome in outcomes})
        finally:
            _report(self.fabric, outcomes, self._changes(previews, texts), output=self.output)
        raise typer.Exit(INTERRUPTED if stop_requested.is_set() else _exit_code(outcomes))

    def _print_previews(self, previews: Sequence[Preview], texts: Mapping[str, str]) -> None:
        from railfab.deploy import Outcome

        if self.output is Output.JSON:
            settings = self._changes(previews, texts)
            outcomes = [Outcome(name=one.name, changed=one.changed, failed=False, diff=one.diff) for one in previews]
            print_json([_document(outcome, settings[outcome.name]) for outcome in outcomes])
            return
        self._print_changes([found for found in previews if found.changed], texts)
        rows = [(one.name, "would change" if one.changed else "no change", _extent(one.diff)) for one in previews]
        print_table("", ("switch", "result", "lines"), rows)
        would = sum(found.changed for found in previews)
        stdout().print(f"{_of(self.fabric, previews)}: {would} would change")

    def _print_changes(self, changing: Sequence[Preview], texts: Mapping[str, str]) -> None:
        """The settings that change, and below them the lines."""
        from rich.syntax import Syntax

        console, settings = stdout(), self._changes(changing, texts)
        for found in changing:
            console.print(f"[bold]{found.name}[/bold]")
            for line in settings[found.name]:
                console.print(f"  {line}", soft_wrap=True, markup=False)
            console.print(Syntax(found.diff, "diff", theme="ansi_dark", background_color="default", word_wrap=True))

    def _changes(self, previews: Sequence[Preview], texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The settings of each switch that change, one line each; none where a text does not parse."""
        return {
            found.name: _settings(self.fabric, found.name, found.text, texts[found.name]) if found.changed else ()
            for found in previews
        }


def _settings(fabric: Design, name: str, before: str, after: str) -> tuple[str, ...]:
    parse = platform(fabric.models[name].platform).parse
    try:
        return change_lines(parse(before), parse(after))
    except (ConfigError, Problems):
        return ()


def _document(outcome: Outcome, settings: Sequence[str]) -> dict[str, Any]:
    """What `--output json` prints of one switch. changes: the settings that change."""
    return {**asdict(outcome), "changes": list(settings)}


def _of(fabric: Design, switches: Sequence[object]) -> str:
    """`5 of 6 switches`; the second number is that of the intent."""
    return f"{len(switches)} of {counted(len(fabric.topology.switches()), 'switch')}"


def _report(
    fabric: Design, outcomes: Sequence[Outcome], settings: Mapping[str, Sequence[str]], *, output: Output
) -> None:
    """Print the result of each switch, and why those failed that did."""
    if output is Output.JSON:
        print_json([_document(outcome, settings[outcome.name]) for outcome in outcomes])
    else:
        rows = [(outcome.name, RESULTS[outcome.result], _extent(outcome.diff)) for outcome in outcomes]
        print_table("", ("switch", "result", "lines"), rows)
        stdout().print(_totals(fabric, outcomes))
    for outcome in outcomes:
        if outcome.failed:
            stderr().print(f"railfab: {outcome.error}", soft_wrap=True, markup=False)


def _exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 when all succeeded, 1 when some failed, 2 when all failed."""
    failed = sum(outcome.failed for outcome in outcomes)
    return 0 if not failed else CANNOT if failed == len(outcomes) else FOUND


def _totals(fabric: Design, outcomes: Sequence[Outcome]) -> str:
    """`5 of 6 switches: 4 changed, 1 failed`."""
    changed = sum(outcome.changed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    result = f"{_of(fabric, outcomes)}: {changed} changed"
    return f"{result}, {failed} failed" if failed else result


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
