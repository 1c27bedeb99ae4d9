"""The JSON Schema of jobs accepts and refuses the same documents as the loader, and faults of the keys are one line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.intent.intents import ROOT

from railfab.errors import RailfabError, each
from railfab.intent import json_schema
from railfab.intent.job_starters import starter_job, starter_jobs
from railfab.intent.load import load_job

VALIDATOR = Draft202012Validator(json_schema(job=True))
JOB = {"version": 1, "job": "made", "model": "llama3-8b"}


def test_the_committed_schema_is_that_of_the_models() -> None:
    committed = json.loads((ROOT / "inventory" / "job.schema.json").read_text())
    assert committed == json_schema(job=True), "write it anew: railfab schema --job > inventory/job.schema.json"


@pytest.mark.parametrize("path", sorted((ROOT / "inventory" / "jobs").glob("*.yml")), ids=lambda path: path.stem)
def test_the_schema_accepts_every_committed_job(path: Path) -> None:
    VALIDATOR.validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("name", starter_jobs())
def test_the_keys_that_a_starter_leaves_out_are_keys(name: str, tmp_path: Path) -> None:
    """A starter has them as comments; of `every_steps or every_s` it names one."""
    path = tmp_path / "job.yml"
    path.write_text(re.sub(r"(?m)^# (?=\w+:  |  )", "", starter_job(name)))
    job = load_job(path)
    VALIDATOR.validate(yaml.safe_load(path.read_text()))
    if job.model is not None:
        assert None not in (job.algorithm, job.checkpoint, job.stragglers)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"checkpoint": {}},
            "checkpoint: the checkpoint has neither every_steps nor every_s. Write one of every_steps",
        ),
        (
            {"checkpoint": {"every_steps": 1, "every_s": 2}},
            "checkpoint: the checkpoint has every_steps and every_s. Write",
        ),
        ({"checkpoint": {"every_steps": 0}}, "checkpoint.every_steps: 0 is out of range. Use 1 to 1000000."),
        ({"checkpoint": {"every_steps": 1, "bytes": 0}}, "checkpoint.bytes: 0 is out of range. Use 1 to"),
        ({"checkpoint": {"every_steps": 1, "bytes": "3XB"}}, "checkpoint.bytes: '3XB' is not a size. Write a number"),
        ({"checkpoint": {"every_s": float("nan")}}, "checkpoint.every_s: "),
        (
            {"checkpoint": {"every_s": 1, "storage_gbps": -1}},
            "checkpoint.storage_gbps: -1 is out of range. Use a number",
        ),
        ({"stragglers": []}, "stragglers: "),
        ({"stragglers": [{"factor": 2}]}, "stragglers.0: the straggler has neither host, link nor every. Write one of"),
        ({"stragglers": [{"every": "gpu", "factor": 0.5}]}, "stragglers.0.factor: "),
        (
            {"stragglers": [{"every": "gpu", "factor": {"least": 2, "most": 1.5}}]},
            "stragglers.0.factor.most: 1.5 is less than least, 2.0. Use 2.0 or more.",
        ),
        ({"stragglers": [{"gpu": 1, "every": "gpu", "factor": 2}]}, "stragglers.0.gpu: a GPU needs its host. Add host"),
        (
            {"stragglers": [{"host": "h", "probability": 0.5, "factor": 2}]},
            "stragglers.0.probability: what has a name is slow always. Leave it out, or use every.",
        ),
        ({"algorithm": {"dp": "nccl"}}, "algorithm.dp: no operation has an algorithm 'nccl'. Use one of ring, tree, "),
        (
            {"algorithm": {"alltoall": "ring"}},
            "algorithm.alltoall: alltoall has no algorithm 'ring'. Use one of pairwise",
        ),
        (
            {"algorithm": {"tp": {"allgather": "tree"}}},
            "algorithm.tp.allgather: allgather has no algorithm 'tree'. Use",
        ),
        (
            {"model": None, "phases": [{"compute": {"ms": 1}}], "checkpoint": {"every_steps": 1}},
            "checkpoint: checkpoint needs a model. Add model, or leave it out.",
        ),
    ],
)
def test_a_wrong_key_is_one_line(keys: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "job.yml"
    path.write_text(yaml.safe_dump({**JOB, **keys}))
    with pytest.raises(RailfabError) as refused:
        load_job(path)
    (error,) = each(refused.value)
    place, _, rest = str(error).partition(": ")
    assert place.startswith(f"{path}:")
    assert rest.startswith(message), str(error)
