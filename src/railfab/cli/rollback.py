"""rollback: return switches to former configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.acceptance import AcceptCutOption
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
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
)
from railfab.cli.echo import echo, echo_line
from railfab.cli.history import clock, name_damaged
from railfab.cli.junit import JunitOption, JunitReport
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


def rollback(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    to: ToOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
    waves: WavesOption = Waves.OFF,
    stat: StatOption = False,
    full: FullOption = False,
    accept: AcceptCutOption = None,
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Return switches to the configurations that they had before the last deploy, before the one of --to, or in a
    snapshot."""
    from railfab.deploy import Journal, is_snapshot, snapshot_target

    file = JunitReport("rollback", junit)
    options = ChangeOptions(
        plan=plan, yes=yes, stat=stat, full=full, output=output, waves=waves, accept_cut=bool(accept), junit=file
    )
    fabric = design(intent)
    journal = Journal(state, fabric.intent.fabric)
    name_damaged(journal.deploys())
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
            f"rollback: undoes deploy {last.deploy} (number {last.number}, {clock(last.began)}); "
            f"number {later.number} was before it, although the clock of {later.host} then said {clock(later.began)}",
            err=True,
        )
    return last
