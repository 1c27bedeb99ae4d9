"""`railfab sweep` as a user types it: failures, settings and placements, its folder, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming

from railfab.cli.sweep import _cluster

ROOT = Path(__file__).resolve().parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
POD64, RING = FABRICS / "pod64.yml", ROOT / "inventory" / "jobs" / "ring.yml"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (path := tmp_path / "job.yml").write_text(
        "version: 1\njob: made\nhosts: 4\nphases:\n  - collective: {op: allreduce, bytes: 64MB}\n"
    )
    return path


def sweep(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    done = commands.run("sweep", *map(str, arguments), environment=environment, timeout_s=150)
    assert done.returncode == code, done.stderr
    return done


def test_settings_and_placements_have_columns_and_max_min_says_what_it_does_not_see(job: Path) -> None:
    options = ("--set", "profile.lossless.ecn=true,false", "--placement", "packed,scattered", "--workers", 1)
    done = sweep(POD64, "--job", job, *options)
    lines = done.stdout.splitlines()
    assert lines[0] == "4 runs of made"
    assert " ".join(lines[1].split()) == "fabric settings placement fault runs median s slowest s ratio cut off"
    assert [line.split()[1:4] for line in lines[2:6]] == [
        [f"profile.lossless.ecn={value}", placement, "none"]
        for value in ("true", "false")
        for placement in ("packed", "scattered")
    ]
    assert "max-min does not see profile.lossless.ecn: only --tier packets does" in done.stderr


def test_each_result_has_its_settings_and_placement(job: Path, tmp_path: Path) -> None:
    options = ("--set", "profile.hash.seed=1,2", "--workers", 1, "-o", tmp_path / "out", "--output", "json")
    document = conforming("sweep", sweep(POD64, "--job", job, *options).stdout)
    assert [(result["settings"], result["placement"]) for result in document] == [
        (["profile.hash.seed=1"], ""),
        (["profile.hash.seed=2"], ""),
    ]
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = parquet.read_table(tmp_path / "out" / "results.parquet").to_pydict()
    assert columns["settings"] == [["profile.hash.seed=1"], ["profile.hash.seed=2"]]
    assert columns["placement"] == ["", ""]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "profile.hash.seed=1,x"), "--set profile.hash.seed=x: "),
        (("--set", "profile.hash.seed=1,x"), "profile.hash.seed: 'x' is not an integer. Use 0 to 65000."),
        (("--set", "profile.ecmp.x=1"), "--set profile.ecmp.x=1: profile.ecmp is 'flow' in the file"),
        (("--placement", "packed,round"), "--placement round: there is no such placement. Use packed or scattered."),
    ],
)
def test_what_cannot_be_swept_is_one_line(job: Path, options: tuple[str, ...], message: str) -> None:
    assert message in sweep(POD64, "--job", job, *options, code=2).stderr


def test_a_sweep_has_a_row_for_each_failure_and_continues_in_its_folder(tmp_path: Path) -> None:
    arguments = (POD64, "--job", RING, "--each", "switch", "--seeds", 2, "-o", tmp_path / "out")
    lines = sweep(*arguments).stdout.splitlines()
    assert lines[0] == "18 runs of ring"
    rows = {line.split()[1]: line.split() for line in lines[2:] if line}
    assert rows["none"][2:] == ["2", *rows["switch=pod1-spine1"][3:5], "1.000", "0"]
    assert float(rows["switch=pod1-seg1-leaf1"][5]) > 1.5, "half of the ports of a segment are left"
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 18
    if find_spec("pyarrow") and find_spec("matplotlib"):
        written = {path.name for path in (tmp_path / "out").iterdir()}
        assert written == {"results.jsonl", "results.parquet", "steps.png", "steps.svg"}
    document = conforming("sweep", sweep(*arguments, "--output", "json").stdout)
    assert len(document) == 18
    assert {run["error"] for run in document if run["faults"] == ["switch=pod1-spine1"]} == {""}


def test_a_sweep_refuses_what_no_run_can_be_made_of() -> None:
    assert "--each host: there is no such kind. Use cable or switch" in sweep(
        POD64, "--job", RING, "--each", "host", code=2
    ).stderr.replace("\n", " ")
    assert "--fault switch=x: the fabric has no switch x" in sweep(
        POD64, "--job", RING, "--fault", "switch=x", code=2
    ).stderr.replace("\n", " ")
    for arguments, message in (
        ((POD64, POD64), "pod64.yml: a second fabric is named pod64. Rename one of them."),
        ((FABRICS / "dual-rail.yml",), "no routes are computed for VLANs and SVIs"),
        (("-",), "-: the processes of a sweep cannot read standard input. Name a file."),
        ((POD64, "--job", "second.yml"), ": a sweep has one job. Leave it out, and give it a sweep of its own."),
        ((POD64, "-o", POD64), "pod64.yml: cannot be written: File exists. Use another folder."),
    ):
        assert message in " ".join(sweep(*arguments, "--job", RING, code=2).stderr.split())


def test_a_sweep_of_many_failures_says_how_many_rows_its_table_leaves_out() -> None:
    lines = sweep(POD64, "--job", RING, "--each", "cable").stdout.splitlines()
    assert lines[0] == "33 runs of ring"
    assert sum(line.startswith("pod64 ") for line in lines) == 30
    assert lines[-1] == "and 3 rows more; --output json has each run"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each worker imports by itself")
def test_workers_begin_with_the_imports_of_one_process() -> None:
    with _cluster(None, None, 2) as (executor, workers):
        loaded = executor.map(eval, ["'numba' in __import__('sys').modules"] * workers)
        assert all(loaded)
