"""Installation of an image on NX-OS: `install all` without its reload."""

from __future__ import annotations

import re
from collections.abc import Mapping

from railfab.errors import DeviceError, ImageRefused, Unreachable, UnsupportedFeature
from railfab.platforms.image import Image
from railfab.platforms.shared.cli_connection import CliConnection

INSTALL_WITHIN_S, CHECKSUM_WITHIN_S = 1800.0, 300.0
"""Limits of an installation, and of reading all of an image [s]."""
FAILED = re.compile(r"(?i)pre-upgrade check failed|install has failed|return code")


class NxosImages:
    """The images of one switch, over its CLI. name: of the switch. verbs: of the dialect."""

    def __init__(self, name: str, cli: CliConnection, verbs: Mapping[str, str]) -> None:
        self._name = name
        self._cli = cli
        self._verbs = verbs

    def install(self, image: Image) -> None:
        """Check the file and have `install all` make it that of the next boot; it checks the image first."""
        if image.is_url:
            remedy = "Copy it with `copy URL bootflash: vrf management` on it, then name the file"
            raise UnsupportedFeature(self._name, "railfab has no switch with NX-OS fetch an image", remedy)
        if not self._has(image.file):
            problem = f"has no file {image.file} on its bootflash"
            raise ImageRefused(self._name, problem, "Copy it with `copy URL bootflash: vrf management` on it")
        if image.checksum:
            said = self._said("checksum", image, within_s=CHECKSUM_WITHIN_S, algorithm=image.algorithm).split()
            if image.checksum not in said:
                problem = f"has another {image.file}: its {image.algorithm} is {said[-1] if said else 'not known'}"
                raise ImageRefused(self._name, problem, "Copy the image again, or correct the checksum")
        said_all = self._said("install", image, within_s=INSTALL_WITHIN_S)
        if (failed := next((line for line in said_all.splitlines() if FAILED.search(line)), None)) is not None:
            remedy = "See `show install all failure-reason` on it, and name an image of this model"
            raise ImageRefused(self._name, f"does not install {image.file} ({failed.strip()})", remedy)
        if image.file not in self._said("boots", image):
            problem = f"does not boot {image.file} next ({_last(said_all)})"
            raise ImageRefused(self._name, problem, "See `show install all status` on it")

    def _has(self, file: str) -> bool:
        try:
            listed = self._cli.run(self._verbs["image"].format(file=file))
        except Unreachable:
            raise
        except DeviceError:
            return False
        return file in listed.split()

    def _said(self, verb: str, image: Image, *, within_s: float = CHECKSUM_WITHIN_S, algorithm: str = "") -> str:
        """The output of a command, also where it is an error text."""
        command = self._verbs[verb].format(file=image.file, algorithm=algorithm)
        return self._cli.run(command, within_s=within_s, checked=False)


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "no answer"
