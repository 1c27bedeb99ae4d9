"""Processes of a lab: identified by pid and start time, marked by an environment variable, killed as a whole."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from railfab.errors import LabError

PROC = Path("/proc")
MARK = "RAILFAB_LAB"
"""Environment variable of every process of a lab; its value is the tag of the lab."""

GONE_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process, identified by pid and start time in clock ticks since boot, because pids are reused."""

    purpose: str
    pid: int
    started: int


def boot_id() -> str:
    """Id of this boot; pids and namespaces of another boot do not exist any more."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def started(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None when it has ended."""
    try:
        after_name = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if after_name[0] == "Z" else int(after_name[19])


def is_running(process: Process) -> bool:
    return started(process.pid) == process.started


def process(purpose: str, pid: int, log: Path | None = None) -> Process:
    """A process that was just started. Raises LabError, with the end of its log, when it has ended already."""
    ticks = started(pid)
    if ticks is None:
        reason = f" ({log_tail(log)})" if log is not None else ""
        raise LabError(purpose, f"ended immediately{reason}", "Run `railfab lab doctor`")
    return Process(purpose=purpose, pid=pid, started=ticks)


def log_tail(log: Path) -> str:
    """The last two lines of a log."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return "; ".join(lines[-2:]) or "empty log"


def marked_processes(tag: str) -> list[Process]:
    """Every process started by this lab."""
    needle = f"{MARK}={tag}".encode()
    found = []
    for path in PROC.glob("[0-9]*/environ"):
        try:
            own = needle in path.read_bytes().split(b"\0")
        except OSError:
            continue
        ticks = started(int(path.parent.name)) if own else None
        if ticks is not None:
            found.append(Process(purpose="marked", pid=int(path.parent.name), started=ticks))
    return found


def kill_marked(tag: str) -> None:
    """Kill every process of this lab, independently of its state file. Raises LabError."""
    while processes := marked_processes(tag):
        kill(processes)


def kill(processes: Iterable[Process]) -> None:
    """Kill these processes, unless their pids were reused, and wait until they have ended. Raises LabError."""
    waiting = [process for process in processes if is_running(process)]
    for victim in waiting:
        _signal(victim)
    deadline = time.monotonic() + GONE_WITHIN_S
    while waiting := [process for process in waiting if is_running(process)]:
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in waiting)
            raise LabError(
                "lab down", f"process {pids} does not end", "Check it with ps, then run `railfab lab down` again"
            )
        time.sleep(0.01)


def _signal(victim: Process) -> None:
    """Send SIGKILL through a pidfd, so that a reused pid is never killed."""
    try:
        handle = os.pidfd_open(victim.pid)
    except ProcessLookupError:
        return
    try:
        if is_running(victim):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
