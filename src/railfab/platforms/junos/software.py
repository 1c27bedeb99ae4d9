"""The software of a virtual Junos switch: images in /var/tmp, and the one that is added for the next reboot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.shared.virtual_images import FlashFull, ImageFile

if TYPE_CHECKING:
    from railfab.platforms.twin_face import VirtualDevice

ALGORITHMS = {"md5": ("md5", "MD5"), "sha1": ("sha1", "SHA1"), "sha-256": ("sha256", "SHA256")}
"""Algorithm, and its name in an answer, by the word of `file checksum`."""


def checksum(device: VirtualDevice, algorithm: str, path: str) -> str:
    """`file checksum ALGORITHM PATH`. Raises CliRefusal."""
    if algorithm not in ALGORITHMS:
        raise CliRefusal("syntax error.")
    name, shown = ALGORITHMS[algorithm]
    image = device.images.file(path)
    if image is None:
        raise CliRefusal(f"error: stat: {path}: No such file or directory")
    return f"{shown} ({path}) = {image.checksum(name)}"


def add(device: VirtualDevice, path: str) -> str:
    """`request system software add PATH`. Raises CliRefusal; then the next boot is that of before."""
    image = _image(device, path)
    if image is None:
        raise CliRefusal(f"error: cannot stat {path}: No such file or directory")
    if image.platform != device.images.platform or image.damaged:
        raise CliRefusal(f"ERROR: {path}: package signature verification failed")
    try:
        device.images.unpack(image)
    except FlashFull:
        raise CliRefusal(f"ERROR: not enough space to unpack {path}") from None
    device.images.next_boot = image
    return f"Verified {image.name}\nJunos version '{image.version}' will become active at next reboot"


def _image(device: VirtualDevice, path: str) -> ImageFile | None:
    return device.images.remote(path) if "://" in path else device.images.file(path)
