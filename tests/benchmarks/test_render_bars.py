"""The bars of the benchmark of rendering, and what it says where one is missed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_render")


def test_each_missed_bar_is_named(bench: Any) -> None:
    def cost(cpu_s: float, peak_mb: float = 100) -> Any:
        return bench.Cost(cpu_s=cpu_s, wall_s=cpu_s, peak_mb=peak_mb)

    assert list(bench.missed(1024, {"eos": cost(2), "sonic": cost(6, 400)})) == []
    assert list(bench.missed(1024, {"eos": cost(2), "sonic": cost(7, 401)})) == [
        "sonic at 1,024 switches: 3.5 times the CPU of EOS, at most 3",
        "sonic at 1,024 switches: a peak of 401 MiB, at most 400",
    ]
    assert list(bench.missed_beside_pyavd(1024, cost(40), cost(2))) == []
    assert list(bench.missed_beside_pyavd(64, cost(28), cost(2))) == []
    for switches in (256, 1024):
        assert list(bench.missed_beside_pyavd(switches, cost(38), cost(2))) == [
            f"EOS at {switches:,} switches: PyAVD takes 19.0 times the CPU, at least 20"
        ]
