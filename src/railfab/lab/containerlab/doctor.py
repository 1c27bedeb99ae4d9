"""Requirements of labs of containers on the machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from railfab.lab.containerlab.binary import INSTALL, OLDEST, PROGRAM, UPGRADE, Containerlab
from railfab.lab.containerlab.generate import lab_files
from railfab.lab.containerlab.lifecycle import has_own_servers
from railfab.lab.containerlab.settings import FILE, load_settings
from railfab.lab.contract import LabPlan, Requirement
from railfab.lab.netns.processes import PROC
from railfab.platforms import platform

CAPABILITIES = {"NET_ADMIN": 12, "NET_RAW": 13, "SYS_ADMIN": 21}
"""Capabilities of an unprivileged FRR container, and their bits (Linux, include/uapi/linux/capability.h)."""

ALL_CAPABILITIES = "cap_last_cap"
ASK_WITHIN_S = 20.0
DOCKER = "docker"


def machine(binary: Containerlab, proc: Path = PROC) -> tuple[Requirement, ...]:
    """Requirements of any lab of containers. proc: mount point of procfs."""
    return (*_binary(binary), _daemon(binary), _modules(proc), _capabilities(proc), _netem())


def lab(binary: Containerlab, plan: LabPlan) -> tuple[Requirement, ...]:
    """Further requirements of this lab."""
    return (_rights(plan), *_images(binary, plan))


def _binary(binary: Containerlab) -> Iterator[Requirement]:
    if not binary.installed():
        yield Requirement(subject=PROGRAM, problem="is not installed", remedy=INSTALL)
        return
    version = binary.version()
    if is_too_old(version):
        yield Requirement(subject=PROGRAM, problem=f"version {version} is too old", remedy=UPGRADE)
        return
    yield Requirement(subject=f"{PROGRAM} {version}")


def is_too_old(version: str) -> bool:
    """Whether a release lacks what a lab needs; a development build (`0.0.0-dev`, `0.79.1-next`) does not."""
    numbers, _, suffix = version.partition("-")
    return not suffix and tuple(int(part) for part in re.findall(r"\d+", numbers)[:2]) < OLDEST


def _daemon(binary: Containerlab) -> Requirement:
    """Whether containerlab reaches the Docker daemon."""
    if not binary.installed():
        return _skipped("Docker", "containerlab")
    done = _ask(binary, binary.program, "inspect", "--all", "--format", "json")
    if done is not None and done.returncode == 0:
        return Requirement(subject="Docker")
    remedy = "Start the Docker daemon, or set DOCKER_HOST to its address"
    return Requirement(subject="Docker", problem="containerlab cannot connect to the daemon", remedy=remedy)


def _modules(proc: Path) -> Requirement:
    if (proc / "modules").exists():
        return Requirement(subject="/proc/modules")
    remedy = "Use a kernel with module support; containerlab reads it at every deploy"
    return Requirement(subject="/proc/modules", problem="does not exist", remedy=remedy)


def _capabilities(proc: Path) -> Requirement:
    """Capabilities of root on this machine; containers cannot have more."""
    status = (proc / "self/status").read_text()
    found = re.search(r"^CapBnd:\s*([0-9a-f]+)$", status, re.MULTILINE)
    bounding = int(found[1], 16) if found else 0
    needed = [name for name, bit in CAPABILITIES.items() if not bounding >> bit & 1]
    if needed:
        remedy = "Use a machine or a container with this capability"
        return Requirement(subject="capabilities", problem=f"{', '.join(needed)} not available", remedy=remedy)
    last = int((proc / "sys/kernel" / ALL_CAPABILITIES).read_text())
    withheld = [str(bit) for bit in range(last + 1) if not bounding >> bit & 1]
    if withheld:
        problem = f"number {', '.join(withheld)} is not available, so privileged containers cannot start"
        remedy = f"Set `privileged: false` in {FILE} beside the intent; FRR containers are unprivileged already"
        return Requirement(subject="capabilities", problem=problem, remedy=remedy, fatal=False)
    return Requirement(subject="capabilities")


def _netem() -> Requirement:
    """The kernel module for `containerlab tools netem`; nothing else needs it."""
    if Path("/sys/module/sch_netem").exists() or _module_file("sch_netem"):
        return Requirement(subject="sch_netem")
    problem = "is not in this kernel, so `containerlab tools netem` does not work"
    return Requirement(
        subject="sch_netem", problem=problem, remedy="Use a kernel with this module if you need it", fatal=False
    )


def _module_file(name: str) -> bool:
    folder = Path("/lib/modules") / os.uname().release
    return folder.is_dir() and any(folder.rglob(f"{name}.ko*"))


def _rights(plan: LabPlan) -> Requirement:
    """Root, which the gateway needs to enter containers; not needed for switches with their own servers."""
    needs = sorted({m.platform for m in plan.models.values() if not has_own_servers(platform(m.platform).lab)})
    if not needs or os.geteuid() == 0:
        return Requirement(subject="rights")
    problem = f"SSH and gNMI of {', '.join(needs)} are served from the host, which needs root"
    return Requirement(subject="rights", problem=problem, remedy="Run the command with sudo")


def _images(binary: Containerlab, plan: LabPlan) -> Iterator[Requirement]:
    """Whether each image is here; one that is not will be pulled, unless the settings say never."""
    settings = load_settings(plan.place.folder)
    groups = lab_files(plan, settings).topology.groups.values()
    for image in sorted({str(group.image) for group in groups}):
        yield _image(binary, image, never=settings.image_pull_policy == "Never")


def _image(binary: Containerlab, image: str, *, never: bool) -> Requirement:
    subject = f"image {image}"
    docker = shutil.which(DOCKER, path=binary.variables()["PATH"])
    if docker is None:
        return _skipped(subject, "the docker command")
    done = _ask(binary, docker, "image", "inspect", image)
    if done is not None and done.returncode == 0:
        return Requirement(subject=subject)
    if never:
        return Requirement(
            subject=subject, problem="is missing and image_pull_policy is Never", remedy=f"Load it, or correct {FILE}"
        )
    return Requirement(
        subject=subject,
        problem="is missing and will be pulled",
        remedy=f"Run docker pull {image} to do it now",
        fatal=False,
    )


def _ask(binary: Containerlab, *command: str) -> subprocess.CompletedProcess[str] | None:
    """Result of a command; None after a timeout."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_WITHIN_S,
            env=binary.variables(),
        )
    except subprocess.TimeoutExpired:
        return None


def _skipped(subject: str, wanted: str) -> Requirement:
    return Requirement(
        subject=subject, problem=f"skipped: {wanted} is not installed", remedy="Install it first", fatal=False
    )
