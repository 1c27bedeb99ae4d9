"""sonic-installer of a virtual SONiC switch. Texts: sonic-utilities, sonic_installer/main.py."""

from __future__ import annotations

from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.virtual_images import FlashFull, ImageFile
from railfab.platforms.sonic.shell_login import SonicLogin

PREFIX = "SONiC-OS-"
INVALID = "Image file does not exist or is not a valid SONiC image file"


class SonicInstaller(SonicLogin):
    """Commands about images."""

    def binary_version(self, file: str) -> str:
        return f"{PREFIX}{self._image(file).version}"

    def list_images(self) -> str:
        images = self.device.images
        current = f"{PREFIX}{images.release}"
        following = current if images.next_boot is None else f"{PREFIX}{images.next_boot.version}"
        names = dict.fromkeys([current, *(f"{PREFIX}{image.version}" for image in images.installed)])
        return "\n".join([f"Current: {current}", f"Next: {following}", "Available: ", *names])

    def install_image(self, file: str) -> str:
        image = self._image(file)
        named = f"{PREFIX}{image.version}"
        if image in self.device.images.installed:
            self.device.images.next_boot = image
            return f"Image {named} is already installed. Setting it as default...\nDone"
        begun = f"Installing image {named} and setting it as default..."
        try:
            self.device.images.unpack(image)
        except FlashFull:
            failed = f"Image install failed with exception: 1\nDelete partial installed image: {named}"
            raise CommandFailed(f"{begun}\ntar: write error: No space left on device\n{failed}") from None
        self.device.images.next_boot = image
        return f"{begun}\nCommand: bash ./{image.name}\nInstalled SONiC base image SONiC-OS successfully\nDone"

    def _image(self, place: str) -> ImageFile:
        """An image of SONiC, on the switch or at a URL. Raises CommandFailed."""
        images = self.device.images
        image = images.remote(place) if "://" in place else images.file(place)
        if image is None or image.platform != images.platform or image.damaged:
            problem = "Download error" if image is None and "://" in place else INVALID
            raise CommandFailed(f"{problem}\nAborted!")
        return image
