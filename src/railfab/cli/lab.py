"""lab up, status, down, restart and doctor: run a fabric on this machine."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli import completion, containerlab
from railfab.cli.acceptance import AcceptOption
from railfab.cli.change import ChangeRun
from railfab.cli.change_options import ChangeOptions, Waves
from railfab.cli.common import (
    CANNOT,
    FOUND,
    STATE_DEFAULT,
    IntentFile,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    print_json,
    print_table,
    refuse,
    stop_at_errors,
)
from railfab.cli.echo import echo
from railfab.endpoints import load_endpoints
from railfab.fabric import Design, design, session_endpoints
from railfab.intent import load_intent
from railfab.process.signals import ended_by_signal

if TYPE_CHECKING:
    from railfab.endpoints import Endpoints
    from railfab.lab import LabPlace, LabStatus


class BackendName(StrEnum):
    NETNS = "netns"
    CONTAINERLAB = "containerlab"


BackendOption = Annotated[
    BackendName | None,
    typer.Option(help="Backend; by default that of the running lab, else netns.", show_default=False),
]
ConfiguredOption = Annotated[
    bool, typer.Option("--configured", metavar="", help="Boot switches with their configurations, or deploy them.")
]
OptionalIntent = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="Intent of a fabric, to check its requirements too.", show_default=False),
]

LAB = "lab"
"""Name of a running lab in the option `--on`."""

lab_app = typer.Typer(
    no_args_is_help=True, help="Run a fabric on this machine: FRR in network namespaces, or containers."
)


@lab_app.command()
def up(
    intent: IntentFile,
    backend: BackendOption = None,
    configured: ConfiguredOption = False,
    accept: AcceptOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Boot a lab; switches boot unconfigured, for `railfab deploy --on lab`, unless --configured.

    With --configured, a lab that is up already is deployed to, as by `railfab deploy --on lab --yes --waves off`.
    """
    from railfab.lab import backend as lab_backend
    from railfab.lab import lab_plan

    fabric = design(intent)
    stop_at_errors(fabric, accept, output)
    wanted = lab_plan(fabric, state, configured=configured)
    with ended_by_signal(_partly(wanted.place)):
        start = lab_backend(_backend_name(backend, wanted.place)).up(wanted, _print_progress)
    if configured and not start.booted:
        _deploy(fabric, state, output)
    elif output is Output.JSON:
        print_json(asdict(start.endpoints))
    else:
        _print_endpoints(start.endpoints)
        _print_progress(f"endpoints in {wanted.place.endpoints_file}")


def _deploy(fabric: Design, state: Path, output: Output) -> None:
    """Bring all switches of a lab to the intent at once."""
    options = ChangeOptions(plan=False, yes=True, stat=False, full=False, output=output, waves=Waves.OFF)
    ChangeRun(fabric, session_endpoints(fabric, LAB, state), state, options).change(fabric.texts, "deploy")


@lab_app.command()
def status(
    intent: IntentFile,
    backend: BackendOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show the state of a lab; exit code 1 unless every node is running."""
    from railfab.lab import backend as lab_backend

    place = _place(intent, state)
    found = lab_backend(_backend_name(backend, place)).status(place)
    if output is Output.JSON:
        print_json({**asdict(found), "state": found.state})
    else:
        _print_status(found)
    if found.state != "running":
        raise typer.Exit(FOUND)


@lab_app.command()
def down(
    intent: IntentFile,
    backend: BackendOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Remove a lab, also after a crash, and nothing else."""
    from railfab.lab import backend as lab_backend

    place = _place(intent, state)
    with ended_by_signal(_partly(place)):
        removed = lab_backend(_backend_name(backend, place)).down(place, _print_progress)
    if output is Output.JSON:
        print_json({"fabric": place.fabric, "removed": removed})
    else:
        _print_progress(f"lab {place.fabric} is down" if removed else f"lab {place.fabric} was not up")


@lab_app.command()
def restart(
    intent: IntentFile,
    node: Annotated[
        str,
        typer.Argument(
            metavar="NODE", help="A switch of the lab.", show_default=False, autocompletion=completion.switches
        ),
    ],
    daemon: Annotated[
        str | None,
        typer.Option("--daemon", metavar="NAME", help="Only this daemon of FRR, for example bgpd.", show_default=False),
    ] = None,
    backend: BackendOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Restart a switch with its startup configuration, or one of its daemons, also when it is stuck."""
    from railfab.lab import backend as lab_backend
    from railfab.lab import lab_plan

    wanted = lab_plan(design(intent), state, configured=False)
    with ended_by_signal(f"interrupted; {node} is restarted in part. Restart it again."):
        lab_backend(_backend_name(backend, wanted.place)).restart(wanted, node, daemon, _print_progress)
    if output is Output.JSON:
        print_json({"fabric": wanted.place.fabric, "node": node, "daemon": daemon})
    else:
        _print_progress(f"{daemon or node} is up again" + (f" on {node}" if daemon else ""))


@lab_app.command()
def doctor(
    context: typer.Context,
    intent: OptionalIntent = None,
    backend: BackendOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Check the requirements of this machine, one line each; exit code 2 when a lab cannot run."""
    from railfab.lab import backend as lab_backend
    from railfab.lab import lab_plan, unenforced_requirements

    if intent is None:
        refuse(given_parameters(context), {"state": "--state"}, "Name the intent, or leave out")
    wanted = lab_plan(design(intent), state, configured=False) if intent is not None else None
    name = backend or BackendName.NETNS
    found = lab_backend(name if wanted is None else _backend_name(backend, wanted.place)).doctor(wanted)
    if wanted is not None:
        found += unenforced_requirements(wanted)
    if output is Output.JSON:
        print_json([{**asdict(requirement), "ok": requirement.ok} for requirement in found])
    else:
        for requirement in found:
            echo(str(requirement))
    if any(requirement.fatal and not requirement.ok for requirement in found):
        raise typer.Exit(CANNOT)


lab_app.command()(containerlab.render)


def _partly(place: LabPlace) -> str:
    """Line about a lab whose creation or removal was interrupted."""
    return f"interrupted; lab {place.fabric} is there in part. Remove it with `railfab lab down`."


def _place(intent: Path, state: Path) -> LabPlace:
    return _place_of(load_intent(intent).fabric, intent, state)


def _place_of(fabric: str, intent: Path, state: Path) -> LabPlace:
    from railfab.lab import LabPlace

    return LabPlace(fabric=fabric, folder=intent.parent, state=state)


def _backend_name(wanted: BackendName | None, place: LabPlace) -> str:
    """The requested backend, else that of the running lab, else netns."""
    if wanted is not None or not place.endpoints_file.exists():
        return wanted or BackendName.NETNS
    return load_endpoints(place.endpoints_file).backend


def _print_progress(line: str) -> None:
    """Print a line on stderr, without interpreting it as markup."""
    echo(line, err=True)


def _print_endpoints(running: Endpoints) -> None:
    rows = [(node.name, node.platform, node.host, node.ssh_port, node.gnmi_port) for node in running.nodes]
    print_table(f"lab {running.fabric}", ("switch", "platform", "address", "ssh", "gnmi"), rows)


def _print_status(found: LabStatus) -> None:
    rows = [(node.name, node.kind, node.state, node.address, node.detail) for node in found.nodes]
    title = f"lab {found.fabric} is {found.state}"
    if rows:
        print_table(title, ("node", "kind", "state", "address", "detail"), rows)
    else:
        echo(title)
