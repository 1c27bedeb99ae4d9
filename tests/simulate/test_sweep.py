"""A sweep gives each run once, on any executor, and continues where it was interrupted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from railfab import __version__
from railfab.errors import RailfabError
from railfab.simulate import SweepRun, inputs, sweep, sweeps
from railfab.simulate.inputs import installed_version
from railfab.simulate.sweeps import placed
from railfab.workload.recorded import load_any_job

ROOT = Path(__file__).parents[2]
POD64 = str(ROOT / "inventory" / "fabrics" / "pod64.yml")


class AtOnce(Executor):
    """Runs each call when it is submitted. count: of the calls; after `most` of them it is interrupted."""

    def __init__(self, most: int = 100) -> None:
        self.count, self._most = 0, most

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.count == self._most:
            raise KeyboardInterrupt
        self.count += 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture
def runs(tmp_path: Path) -> list[SweepRun]:
    (job := tmp_path / "job.yml").write_text(
        "version: 1\njob: made\nphases:\n  - collective: {op: alltoall, bytes: 1MB, group: all}\n"
    )
    spines = tuple(f"switch=pod1-spine{number}" for number in (1, 2, 3))
    failures = [(), spines, ("switch=pod1-seg1-leaf1", "switch=pod1-seg1-leaf2")]
    return [SweepRun(POD64, str(job), seed, failure) for failure in failures for seed in (1, 2)]


def test_each_run_has_a_step_or_the_reason_for_none(runs: list[SweepRun]) -> None:
    results = {(result.faults, result.seed): result for result in sweep(runs, AtOnce())}
    assert set(results) == {(run.faults, run.seed) for run in runs}
    healthy, narrow, cut = ([results[run.faults, run.seed] for run in runs[place : place + 2]] for place in (0, 2, 4))
    assert [result.ratio for result in healthy] == [1.0, 1.0]
    assert all(result.step_s > 1.5 * (healthy[0].step_s or 0) for result in narrow if result.step_s is not None)
    assert all(result.slowest == "all alltoall" and "pod1-spine4" in result.link for result in narrow)
    assert all(result.step_s is None and "no power" in result.error for result in cut)


def test_an_executor_of_threads_gives_the_same(runs: list[SweepRun]) -> None:
    with ThreadPoolExecutor(2) as executor:
        assert set(sweep(runs[:4], executor)) == set(sweep(runs[:4], AtOnce()))


def test_an_interrupted_sweep_continues_and_mends_the_line_that_was_cut_short(
    runs: list[SweepRun], tmp_path: Path
) -> None:
    kept = tmp_path / "results.jsonl"
    first = sweep(runs[:3], AtOnce(), kept)
    next(first)
    assert len(kept.read_text().splitlines()) == 1, "each result is kept as it comes"
    list(first)
    kept.write_text(kept.read_text()[:-20])
    executor = AtOnce()
    results = list(sweep(runs, executor, kept))
    assert executor.count == 4
    assert {result.key for result in results} == {run.key for run in runs}
    lines = kept.read_text().splitlines()
    assert sorted(json.loads(line)["key"] for line in lines) == sorted(result.key for result in results)
    assert set(sweep(runs, AtOnce(0), kept)) == set(results), "nothing is left to run"


def test_runs_that_have_not_begun_are_cancelled_when_a_sweep_is_left(runs: list[SweepRun]) -> None:
    with ThreadPoolExecutor(1) as executor:
        submitted: list[Future[Any]] = []
        submit = executor.submit
        executor.submit = lambda *call: submitted.append(submit(*call)) or submitted[-1]  # type: ignore[method-assign]
        results = sweep(runs, executor)
        next(results)
        results.close()
    assert len(submitted) == len(runs)
    assert sum(future.cancelled() for future in submitted) >= len(runs) - 3


def test_a_worker_that_is_killed_is_one_line_and_the_results_so_far_are_kept(
    runs: list[SweepRun], tmp_path: Path
) -> None:
    kept = tmp_path / "results.jsonl"
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        results = sweep(runs, executor, kept)
        next(results)
        next(iter(executor._processes.values())).kill()
        with pytest.raises(RailfabError, match=r"sweep: a process was killed, .* Use fewer --workers"):
            list(results)
    assert len(kept.read_text().splitlines()) >= 1


def test_a_job_that_changed_runs_again(runs: list[SweepRun], tmp_path: Path) -> None:
    kept, job = tmp_path / "results.jsonl", tmp_path / "job.yml"
    list(sweep(runs[:1], AtOnce(), kept))
    job.write_text(job.read_text().replace("1MB", "2MB"))
    list(sweep(runs[:1], executor := AtOnce(), kept))
    assert executor.count == 1


def test_results_of_another_railfab_are_not_continued(
    runs: list[SweepRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "results.jsonl"
    before = list(sweep(runs[:1], AtOnce(), kept))
    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "installed_version", lambda: "0.0.1 (00000000)")
        list(sweep(runs[:1], executor := AtOnce(), kept))
    assert executor.count == 1
    assert len(kept.read_text().splitlines()) == 2
    assert list(sweep(runs[:1], AtOnce(0), kept)) == before


def test_a_worker_with_another_railfab_is_refused(runs: list[SweepRun], tmp_path: Path) -> None:
    class Older(AtOnce):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            run, asked = args
            assert asked == installed_version()
            return super().submit(fn, run, "9.9.9 (00000000)")

    kept = tmp_path / "results.jsonl"
    with pytest.raises(RailfabError) as raised:
        list(sweep(runs[:1], Older(), kept))
    here = installed_version()
    assert str(raised.value) == (
        f"sweep: a worker has railfab {here}, and the sweep 9.9.9 (00000000). "
        "Install one on all, start workers again, and give the same command."
    )
    assert not kept.exists()


def test_the_version_is_that_of_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of each Python file of railfab and of platforms that others register, wherever they are."""
    here = installed_version()
    assert re.fullmatch(rf"{re.escape(__version__)} \([0-9a-f]{{8}}\)", here)
    (folder := tmp_path / "acme").mkdir()
    (source := folder / "__init__.py").write_text("RATE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(inputs, "registered_modules", lambda: ("acme",))
    versions = [installed_version.__wrapped__()]
    source.write_text("RATE = 2\n")
    versions.append(installed_version.__wrapped__())
    assert len({here, *versions}) == 3


def test_a_result_that_cannot_be_written_is_named_with_its_file(runs: list[SweepRun], tmp_path: Path) -> None:
    (folder := tmp_path / "results").mkdir()
    kept = folder / "results.jsonl"
    results = sweep(runs[:2], AtOnce(), kept)
    next(results)
    folder.rename(tmp_path / "gone")
    with pytest.raises(RailfabError) as raised:
        list(results)
    problem = f"{kept}: cannot be written: No such file or directory; the results so far are kept"
    assert str(raised.value) == f"{problem}. Make room for it, and give the same command again."


def test_another_file_is_refused_and_kept(runs: list[SweepRun], tmp_path: Path) -> None:
    (kept := tmp_path / "results.jsonl").write_text('{"key": "a"}\n')
    with pytest.raises(RailfabError, match=r"results.jsonl:1: the line is no result of a sweep"):
        list(sweep(runs, AtOnce(), kept))
    assert kept.read_text() == '{"key": "a"}\n'


def test_settings_and_placements_are_parts_of_a_run_and_of_its_result(tmp_path: Path) -> None:
    """A ring over scattered hosts crosses the spines with every edge: fewer links to them make it slower."""
    (job := tmp_path / "job.yml").write_text(
        "version: 1\njob: made\nhosts: 4\nphases:\n  - collective: {op: allreduce, bytes: 1GB}\n"
    )
    kept, narrow = tmp_path / "results.jsonl", ("backend.spines.count=1", "backend.spines.links_per_leaf=1")
    runs = [
        SweepRun(POD64, str(job), settings=settings, placement=placement)
        for settings in ((), narrow)
        for placement in ("", "packed", "scattered")
    ]
    assert len({run.key for run in runs}) == 6
    results = {(result.settings, result.placement): result for result in sweep(runs, AtOnce(), kept)}
    steps = {case: result.step_s for case, result in results.items()}
    assert steps[(), ""] == steps[(), "packed"] == steps[narrow, "packed"]
    assert steps[narrow, "scattered"] > 2 * steps[narrow, "packed"]
    assert set(sweep(runs, AtOnce(0), kept)) == set(results.values()), "nothing is left to run"


def test_results_of_a_sweep_without_settings_are_read(runs: list[SweepRun], tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"
    (result,) = sweep(runs[:1], AtOnce(), kept)
    fields = json.loads(kept.read_text())
    assert (fields.pop("settings"), fields.pop("placement")) == ([], "")
    kept.write_text(json.dumps(fields) + "\n")
    assert list(sweep(runs[:1], AtOnce(0), kept)) == [result]


@pytest.mark.parametrize(
    ("placement", "hosts", "message"),
    [
        ("spread", "4", "--placement spread: there is no such placement. Use packed or scattered."),
        ("packed", "[pod1-seg1-host1]", "--placement packed: job made names its hosts. State a number of hosts there."),
    ],
)
def test_a_placement_that_cannot_be_is_refused(tmp_path: Path, placement: str, hosts: str, message: str) -> None:
    (path := tmp_path / "job.yml").write_text(
        f"version: 1\njob: made\nhosts: {hosts}\nphases:\n  - compute: {{ms: 1}}\n"
    )
    with pytest.raises(RailfabError) as raised:
        placed(load_any_job(path)[0], placement)
    assert str(raised.value) == message


def test_a_recorded_job_has_no_placement() -> None:
    traces = ROOT / "tests" / "reference" / "jobs" / "traces" / "layers.0.et"
    pytest.importorskip("google.protobuf")
    with pytest.raises(RailfabError, match="--placement packed: a recorded job has none"):
        placed(load_any_job(traces)[0], "packed")


def test_a_worker_that_reads_other_files_is_named(runs: list[SweepRun], tmp_path: Path) -> None:
    """The job changes between the key of a run and its begin."""

    class Changing(AtOnce):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            job = Path(runs[0].job)
            job.write_text(job.read_text().replace("1MB", "2MB"))
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(RailfabError, match="a worker reads another intent of pod64, or another job made"):
        list(sweep(runs[:1], Changing(), tmp_path / "results.jsonl"))
