"""Installation of an image on SONiC by sonic-installer, and what its answers mean."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from railfab.errors import ImageRefused, UnsupportedFeature
from railfab.platforms.image import Image
from railfab.platforms.shared.root_shell import CommandResult

INSTALL_WITHIN_S, CHECKSUM_WITHIN_S = 2400.0, 300.0
"""Limits of fetching and installing an image, and of reading all of it [s]."""
PREFIX = "SONiC-OS-"
"""Beginning of the names that sonic-installer gives images, before the version."""

Run = Callable[[str, float], CommandResult]
"""Runs a command as root within a time [s]."""


def install(name: str, run: Run, commands: dict[str, str], image: Image) -> None:
    """Check the image, install it, and have the next boot run it. name: of the switch."""
    if image.is_url:
        if image.checksum:
            remedy = "Copy it to the switch, then name the file"
            raise UnsupportedFeature(name, "computes no checksum of an image that sonic-installer fetches", remedy)
    else:
        _check(name, run, commands, image)
    place = shlex.quote(image.place)
    result = run(commands["install"].format(file=place), INSTALL_WITHIN_S)
    if result.status != 0:
        problem = f"does not install {image.file} ({_reason(result)})"
        raise ImageRefused(name, problem, "Check the image, and the space with `df -h /host` on it")
    listed = run(commands["installed"], CHECKSUM_WITHIN_S).out
    following = next((line for line in listed.splitlines() if line.startswith("Next: ")), "")
    if not image.is_of(following.partition(": ")[2].removeprefix(PREFIX)):
        problem = f"boots {following.partition(': ')[2] or 'an unknown image'} next"
        raise ImageRefused(name, problem, "See `sonic-installer list` on it, and correct --version")


def _check(name: str, run: Run, commands: dict[str, str], image: Image) -> None:
    """Check the file: that it is an image of SONiC, of that version, with that checksum."""
    place = shlex.quote(image.place)
    answer = run(commands["image"].format(file=place), CHECKSUM_WITHIN_S)
    if answer.status != 0:
        problem = f"has no image {image.place} ({_reason(answer)})"
        raise ImageRefused(name, problem, "Copy it to the switch, or name the URL from which it can fetch it")
    version = answer.out.strip().removeprefix(PREFIX)
    if not image.is_of(version):
        raise ImageRefused(name, f"has version {version} in {image.place}", "Correct --version, or name another image")
    if not image.checksum:
        return
    computed = run(commands["checksum"].format(algorithm=image.algorithm, file=place), CHECKSUM_WITHIN_S).out.split()
    if computed[:1] != [image.checksum]:
        shown = computed[0] if computed else "not known"
        problem = f"has another {image.place}: its {image.algorithm} is {shown}"
        raise ImageRefused(name, problem, "Copy the image again, or correct the checksum")


def _reason(result: CommandResult) -> str:
    """The last line before `Aborted!`, which says why."""
    lines = [line.strip() for line in result.output().splitlines()]
    reasons = [line for line in lines if line not in ("", "Aborted!", "Aborting...")]
    return reasons[-1].rstrip(".") if reasons else "no reason given"
