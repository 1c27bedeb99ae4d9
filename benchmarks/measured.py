"""What a command costs: CPU of its process and of all that it waited for, the clock, and the most memory it held."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """cpu_s: user and system time, interpreter and imports included. peak_mb: largest resident set of one process."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def cost(
    command: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    *,
    output: str = os.devnull,
    fine: Sequence[int] = (0,),
) -> Cost:
    """Run a command in a folder to its end. output: where its stdout goes. fine: its exit codes that mean no failure.

    A command that fails ends the benchmark with what it said.
    """
    with tempfile.TemporaryFile() as said, (folder / output).open("w") as stdout:
        began_s = time.monotonic()
        process = subprocess.Popen(command, stdout=stdout, stderr=said, cwd=folder, env=env)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - began_s
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode not in fine:
            raise SystemExit(f"{' '.join(command)} failed:\n{said.read().decode(errors='replace')}")
    return Cost(cpu_s=used.ru_utime + used.ru_stime, wall_s=wall_s, peak_mb=used.ru_maxrss / 1024)


def typical(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(
        cpu_s=median(cost.cpu_s for cost in costs),
        wall_s=median(cost.wall_s for cost in costs),
        peak_mb=median(cost.peak_mb for cost in costs),
    )


def together(costs: Sequence[Cost]) -> Cost:
    """One after the other."""
    return Cost(
        cpu_s=sum(cost.cpu_s for cost in costs),
        wall_s=sum(cost.wall_s for cost in costs),
        peak_mb=max(cost.peak_mb for cost in costs),
    )


def stay_on_one_core() -> None:
    """Pin this process, and with it all that it starts, to the last core it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def as_installed(bytecode: Path | None = None) -> dict[str, str]:
    """An environment in which Python keeps bytecode, as an installed package has it. bytecode: where to keep it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | ({"PYTHONPYCACHEPREFIX": str(bytecode)} if bytecode else {})


def hardware() -> str:
    """Processor, cores and Python that figures were taken with."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = "processor unknown"
    return f"{processor}, {os.cpu_count()} cores, Python {sys.version.split()[0]}"


def machine() -> str:
    """What figures are taken with, and the load of the machine now."""
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{hardware()}, {load}"
