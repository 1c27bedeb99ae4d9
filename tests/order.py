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

COMPUTING = frozenset(
    (
        *("audit", "device", "documents", "draw", "fabric", "forwarding", "intent", "oracles", "platforms", "qos"),
        *("sim", "topology", "workload", "yaml_reader", "test_order.py"),
    )
)
"""Folders, and a file, whose tests compute. Those of the others start processes and servers, if for a short time."""


@cache
def rank(file: Path) -> int:
    """Place of a file's folder in WAITING; behind all of these for another."""
    folder = _folder(file)
    return WAITING.index(folder) if folder in WAITING else len(WAITING)


def computes(file: Path) -> bool:
    """Whether the tests of a file give way to all that waits."""
    return _folder(file) in COMPUTING


def _folder(file: Path) -> str:
    """The folder in tests/, or the file there."""
    return file.relative_to(TESTS).parts[0]
