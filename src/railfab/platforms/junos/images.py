"""Installation of an image on Junos: `request system software add`, without its reboot."""

from __future__ import annotations

import re
from collections.abc import Mapping

from railfab.errors import DeviceError, ImageRefused, Unreachable, UnsupportedFeature
from railfab.platforms.image import Image
from railfab.platforms.shared.cli_connection import CliConnection

INSTALL_WITHIN_S, CHECKSUM_WITHIN_S = 2400.0, 300.0
"""Limits of an installation, and of reading all of an image [s]."""
FOLDER = "/var/tmp/"
ALGORITHMS = {"md5": "md5", "sha256": "sha-256"}
"""Words of `file checksum` for an algorithm."""
FAILED = re.compile(r"(?i)^(?:\S+: )?error[: ].*", re.MULTILINE)


class JunosImages:
    """The images of one switch, over its CLI. name: of the switch. verbs: of the dialect."""

    def __init__(self, name: str, cli: CliConnection, verbs: Mapping[str, str]) -> None:
        self._name = name
        self._cli = cli
        self._verbs = verbs

    def install(self, image: Image) -> None:
        """Check the file, and add it; a URL is fetched by the switch itself, and checked by it alone."""
        path = image.place if image.is_url or image.place.startswith("/") else FOLDER + image.file
        if image.is_url and image.checksum:
            remedy = f"Copy it with `file copy URL {FOLDER}` on it, then name the file"
            raise UnsupportedFeature(self._name, "computes no checksum of what it fetches itself", remedy)
        if not image.is_url:
            self._check(path, image)
        said = self._said("install", within_s=INSTALL_WITHIN_S, path=path)
        if failed := FAILED.search(said):
            problem = f"does not install {image.file} ({failed[0].strip()})"
            raise ImageRefused(self._name, problem, "Check the image, and the space with `show system storage`")

    def _check(self, path: str, image: Image) -> None:
        """Check by its checksum, stated or not, that the file is there."""
        algorithm = ALGORITHMS.get(image.algorithm or "sha256")
        if algorithm is None:
            remedy = "State its MD5 or SHA-256, which Juniper publishes"
            raise UnsupportedFeature(self._name, f"computes no {image.algorithm} of a file", remedy)
        said = self._said("checksum", within_s=CHECKSUM_WITHIN_S, algorithm=algorithm, path=path)
        if "No such file" in said:
            problem = f"has no file {path}"
            raise ImageRefused(self._name, problem, "Copy it there, or name the URL from which the switch can fetch it")
        computed = said.split()[-1].lower() if said.split() else "not known"
        if image.checksum and image.checksum != computed:
            problem = f"has another {path}: its {image.algorithm} is {computed}"
            raise ImageRefused(self._name, problem, "Copy the image again, or correct the checksum")

    def _said(self, verb: str, *, within_s: float, **values: str) -> str:
        """The output of a command, also where it is an error text. Raises DeviceError for an unknown command."""
        try:
            return self._cli.run(self._verbs[verb].format(**values), within_s=within_s)
        except Unreachable:
            raise
        except DeviceError:
            return self._cli.last_output
