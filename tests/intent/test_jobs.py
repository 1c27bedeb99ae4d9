"""Faults of job files: file, line, key, problem and remedy on one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.errors import RailfabError
from railfab.intent import Job, load_job

HEAD = "version: 1\njob: made\n"


def refused(tmp_path: Path, text: str) -> str:
    """The message about a job file, without the folder."""
    path = tmp_path / "job.yml"
    path.write_text(HEAD + text)
    with pytest.raises(RailfabError) as error:
        load_job(path)
    return str(error.value).replace(f"{tmp_path}/", "")


def loaded(tmp_path: Path, text: str) -> Job:
    path = tmp_path / "job.yml"
    path.write_text(HEAD + text)
    return load_job(path)


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        (
            "{op: alltoall, algorithm: ring, bytes: 1MB}",
            "job.yml:4: phases.0.collective.algorithm: alltoall has no algorithm 'ring'. Use one of pairwise, direct.",
        ),
        (
            "{op: allgather, bytes: 0}",
            "job.yml:4: phases.0.collective.bytes: 0 is out of range. Use 1 to 10000000000000.",
        ),
    ],
)
def test_a_collective_that_cannot_be_is_refused(tmp_path: Path, phase: str, message: str) -> None:
    assert refused(tmp_path, f"phases:\n  - collective: {phase}\n") == message


def test_a_collective_has_the_first_algorithm_by_default(tmp_path: Path) -> None:
    job = loaded(tmp_path, "phases:\n  - collective: {op: alltoall, bytes: 1MB}\n")
    assert job.phases[0].collective.algorithm is None
