"""Installation of an image on EOS: its file on the flash, and the entry of boot-config that names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from railfab.errors import DeviceError, ImageRefused, Unreachable, UnsupportedFeature
from railfab.platforms.image import Image
from railfab.platforms.shared.cli_connection import CliConnection

FETCH_WITHIN_S, CHECKSUM_WITHIN_S = 1800.0, 300.0
"""Limits of fetching an image, and of reading all of it [s]."""
SUFFIX = ".swi"
ALGORITHMS = ("md5", "sha512")
"""Checksums that `verify` computes (EOS User Manual)."""


class EosImages:
    """The images of one switch, over its CLI. name: of the switch. verbs: of the dialect."""

    def __init__(self, name: str, cli: CliConnection, verbs: Mapping[str, str]) -> None:
        self._name = name
        self._cli = cli
        self._verbs = verbs

    def install(self, image: Image) -> None:
        """Fetch the image where it is a URL, check it, and have the next boot run it."""
        self._check_name(image)
        if not image.is_url:
            self._require_file(image.file)
        else:
            url = self._verbs["fetch"].format(url=image.place, file=image.file)
            self._refusing(lambda: self._cli.run(url, within_s=FETCH_WITHIN_S))
        self._check_checksum(image)
        boot = self._verbs["boot"].format(file=image.file)
        self._refusing(lambda: self._cli.type_lines(("configure terminal", boot, "end")))
        if image.file not in self._cli.run(self._verbs["boots"]):
            raise ImageRefused(self._name, f"does not boot {image.file} next", "See `show boot-config` on it")

    def _check_name(self, image: Image) -> None:
        if not image.file.endswith(SUFFIX):
            problem = f"cannot boot {image.file}, since names of EOS images end in {SUFFIX}"
            raise ImageRefused(self._name, problem, "Name an image of EOS")
        if image.checksum and image.algorithm not in ALGORITHMS:
            problem = f"computes no {image.algorithm} of a file"
            raise UnsupportedFeature(self._name, problem, "State its MD5 or SHA-512, which Arista publishes")

    def _require_file(self, file: str) -> None:
        listed = {line.split()[-1] for line in self._cli.run(self._verbs["flash"]).splitlines() if line.split()}
        if file not in listed:
            problem = f"has no file {file} on its flash"
            raise ImageRefused(self._name, problem, "Copy it there, or name the URL from which the switch can fetch it")

    def _check_checksum(self, image: Image) -> None:
        if not image.checksum:
            return
        command = self._verbs["checksum"].format(algorithm=image.algorithm, file=image.file)
        said = self._cli.run(command, within_s=CHECKSUM_WITHIN_S).split()
        if not said or said[-1].lower() != image.checksum:
            problem = f"has another {image.file}: its {image.algorithm} is {said[-1] if said else 'not known'}"
            raise ImageRefused(self._name, problem, "Copy the image again, or correct the checksum")

    def _refusing(self, act: Callable[[], object]) -> None:
        """Run commands that the switch may refuse. Raises ImageRefused."""
        try:
            act()
        except Unreachable:
            raise
        except DeviceError as error:
            remedy = "Check the URL, and the space on its flash with `dir flash:`"
            raise ImageRefused(self._name, error.problem, remedy) from None
