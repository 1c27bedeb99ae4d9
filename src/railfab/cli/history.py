"""history: the deploys of a fabric: who, when, in which waves, with which result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    Output,
    OutputOption,
    StateOption,
    print_json,
    print_table,
    print_text,
)
from railfab.cli.echo import echo, echo_line
from railfab.cli.rollout_view import print_waves
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.text.counted import listed

if TYPE_CHECKING:
    from railfab.deploy import DeployRecord, Journal

DeployArgument = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="The ID of a deploy, to show its plan.", show_default=False)
]


def history(
    intent: IntentFile,
    deploy: DeployArgument = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """List the deploys, rollbacks and drains of a fabric, newest first; with an ID, the plan and the results of one."""
    from railfab.deploy import Journal

    fabric = design(intent)
    journal = Journal(state, fabric.intent.fabric)
    records = tuple(reversed(journal.deploys()))
    name_damaged(records)
    if deploy is not None:
        _print_deploy(fabric, journal, _named(records, deploy), output)
    elif output is Output.JSON:
        print_json([asdict(record) for record in records])
    else:
        _print_deploys(records)


def name_damaged(records: Iterable[DeployRecord]) -> None:
    """Name what of these records cannot be read; the rest is used."""
    for record in records:
        for line in record.damaged:
            echo(f"railfab: {line}; the rest of deploy {record.deploy} is used.", err=True)


def _named(records: Sequence[DeployRecord], deploy: str) -> DeployRecord:
    for record in records:
        if record.deploy == deploy:
            return record
    remedy = (
        f"Name one of {listed([record.deploy for record in records])}" if records else "Name the state folder: --state"
    )
    raise RailfabError(f"deploy {deploy!r}", "is not in the journal", remedy)


def _print_deploys(records: Sequence[DeployRecord]) -> None:
    rows = [
        (
            record.number or None,
            record.deploy,
            record.verb,
            f"{record.user}@{record.host}",
            clock(record.began),
            clock(record.ended),
            f"{record.waves_done}/{record.waves}" if record.waves else None,
            len(record.switches),
            ending(record),
        )
        for record in records
    ]
    print_table("", ("number", "deploy", "verb", "by", "began", "ended", "waves", "switches", "result"), rows)
    if not rows:
        print_text("no deploy has changed a switch yet")


def _print_deploy(fabric: Design, journal: Journal, record: DeployRecord, output: Output) -> None:
    """Print the plan of a deploy, and the result of each switch."""
    from railfab.deploy import ChangePlan

    folder = journal.folder / record.folder
    plan = ChangePlan.parse(journal.planned(record)[0], str(folder)) if record.waves else None
    if output is Output.JSON:
        print_json({**asdict(record), "plan": json.loads(plan.document()) if plan else None})
        return
    echo_line(f"{record.verb} {record.deploy} by {record.user}@{record.host}, {clock(record.began)}: {ending(record)}")
    if plan is not None:
        print_waves(fabric, plan, output)
    print_table("", ("switch", "result"), sorted(record.results.items()))


def clock(time: str) -> str:
    """`2026-11-22T09:30:12Z`, by the clock of the host that made the deploy."""
    return time.replace("+00:00", "Z")


def ending(record: DeployRecord) -> str:
    """`8 changed`, `7 changed, 1 failed`, `running`, `interrupted` or `damaged`."""
    if not record.finished:
        return "running" if record.running else "interrupted" if record.user else "damaged"
    counts = Counter(result for result in record.results.values() if result != "no change")
    return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
