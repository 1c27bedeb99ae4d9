"""Sweeps on the workers of clusters: real schedulers and workers on this machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.simulate.test_sweep import POD64, AtOnce

from railfab.errors import RailfabError
from railfab.simulate import SweepRun, clusters, sweep
from railfab.simulate.clusters import dask_cluster, ray_cluster

START_S = 90


@pytest.fixture
def runs(tmp_path: Path) -> list[SweepRun]:
    (job := tmp_path / "job.yml").write_text(
        "version: 1\njob: made\nhosts: 2\nphases:\n  - collective: {op: alltoall, bytes: 1MB, group: all}\n"
    )
    return [SweepRun(POD64, str(job), seed) for seed in range(1, 7)]


@contextmanager
def dask_process(kind: str, folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Dask, whose log is in a folder; it is ended."""
    words = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *options]
    with (folder / f"{kind}.log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def dask_scheduler(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a scheduler, and its process."""
    pytest.importorskip("distributed")
    file = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    with dask_process("scheduler", folder, *options) as process:
        deadline = time.monotonic() + START_S
        while not file.exists() or not file.read_text().endswith("}"):
            assert time.monotonic() < deadline, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"], process


@pytest.fixture(scope="module")
def dask_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler with a worker, whose process runs two calls at once."""
    folder = tmp_path_factory.mktemp("dask")
    with dask_scheduler(folder) as (address, _):
        options = ("--nthreads", "2", "--no-nanny", "--local-directory", str(folder))
        with dask_process("worker", folder, address, *options):
            yield address


def swept_on(address: str, runs: list[SweepRun], kept: Path, after: Callable[[], object]) -> None:
    """Sweep on a cluster of Dask, one run at a time, and do this after each."""
    with dask_cluster(address) as (executor, _):
        for _ in sweep(runs, executor, kept, ahead=1):
            after()


def test_dask_gives_the_results_of_this_process_and_continues_an_interrupted_sweep(
    runs: list[SweepRun], dask_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "TIMEOUT_S", START_S)
    kept = tmp_path / "results.jsonl"
    with dask_cluster(dask_address) as (executor, count):
        assert count == 2
        begun = sweep(runs, executor, kept, ahead=1)
        first = next(begun)
        begun.close()
        assert len(kept.read_text().splitlines()) == 1
        results = list(sweep(runs, executor, kept))
    assert results[0] == first
    assert set(results) == set(sweep(runs, AtOnce()))
    assert len(kept.read_text().splitlines()) == len(runs)


def test_the_command_runs_on_dask_by_address(dask_address: str, runs: list[SweepRun], tmp_path: Path) -> None:
    words = ("sweep", POD64, "--job", runs[0].job, "--seeds", "3", "--dask", dask_address, "--output", "json")
    done = commands.run(*words, environment={**os.environ}, timeout_s=150)
    assert (done.returncode, done.stderr) == (0, "")
    assert [result["seed"] for result in json.loads(done.stdout)] == [1, 2, 3]


def test_a_scheduler_without_workers_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with dask_scheduler(tmp_path) as (address, _):
        monkeypatch.setattr(clusters, "TIMEOUT_S", 2)
        with pytest.raises(RailfabError) as raised, dask_cluster(address):
            pass
    expected = f"--dask {address}: the scheduler has no workers. Start some with: dask worker {address}."
    assert str(raised.value) == expected


def test_a_scheduler_that_is_killed_is_one_line_and_the_sweep_continues(
    runs: list[SweepRun],
    dask_address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With no errors from Dask itself in the log."""
    monkeypatch.setattr(clusters, "TIMEOUT_S", START_S)
    kept = tmp_path / "results.jsonl"
    with dask_scheduler(tmp_path) as (address, scheduler):
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path))
        with dask_process("worker", tmp_path, address, *options), pytest.raises(RailfabError) as raised:
            swept_on(address, runs, kept, scheduler.kill)
    problem, remedy = str(raised.value).split("; ")
    assert problem.startswith(f"--dask {address}: a run was lost (")
    assert remedy == "the results so far are kept. Give the same command again, when scheduler and workers are up."
    assert [record for record in caplog.records if record.name.startswith("distributed.client")] == []
    before = len(kept.read_text().splitlines())
    assert 1 <= before < len(runs)
    with dask_cluster(dask_address) as (executor, _):
        assert len(list(sweep(runs, executor, kept))) == len(runs)
    assert len(kept.read_text().splitlines()) == len(runs)


def test_a_result_that_cannot_be_written_is_no_fault_of_a_worker(
    runs: list[SweepRun], dask_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "TIMEOUT_S", START_S)
    (folder := tmp_path / "results").mkdir()
    with pytest.raises(RailfabError) as raised:
        swept_on(dask_address, runs, folder / "results.jsonl", lambda: folder.rename(tmp_path / "gone"))
    assert str(raised.value).startswith(f"{folder / 'results.jsonl'}: cannot be written: No such file or directory; ")


def test_an_unreachable_scheduler_is_one_line_and_exit_code_2(runs: list[SweepRun]) -> None:
    pytest.importorskip("distributed")
    words = ("sweep", POD64, "--job", runs[0].job, "--dask", "tcp://127.0.0.1:9")
    done = commands.run(*words, environment={**os.environ}, timeout_s=150)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith("railfab: --dask tcp://127.0.0.1:9: no scheduler answers there: ")
    assert line.endswith("Start one with: dask scheduler.")


def test_a_worker_without_the_files_is_named(
    dask_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of a run are gone when its worker begins."""
    monkeypatch.setattr(clusters, "TIMEOUT_S", START_S)
    (job := tmp_path / "job.yml").write_text("version: 1\njob: made\nphases:\n  - compute: {ms: 1}\n")
    with pytest.raises(RailfabError) as raised, dask_cluster(dask_address) as (executor, _):
        list(sweep([SweepRun(POD64, str(job))], Removing(executor, job)))
    assert "a worker cannot run it: " in str(raised.value)
    assert "the files of intents and jobs at the same paths" in str(raised.value)


class Removing(Executor):
    """An executor that removes a file before each call."""

    def __init__(self, executor: Executor, path: Path) -> None:
        self._executor, self._path = executor, path

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._path.unlink()
        return self._executor.submit(fn, *args, **kwargs)


@pytest.mark.parametrize("options", [("--dask", "a", "--ray", "b"), ("--workers", "2", "--dask", "a")])
def test_runs_go_to_one_place(options: tuple[str, ...], runs: list[SweepRun]) -> None:
    done = commands.run("sweep", POD64, "--job", runs[0].job, *options, environment={**os.environ}, timeout_s=60)
    assert done.returncode == 2
    assert done.stderr == f"railfab: {options[0]}: {options[2]} says where runs go, too. Leave one of them out.\n"


def test_neither_library_is_imported_otherwise() -> None:
    code = "import sys, railfab.simulate, railfab.cli.sweep, railfab.simulate.clusters; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"distributed", "dask", "ray"} & set(modules)


@pytest.mark.parametrize("cluster", [dask_cluster, ray_cluster])
def test_a_library_that_is_not_installed_is_named(cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("distributed", "ray"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RailfabError, match=r"is not installed. Install it with: pip install 'railfab\[(dask|ray)\]'"):
        cluster("a").__enter__()


def test_ray_gives_the_results_of_this_process(runs: list[SweepRun]) -> None:
    """Its sockets need a folder with a short path."""
    pytest.importorskip("ray")
    address = "127.0.0.1:6399"
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        head = ["start", "--head", "--block", "--port", "6399", "--node-ip-address", "127.0.0.1", "--num-cpus", "2"]
        words = [
            sys.executable,
            "-m",
            "ray.scripts.scripts",
            *head,
            "--include-dashboard",
            "false",
            "--temp-dir",
            folder,
        ]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                deadline = time.monotonic() + START_S
                while time.monotonic() < deadline and not _answers(6399):
                    time.sleep(0.1)
                with ray_cluster(address) as (executor, count):
                    assert count == 2
                    assert set(sweep(runs, executor)) == set(sweep(runs, AtOnce()))
            finally:
                process.terminate()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere"])
def test_an_unreachable_cluster_of_ray_is_one_line(address: str) -> None:
    pytest.importorskip("ray")
    with pytest.raises(RailfabError, match=f"--ray {address}: no cluster answers there: "), ray_cluster(address):
        pass


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
