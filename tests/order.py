"""The order in which tests are handed out, and which of them compute."""

from __future__ import annotations

from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
WAITING = (
    *("faults", "integration", "docs", "telemetry", "test_namespaces.py", "leaves_a_lab_up.py"),
    *("lab", "app", "twin"),
)
"""Folders, and files, whose tests wait for processes, timers and samples, the longest first: they begin first, lest a
worker has one left at the end."""


@cache
def rank(file: Path) -> int:
    """Place of a file's folder in WAITING; behind all of these for one whose tests compute."""
    folder = file.relative_to(TESTS).parts[0]
    return WAITING.index(folder) if folder in WAITING else len(WAITING)


def computes(file: Path) -> bool:
    """Whether the tests of a file compute and wait for nothing."""
    return rank(file) == len(WAITING)
