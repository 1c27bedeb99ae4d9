"""Installation of an image on Cumulus Linux: `nv action` on the partition that does not run."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from railfab.errors import ImageRefused
from railfab.platforms.image import Image
from railfab.platforms.shared.root_shell import CommandResult

INSTALL_WITHIN_S, CHECKSUM_WITHIN_S = 2400.0, 300.0
"""Limits of fetching or installing an image, and of reading all of it [s]."""
FOLDER = "/var/images"
"""Folder in which NVUE keeps images (Cumulus Linux 5.15, Upgrade)."""

Run = Callable[[str, float], CommandResult]
"""Runs a command as root within a time [s]."""


def install(name: str, run: Run, commands: dict[str, str], image: Image) -> None:
    """Fetch the image where it is a URL, check it, install it, and have the next boot run it. name: of the switch."""
    path = shlex.quote(f"{FOLDER}/{image.file}")
    if image.is_url:
        _succeed(name, image, run(commands["fetch"].format(url=shlex.quote(image.place)), INSTALL_WITHIN_S))
    elif run(f"test -f {path}", CHECKSUM_WITHIN_S).status != 0:
        problem = f"has no file {FOLDER}/{image.file}"
        raise ImageRefused(name, problem, "Copy it there, or name the URL from which the switch can fetch it")
    if image.checksum:
        computed = run(commands["checksum"].format(algorithm=image.algorithm, file=path), CHECKSUM_WITHIN_S).out.split()
        if computed[:1] != [image.checksum]:
            problem = f"has another {image.file}: its {image.algorithm} is {computed[0] if computed else 'not known'}"
            raise ImageRefused(name, problem, "Copy the image again, or correct the checksum")
    for verb in ("install", "next_boot"):
        command = commands[verb].format(file=shlex.quote(image.file))
        _succeed(name, image, run(command, INSTALL_WITHIN_S))


def _succeed(name: str, image: Image, result: CommandResult) -> None:
    """Raise ImageRefused for an action that failed: its status is not 0, or it says so."""
    lines = [line.strip() for line in result.output().splitlines() if line.strip()]
    failed = next((line for line in lines if line.startswith(("Error:", "Action failed"))), "")
    if result.status != 0 or failed:
        why = failed or (lines[-1] if lines else "no reason given")
        remedy = "See `nv show system image` on it, and the space with `df -h`"
        raise ImageRefused(name, f"does not install {image.file} ({why})", remedy)
