"""Reference data of tests/reference/jobs: the models that were put into AICB, and tables of results."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from railfab.intent import Job
from railfab.workload.plan import TrainingPlan, training_plan

REFERENCE = Path(__file__).parents[1] / "reference" / "jobs"
MODELS: dict[str, dict[str, Any]] = json.loads((REFERENCE / "models.json").read_text())


def rows(name: str) -> list[dict[str, str]]:
    with (REFERENCE / name).open(newline="") as file:
        return list(csv.DictReader(file))


def reference_shape(name: str, *, gated: bool | None = None) -> dict[str, Any]:
    """The shape of a model as AICB has it: keys and values of all heads. gated: AICB counts no gate in parameters."""
    model = MODELS[name]
    shape: dict[str, Any] = {
        "layers": model["L"],
        "hidden": model["h"],
        "heads": model["heads"],
        "ffn": model["ffn"],
        "gated": bool(model["swiglu"]) if gated is None else gated,
        "vocabulary": model["vocab"],
        "sequence": model["seq"],
        "positions": model["seq"],
    }
    if "moe" in model:
        count, per_token = model["moe"]
        shape["experts"] = {"count": count, "per_token": per_token, "ffn": model["ffn"]}
    if model.get("frame") == "DeepSeek":
        shape["experts"]["shared"] = 1
        latent = {"query_rank": 1536, "kv_rank": 512, "nope_size": 128, "rope_size": 64, "value_size": 128}
        shape |= {"latent_attention": latent, "positions": 0}
    return shape


def reference_plan(name: str, *, gated: bool | None = None) -> TrainingPlan:
    """The plan of a model on hosts with 8 GPUs, as AICB was told."""
    model = MODELS[name]
    dp = model["world"] // (model["tp"] * model["pp"])
    parallelism = {"tp": model["tp"], "pp": model["pp"], "ep": model["ep"], "micro_batches": model["gbs"] // dp}
    job = Job.model_validate(
        {"version": 1, "job": "reference", "model": reference_shape(name, gated=gated), "parallelism": parallelism}
    )
    return training_plan(job, hosts=model["world"] // 8, gpus_per_host=8)
