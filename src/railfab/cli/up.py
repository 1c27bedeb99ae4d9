"""up: twin, deploy, jobs, collector and live view in one command."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.text import Text

from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import (
    FOUND,
    STATE_DEFAULT,
    CpuOption,
    IntentFile,
    Output,
    OutputOption,
    StateOption,
    finite,
    prepare_simulator,
    print_json,
    print_table,
    print_text,
    stderr,
    stop_at_errors,
)
from railfab.cli.echo import echo
from railfab.errors import UnsupportedFeature
from railfab.fabric import design, fitting_job, require_sessions
from railfab.process.signals import stop_on_signal
from railfab.units import COLLECTOR_PORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from railfab.app.summary import RunSummary
    from railfab.app.view import Scene
    from railfab.fabric import Design
    from railfab.intent import Job
    from railfab.workload import RecordedJob

JobsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--job",
        metavar="FILE",
        help="A job, of any format that `simulate` takes; several run in turn. [default: ring.yml and incast.yml, those"
        " in jobs/ beside the fabric's folder if it has both]",
        show_default=False,
    ),
]
ForOption = Annotated[
    float | None,
    typer.Option("--for", metavar="S", min=1, callback=finite, help="Stop after this time.", show_default=False),
]
TwinPortOption = Annotated[
    int, typer.Option("--twin-port", metavar="N", min=0, max=65_000, help="gNMI port of the first switch; 0: any.")
]
MetricsPortOption = Annotated[
    int, typer.Option("--metrics-port", metavar="N", min=0, max=65_535, help="Port of /metrics; 0: any.")
]
PrometheusPortOption = Annotated[
    int | None,
    typer.Option(
        "--prometheus-port",
        metavar="N",
        min=0,
        max=65_535,
        help="Port of Prometheus, if it is installed; 0: do not start it. [default: 9090, or any if that is taken]",
        show_default=False,
    ),
]
PagePortOption = Annotated[
    int | None,
    typer.Option(
        "--page-port",
        metavar="N",
        min=0,
        max=65_535,
        help="Port of the live page; 0: do not serve it. [default: 9805, or any if that is taken]",
        show_default=False,
    ),
]
IntervalOption = Annotated[
    float | None,
    typer.Option(
        "--interval",
        metavar="S",
        min=0.1,
        callback=finite,
        help="How often switches send samples. [default: as often as this machine can take for this fabric]",
        show_default=False,
    ),
]
TurnOption = Annotated[
    float | None,
    typer.Option(
        "--turn",
        metavar="S",
        min=2,
        callback=finite,
        help="How long each job runs before the next. [default: 10, or 5 sample intervals if that is longer]",
        show_default=False,
    ),
]
LINE_EVERY_S = 2.0


def up(
    intent: IntentFile,
    job: JobsOption = None,
    for_s: ForOption = None,
    turn: TurnOption = None,
    interval: IntervalOption = None,
    twin_port: TwinPortOption = 57400,
    metrics_port: MetricsPortOption = COLLECTOR_PORT,
    prometheus_port: PrometheusPortOption = None,
    page_port: PagePortOption = None,
    cpu: CpuOption = 1.0,
    accept: AcceptOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Twin, deploy, jobs, collector, live view and page of a fabric, and Prometheus if installed; Ctrl-C ends all."""
    from railfab.app.sampling import choose_sampling
    from railfab.app.up import Options
    from railfab.app.up import up as run
    from railfab.twin import require_served

    if turn is not None and job is not None and len(job) == 1:
        raise typer.BadParameter("A single job has no turns: add another --job, or leave out --turn.")
    fabric = design(intent)
    stop_at_errors(fabric, accept, output)
    require_served(fabric)
    require_sessions((node.name, str(node.platform)) for node in fabric.topology.switches())
    options = Options(
        jobs=_jobs(fabric, job),
        state=state,
        sampling=choose_sampling(fabric, interval),
        for_s=for_s,
        turn_s=turn,
        twin_port=twin_port,
        metrics_port=metrics_port,
        prometheus_port=prometheus_port,
        page_port=page_port,
        cpu=cpu,
        accept=tuple(accept or ()),
    )
    prepare_simulator(here=False)
    with _live_view() as (show, report), stop_on_signal() as stop_requested:
        summary = run(fabric, options, show=show, report=report, stop_requested=stop_requested)
    if summary is None:
        raise KeyboardInterrupt
    _print_summary(summary, output)
    if not summary.healthy:
        _print_slowness(summary)
        raise typer.Exit(FOUND)


def _jobs(fabric: Design, given: list[Path] | None) -> tuple[Job | RecordedJob, ...]:
    """The given jobs, or the default ones; none by default on a design whose traffic the twin does not simulate.

    Raises IntentError where one does not fit.
    """
    from railfab.app.default_jobs import default_jobs
    from railfab.twin import require_traffic

    try:
        require_traffic(fabric)
    except UnsupportedFeature as error:
        if given:
            raise
        echo(f"railfab: no job runs: {error.problem}", err=True)
        return ()
    return tuple(fitting_job(path, fabric.topology, fabric.intent) for path in given or default_jobs(fabric.path))


@contextmanager
def _live_view() -> Iterator[tuple[Callable[[Scene], None], Callable[[str], None]]]:
    """Functions that show a frame and report a step: a panel on a terminal, lines every LINE_EVERY_S elsewhere."""
    from railfab.app.view import frame, line

    console = stderr()
    if not console.is_terminal:
        last = [0.0]

        def print_line(scene: Scene) -> None:
            if scene.elapsed_s - last[0] >= LINE_EVERY_S:
                last[0] = scene.elapsed_s
                echo(line(scene), err=True)

        yield print_line, lambda step: echo(step, err=True)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield (
            lambda scene: live.update(frame(scene, *console.size), refresh=True),
            lambda step: live.update(Text(step, "dim"), refresh=True),
        )


def _print_slowness(summary: RunSummary) -> None:
    """Say that this machine, and no switch, may be why a fabric is not healthy."""
    from railfab.app.view import SLOW_PACE

    late = [f"the collector was overloaded for {summary.overloaded_s:.0f} s"] if summary.overloaded_s else []
    slow = [f"the twin ran at {summary.pace:.0%} of real time"] if summary.pace < SLOW_PACE else []
    if reasons := " and ".join((*late, *slow)):
        echo(
            f"railfab: this machine is slow or busy: {reasons}, so that what is not up may be no fault of a switch."
            " End other programs, or use a longer --interval or --for.",
            err=True,
        )


def _print_summary(summary: RunSummary, output: Output) -> None:
    if output is Output.JSON:
        print_json({**asdict(summary), "healthy": summary.healthy})
        return
    ready = "never ready" if summary.ready_s is None else f"ready after {summary.ready_s:.1f} s"
    totals = (
        f": {summary.sessions_up}/{summary.sessions} BGP session ends up, "
        f"{summary.targets_up}/{summary.targets} switches up\n"
        f"{ready}, {summary.series:,} series every {summary.interval_s:g} s, {summary.pace:.0%} of real time\n"
        "seconds and rates are of simulated time\n"
    )
    print_text((summary.fabric, "bold"), totals)
    rows = [
        (
            job.job,
            f"{job.seconds:.0f}",
            f"{job.rate_gbps:,.1f}",
            "-" if job.mean_step_s is None else f"{job.mean_step_s * 1000:.0f}",
            f"{job.marks:,.0f}",
            f"{job.pauses:,.0f}",
            f"{job.drops:,.0f}",
            "-" if job.peak_bytes is None else f"{job.peak_bytes / 1000:,.0f}",
        )
        for job in summary.jobs
    ]
    columns = ("job", "seconds", "Gb/s to hosts", "step ms", "ECN marks", "PFC pauses", "drops", "peak kB")
    if rows:
        print_table("Jobs", columns, rows)
