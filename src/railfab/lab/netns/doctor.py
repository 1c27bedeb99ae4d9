"""What the embedded lab needs of the machine, one finding each, with the remedy."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from railfab.errors import LabError, Problems
from railfab.lab.backend import Finding, LabPlan
from railfab.lab.netns.addresses import management
from railfab.lab.netns.kernel import PROC, networks
from railfab.lab.netns.names import check_names
from railfab.lab.netns.node import DAEMONS, FRR

SYSTEM_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
PROGRAMS = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "vtysh": "frr"}
MODULES = ("asyncssh", "grpc", "pygnmi", "cryptography")
PROBE = "ip link add name rf0 type veth peer name rf1 && ip link add name rf2 type bridge"
SWITCH_MEMORY_MB = 80
"""What one switch takes: about 40 MB for FRR and as much for its SSH server."""

NEIGHBOURS_PER_LINK_END = 1.25
"""Room in the kernel's one neighbour table: every link end is an entry, and the garbage collector needs slack."""


def machine() -> tuple[Finding, ...]:
    """What any embedded lab needs."""
    return (_root(), *_programs(), _daemons(), _reload(), _modules(), _ipv6(), _kernel())


def rights() -> tuple[Finding, ...]:
    """What it takes to take a lab down."""
    return (_root(),)


def lab(plan: LabPlan) -> tuple[Finding, ...]:
    """What this lab needs besides."""
    return (_platforms(plan), _names(plan), _neighbour_table(plan), _management(plan), _memory(plan))


def _root() -> Finding:
    if os.geteuid() == 0:
        return Finding(subject="root")
    return Finding(
        subject="root", problem="network namespaces need it, and this is not root", remedy="Run it with sudo"
    )


def _programs() -> Iterator[Finding]:
    for program, package in PROGRAMS.items():
        found = shutil.which(program, path=SYSTEM_PATH) is not None
        yield Finding(subject=program) if found else _missing(program, "is not installed", package)


def _missing(subject: str, problem: str, package: str) -> Finding:
    return Finding(subject=subject, problem=problem, remedy=f"apt-get install {package}")


def _daemons() -> Finding:
    missing = [daemon for daemon in DAEMONS if not (FRR / daemon).exists()]
    return _missing("frr", f"no {', '.join(missing)} in {FRR}", "frr") if missing else Finding(subject="frr")


def _reload() -> Finding:
    if (FRR / "frr-reload.py").exists():
        return Finding(subject="frr-reload.py")
    return _missing("frr-reload.py", f"is not in {FRR}, and deploy needs it", "frr-pythontools")


def _modules() -> Finding:
    missing = [module for module in MODULES if find_spec(module) is None]
    if not missing:
        return Finding(subject="Python modules")
    return Finding(
        subject="Python modules", problem=f"no {', '.join(missing)}", remedy="Install them: pip install 'railfab[lab]'"
    )


def _ipv6() -> Finding:
    """BGP unnumbered speaks over IPv6 link-local addresses."""
    switch = PROC / "sys/net/ipv6/conf/default/disable_ipv6"
    if switch.exists() and switch.read_text().strip() == "0":
        return Finding(subject="IPv6")
    remedy = "Set sysctl net.ipv6.conf.default.disable_ipv6=0, or boot without ipv6.disable"
    return Finding(subject="IPv6", problem="is off, and BGP unnumbered needs it", remedy=remedy)


def _kernel() -> Finding:
    """Whether we may make namespaces, veth pairs and bridges: tried in namespaces that end with the trial."""
    if os.geteuid() or not all(shutil.which(name, path=SYSTEM_PATH) for name in ("unshare", "ip")):
        return Finding(
            subject="kernel", problem="not tried, for want of the above", remedy="Mend the above", fatal=False
        )
    command = ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "sh", "-c", PROBE]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return Finding(subject="kernel")
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    remedy = "In a container, start it with --privileged; the kernel needs namespaces, veth and bridge"
    return Finding(subject="kernel", problem=f"cannot make namespaces, veth pairs or bridges ({reason})", remedy=remedy)


def _platforms(plan: LabPlan) -> Finding:
    others = sorted({model.platform for model in plan.models.values()} - {"frr"})
    if not others:
        return Finding(subject="platforms")
    remedy = "Use platform frr in the intent, or --backend containerlab"
    return Finding(subject="platforms", problem=f"{', '.join(others)} does not run in a namespace", remedy=remedy)


def _names(plan: LabPlan) -> Finding:
    try:
        check_names(plan.topology)
    except (LabError, Problems) as error:
        return Finding(subject=error.where, problem=error.problem, remedy=error.remedy)
    return Finding(subject="names")


def _neighbour_table(plan: LabPlan) -> Finding:
    """All namespaces share the kernel's neighbour tables; when one is full, sessions stay down for ever."""
    need = int(2 * len(plan.topology.links) * NEIGHBOURS_PER_LINK_END)
    low = [name for family in ("ipv4", "ipv6") if _threshold(name := f"net.{family}.neigh.default.gc_thresh3") < need]
    if not low:
        return Finding(subject="neighbour table")
    settings = " ".join(f"{name}={4 * need}" for name in low)
    problem = f"{need} entries are needed, and {low[0]} is {_threshold(low[0])}"
    return Finding(subject="neighbour table", problem=problem, remedy=f"Run sysctl -w {settings}")


def _threshold(name: str) -> int:
    """A threshold of the first network namespace; where it does not show it cannot be checked, and is taken as met."""
    path = PROC / "sys" / Path(*name.split("."))
    return int(path.read_text()) if path.exists() else 1 << 30


def _management(plan: LabPlan) -> Finding:
    if shutil.which("ip", path=SYSTEM_PATH) is None:
        return Finding(subject="management network", problem="not tried without ip", remedy="Mend that", fatal=False)
    try:
        management([node.name for node in plan.topology.switches()], networks())
    except LabError as error:
        return Finding(subject=error.where, problem=error.problem, remedy=error.remedy)
    return Finding(subject="management network")


def _memory(plan: LabPlan) -> Finding:
    need = SWITCH_MEMORY_MB * len(plan.models)
    lines = (PROC / "meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:"))
    if free >= need:
        return Finding(subject="memory")
    problem = f"{len(plan.models)} switches take about {need} MB, and {free} MB are free"
    return Finding(subject="memory", problem=problem, remedy="Use a smaller fabric or free memory", fatal=False)
