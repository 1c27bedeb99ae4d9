"""`railfab simulate` of several jobs on one fabric: the step of each alone, and beside the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from railfab.cli.common import Output, prepare_simulator, print_json, print_table, print_text, telling_bar
from railfab.cli.simulate_options import SimulationTier
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.design import naming
from railfab.text.counted import counted, listed
from railfab.text.remedies import install

if TYPE_CHECKING:
    from railfab.intent import Job
    from railfab.intent.document import Document
    from railfab.simulate import SharedCall, SharedJob
    from railfab.workload import RecordedJob

STEP_COLUMNS = ("job", "GPUs", "alone s", "expected", "ratio", "worst", "ratio")
CALL_COLUMNS = ("operation", "alone ms", "expected", "worst", "duty %", "flows", "beside", "flows")
NO_PACKETS = "packets of several jobs are not simulated"
Run = tuple[int, tuple["SharedJob", ...]]
"""A seed, and the jobs with it."""


@dataclass(frozen=True, slots=True)
class JobsResult:
    """Jobs on a design, with each seed. why: reason for the tier."""

    fabric: str
    why: str
    runs: tuple[Run, ...]

    @property
    def slowest(self) -> Run:
        """The run in which a job is slowed down most."""
        return max(self.runs, key=lambda run: max(job.worst.step_s / job.alone.step.step_s for job in run[1]))


@dataclass(frozen=True, slots=True)
class JobFiles:
    """Jobs of files that share a fabric. why: reason for the tier."""

    jobs: tuple[tuple[Job | RecordedJob, Document], ...]
    why: str

    @classmethod
    def read(cls, paths: Iterable[Path], tier: SimulationTier | None, out: Path | None) -> JobFiles:
        """The jobs in files. Raises RailfabError for options of a single job, and with the faults of a file."""
        from importlib.util import find_spec

        from railfab.workload.recorded import load_any_job

        if find_spec("numpy") is None:
            raise RailfabError("--job", "several need numpy, which is not installed", install("sim"))
        if tier is SimulationTier.CLOSED_FORM:
            raise RailfabError("--tier", "a closed form sees no other jobs", "Use --tier max-min, or name one --job")
        if out is not None:
            raise RailfabError("--out", "pictures and tables are of one job", "Leave it out, or name one --job")
        why = NO_PACKETS if tier is SimulationTier.PACKETS else ""
        return cls(tuple(map(load_any_job, paths)), why)

    def on(self, fabric: Design, faults: Sequence[str], seeds: int) -> JobsResult:
        """The steps on a design with each seed. Raises RailfabError for jobs that it cannot run at once."""
        from railfab.fabric.routed import routed, uncomputed_routes
        from railfab.simulate import faults as change_of
        from railfab.simulate import simulate_jobs
        from railfab.workload import estimate

        if text := uncomputed_routes(fabric):
            raise RailfabError(str(fabric.path), f"jobs cannot share its links: {text}", "Name one --job")
        for job, document in self.jobs:
            with naming(document):
                estimate(job, fabric.intent, fabric.topology)
        there = routed(fabric, change_of(faults, fabric.topology))
        prepare_simulator()
        runs = []
        with telling_bar("seeds", seeds) as (tick, say):
            for seed in range(1, seeds + 1):
                wanted = [job for job, _ in self.jobs]
                runs.append((seed, simulate_jobs(wanted, fabric, seed=seed, fabric=there, say=say)))
                tick()
        return JobsResult(fabric.intent.fabric, self.why, tuple(runs))


def print_several(results: Sequence[JobsResult], output: Output, *, why: bool) -> None:
    """Print the steps of jobs on designs, with --why their operations too."""
    if output is Output.JSON:
        print_json([_document(result) for result in results])
        return
    for result in results:
        seed, jobs = result.slowest
        title = f"{counted(len(jobs), 'job')} on {result.fabric}, {jobs[0].alone.step.tier}"
        print_table(title, STEP_COLUMNS, _steps(result))
        lines = [
            *_spread(result),
            *(line for job in jobs for line in (*_waits(job), *_varying(job), *job.alone.unfollowed)),
        ]
        _print_lines(lines)
        for job in jobs if why else ():
            _print_lines([""])
            of_seed = f", seed {seed}" if len(result.runs) > 1 else ""
            print_table(f"Operations of {job.job}{of_seed}", CALL_COLUMNS, map(_call, job.calls))
            _print_lines(_links(job))
        reason = f" It was used because {result.why}." if result.why else ""
        _print_lines([f"A max-min run of several jobs does not see: {listed(jobs[0].expected.not_seen)}.{reason}"])


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print_text(line)


def _document(result: JobsResult) -> dict[str, object]:
    runs = [
        {
            "seed": seed,
            "jobs": [
                {
                    "job": job.job,
                    "hosts": job.hosts,
                    "alone": asdict(job.alone.step),
                    "expected": asdict(job.expected),
                    "worst": asdict(job.worst),
                    "calls": list(map(asdict, job.calls)),
                    "unfollowed": job.alone.unfollowed,
                    "varying": None if job.varying is None else asdict(job.varying),
                }
                for job in jobs
            ],
        }
        for seed, jobs in result.runs
    ]
    return {"fabric": result.fabric, "why": result.why, "runs": runs}


def _steps(result: JobsResult) -> Iterator[tuple[object, ...]]:
    """Each job: medians of the seeds."""
    for number, job in enumerate(result.runs[0][1]):
        shared = [jobs[number] for _, jobs in result.runs]
        alone_s = median(each.alone.step.step_s for each in shared)
        expected_s, worst_s = (median(times) for times in zip(*_beside(shared), strict=True))
        times = f"{expected_s:.4f}", f"{expected_s / alone_s:.2f}", f"{worst_s:.4f}", f"{worst_s / alone_s:.2f}"
        yield job.job, job.expected.gpus, f"{alone_s:.4f}", *times


def _beside(jobs: Iterable[SharedJob]) -> Iterator[tuple[float, float]]:
    for job in jobs:
        yield job.expected.step_s, job.worst.step_s


def _spread(result: JobsResult) -> Iterator[str]:
    """Steps of several seeds."""
    for number, job in enumerate(result.runs[0][1] if len(result.runs) > 1 else ()):
        steps = [jobs[number].expected.step_s for _, jobs in result.runs]
        yield f"{job.job}, expected step of {len(steps)} seeds: {min(steps):.4f} to {max(steps):.4f} s"


def _waits(job: SharedJob) -> Iterator[str]:
    """The operation that waits most for others."""
    if (call := job.slowest) is None:
        yield f"{job.job}: the other jobs do not slow it down"
        return
    times = f"{call.expected_s * 1e3:.2f} expected and {call.worst_s * 1e3:.2f} at worst"
    yield f"{job.job}: {call.group} {call.op} takes {call.alone_s * 1e3:.2f} ms alone, {times}; {_where(call)}"


def _varying(job: SharedJob) -> Iterator[str]:
    """How the expected step varies, where it does not settle."""
    if (varying := job.varying) is not None:
        steps = f"{varying.least_s:.6g} to {varying.most_s:.6g} s in the last {counted(varying.turns, 'turn')}"
        call = f"{varying.least_call_s * 1e3:.6g} to {varying.most_call_s * 1e3:.6g} ms"
        yield f"{job.job}: the expected step does not settle, {steps}; {varying.group} {varying.op} takes {call}"


def _where(call: SharedCall) -> str:
    theirs = f"{call.beside_flows} of {call.beside} {call.beside_operation}" if call.beside_flows else "no others"
    return f"{call.link} has {call.flows} flows of it and {theirs}: {call.reason}"


def _call(call: SharedCall) -> tuple[object, ...]:
    times = (f"{seconds * 1e3:.2f}" for seconds in (call.alone_s, call.expected_s, call.worst_s))
    beside = f"{call.beside} {call.beside_operation}" if call.beside_flows else ""
    flows = (call.flows, beside, call.beside_flows) if call.link else ("", "", "")
    return f"{call.group} {call.op}", *times, f"{100 * call.duty:.1f}", *flows


def _links(job: SharedJob) -> Iterator[str]:
    """The links on which operations wait, beside that of the slowest one."""
    for call in job.calls:
        if call.link and call is not job.slowest:
            yield f"{call.group} {call.op}: {_where(call)}"
