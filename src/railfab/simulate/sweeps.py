"""Many runs of jobs on designs, on any executor, whose results are kept as they come."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from railfab.errors import IntentError, RailfabError, each
from railfab.fabric import Design, design
from railfab.fabric.routed import RoutedFabric, routed
from railfab.intent import Job, Placement
from railfab.intent.training import Spread
from railfab.simulate.contention import PACKETS, TIER
from railfab.simulate.inputs import inputs_digest, installed_version
from railfab.simulate.job import simulate_job
from railfab.simulate.memo import Memo
from railfab.simulate.named_faults import faults
from railfab.text.remedies import either
from railfab.workload import RecordedJob
from railfab.workload.recorded import load_any_job

PLACEMENTS: tuple[Spread, ...] = get_args(Spread)
AHEAD = 64
"""Runs that are given to an executor before it has ended others, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class SweepRun:
    """A job on a design. faults: as in `named_faults.faults`, all at once. seed: of the hashes.

    tier: max-min or packets. settings: other values of keys of the intent, KEY=VALUE each. placement: of the hosts of
    the job; empty: its own.
    """

    intent: str
    job: str
    seed: int = 1
    faults: tuple[str, ...] = ()
    tier: str = TIER
    settings: tuple[str, ...] = ()
    placement: str = ""

    @property
    def key(self) -> str:
        """Digest of the run, of what its files say now, and of the railfab that is installed."""
        settings = (f"set {text}" for text in self.settings)
        placement = (f"placement {self.placement}",) if self.placement else ()
        options = (installed_version(), str(self.seed), self.tier, *self.faults, *settings, *placement)
        return inputs_digest(Path(self.intent), Path(self.job), options)

    @property
    def content(self) -> str:
        """Digest of what its files say now."""
        return inputs_digest(Path(self.intent), Path(self.job), ())


@dataclass(frozen=True, slots=True)
class SweepCase:
    """Runs that differ in the seeds of their hashes alone."""

    fabric: str
    settings: tuple[str, ...]
    placement: str
    faults: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing has failed."""
        return not self.faults

    def label(self, *, several: bool) -> str:
        """The case in words, with the fabric where there are several."""
        parts = (*self.settings, *filter(None, (self.placement,)), *self.faults)
        text = ", ".join(parts) or "no fault"
        return f"{self.fabric}: {text}" if several else text


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The step of a run [s]. slowest: operation that the fabric slows down most; link, on which it waits; and ratio to
    its time where only NICs limit it. error: why there is no step, such as a rank that is cut off."""

    key: str
    fabric: str
    job: str
    seed: int
    faults: tuple[str, ...]
    step_s: float | None = None
    compute_s: float | None = None
    exposed_s: float | None = None
    bubble_s: float | None = None
    slowest: str = ""
    ratio: float = 1.0
    link: str = ""
    error: str = ""
    settings: tuple[str, ...] = ()
    placement: str = ""

    @property
    def case(self) -> SweepCase:
        """What its run has in common with those of other seeds."""
        return SweepCase(self.fabric, self.settings, self.placement, self.faults)


def sweep(
    runs: Iterable[SweepRun], executor: Executor, kept: Path | None = None, *, ahead: int = AHEAD
) -> Generator[SweepResult]:
    """The results of runs, those that are kept first, then each as it comes.

    kept: file of results, a line of JSON each, to which new ones are added. A last line that an interrupted sweep has
    cut short is removed. Runs that have not begun are cancelled when the iterator is closed, or interrupted.
    ahead: runs that are given to the executor before it has ended others. Raises RailfabError for a file with other
    lines, and for a worker that reads other files or has another railfab.
    """
    before, here = {} if kept is None else _read(kept), installed_version()
    wanted = {run.key: run for run in runs}
    yield from (before[key] for key in wanted if key in before)
    left = iter([run for key, run in wanted.items() if key not in before])
    waiting: set[Future[SweepResult]] = {executor.submit(run_once, run, here) for run in islice(left, ahead)}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                result = _result_of(future)
                if result.key not in wanted:
                    problem = f"a worker reads another intent of {result.fabric}, or another job {result.job}"
                    raise RailfabError("sweep", problem, "Give it the same files, and the same command again")
                if kept is not None:
                    _append(kept, result)
                yield result
            waiting |= {executor.submit(run_once, run, here) for run in islice(left, len(done))}
    finally:
        for future in waiting:
            future.cancel()


def _result_of(future: Future[SweepResult]) -> SweepResult:
    try:
        return future.result()
    except BrokenExecutor:
        problem = "a process was killed, perhaps for lack of memory; the results so far are kept"
        raise RailfabError("sweep", problem, "Use fewer --workers") from None


def run_once(run: SweepRun, asked: str) -> SweepResult:
    """One run, in the process of a worker, which keeps designs.

    asked: the railfab of the sweep. Raises RailfabError where the worker has another.
    """
    if (here := installed_version()) != asked:
        problem = f"a worker has railfab {here}, and the sweep {asked}"
        raise RailfabError("sweep", problem, "Install one on all, start workers again, and give the same command")
    content = run.content
    fabric, job = _design(run.intent, run.settings, content), placed(_job(run.job, content), run.placement)
    result = SweepResult(
        run.key,
        fabric.intent.fabric,
        job.job,
        run.seed,
        run.faults,
        settings=run.settings,
        placement=run.placement,
    )
    memo = _memo() if run.tier == PACKETS else None
    try:
        there = _routed(run.intent, run.settings, content, run.faults)
        estimate = simulate_job(job, fabric, seed=run.seed, fabric=there, packets=memo)
    except RailfabError as error:
        return _with(result, error=str(each(error)[0]))
    if memo is not None:
        memo.trim()
    worst = max(estimate.contentions, key=lambda held: held.slowest_s / held.ideal_s, default=None)
    if worst is not None:
        result = _with(
            result, slowest=f"{worst.group} {worst.op}", ratio=worst.slowest_s / worst.ideal_s, link=worst.link
        )
    step = estimate.step
    return _with(
        result,
        step_s=step.step_s,
        compute_s=step.compute_s,
        exposed_s=sum(step.exposed_s.values()),
        bubble_s=step.bubble_s,
    )


def _with(result: SweepResult, **fields: Any) -> SweepResult:
    return SweepResult(**{**asdict(result), **fields})


def placed(job: Job | RecordedJob, placement: str) -> Job | RecordedJob:
    """A job with another placement of its hosts; empty: its own. Raises IntentError where it has none."""
    if not placement:
        return job
    if placement not in PLACEMENTS:
        raise IntentError(f"--placement {placement}", "there is no such placement", f"Use {either(PLACEMENTS)}")
    if not isinstance(job, Job):
        raise IntentError(f"--placement {placement}", "a recorded job has none", "Leave it out")
    if not isinstance(job.hosts, int) and job.hosts != "all":
        raise IntentError(f"--placement {placement}", f"job {job.job} names its hosts", "State a number of hosts there")
    order = (job.placement or Placement()).order
    return job.model_copy(update={"placement": Placement.model_validate({"order": order, "hosts": placement})})


@lru_cache(maxsize=8)
def _design(path: str, settings: tuple[str, ...], content: str) -> Design:
    """A design. content: digest of its files, as workers of a cluster outlive a sweep."""
    del content
    return design(path, settings=settings)


@lru_cache(maxsize=2)
def _routed(path: str, settings: tuple[str, ...], content: str, texts: tuple[str, ...]) -> RoutedFabric:
    """The fabric with these faults: runs that differ in their seeds follow one another."""
    fabric = _design(path, settings, content)
    return routed(fabric, faults(texts, fabric.topology))


@lru_cache(maxsize=1)
def _memo() -> Memo:
    return Memo.beside_kernels()


@lru_cache(maxsize=8)
def _job(path: str, content: str) -> Job | RecordedJob:
    del content
    return load_any_job(Path(path))[0]


def _read(kept: Path) -> dict[str, SweepResult]:
    """The results of a file by key; a last line without its end is cut off."""
    if not kept.exists():
        return {}
    text = kept.read_bytes()
    whole = text.rpartition(b"\n")[0] + b"\n" if b"\n" in text else b""
    if whole != text:
        os.truncate(kept, len(whole))
    results = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            fields = json.loads(line)
            lists = {name: tuple(fields.get(name, ())) for name in ("faults", "settings")}
            result = SweepResult(**{**fields, **lists})
        except (ValueError, TypeError, KeyError):
            remedy = "Use another folder, or remove the line"
            raise RailfabError(f"{kept}:{number}", "the line is no result of a sweep", remedy) from None
        results[result.key] = result
    return results


def _append(kept: Path, result: SweepResult) -> None:
    """Add a result to a file. Raises RailfabError where it cannot be written."""
    try:
        with kept.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}; the results so far are kept"
        raise RailfabError(str(kept), problem, "Make room for it, and give the same command again") from None
