"""`railfab up` lets a step end that takes longer than a turn, and shows it meanwhile."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.faults.mistakes import FOLDER
from tests.integration.test_up import command_of

STEP_S, FOR_S = 14, 30
LONG = """version: 1
job: long
model: {layers: 4, hidden: 256, heads: 4, ffn: 704, vocabulary: 2048, sequence: 256}
parallelism: {tp: 2, pp: 2, micro_batches: 2}
gpu: {tflops: 0.00071, efficiency: 0.5}
"""
"""A job whose step takes some STEP_S, most of it computation."""


@pytest.mark.matrix
@pytest.mark.timeout(330)
def test_the_first_step_of_a_job_keeps_its_turn(repository: Path, tmp_path: Path) -> None:
    """A turn has 10 s; the ring comes when the step has ended."""
    (tmp_path / "long.yml").write_text(LONG)
    jobs = ["--job", str(tmp_path / "long.yml"), "--job", str(repository / "inventory" / "jobs" / "ring.yml")]
    command = [*command_of(FOLDER / "rack.yml", tmp_path / "state"), *jobs, "--for", str(FOR_S), "--output", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    made = {job["job"]: job for job in conforming("up", done.stdout)["jobs"]}
    assert made["long"]["step_s"] == [pytest.approx(STEP_S, rel=0.1)]
    assert made["ring"]["step_s"]
    assert " step   at " in done.stderr
