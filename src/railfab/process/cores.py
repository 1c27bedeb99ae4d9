"""The cores that this process may use."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
"""Quota and period of the cgroup of a container, in microseconds; `max` is no quota. Source: Linux, cgroup-v2.rst."""


def usable_cores(cpu_max: Path = CPU_MAX) -> int:
    """Cores that this process may run on, no more than its container has time for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = cpu_max.read_text().split()
        if quota != "max":
            return max(1, min(cores, math.ceil(int(quota) / int(period))))
    return cores
