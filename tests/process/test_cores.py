"""Cores that a process may use: those of its affinity, no more than the quota of its container."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from railfab.process.cores import usable_cores


@pytest.mark.parametrize(
    ("cpu_max", "cores"), [("max 100000", 8), ("200000 100000", 2), ("150000 100000", 2), ("1000 100000", 1), ("", 8)]
)
def test_a_quota_limits_the_cores(cpu_max: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    file = tmp_path / "cpu.max"
    file.write_text(cpu_max)
    assert usable_cores(file) == cores


def test_without_a_container_they_are_those_of_the_affinity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert usable_cores(tmp_path / "none") == 1
