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
            "job.yml:4: phases.0.collective.algorithm: alltoall has no algorithm 'ring'. "
            "Use one of pairwise, direct, hierarchical.",
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


def test_a_job_names_a_model_or_states_its_shape(tmp_path: Path) -> None:
    named = loaded(tmp_path, "model: llama3-8b\nparallelism: {tp: 8}\n")
    assert (named.model, named.parallelism.tp) == ("llama3-8b", 8)
    shape = "{layers: 2, hidden: 64, heads: 4, ffn: 128, vocabulary: 100, sequence: 16}"
    assert loaded(tmp_path, f"model: {shape}\n").model.layers == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repeat: 1\n", "job.yml:1: the job has neither phases nor a model. Write one of phases and model."),
        (
            "model: llama3-8b\nphases:\n  - compute: {ms: 1}\n",
            "job.yml:4: phases: the job has a model, too. Write one of phases and model.",
        ),
        ("parallelism: {tp: 0}\nmodel: llama3-8b\n", "job.yml:3: parallelism.tp: 0 is out of range. Use 1 to 4096."),
        (
            "model: llama3-8b\ngpu: {efficiency: .nan}\n",
            "job.yml:4: gpu.efficiency: nan is not a number. Use a number above 0, up to 1.",
        ),
        (
            "phases: [{compute: {ms: 1}}]\nplacement: {order: [tp, cp, ep, dp, pp]}\n",
            "job.yml:4: placement.order: order needs a model. Add model, or leave it out.",
        ),
        (
            "hosts: [pod1-seg1-host1]\nphases: [{compute: {ms: 1}}]\nplacement: {hosts: scattered}\n",
            "job.yml:5: placement.hosts: the job names its hosts, which are in the order of its ranks. "
            "Leave it out, or state a number of hosts.",
        ),
        (
            "model: llama3-8b\nparallelism: {pp: 4, vpp: 2, micro_batches: 6}\n",
            "job.yml:4: parallelism.micro_batches: 6 micro-batches do not divide into groups of 4, which vpp needs. "
            "Use a multiple of 4, or vpp 1.",
        ),
        (
            "model: llama3-8b\nplacement: {order: [tp, pp]}\n",
            "job.yml:4: placement.order: the order is not one of all of tp, cp, ep, dp, pp. "
            "Name each once, for example [tp, cp, ep, dp, pp].",
        ),
        (
            "model: {layers: 2, hidden: 64, heads: 5, ffn: 128, vocabulary: 100, sequence: 16}\n",
            "job.yml:3: model.heads: a hidden size of 64 does not divide into 5 heads. "
            "Use a divisor, or state head_size.",
        ),
    ],
)
def test_a_training_job_that_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text).splitlines()
