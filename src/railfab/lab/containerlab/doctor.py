"""What labs of containers need of the machine, one finding each, with the remedy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from railfab.lab.backend import Finding, LabPlan
from railfab.lab.containerlab.binary import ENVIRONMENT, INSTALL, PROGRAM, Containerlab
from railfab.lab.containerlab.generate import lab_files
from railfab.lab.containerlab.lifecycle import answers_itself
from railfab.lab.containerlab.settings import FILE, load_settings
from railfab.lab.netns.kernel import PROC
from railfab.platforms import platform

OLDEST = (0, 60)
"""The first version whose `inspect` groups by lab."""

CAPABILITIES = {"NET_ADMIN": 12, "NET_RAW": 13, "SYS_ADMIN": 21}
"""Bits of what an unprivileged FRR container is given (Linux, include/uapi/linux/capability.h)."""

ALL_CAPABILITIES = "cap_last_cap"
ASK_WITHIN_S = 20.0
DOCKER = "docker"


def machine(binary: Containerlab, proc: Path = PROC) -> tuple[Finding, ...]:
    """What any such lab needs. proc: where the kernel says what it has."""
    return (*_binary(binary), _daemon(binary), _modules(proc), _capabilities(proc), _netem())


def lab(binary: Containerlab, plan: LabPlan) -> tuple[Finding, ...]:
    """What this lab needs besides."""
    return (_rights(plan), *_images(binary, plan))


def _binary(binary: Containerlab) -> Iterator[Finding]:
    if not binary.installed():
        yield Finding(subject=PROGRAM, problem="is not installed", remedy=INSTALL)
        return
    version = binary.version()
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        yield Finding(subject=PROGRAM, problem=f"version {version} is too old", remedy=f"Install {oldest} or newer")
        return
    yield Finding(subject=f"{PROGRAM} {version}")


def _daemon(binary: Containerlab) -> Finding:
    """Asked of containerlab itself, which is what has to reach it."""
    if not binary.installed():
        return _untried("Docker", "containerlab")
    done = _ask(binary, binary.program, "inspect", "--all", "--format", "json")
    if done is not None and done.returncode == 0:
        return Finding(subject="Docker")
    remedy = "Start the Docker daemon, or set DOCKER_HOST to where it listens"
    return Finding(subject="Docker", problem="containerlab reaches no daemon", remedy=remedy)


def _modules(proc: Path) -> Finding:
    if (proc / "modules").exists():
        return Finding(subject="/proc/modules")
    remedy = "Use a kernel with module support; containerlab reads it at every deploy"
    return Finding(subject="/proc/modules", problem="is not there", remedy=remedy)


def _capabilities(proc: Path) -> Finding:
    """What this machine withholds from root no container gets either."""
    status = (proc / "self/status").read_text()
    found = re.search(r"^CapBnd:\s*([0-9a-f]+)$", status, re.MULTILINE)
    bounding = int(found[1], 16) if found else 0
    needed = [name for name, bit in CAPABILITIES.items() if not bounding >> bit & 1]
    if needed:
        remedy = "Run on a machine, or in a container, that has it"
        return Finding(subject="capabilities", problem=f"{', '.join(needed)} withheld", remedy=remedy)
    last = int((proc / "sys/kernel" / ALL_CAPABILITIES).read_text())
    withheld = [str(bit) for bit in range(last + 1) if not bounding >> bit & 1]
    if withheld:
        problem = f"number {', '.join(withheld)} is withheld, so privileged containers do not start"
        remedy = f"Write `privileged: false` into {FILE} beside the intent; FRR's containers are unprivileged already"
        return Finding(subject="capabilities", problem=problem, remedy=remedy, fatal=False)
    return Finding(subject="capabilities")


def _netem() -> Finding:
    """Only `containerlab tools netem` needs it."""
    if Path("/sys/module/sch_netem").exists() or _module_file("sch_netem"):
        return Finding(subject="sch_netem")
    problem = "is not in this kernel, so links cannot be impaired"
    return Finding(subject="sch_netem", problem=problem, remedy="Use a kernel with it, or do without", fatal=False)


def _module_file(name: str) -> bool:
    folder = Path("/lib/modules") / os.uname().release
    return folder.is_dir() and any(folder.rglob(f"{name}.ko*"))


def _rights(plan: LabPlan) -> Finding:
    """Entering a container from its host takes root; a switch with servers of its own is reached as it is."""
    needs = sorted({m.platform for m in plan.models.values() if not answers_itself(platform(m.platform).lab)})
    if not needs or os.geteuid() == 0:
        return Finding(subject="rights")
    problem = f"SSH and gNMI for {', '.join(needs)} are served from the host, which takes root"
    return Finding(subject="rights", problem=problem, remedy="Run it with sudo")


def _images(binary: Containerlab, plan: LabPlan) -> Iterator[Finding]:
    """Whether each image is here; one that is not will be pulled, unless the settings say never."""
    settings = load_settings(plan.place.folder)
    groups = lab_files(plan, settings).topology.groups.values()
    for image in sorted({str(group.image) for group in groups}):
        yield _image(binary, image, never=settings.image_pull_policy == "Never")


def _image(binary: Containerlab, image: str, *, never: bool) -> Finding:
    subject = f"image {image}"
    docker = shutil.which(DOCKER, path=binary.environment.get("PATH"))
    if docker is None:
        return _untried(subject, "the docker command")
    done = _ask(binary, docker, "image", "inspect", image)
    if done is not None and done.returncode == 0:
        return Finding(subject=subject)
    if never:
        return Finding(
            subject=subject, problem="is not here and may not be pulled", remedy=f"Import it, or mend {FILE}"
        )
    return Finding(
        subject=subject, problem="is not here", remedy=f"It will be pulled: docker pull {image}", fatal=False
    )


def _ask(binary: Containerlab, *command: str) -> subprocess.CompletedProcess[str] | None:
    """What a program answers; None when it does not in time."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_WITHIN_S,
            env=os.environ | ENVIRONMENT | dict(binary.environment),
        )
    except subprocess.TimeoutExpired:
        return None


def _untried(subject: str, wanted: str) -> Finding:
    return Finding(subject=subject, problem=f"not tried without {wanted}", remedy="Mend that first", fatal=False)
