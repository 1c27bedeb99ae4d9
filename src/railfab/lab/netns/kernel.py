"""The few things asked of the kernel: `ip`, network namespaces, sysctls, and which process is which."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import TypeVar

from railfab.errors import LabError

T = TypeVar("T")
NAMESPACES = Path("/run/netns")
PROC = Path("/proc")
CLONE_NEWNET = 0x40000000
MARK = "RAILFAB_LAB"
"""Environment variable that every process of a lab is born with; its value is the lab's tag."""

GONE_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process and when it started, in clock ticks since boot: a pid alone may be someone else's by now."""

    purpose: str
    pid: int
    started: int


def ip_batch(lines: Sequence[str], *, namespace: str | None = None) -> None:
    """Run lines of `ip` in the caller's or the named namespace. Raises LabError at the first one that fails."""
    where = ["-n", namespace] if namespace else []
    done = subprocess.run(["ip", *where, "-batch", "-"], input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        problem = "; ".join(line for line in done.stderr.splitlines() if line.strip())
        raise LabError(f"ip -batch{' in ' + namespace if namespace else ''}", problem, _remedy(problem))


def _remedy(problem: str) -> str:
    if "File exists" in problem:
        return "A namespace or an interface of that name is there already: look at `ip netns` and `ip link`"
    return "See `railfab lab doctor`"


def namespaces() -> set[str]:
    """Names of the network namespaces on this machine."""
    return {path.name for path in NAMESPACES.iterdir()} if NAMESPACES.is_dir() else set()


def interfaces() -> set[str]:
    """Names of the interfaces in the caller's namespace."""
    return {path.name for path in Path("/sys/class/net").iterdir()}


def networks() -> set[IPv4Network]:
    """Every IPv4 range that this machine has an address in or a route to; the default route is none."""
    found = set()
    for words in (["addr", "show"], ["route", "show", "table", "all"]):
        done = subprocess.run(["ip", "-j", "-4", *words], capture_output=True, text=True, check=True)
        for entry in json.loads(done.stdout or "[]"):
            found.update(_ranges(entry))
    return {network for network in found if network.prefixlen}


def _ranges(entry: Mapping[str, object]) -> list[IPv4Network]:
    addresses = entry.get("addr_info")
    if isinstance(addresses, list):
        return [IPv4Network(f"{a['local']}/{a['prefixlen']}", strict=False) for a in addresses if "local" in a]
    destination = str(entry.get("dst", "default"))
    return [] if destination == "default" else [IPv4Network(destination, strict=False)]


def in_namespace(namespace: str, action: Callable[[], T]) -> T:
    """Call action in a thread of its own that has entered the named network namespace."""

    def enter_and_act() -> T:
        enter(NAMESPACES / namespace)
        return action()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix=namespace) as thread:
        return thread.submit(enter_and_act).result()


def enter(path: Path) -> None:
    """Move the calling thread into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(handle, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    finally:
        os.close(handle)


def set_sysctls(namespace: str, settings: Mapping[str, str]) -> None:
    """Write `net.*` settings of one namespace; names with slashes, without the leading `net/`."""

    def write() -> None:
        for name, value in settings.items():
            (PROC / "sys/net" / name).write_text(value)

    try:
        in_namespace(namespace, write)
    except OSError as error:
        raise LabError(f"sysctl in {namespace}", str(error), "The lab needs a kernel with IPv4 and IPv6") from None


def boot_id() -> str:
    """Names this boot of the machine; pids and namespaces of another boot are gone."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def started(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when there is none, or only its zombie."""
    try:
        after_name = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if after_name[0] == "Z" else int(after_name[19])


def is_running(process: Process) -> bool:
    return started(process.pid) == process.started


def process(purpose: str, pid: int, log: Path | None = None) -> Process:
    """A process that was just started. Raises LabError, with the last words of its log, when it is gone already."""
    ticks = started(pid)
    if ticks is None:
        words = f" ({last_words(log)})" if log is not None else ""
        raise LabError(purpose, f"ended at once{words}", "Run `railfab lab doctor`")
    return Process(purpose=purpose, pid=pid, started=ticks)


def last_words(log: Path) -> str:
    """The last two lines that something said before it ended."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return "; ".join(lines[-2:]) or "its log is empty"


def marked(tag: str) -> list[Process]:
    """Every process born with the mark of this lab."""
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
    """Kill every process of this lab: nothing else, whatever a state file says. Raises LabError."""
    while processes := marked(tag):
        kill(processes)


def kill(processes: Iterable[Process]) -> None:
    """Kill these processes, if they still are who they were, and wait until they are gone. Raises LabError."""
    waiting = [process for process in processes if is_running(process)]
    for victim in waiting:
        _signal(victim)
    deadline = time.monotonic() + GONE_WITHIN_S
    while waiting := [process for process in waiting if is_running(process)]:
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in waiting)
            raise LabError("lab down", f"process {pids} does not end", "Look at it with ps, then run this again")
        time.sleep(0.01)


def _signal(victim: Process) -> None:
    """Send SIGKILL through a handle of the process, so that a pid taken over meanwhile is never hit."""
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


def pids_in(namespace: str) -> list[int]:
    """Processes in a named network namespace."""
    done = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True)
    return [int(pid) for pid in done.stdout.split()]
