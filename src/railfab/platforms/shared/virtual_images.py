"""The software of a virtual switch: image files on its flash, the release that runs, and that of the next boot."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from posixpath import basename
from threading import RLock

FLASH_BYTES = 4 << 30
"""Space for image files and installed images of a switch [bytes]."""


class ImageBoot(StrEnum):
    """Endings of a boot of an image: NEW, its release; OLD, the release before, to which the boot loader returns;
    NEVER, no release: the switch does not come back."""

    NEW = "new"
    OLD = "old"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """An image file. platform: whose software it is. version: as a switch reports it. damaged: not as published."""

    name: str
    platform: str
    version: str
    size_bytes: int = 1 << 30
    boot: ImageBoot = ImageBoot.NEW
    damaged: bool = False

    def checksum(self, algorithm: str) -> str:
        """The checksum of its content, which a virtual image has instead of software."""
        content = f"{self.platform} {self.version}{' damaged' if self.damaged else ''}"
        return hashlib.new(algorithm, content.encode()).hexdigest()


class FlashFull(Exception):
    """An image does not fit on the flash."""


class VirtualImages:
    """The software of one virtual switch; from any thread. release: that runs. next_boot: None for the one that runs.

    Files are found by their names, without a folder. They outlive boots; those at a URL take no space.
    """

    def __init__(self, platform: str, release: str) -> None:
        self.platform = platform
        self.release = release
        self.next_boot: ImageFile | None = None
        self.installed: tuple[ImageFile, ...] = ()
        self._files: dict[str, ImageFile] = {}
        self._remote: dict[str, ImageFile] = {}
        self._lock = RLock()

    def offer(self, place: str, image: ImageFile) -> None:
        """Put an image on the flash, or at a URL. Raises FlashFull."""
        with self._lock:
            if "://" in place:
                self._remote[place] = image
                return
            self._require_space(image, in_place_of=image.name)
            self._files[image.name] = image

    def files(self) -> tuple[ImageFile, ...]:
        """The image files, by name."""
        with self._lock:
            return tuple(self._files[name] for name in sorted(self._files))

    def file(self, path: str) -> ImageFile | None:
        return self._files.get(basename(path))

    def remote(self, url: str) -> ImageFile | None:
        return self._remote.get(url)

    def fetch(self, url: str) -> ImageFile | None:
        """Copy an image from a URL to the flash; None where nothing is there. Raises FlashFull."""
        image = self._remote.get(url)
        if image is not None:
            self.offer(image.name, image)
        return image

    def unpack(self, image: ImageFile) -> None:
        """Install an image beside those that are there. Raises FlashFull."""
        with self._lock:
            if image not in self.installed:
                self._require_space(image)
                self.installed = (*self.installed, image)

    @property
    def free_bytes(self) -> int:
        with self._lock:
            used = sum(image.size_bytes for image in (*self._files.values(), *self.installed))
            return FLASH_BYTES - used

    def boot(self) -> bool:
        """Boot what is next; whether the switch comes up. Where it does not, the next boot is that of before."""
        image, self.next_boot = self.next_boot, None
        if image is not None and image.boot is ImageBoot.NEW:
            self.release = image.version
        return image is None or image.boot is not ImageBoot.NEVER

    def _require_space(self, image: ImageFile, in_place_of: str = "") -> None:
        former = self._files.get(in_place_of)
        freed = former.size_bytes if former is not None else 0
        if image.size_bytes > self.free_bytes + freed:
            raise FlashFull(image.name)
