"""Programs of the operating system: found also when PATH is empty, and each with a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from railfab.errors import LabError

SYSTEM_FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Folders that are searched after those of PATH, which without a login may be empty or lack the programs of root."""

PACKAGES = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "vtysh": "frr"}
"""Debian package of each program that the embedded lab runs."""

WITHIN_S = 120.0
"""Time limit of a program [s]; the links of 72 switches take one or two."""


def search_path() -> str:
    """PATH of the programs that a lab runs."""
    return ":".join(filter(None, (os.environ.get("PATH"), SYSTEM_FOLDERS)))


def is_installed(program: str) -> bool:
    return shutil.which(program, path=search_path()) is not None


def environment(**variables: str) -> dict[str, str]:
    """Environment of the programs that a lab runs."""
    return os.environ | {"PATH": search_path()} | variables


def run(words: Sequence[str], *, stdin: str = "", within_s: float = WITHIN_S) -> subprocess.CompletedProcess[str]:
    """Run a program and return its output. Raises LabError when it is not installed, or does not end in time."""
    program = words[0]
    found = shutil.which(program, path=search_path())
    if found is None:
        raise LabError(program, "is not installed", install_remedy(PACKAGES.get(program, program)))
    try:
        return subprocess.run(
            [found, *words[1:]],
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=within_s,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        problem = f"has not ended after {within_s:.0f} s"
        raise LabError(" ".join(words[:3]), problem, "Run `railfab lab doctor`") from None


def install_remedy(package: str) -> str:
    """Command that installs a Debian package."""
    return f"apt-get install {package}"
