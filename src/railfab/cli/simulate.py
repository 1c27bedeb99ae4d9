"""`railfab simulate`: the step of a job on one or several designs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli import completion
from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import Output, OutputOption, print_json, print_table, stdout, stop_at_errors, uncollected
from railfab.cli.tables import columns
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.design import naming
from railfab.text.counted import counted, listed

if TYPE_CHECKING:
    from railfab.intent import Job
    from railfab.intent.document import Document
    from railfab.workload import JobEstimate

Estimates = dict[str, "JobEstimate"]
"""Estimates by the name of the fabric."""

IntentFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Intents of fabrics (YAML), compared with each other; - is standard input.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
JobOption = Annotated[Path, typer.Option("--job", metavar="FILE", help="The job (YAML).", show_default=False)]


@uncollected()
def simulate(
    intents: IntentFiles, job: JobOption, accept: AcceptOption = None, output: OutputOption = Output.TABLE
) -> None:
    """Estimate the step of a job on designs in closed form: computation, exposed communication, bubble, bandwidths."""
    from railfab.intent.load import load_job_file

    wanted, document = load_job_file(job)
    estimates: Estimates = {}
    for path in intents:
        fabric = design(path)
        stop_at_errors(fabric, accept, output)
        if fabric.intent.fabric in estimates:
            raise RailfabError(str(path), f"a second fabric is named {fabric.intent.fabric}", "Rename one of them")
        estimates[fabric.intent.fabric] = _estimated(wanted, document, fabric)
    if output is Output.JSON:
        designs = [{"fabric": name, "estimate": asdict(result)} for name, result in estimates.items()]
        print_json({"job": wanted.job, "designs": designs})
    else:
        _print(wanted, estimates)


def _estimated(job: Job, document: Document, fabric: Design) -> JobEstimate:
    """The estimate of a job; errors name the file and line of the job, and the fabric."""
    from railfab.workload import estimate

    with naming(document):
        return estimate(job, fabric.intent, fabric.topology)


def _print(job: Job, estimates: Estimates) -> None:
    if len(estimates) > 1:
        _print_comparison(job, estimates)
    for name, result in estimates.items():
        title = f"{job.job} on {name}: {counted(result.gpus, 'GPU')}, {result.tier}"
        print_table(title, ("part", "s", "%"), _parts(result))
        print_table("", COLLECTIVE_COLUMNS, _collectives(result))
        for line in _facts(result):
            stdout().print(line, highlight=False, soft_wrap=columns() is None)
        sight = f"A {result.tier} does not see: {listed(result.not_seen)}."
        stdout().print(sight, highlight=False, soft_wrap=columns() is None)


def _print_comparison(job: Job, estimates: Estimates) -> None:
    fastest = min(result.step_s for result in estimates.values())
    rows = [
        (
            name,
            result.gpus,
            f"{result.step_s:.3f}",
            f"{result.compute_s:.3f}",
            f"{sum(result.exposed_s.values()):.3f}",
            f"{result.bubble_s:.3f}",
            f"{result.step_s / fastest:.2f}",
        )
        for name, result in estimates.items()
    ]
    print_table(job.job, ("fabric", "GPUs", "step s", "compute", "exposed", "bubble", "ratio"), rows)


def _parts(result: JobEstimate) -> Iterator[tuple[str, str, str]]:
    """Each part of the step, with its duration [s] and share [%]."""
    exposed = {f"exposed {group}": seconds for group, seconds in result.exposed_s.items()}
    parts = {"compute": result.compute_s, **exposed, "bubble": result.bubble_s, "step": result.step_s}
    for part, seconds in parts.items():
        yield part, f"{seconds:.4f}", f"{100 * seconds / result.step_s:.1f}"


COLLECTIVE_COLUMNS = (
    *("group", "operation", "algorithm", "ranks", "hosts", "calls", "MB", "ms each"),
    *("bus GB/s", "NIC GB/s", "hidden"),
)


def _collectives(result: JobEstimate) -> Iterator[tuple[object, ...]]:
    """Each operation of the slowest stage; in the step, a call of this size."""
    for turn in result.collectives:
        yield (
            turn.group,
            turn.op,
            turn.algorithm,
            turn.ranks,
            turn.hosts,
            turn.calls,
            f"{turn.size_bytes / 1e6:.2f}",
            f"{turn.call_s * 1e3:.2f}",
            f"{turn.bus_bytes_per_s / 1e9:.1f}",
            f"{turn.nic_bytes_per_s / 1e9:.1f}",
            "yes" if turn.hidden else "no",
        )


def _facts(result: JobEstimate) -> Iterator[str]:
    """Speed, memory and the stage that the tables are of, of a job with a model."""
    if result.tokens_per_s is None or result.flop_share is None or result.memory_bytes is None:
        return
    yield f"{result.tokens_per_s:,.0f} tokens/s, {100 * result.flop_share:.1f} % of the peak of the GPUs"
    yield f"{result.memory_bytes / 1e9:.1f} GB of GPU memory; stage {result.stage + 1} of the pipeline is the slowest"
