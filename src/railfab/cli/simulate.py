"""`railfab simulate`: the step of a job on one or several designs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import (
    Output,
    OutputOption,
    prepare_simulator,
    print_json,
    print_table,
    print_text,
    telling_bar,
    uncollected,
)
from railfab.cli.job_result import Estimates, JobResult
from railfab.cli.packet_tier import PACKET_COLUMNS, packet_lines, packet_rows
from railfab.cli.simulate_options import (
    FaultOption,
    FilesOption,
    IntentFiles,
    JobsOption,
    SeedsOption,
    SimulationTier,
    TierOption,
    WhyOption,
    closed_form_by_default,
    designs_of,
)
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.design import naming
from railfab.text.counted import counted, listed

if TYPE_CHECKING:
    from railfab.intent import Job
    from railfab.intent.document import Document
    from railfab.simulate import FabricEstimate
    from railfab.simulate.kept_runs import KeptRuns
    from railfab.workload import JobEstimate, RecordedJob


@uncollected()
def simulate(
    intents: IntentFiles,
    job: JobsOption,
    tier: TierOption = None,
    fault: FaultOption = None,
    seeds: SeedsOption = 1,
    why: WhyOption = False,
    out: FilesOption = None,
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Simulate the step of a job on designs: computation, exposed communication, bubble, bandwidths, busy links."""
    from railfab.cli.simulate_files import make_folder, write_run_files
    from railfab.workload.recorded import load_any_job

    fabrics = designs_of(intents, accept, output)
    if len(job) > 1:
        from railfab.cli.simulate_several import JobFiles, print_several

        files = JobFiles.read(job, tier, out)
        print_several([files.on(fabric, fault or (), seeds) for fabric in fabrics], output, why=why)
        return
    if tier is SimulationTier.CLOSED_FORM and (fault or seeds > 1 or why):
        option = "--fault" if fault else "--seeds" if seeds > 1 else "--why"
        raise RailfabError(option, "a closed form sees neither faults nor hashes nor links", "Use --tier max-min")
    if out is not None:
        make_folder(out)
    wanted, document = load_any_job(job[0])
    asked = _SimulateOptions(wanted, document, tier, tuple(fault or ()), seeds, details=why or out is not None)
    kept = _kept_runs(asked, intents, job[0]) if not accept else None
    if kept is not None and (known := kept.read()) is not None:
        _show(asked, {known[0]: JobResult.of(known[1], "as asked")}, (), output, why=why)
        return
    results = [(fabric, _result(asked, fabric)) for fabric in fabrics]
    if kept is not None:
        kept.write(results[0][0].intent.fabric, results[0][1].runs)
    if out is not None:
        write_run_files(wanted.job, [(fabric, result.shown) for fabric, result in results], out)
    estimates = {fabric.intent.fabric: result for fabric, result in results}
    _show(asked, estimates, [fabric for fabric, _ in results] if len(results) > 1 else (), output, why=why)


def _kept_runs(asked: _SimulateOptions, intents: Sequence[Path], job: Path) -> KeptRuns | None:
    """Where the runs of a command are kept: those in packets on one design, without details, which are large."""
    if asked.tier is not SimulationTier.PACKETS or len(intents) != 1 or asked.details:
        return None
    from railfab.simulate.kept_runs import KeptRuns

    return KeptRuns.beside_kernels(intents[0], job, (asked.job.job, str(asked.seeds), *asked.faults))


def _show(
    asked: _SimulateOptions, estimates: Estimates, compared: Sequence[Design], output: Output, *, why: bool
) -> None:
    """Print results. compared: the designs, where they are several."""
    from railfab.cli.simulate_comparison import equipment_of, print_comparison, step_differences

    equipment = {fabric.intent.fabric: equipment_of(fabric) for fabric in compared}
    is_followed = bool(compared) and all(result.runs for result in estimates.values())
    differing = step_differences({name: result.shown for name, result in estimates.items()}) if is_followed else ()
    if output is Output.JSON:
        designs = [
            {
                "fabric": name,
                "why": result.why,
                "estimate": asdict(result.step),
                "runs": list(map(_run, result.runs)),
                "waits": list(map(asdict, result.waits)) if why else [],
                "equipment": asdict(equipment[name]) if compared else None,
            }
            for name, result in estimates.items()
        ]
        print_json({"job": asked.job.job, "designs": designs, "differences": list(map(asdict, differing))})
        return
    if compared:
        print_comparison(asked.job.job, {name: result.step for name, result in estimates.items()}, equipment, differing)
    _print(asked.job, estimates, why=why)


@dataclass(frozen=True, slots=True)
class _SimulateOptions:
    """The options of a command."""

    job: Job | RecordedJob
    document: Document
    tier: SimulationTier | None
    faults: tuple[str, ...]
    seeds: int
    details: bool


def _result(asked: _SimulateOptions, fabric: Design) -> JobResult:
    """The step of a job; errors name the file and line of the job."""
    from railfab.workload import estimate

    on_links = asked.tier in (SimulationTier.MAX_MIN, SimulationTier.PACKETS) or bool(asked.faults) or asked.seeds > 1
    why = "" if on_links else "as asked" if asked.tier else closed_form_by_default(fabric)
    if why:
        with naming(asked.document):
            return JobResult(estimate(asked.job, fabric.intent, fabric.topology), why)
    return _on_links(asked, fabric, "as asked" if on_links else "default")


def _on_links(asked: _SimulateOptions, fabric: Design, why: str) -> JobResult:
    from railfab.fabric.routed import routed
    from railfab.simulate import simulate_job
    from railfab.simulate.memo import Memo
    from railfab.simulate.named_faults import faults

    memo = Memo.beside_kernels() if asked.tier is SimulationTier.PACKETS else None
    change = faults(asked.faults, fabric.topology)
    there = routed(fabric, change)
    prepare_simulator()
    with naming(asked.document):
        runs: list[FabricEstimate] = []
        with telling_bar("seeds", asked.seeds) as (tick, say):
            for seed in range(1, asked.seeds + 1):
                run = simulate_job(
                    asked.job, fabric, seed=seed, fabric=there, details=asked.details, say=say, packets=memo
                )
                runs = slowest_detailed([*runs, run])
                tick()
    if memo is not None:
        memo.trim()
    return JobResult.of(runs, why)


def slowest_detailed(runs: list[FabricEstimate]) -> list[FabricEstimate]:
    """Runs of which only the slowest keeps its details, which are large."""
    slowest = max(runs, key=lambda run: run.step.step_s)
    return [run if run is slowest or not run.details else replace(run, details=()) for run in runs]


def _run(run: FabricEstimate) -> dict[str, object]:
    return {
        "seed": run.seed,
        "step_s": run.step.step_s,
        "contentions": list(map(asdict, run.contentions)),
        "unfollowed": run.unfollowed,
        "slow_links": run.slow_links,
        "balancing": run.balancing,
        "reorders": run.reorders,
    }


def _print(job: Job | RecordedJob, estimates: Estimates, *, why: bool) -> None:
    from railfab.cli.simulate_waits import print_waits

    for name, result in estimates.items():
        step = result.step
        title = f"{job.job} on {name}: {counted(step.gpus, 'GPU')}, {step.tier}"
        print_table(title, ("part", "s", "%"), _parts(step))
        print_table("", COLLECTIVE_COLUMNS, _collectives(step))
        if result.slowest is not None and result.slowest.contentions:
            print_table("", CONTENTION_COLUMNS, _contentions(result.slowest))
            if step.tier == SimulationTier.PACKETS:
                print_table("", PACKET_COLUMNS, packet_rows(result.slowest.contentions))
        for line in (*_facts(step), *_spread(result), *_links(result), *_unfollowed(result), *_not_modelled(step)):
            print_text(line)
        if why and result.slowest is not None:
            print_waits(result.waits, result.slowest)
        reason = "" if result.why in ("as asked", "default") else f" It was used because {result.why.rstrip('.')}."
        sight = f"A {step.tier} {'run' if result.runs else 'estimate'} does not see: {listed(step.not_seen)}.{reason}"
        print_text(sight)


CONTENTION_COLUMNS = ("group", "operation", "groups", "ideal ms", "median", "slowest", "ratio")


def _contentions(run: FabricEstimate) -> Iterator[tuple[object, ...]]:
    """Largest calls on the network: of the groups, beside a network whose NICs alone limit it."""
    for held in run.contentions:
        times = (f"{seconds * 1e3:.2f}" for seconds in (held.ideal_s, held.median_s, held.slowest_s))
        yield held.group, held.op, held.groups, *times, f"{held.slowest_s / held.ideal_s:.2f}"


def _links(result: JobResult) -> Iterator[str]:
    """Why the slowest group of an operation is slow."""
    for held in result.slowest.contentions if result.slowest else ():
        if held.busiest is not None and held.slowest_s > 1.01 * held.ideal_s:
            flows = f"{held.busiest.flows} flows where {held.busiest.fair_flows:.1f} is the mean of its group"
            share = f"a flow gets {100 * held.busiest.share:.0f} % of what its NICs would give it"
            yield f"{held.group} {held.op}: {held.link} has {flows}; {share}: {held.busiest.reason}"


def _unfollowed(result: JobResult) -> Iterator[str]:
    if result.slowest is not None:
        yield from result.slowest.unfollowed
        yield from packet_lines(result.slowest.contentions)


def _not_modelled(result: JobEstimate) -> Iterator[str]:
    """Kinds of work of a recorded job that take no time here."""
    if result.not_modelled:
        kinds = [f"{count:,} {kind}" for kind, count in result.not_modelled.items()]
        yield f"not modelled: {', '.join(kinds)}"


def _spread(result: JobResult) -> Iterator[str]:
    """Steps of several seeds."""
    steps = [run.step.step_s for run in result.runs]
    if len(steps) > 1:
        span = f"{min(steps):.4f} to {max(steps):.4f} s, {result.step.step_s:.4f} in the median"
        yield f"step of {len(steps)} seeds: {span}"


def _parts(result: JobEstimate) -> Iterator[tuple[str, str, str]]:
    """Each part of the step, with its duration [s] and share [%]."""
    exposed = {f"exposed {group}": seconds for group, seconds in result.exposed_s.items()}
    parts = {"compute": result.compute_s, **exposed, "bubble": result.bubble_s, "step": result.step_s}
    for part, seconds in parts.items():
        yield part, f"{seconds:.4f}", f"{100 * seconds / result.step_s:.1f}"


COLLECTIVE_COLUMNS = ("group", "operation", "algorithm", "ranks", "calls", "MB", "ms", "bus GB/s", "hidden")


def _collectives(result: JobEstimate) -> Iterator[tuple[object, ...]]:
    """Each operation of the slowest stage; in the step, a call of this size."""
    for turn in result.collectives:
        yield (
            turn.group,
            turn.op,
            turn.algorithm,
            turn.ranks,
            turn.calls,
            f"{turn.size_bytes / 1e6:.2f}",
            f"{turn.call_s * 1e3:.2f}",
            f"{turn.bus_bytes_per_s / 1e9:.1f}",
            "yes" if turn.hidden else "no",
        )


def _facts(result: JobEstimate) -> Iterator[str]:
    """Speed, memory and the stage that the tables are of, of a job with a model."""
    if result.tokens_per_s is None or result.flop_share is None or result.memory_bytes is None:
        return
    yield f"{result.tokens_per_s:,.0f} tokens/s, {100 * result.flop_share:.1f} % of the peak of the GPUs"
    yield f"{result.memory_bytes / 1e9:.1f} GB of GPU memory; stage {result.stage + 1} of the pipeline is the slowest"
    if result.slow_gpus:
        yield f"{counted(result.slow_gpus, 'slow GPU')}: that stage computes {result.slow_factor:.2f} times as long"
    if (held := result.checkpoint) is not None:
        every = "every step" if held.steps == 1 else f"every {held.steps:,} steps"
        size = f"a checkpoint of {held.bytes / 1e9:,.1f} GB {every}"
        yield f"{size} takes {held.write_s:.2f} s over the {held.network}; GPUs wait {held.waits_s:.2f} s for it"
