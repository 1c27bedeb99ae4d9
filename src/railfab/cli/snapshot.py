"""snapshot, diff: what switches run and see at one moment, and what is different since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.change_report import print_diff
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
    given_parameters,
    print_folded,
    print_json,
    print_text,
    refuse,
    refuse_state,
    report,
    ticking_bar,
)
from railfab.cli.echo import echo, echo_line
from railfab.errors import Problems, RailfabError
from railfab.fabric import Design, design, readable_endpoints
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.deploy import FabricSnapshot, SwitchDifference, TakenSnapshot


def snapshot(
    context: typer.Context,
    intent: IntentFile,
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            metavar="DIR|FILE",
            help="A new folder, to which a rollback can return; or a file ending in .json, for diff alone.",
            show_default=False,
        ),
    ],
    on: OnOption = None,
    limit: LimitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write what each switch runs and sees now: configuration, sessions, links, software; a file has no secrets."""
    from railfab.deploy import check_writable, write_snapshot

    refuse_state(context, on)
    fabric = design(intent)
    check_writable(out)
    taken = _taken(fabric, on, state, limit)
    errors = tuple(taken.unread.values())
    if taken.texts:
        write_snapshot(out, taken)
        _print_taken(fabric, out, taken, output)
    if errors:
        report(Problems(errors))
        raise typer.Exit(FOUND if taken.texts else CANNOT)


def diff(
    context: typer.Context,
    before: Annotated[Path, typer.Argument(metavar="A", help="A snapshot.", show_default=False)],
    after: Annotated[
        Path,
        typer.Argument(metavar="B", help="A later one; with --on, the intent of the switches.", show_default=False),
    ],
    on: OnOption = None,
    limit: LimitOption = None,
    full: Annotated[bool, typer.Option("--full", metavar="", help="Show the lines of configurations, too.")] = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Compare two snapshots, or one with what the switches run and see now: settings, sessions, links, software."""
    from railfab.deploy import compare_snapshots, read_snapshot

    refuse_state(context, on)
    if on is None:
        refuse(given_parameters(context), {"limit": "--limit"}, "Two snapshots are compared: add --on, or leave out")
    if output is Output.JSON:
        refuse(given_parameters(context), {"full": "--full"}, "--output json has the lines: leave out")
    first = read_snapshot(before)
    if on is None:
        second = read_snapshot(after, first.fabric)
    else:
        if after.is_dir():
            problem = "is a folder, and with --on the second is the intent of the switches"
            raise RailfabError(str(after), problem, "Name the intent, or leave out --on")
        fabric = design(after)
        first = read_snapshot(before, fabric.intent.fabric)
        second = _taken(fabric, on, state, limit).snapshot
        if limit is not None:
            first = _among(first, fabric, limit)
    compared = compare_snapshots(first, second)
    if output is Output.JSON:
        print_json(
            {
                "fabric": first.fabric,
                "before": first.taken,
                "after": second.taken,
                "switches": [asdict(switch) for switch in compared.switches],
                "unknown": [{"name": name, "error": why} for name, why in compared.unknown],
            }
        )
    else:
        _print_difference(compared.switches, len(compared.switches) + len(compared.unknown), full=full)
    if compared.unknown:
        remedy = "Take a snapshot in which it is read"
        report(Problems([RailfabError(name, f"cannot be compared ({why})", remedy) for name, why in compared.unknown]))
    if compared.different or compared.unknown:
        raise typer.Exit(FOUND if compared.different else CANNOT)


def _taken(fabric: Design, on: str | None, state: Path, limit: str | None) -> TakenSnapshot:
    from railfab.deploy import nornir_of, take_snapshot

    endpoints, without_address = readable_endpoints(fabric, on, state, limit)
    nornir = nornir_of(fabric, endpoints)
    with ticking_bar("reading", len(endpoints.nodes)) as on_done:
        return take_snapshot(nornir, fabric, without_address=without_address, on_done=on_done)


def _among(taken: FabricSnapshot, fabric: Design, limit: str) -> FabricSnapshot:
    """The snapshot of those switches that a limit selects."""
    from dataclasses import replace

    from railfab.fabric import limited

    names = {node.name for node in limited(fabric.topology, limit)}
    switches = {name: switch for name, switch in taken.switches.items() if name in names}
    return replace(taken, switches=switches, unread={key: why for key, why in taken.unread.items() if key in names})


def _print_taken(fabric: Design, out: Path, taken: TakenSnapshot, output: Output) -> None:
    switches = taken.snapshot.switches
    states = [
        (name, each.version, sum(session.established for session in each.sessions), sum(port.up for port in each.ports))
        for name, each in switches.items()
    ]
    if output is Output.JSON:
        keys = ("name", "version", "sessions", "ports_up")
        rows = [dict(zip(keys, row, strict=True)) for row in states]
        unread = [{"name": name, "error": str(error)} for name, error in taken.unread.items()]
        print_json({"fabric": fabric.intent.fabric, "path": str(out), "switches": rows, "unread": unread})
        return
    folded = [(name, version, str(sessions), str(ports)) for name, version, sessions, ports in states]
    print_folded(("switch", "version", "sessions", "ports up"), folded)
    print_text(f"{len(switches)} of {counted(len(fabric.models), 'switch')} in {out}")


def _print_difference(switches: Sequence[SwitchDifference], total: int, *, full: bool) -> None:
    """Print each line with the switches that have it, then their numbers by switch."""
    from railfab.text.folding import folded_sets

    different = [switch for switch in switches if switch.lines]
    by_line: dict[str, list[str]] = {}
    for switch in different:
        for line in switch.lines:
            by_line.setdefault(line, []).append(switch.name)
    for line, names in by_line.items():
        echo_line(f"{', '.join(folded_sets(names))}: {line}")
    for switch in different if full else ():
        if switch.diff:
            print_text((switch.name, "bold"))
            print_diff(switch.diff)
    rows = [
        (each.name, *(str(len(part)) for part in (each.settings, each.sessions, each.links, each.software)))
        for each in switches
    ]
    print_folded(("switch", "settings", "sessions", "links", "software"), rows)
    echo(f"{len(switches)} of {counted(total, 'switch')} compared: {len(different) or 'none'} different")
