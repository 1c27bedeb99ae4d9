"""What the benchmark of tiers says of commands that exit without an error and did something else."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_jobs")


def document(tier: str, step_s: float) -> Any:
    held = {"group": "dp", "op": "allgather", "tier": tier, "why": "", "slowest_s": 2.0}
    return {"designs": [{"estimate": {"tier": tier, "step_s": step_s}, "runs": [{"contentions": [held]}]}]}


def not_followed(packets: Any) -> None:
    packets["designs"][0]["runs"][0]["contentions"][0] |= {"tier": "max-min", "why": "too many"}


def in_closed_form(packets: Any) -> None:
    packets["designs"][0]["estimate"]["tier"] = "closed form"


def with_queues(packets: Any) -> None:
    packets["designs"][0]["runs"][0]["contentions"][0]["slowest_s"] = 3.1


def too_fast(packets: Any) -> None:
    packets["designs"][0]["runs"][0]["contentions"][0]["slowest_s"] = 1.9


def late(packets: Any) -> None:
    packets["designs"][0]["estimate"]["step_s"] = 1.021


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (not_followed, "dp allgather is at max-min: too many"),
        (in_closed_form, "the tier is closed form where packets was asked for"),
        (with_queues, "dp allgather takes 1.55 times as long in packets as at max-min fair rates"),
        (too_fast, "dp allgather takes 0.95 times as long in packets as at max-min fair rates"),
        (late, "a step takes 1.0210 s in packets and 1.0000 at max-min fair rates"),
    ],
)
def test_a_tier_that_was_not_used_and_a_step_that_is_apart_are_named(
    bench: Any, change: Callable[[Any], None], problem: str
) -> None:
    max_min, packets = document("max-min", 1.0), document("packets", 1.019)
    assert list(bench.tier_problems(max_min, packets, copy.deepcopy(packets))) == []
    change(packets)
    assert problem in list(bench.tier_problems(max_min, packets, copy.deepcopy(packets)))


def test_a_full_memo_gives_the_same_document(bench: Any) -> None:
    packets, again = document("packets", 1.0), document("packets", 1.01)
    (problem,) = bench.tier_problems(document("max-min", 1.0), packets, again)
    assert problem == "a step takes 1.0100 s with a full memo and 1.0000 with an empty one"
