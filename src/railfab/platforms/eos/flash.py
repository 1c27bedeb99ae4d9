"""The flash of a virtual switch with EOS: its image files, and the one that boots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.shared.virtual_images import FLASH_BYTES, FlashFull, ImageFile

if TYPE_CHECKING:
    from railfab.platforms.twin_face import VirtualDevice

FLASH = "flash:"
ALGORITHMS = ("md5", "sha512")
"""Algorithms of `verify` (EOS User Manual)."""


class _Spoken(Protocol):
    device: VirtualDevice

    def text(self, name: str, **values: object) -> str: ...


class EosFlash:
    """Commands about image files; EosCli derives from it."""

    def list_flash(self: _Spoken) -> str:
        images = self.device.images
        rows = [f"       -rwx  {image.size_bytes:>12}           Jan  1 00:00  {image.name}" for image in images.files()]
        total = f"{FLASH_BYTES} bytes total ({images.free_bytes} bytes free)"
        return "\n".join(["Directory of flash:/", "", *rows, "", total])

    def fetch_image(self: _Spoken, url: str, place: str) -> str:
        """Copy an image from a URL; the name on the flash is that in the URL."""
        if not place.startswith(FLASH):
            raise CliRefusal(self.text("unknown"))
        try:
            image = self.device.images.fetch(url)
        except FlashFull:
            raise CliRefusal(self.text("no_space", place=url)) from None
        if image is None:
            raise CliRefusal(self.text("no_url", place=url))
        return self.text("copied")

    def verify_image(self: _Spoken, algorithm: str, place: str) -> str:
        name = algorithm.removeprefix("/")
        if f"/{name}" != algorithm or name not in ALGORITHMS:
            raise CliRefusal(self.text("unknown"))
        image = _image(self, place)
        return self.text("checksum", algorithm=name, file=image.name, checksum=image.checksum(name))

    def boot_image(self: _Spoken, place: str) -> str:
        self.device.images.next_boot = _image(self, place)
        return ""

    def show_boot(self: _Spoken) -> str:
        booted = self.device.images.next_boot
        name = "EOS.swi" if booted is None else booted.name
        return f"Software image: flash:/{name}\nConsole speed: (not set)\nAboot password (encrypted): (not set)"


def _image(cli: _Spoken, place: str) -> ImageFile:
    """A file of the flash. Raises CliRefusal."""
    image = cli.device.images.file(place.removeprefix(FLASH)) if place.startswith(FLASH) else None
    if image is None:
        raise CliRefusal(cli.text("no_file", place=place))
    return image
