"""`install all` of a virtual switch with NX-OS, and the image files on its `bootflash:`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from railfab.platforms.nxos.bootflash import file_name
from railfab.platforms.nxos.running_text import twin_grammar
from railfab.platforms.shared.virtual_cli import CliRefusal

if TYPE_CHECKING:
    from railfab.platforms.shared.virtual_images import ImageFile
    from railfab.platforms.twin_face import VirtualDevice

ALGORITHMS = ("md5sum", "sha256sum", "sha512sum")
_BOOT = re.compile(r"^boot nxos \S+$", re.MULTILINE)
_VERSION = re.compile(r"^version \S+", re.MULTILINE)


class NxosInstaller:
    """The images of one switch."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device

    def checksum(self, place: str, algorithm: str) -> str:
        """`show file FILE md5sum`. Raises CliRefusal."""
        if algorithm not in ALGORITHMS:
            raise CliRefusal(_texts()["range"].format(caret="^"))
        return self._image(place).checksum(algorithm.removesuffix("sum"))

    def check(self, place: str) -> str:
        """Answer as `install all` before its question. Raises CliRefusal for an image that it does not take."""
        image = self._image(place)
        if image.platform != self._device.images.platform or image.damaged:
            raise CliRefusal(_texts()["precheck_failed"].format(file=image.name))
        return _texts()["prechecked"].format(file=image.name, former=self._device.images.release, version=image.version)

    def install(self, place: str, *, reloads: bool) -> str:
        """Make an image that of the next boot, and save; `reloads`: restart with it."""
        image = self._image(place)
        self._device.images.next_boot = image
        self._device.replace(_BOOT.sub(f"boot nxos bootflash:/{image.name}", self._device.running()))
        self._device.save()
        if reloads:
            self._device.restart()
        return _texts()["installed_and_reloads" if reloads else "installed"]

    def _image(self, place: str) -> ImageFile:
        image = self._device.images.file(file_name(place))
        if image is None:
            raise CliRefusal(_texts()["absent"])
        return image


def booted(startup: str, release: str) -> str:
    """A startup configuration with the release that boots it."""
    return _VERSION.sub(f"version {release}", startup)


def _texts() -> dict[str, str]:
    texts: dict[str, str] = twin_grammar()["texts"]
    return texts
