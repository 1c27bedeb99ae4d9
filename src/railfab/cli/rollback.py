"""rollback: return switches to former configurations, and list the deploys that can be undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.change import ChangeOptions, ChangeRun, FullOption, PlanOption, StatOption, YesOption
from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    print_json,
    print_table,
    print_text,
    refuse,
)
from railfab.cli.echo import echo, echo_line
from railfab.errors import RailfabError
from railfab.fabric import design, limited, require_sessions, session_endpoints
from railfab.text.counted import listed

if TYPE_CHECKING:
    from railfab.deploy import DeployRecord, Journal

ToOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="ID|DIR",
        help="Undo this deploy and all later ones; or return to what a snapshot has.",
        show_default=False,
    ),
]
ListOption = Annotated[bool, typer.Option("--list", metavar="", help="List the deploys that can be undone.")]


NOT_LISTED = {
    "on": "--on",
    "limit": "--limit",
    "to": "--to",
    "plan": "--plan",
    "yes": "--yes",
    "stat": "--stat",
    "full": "--full",
}
"""Options of a change, by parameter."""


def rollback(
    context: typer.Context,
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    to: ToOption = None,
    show: ListOption = False,
    plan: PlanOption = False,
    yes: YesOption = False,
    stat: StatOption = False,
    full: FullOption = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Return switches to the configurations that they had before the last deploy, before the one of --to, or in a
    snapshot."""
    from railfab.deploy import Journal, is_snapshot, snapshot_target

    if show:
        refuse(given_parameters(context), NOT_LISTED, "--list changes nothing: leave out")
    options = ChangeOptions(plan=plan, yes=yes, stat=stat, full=full, output=output)
    fabric = design(intent)
    journal = Journal(state, fabric.intent.fabric)
    if show:
        _print_deploys(journal.deploys(), output)
        return
    if to is not None and is_snapshot(to):
        target = snapshot_target(fabric, Path(to), on, state, limit)
        texts = dict(target.texts)
        for name, why in target.left_alone.items():
            echo_line(f"{name}: is left as it is: {why}", err=True)
    else:
        if not journal.deploys():
            require_sessions((node.name, str(node.platform)) for node in limited(fabric.topology, limit))
        texts = journal.texts_before(_last(journal).deploy if to is None else to)
    gone = sorted(texts.keys() - {node.name for node in fabric.topology.switches()})
    if gone and limit is None:
        problem = f"that deploy changed {listed(gone)}, which this intent lacks"
        raise RailfabError("rollback", problem, "Use the intent that was deployed, or name the other switches: --limit")
    endpoints = session_endpoints(fabric, on, state, limit, among=texts.keys())
    if not endpoints.nodes:
        raise RailfabError("rollback", "none of these switches was changed", f"Choose among {listed(list(texts))}")
    ChangeRun(fabric, endpoints, state, options).change(texts, "rollback")


def _last(journal: Journal) -> DeployRecord:
    """The last deploy by its number; names one before it that is later by the clock."""
    last = journal.last()
    if (later := journal.later_by_clock(last)) is not None:
        echo(
            f"rollback: undoes deploy {last.deploy} (number {last.number}, {_clock(last.began)}); "
            f"number {later.number} was before it, although the clock of {later.host} then said {_clock(later.began)}",
            err=True,
        )
    return last


def _print_deploys(deploys: Sequence[DeployRecord], output: Output) -> None:
    """The deploys that can be rolled back, newest first."""
    newest = list(reversed(deploys))
    if output is Output.JSON:
        print_json([asdict(record) for record in newest])
        return
    rows = [
        (
            record.number or None,
            record.deploy,
            record.verb,
            f"{record.user}@{record.host}",
            _clock(record.began),
            _clock(record.ended),
            len(record.switches),
            _ending(record),
        )
        for record in newest
    ]
    print_table("", ("number", "deploy", "verb", "by", "began", "ended", "switches", "result"), rows)
    if not rows:
        print_text("no deploy has changed a switch yet")


def _clock(time: str) -> str:
    """`2026-11-22T09:30:12Z`, by the clock of the host that made the deploy."""
    return time.replace("+00:00", "Z")


def _ending(record: DeployRecord) -> str:
    """`8 changed`, `7 changed, 1 failed`, `running`, or `interrupted`."""
    if not record.finished:
        return "running" if record.running else "interrupted"
    counts = Counter(result for result in record.results.values() if result != "no change")
    return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
