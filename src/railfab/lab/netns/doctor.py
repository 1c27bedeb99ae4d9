"""Requirements of the embedded lab on the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from railfab.errors import LabError, Problems
from railfab.lab import programs
from railfab.lab.contract import LabPlan, Requirement
from railfab.lab.netns.addresses import management
from railfab.lab.netns.kernel import NEEDED, problems
from railfab.lab.netns.names import check_names
from railfab.lab.netns.namespaces import networks
from railfab.lab.netns.node import DAEMONS, FRR
from railfab.lab.netns.processes import PROC
from railfab.lab.netns.runtime import PLATFORM
from railfab.platforms.frr.devices import DeviceKind, linux_devices
from railfab.text.counted import counted
from railfab.text.remedies import distribution, install

MODULES = ("asyncssh", "grpc", "google.protobuf", "cryptography")
PROBE_WITHIN_S = 20.0
PROBE = "ip link add name rf0 type veth peer name rf1 && ip link add name rf2 type bridge"
SWITCH_MEMORY_MB = 80
"""Memory of one switch: about 40 MB for FRR and as much for its SSH server."""

NEIGHBOURS_PER_LINK_END = 1.25
"""Entries in the kernel's shared neighbour table for each link end, with room for garbage collection."""


def machine() -> tuple[Requirement, ...]:
    """Requirements of any embedded lab."""
    return (_root(), *_programs(), _daemons(), _reload(), _modules(), _ipv6(), _kernel())


def rights() -> tuple[Requirement, ...]:
    """Requirements of `lab down`."""
    return (_root(),)


def lab(plan: LabPlan) -> tuple[Requirement, ...]:
    """Further requirements of this lab."""
    platforms = _platforms(plan)
    names = (_names(plan),) if platforms.ok else ()  # those of other platforms are rarely names for Linux
    return (platforms, *_devices(plan), *names, _neighbour_table(plan), _management(plan), _memory(plan))


def _root() -> Requirement:
    if os.geteuid() == 0:
        return Requirement(subject="root")
    return Requirement(subject="root", problem="network namespaces need root", remedy="Run the command with sudo")


def _programs() -> Iterator[Requirement]:
    for program, package in programs.PACKAGES.items():
        installed = programs.is_installed(program)
        yield Requirement(subject=program) if installed else _missing(program, "is not installed", package)


def _missing(subject: str, problem: str, package: str) -> Requirement:
    return Requirement(subject=subject, problem=problem, remedy=programs.install_remedy(package))


def _daemons() -> Requirement:
    missing = [daemon for daemon in DAEMONS if not (FRR / daemon).exists()]
    return _missing("frr", f"no {', '.join(missing)} in {FRR}", "frr") if missing else Requirement(subject="frr")


def _reload() -> Requirement:
    if (FRR / "frr-reload.py").exists():
        return Requirement(subject="frr-reload.py")
    return _missing("frr-reload.py", f"is not in {FRR}; deploy needs it", "frr-pythontools")


def _modules() -> Requirement:
    missing = [module for module in MODULES if find_spec(module) is None]
    if not missing:
        return Requirement(subject="Python modules")
    problem = f"{', '.join(map(distribution, missing))} not installed"
    return Requirement(subject="Python modules", problem=problem, remedy=install("lab"))


def _ipv6() -> Requirement:
    """IPv6, because BGP unnumbered uses IPv6 link-local addresses."""
    switch = PROC / "sys/net/ipv6/conf/default/disable_ipv6"
    if switch.exists() and switch.read_text().strip() == "0":
        return Requirement(subject="IPv6")
    remedy = "Set sysctl net.ipv6.conf.default.disable_ipv6=0, or boot without ipv6.disable"
    return Requirement(subject="IPv6", problem="is disabled; BGP unnumbered needs it", remedy=remedy)


def _kernel() -> Requirement:
    """Whether namespaces, veth pairs and bridges can be created; tested in temporary namespaces."""
    if os.geteuid() or not all(map(programs.is_installed, ("unshare", "ip"))):
        return Requirement(
            subject="kernel",
            problem="skipped: an earlier check failed",
            remedy="Solve the problems above first",
            fatal=False,
        )
    command = ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", PROBE]
    try:
        done = programs.run(command, within_s=PROBE_WITHIN_S)
    except LabError as error:
        reason = error.problem
    else:
        if done.returncode == 0:
            return Requirement(subject="kernel")
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    remedy = "In a container, start it with --privileged; the kernel needs namespaces, veth and bridge"
    return Requirement(
        subject="kernel", problem=f"cannot create namespaces, veth pairs or bridges ({reason})", remedy=remedy
    )


def _platforms(plan: LabPlan) -> Requirement:
    others = sorted({model.platform for model in plan.models.values()} - {"frr"})
    if not others:
        return Requirement(subject="platforms")
    remedy = "Use platform frr in the intent, or --backend containerlab"
    return Requirement(
        subject="platforms", problem=f"{', '.join(others)} cannot run in a network namespace", remedy=remedy
    )


def _devices(plan: LabPlan) -> Iterator[Requirement]:
    """Whether the kernel has the kinds of devices of the switches; a lab without VRFs or tagged VLANs lacks a part."""
    if any(model.platform != PLATFORM for model in plan.models.values()) or _kernel().problem:
        return
    used = {device.kind for model in plan.models.values() for device in linux_devices(model)}
    used |= {DeviceKind.BOND} if plan.topology.bonds else set()
    for kind in sorted(used):
        (problem,) = problems({kind}) or ("",)
        if not problem:
            yield Requirement(subject=f"{kind} devices")
            continue
        remedy = "Use a kernel with them, or an intent without" if kind in NEEDED else "Use a kernel with them"
        yield Requirement(subject="kernel", problem=problem, remedy=remedy, fatal=kind in NEEDED)


def _names(plan: LabPlan) -> Requirement:
    try:
        check_names(plan.topology)
    except (LabError, Problems) as error:
        return Requirement(subject=error.where, problem=error.problem, remedy=error.remedy)
    return Requirement(subject="names")


def _neighbour_table(plan: LabPlan) -> Requirement:
    """Size of the kernel's neighbour tables, shared by all namespaces; when one is full, sessions stay down."""
    need = int(2 * len(plan.topology.links) * NEIGHBOURS_PER_LINK_END)
    low = [name for family in ("ipv4", "ipv6") if _threshold(name := f"net.{family}.neigh.default.gc_thresh3") < need]
    if not low:
        return Requirement(subject="neighbour table")
    settings = " ".join(f"{name}={4 * need}" for name in low)
    problem = f"{need} entries are needed, but {low[0]} is {_threshold(low[0])}"
    return Requirement(subject="neighbour table", problem=problem, remedy=f"Run sysctl -w {settings}")


def _threshold(name: str) -> int:
    """A threshold of the initial network namespace; unlimited where it is not visible."""
    path = PROC / "sys" / Path(*name.split("."))
    return int(path.read_text()) if path.exists() else 1 << 30


def _management(plan: LabPlan) -> Requirement:
    if not programs.is_installed("ip"):
        return Requirement(
            subject="management network", problem="skipped: ip is not installed", remedy="Install ip first", fatal=False
        )
    try:
        management([node.name for node in plan.topology.switches()], networks())
    except LabError as error:
        return Requirement(subject=error.where, problem=error.problem, remedy=error.remedy)
    return Requirement(subject="management network")


def _memory(plan: LabPlan) -> Requirement:
    need = SWITCH_MEMORY_MB * len(plan.models)
    lines = (PROC / "meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:"))
    if free >= need:
        return Requirement(subject="memory")
    problem = f"{counted(len(plan.models), 'switch')} need about {need} MB, but {free} MB are free"
    return Requirement(subject="memory", problem=problem, remedy="Use a smaller fabric, or free memory", fatal=False)
