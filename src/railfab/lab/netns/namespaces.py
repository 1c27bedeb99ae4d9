"""Network namespaces of this machine: `ip` commands, addresses, sysctls and processes in them."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network
from pathlib import Path
from typing import TypeVar

from railfab.errors import LabError
from railfab.lab import programs
from railfab.lab.netns.processes import PROC

T = TypeVar("T")
NAMESPACES = Path("/run/netns")
ANY_KIND = 0


def ip_batch(lines: Sequence[str], *, namespace: str | None = None, version: int = 4) -> None:
    """Run `ip` commands in the caller's or the named namespace. Raises LabError at the first error.

    version: IP version of routing rules, and of routes without an address.
    """
    where = [f"-{version}", *(["-n", namespace] if namespace else [])]
    done = programs.run(["ip", *where, "-batch", "-"], stdin="\n".join(lines))
    if done.returncode:
        problem = "; ".join(line for line in done.stderr.splitlines() if line.strip())
        raise LabError(f"ip -batch{' in ' + namespace if namespace else ''}", problem, _remedy(problem))


def _remedy(problem: str) -> str:
    if "File exists" in problem:
        return "A namespace or interface of this name exists already: check `ip netns` and `ip link`"
    return "Run `railfab lab doctor`"


def namespace_names() -> set[str]:
    """Names of the network namespaces on this machine."""
    return {path.name for path in NAMESPACES.iterdir()} if NAMESPACES.is_dir() else set()


def interface_names() -> set[str]:
    """Names of the interfaces in the caller's network namespace."""
    return {path.name for path in Path("/sys/class/net").iterdir()}


def networks() -> set[IPv4Network]:
    """Every IPv4 range with an address or a route on this machine, except the default route."""
    found = set()
    for words in (["addr", "show"], ["route", "show", "table", "all"]):
        for entry in json.loads(programs.run(["ip", "-j", "-4", *words]).stdout or "[]"):
            found.update(_ranges(entry))
    return {network for network in found if network.prefixlen}


def _ranges(entry: Mapping[str, object]) -> list[IPv4Network]:
    addresses = entry.get("addr_info")
    if isinstance(addresses, list):
        return [IPv4Network(f"{a['local']}/{a['prefixlen']}", strict=False) for a in addresses if "local" in a]
    destination = str(entry.get("dst", "default"))
    return [] if destination == "default" else [IPv4Network(destination, strict=False)]


def in_namespace(namespace: str, action: Callable[[], T]) -> T:
    """Call action in a new thread inside the named network namespace."""

    def enter_and_act() -> T:
        enter(NAMESPACES / namespace)
        return action()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix=namespace) as thread:
        return thread.submit(enter_and_act).result()


def enter(path: Path) -> None:
    """Move the calling thread into a namespace, of processes its later children."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(handle, ANY_KIND):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    finally:
        os.close(handle)


def set_sysctls(namespace: str, settings: Mapping[str, str]) -> None:
    """Write `net.*` sysctls of one namespace; names have slashes and no leading `net/`."""

    def write() -> None:
        for name, value in settings.items():
            (PROC / "sys/net" / name).write_text(value)

    try:
        in_namespace(namespace, write)
    except OSError as error:
        raise LabError(f"sysctl in {namespace}", str(error), "The lab needs a kernel with IPv4 and IPv6") from None


def pids_in(namespace: str) -> list[int]:
    """Processes in a named network namespace."""
    return [int(pid) for pid in programs.run(["ip", "netns", "pids", namespace]).stdout.split()]
