"""`railfab twin`: serve the switches of a fabric, or change the job of a running twin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.common import (
    STATE_DEFAULT,
    AcceptOption,
    IntentFile,
    StateOption,
    print_table,
    stderr,
    stop_at_errors,
)

if TYPE_CHECKING:
    from railfab.intent import Job
    from railfab.twin import Twin

JobOption = Annotated[
    Path | None,
    typer.Option("--job", metavar="FILE", help="Job of the hosts (YAML); a running twin changes to it at once."),
]
PortOption = Annotated[
    int,
    typer.Option("--port", metavar="N", min=0, max=65_000, help="The first switch's gNMI port; 0 takes free ones."),
]
ConfiguredOption = Annotated[
    bool,
    typer.Option("--configured", metavar="", help="Start with configured switches instead of empty ones."),
]


def twin(
    file: IntentFile,
    job: JobOption = None,
    state: StateOption = STATE_DEFAULT,
    port: PortOption = 57400,
    configured: ConfiguredOption = False,
    accept: AcceptOption = None,
) -> None:
    """Serve every switch of a fabric as a gNMI target, with a simulation of its traffic behind them."""
    from railfab.fabric import design
    from railfab.intent import load_job
    from railfab.twin import Twin, running, serve

    wanted = load_job(job) if job is not None else None
    fabric = design(file)
    there = running(state, fabric.topology.fabric)
    if there is not None and wanted is not None:
        there.switch_job(wanted)
        stderr().print(f"{fabric.topology.fabric}: the running twin changed to job {wanted.job}")
        return
    stop_at_errors(fabric, accept)
    served = Twin(fabric, state=state, base_port=port, configured=configured, job=wanted)
    serve(served, started=lambda: _announce(served, wanted))


def _announce(served: Twin, job: Job | None) -> None:
    rows = [(node.name, f"{node.host}:{node.gnmi_port}", node.platform) for node in served.endpoints.nodes]
    print_table(f"Twin of {served.fabric}", ("switch", "gNMI", "platform"), rows)
    doing = f"job {job.job}" if job is not None else "no job"
    stderr().print(f"{doing}; job metrics at {served.control.metrics_url}; Ctrl-C ends it")
