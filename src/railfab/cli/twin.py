"""`railfab twin`: serve the switches of a fabric, here or without a terminal; change the job of a running twin; list
and stop twins."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli import completion
from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import (
    FOUND,
    STATE_DEFAULT,
    CpuOption,
    IntentFile,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    prepare_simulator,
    print_json,
    print_table,
    print_text,
    refuse,
    stop_at_errors,
)
from railfab.cli.default_group import SERVE, DefaultGroup
from railfab.cli.echo import echo, echo_line
from railfab.cli.tables import columns, with_command
from railfab.endpoints import state_option
from railfab.errors import EndpointError, LabError
from railfab.text.counted import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from railfab.fabric import Design
    from railfab.intent import Job
    from railfab.twin import FoundTwin, Twin, TwinStatus
    from railfab.workload import RecordedJob

NO_JOB = "none"
"""Word of `--job` that ends the job of a running twin."""
JobOption = Annotated[
    Path | None,
    typer.Option(
        "--job",
        metavar="FILE",
        help="Job of the hosts, of any format that `simulate` takes; a running twin changes to it at once, and `none` "
        "ends the one that runs.",
    ),
]
PortOption = Annotated[
    int,
    typer.Option("--port", metavar="N", min=0, max=65_000, help="The first switch's gNMI port; 0 takes free ones."),
]
ConfiguredOption = Annotated[
    bool,
    typer.Option("--configured", metavar="", help="Start with configured switches instead of empty ones."),
]
DetachOption = Annotated[
    bool,
    typer.Option("--detach", metavar="", help="Return when the switches can be reached; the twin keeps running."),
]
NewCredentialsOption = Annotated[
    bool,
    typer.Option("--new-credentials", metavar="", help="Make a new CA and password; else those of the last start."),
]
BootTimeOption = Annotated[
    float,
    typer.Option(
        "--boot-time", metavar="S", min=0, max=3600, help="Seconds that a switch takes to boot after a restart."
    ),
]
RunningTwin = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="Intent of the twin's fabric; else any in DIR.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
TwinOption = Annotated[
    Path | None, typer.Option("--twin", metavar="FILE", help="Intent of the twin's fabric; else the only one.")
]
STATUS_COLUMNS = ("fabric", "process", "switches up", "BGP ends up", "job", "simulated s", "unmodelled")
LISTED = 8
"""Lines of a switch's configuration without effect that the table has."""


twin_app = typer.Typer(cls=DefaultGroup, help="Serve every switch of a fabric on this machine; list and stop twins.")


NOT_OF_A_RUNNING_TWIN = {
    "port": "--port",
    "configured": "--configured",
    "new_credentials": "--new-credentials",
    "cpu": "--cpu",
    "boot_time": "--boot-time",
    "accept": "--accept",
}
"""Options of a start, by parameter."""


@twin_app.command(SERVE, hidden=True)
def twin(
    context: typer.Context,
    file: IntentFile,
    job: JobOption = None,
    state: StateOption = STATE_DEFAULT,
    port: PortOption = 57400,
    configured: ConfiguredOption = False,
    detach: DetachOption = False,
    new_credentials: NewCredentialsOption = False,
    cpu: CpuOption = 1.0,
    boot_time: BootTimeOption = 60.0,
    accept: AcceptOption = None,
) -> None:
    """Serve every switch of a fabric as a gNMI target, with a simulation of its traffic behind them, until Ctrl-C.

    With --detach it keeps running without a terminal: `railfab twin status` shows it, `railfab twin stop` ends it.
    An intent whose file has the name of another command of twin (status, stop, link, ...) needs ./ before it.
    """
    from railfab.fabric import design, fitting_job
    from railfab.twin import require_served, require_traffic, running, twin_command

    fabric = design(file)
    ends_job = job is not None and str(job) == NO_JOB
    wanted = fitting_job(job, fabric.topology, fabric.intent) if job is not None and not ends_job else None
    there = running(state, fabric.topology.fabric)
    if ends_job and there is None:
        raise EndpointError(fabric.topology.fabric, "no twin is running whose job could end", "Leave out --job none")
    if there is not None and job is not None:
        why = f"The twin of {fabric.topology.fabric} is running, and only its job changes: leave out"
        refuse(given_parameters(context), NOT_OF_A_RUNNING_TWIN, why)
        there.switch_job(wanted)
        doing = "ended its job" if wanted is None else f"changed to job {wanted.job}"
        print_text(f"{fabric.topology.fabric}: the running twin {doing}", err=True)
        return
    stop_at_errors(fabric, accept)
    require_served(fabric)
    if wanted is not None:
        require_traffic(fabric)
    prepare_simulator(here=not detach)
    if detach:
        command = twin_command(fabric.path, state, port=port, accept=accept or (), cpu=cpu, verbose=True)
        command += ["--job", str(job)] if job is not None else []
        command += ["--configured"] if configured else []
        command += ["--new-credentials"] if new_credentials else []
        command += [f"--boot-time={boot_time:g}"]
        _detach(fabric, state, command, "verify" if configured else "deploy")
        return
    from railfab.twin import Twin, serve

    served = Twin(
        fabric,
        state=state,
        base_port=port,
        configured=configured,
        job=wanted,
        new_credentials=new_credentials,
        cpu=cpu,
        boot_s=boot_time,
    )
    serve(served, started=lambda: _announce(served, wanted))


def _announce(served: Twin, job: Job | RecordedJob | None) -> None:
    rows = [
        (node.name, node.host, node.gnmi_port or "-", node.ssh_port or "-", node.platform)
        for node in served.endpoints.nodes
    ]
    print_table(f"Twin of {served.fabric}", ("switch", "address", "gNMI", "SSH", "platform"), rows)
    doing = f"job {job.job}" if job is not None else "no job"
    print_text(f"{doing}; job metrics at {served.control.metrics_url}; Ctrl-C ends it", err=True)


def _detach(fabric: Design, state: Path, command: list[str], then: str) -> None:
    """Run this command in a session of its own, and print its files and the next commands. then: the first of these."""
    from railfab.intent.document import input_for
    from railfab.twin import start_detached
    from railfab.twin.files import twin_files

    name = fabric.topology.fabric
    status = start_detached(command, state, name, input_for(fabric.path))
    files, there = twin_files(state, name), state_option(state)
    lines = (
        f"twin of {name}: {counted(len(status.switches), 'switch')} can be reached (process {status.pid})",
        f"endpoints: {files.endpoints}",
        f"log: {files.log}",
        f"next: railfab {then} {fabric.path} --on twin{there}; to end it: railfab twin stop{there}",
    )
    for line in lines:
        echo_line(line)


@twin_app.command("status")
def show_status(
    file: RunningTwin = None, state: StateOption = STATE_DEFAULT, output: OutputOption = Output.TABLE
) -> None:
    """Show the running twins; exit code 1 when there is none."""
    found = _found(file, state)
    if output is Output.JSON:
        print_json([asdict(one) for one in found])
    elif found:
        print_table("", STATUS_COLUMNS, [_row(one) for one in found])
        for line in (line for one in found if one.status for line in _faults(one.status, state)):
            print_text(line, whole=True)
        if lines := [line for one in found for line in _unmodelled(one)]:
            print_table("Configuration without effect", ("switch", "line"), lines)
    else:
        echo_line(f"no twin is running in {state}")
    if not found:
        raise typer.Exit(FOUND)


def _row(found: FoundTwin) -> tuple[object, ...]:
    status = found.status
    if status is None:
        return found.fabric, found.pid, found.problem, None, None, None, None
    up = sum(switch.running for switch in status.switches)
    ends = f"{status.sessions_up}/{status.sessions}"
    job = status.job or "-"
    if status.step_share is not None:
        job += f", step {status.steps + 1:,} at {status.step_share:.0%}"
    unmodelled = sum(len(switch.unmodelled) for switch in status.switches)
    switches = f"{up}/{len(status.switches)}"
    return found.fabric, found.pid, switches, ends, job, f"{status.simulated_s:.0f}", unmodelled


def _faults(status: TwinStatus, state: Path) -> Iterator[str]:
    """The slow hosts and the faults, each of these with the command that undoes it."""
    yield from status.slow_hosts
    for fault in status.fault_details:
        command = f"railfab twin {fault.undo}{state_option(state)}"
        yield from with_command(f"{fault.problem}. Undo it with", command, columns())


def _unmodelled(found: FoundTwin) -> Iterator[tuple[str, str]]:
    """The lines of configuration that have no effect, a few of each switch."""
    for switch in found.status.switches if found.status else ():
        yield from ((switch.name, line) for line in switch.unmodelled[:LISTED])
        if (left := len(switch.unmodelled) - LISTED) > 0:
            yield switch.name, f"and {left} more: railfab twin status --output json"


@twin_app.command("flows")
def show_flows(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A switch or host of the cabling plan.")],
    port: Annotated[str, typer.Argument(metavar="PORT", help="Its port.")],
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show the flows that leave by a port of a running twin now: who sends through it, and to whom."""
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    flows = connect(state, fabric).flows_through(node, port)
    if output is Output.JSON:
        print_json({"fabric": fabric, "port": (node, port), "flows": [asdict(flow) for flow in flows]})
    elif flows:
        rows = [(" ".join(flow.source), " ".join(flow.target), flow.payload_bytes) for flow in flows]
        print_table("", ("from", "to", "bytes"), rows)
    else:
        echo_line(f"no flow leaves by {node} {port} now")


@twin_app.command("stop")
def stop_twin(
    file: RunningTwin = None, state: StateOption = STATE_DEFAULT, output: OutputOption = Output.TABLE
) -> None:
    """Stop a running twin, and remove its files but those of its CA and password; without FILE the only one of DIR."""
    from railfab.twin import stop

    found = only_twin(file, state)
    stop(state, found)
    if output is Output.JSON:
        print_json({"fabric": found.fabric, "stopped": True})
    else:
        echo(f"twin of {found.fabric} stopped", err=True)


@twin_app.command("host")
def set_host_rate(
    host: Annotated[str, typer.Argument(metavar="HOST", help="A host of the fabric.")],
    rate: Annotated[
        str,
        typer.Argument(metavar="GBPS", help="Rate at which it takes packets from a NIC [Gb/s]; 0: none; all: at once."),
    ],
    interface: Annotated[str | None, typer.Option("--port", metavar="NIC", help="One of its NIC ports only.")] = None,
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Make a host of a running twin slow: its NICs send pause frames, without end when it takes nothing."""
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).set_host_rate(host, _rate_gbps(rate), interface=interface)
    ports = f"{host} {interface}" if interface else f"every NIC of {host}"
    echo(f"{fabric}: {ports} takes {'all' if rate == 'all' else f'{rate} Gb/s'}", err=True)


def _rate_gbps(text: str) -> float | None:
    """A rate in Gb/s; None is no limit."""
    if text == "all":
        return None
    if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", text):
        return float(text)
    raise LabError(f"rate {text!r}", "is not a rate", "Use a number of Gb/s such as 0 or 12.5, or all")


def only_twin(file: Path | None, state: Path) -> FoundTwin:
    """The running twin of an intent, or the only one of a state directory."""
    found = _found(file, state)
    if not found:
        raise EndpointError(str(state), "no twin is running", f"Start one with railfab twin FILE{state_option(state)}")
    if len(found) > 1:
        problem = f"the twins of {listed([one.fabric for one in found])} are running"
        raise LabError(str(state), problem, "Name the intent of one of them")
    return found[0]


def _found(file: Path | None, state: Path) -> list[FoundTwin]:
    from railfab.intent import load_intent
    from railfab.twin import found_twins

    return found_twins(state, load_intent(file).fabric if file is not None else None)
