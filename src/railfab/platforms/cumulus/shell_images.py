"""Images of a virtual Cumulus Linux switch: `nv action` on its two partitions."""

from __future__ import annotations

from railfab.platforms.cumulus.shell_login import CumulusLogin
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.virtual_images import FlashFull, ImageFile

FOLDER = "/var/images"


class CumulusImages(CumulusLogin):
    """Actions on images. NVIDIA publishes the commands, and not what they print."""

    def fetch_image(self, url: str) -> str:
        try:
            image = self.device.images.fetch(url)
        except FlashFull:
            raise CommandFailed("Error: Action failed: no space left on device") from None
        if image is None:
            raise CommandFailed(f"Error: Action failed: cannot fetch {url}")
        return f"Action succeeded: fetched {image.name}"

    def install_image(self, file: str) -> str:
        image = self._image(file)
        if image.platform != self.device.images.platform or image.damaged:
            raise CommandFailed(f"Error: Action failed: {file} is no image of this switch")
        try:
            self.device.images.unpack(image)
        except FlashFull:
            raise CommandFailed("Error: Action failed: no space left on device") from None
        return f"Action succeeded: installed {image.name}"

    def boot_other(self) -> str:
        """Boot the image that was installed last; the switch has two partitions."""
        installed = self.device.images.installed
        if not installed:
            raise CommandFailed("Error: Action failed: the other partition has no image")
        self.device.images.next_boot = installed[-1]
        return "Action succeeded"

    def _image(self, file: str) -> ImageFile:
        image = self.device.images.file(file)
        if image is None:
            raise CommandFailed(f"Error: Action failed: no file {FOLDER}/{file}")
        return image
