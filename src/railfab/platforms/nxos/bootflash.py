"""The files of a virtual switch on `bootflash:`, which outlive a restart."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from threading import RLock

from railfab.platforms.nxos.running_text import twin_grammar
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.shared.virtual_images import VirtualImages

FREE_BYTES = 1_950_945_280
"""Free space of a `bootflash:` without images."""
MOST_FILES = 1000
_PLACE = re.compile(r"(?:bootflash:)?/*(?:bootflash/+)?([^/\s]+)")


@dataclass(frozen=True, slots=True)
class BootflashFile:
    """A file. written_s: Unix time of its last change [s]. is_checkpoint: written by the command `checkpoint`."""

    content: str
    written_s: float
    is_checkpoint: bool = False

    @property
    def size_bytes(self) -> int:
        return len(self.content.encode())


class Bootflash:
    """The files by name, beside the images of the switch; from any thread."""

    def __init__(self, images: VirtualImages) -> None:
        self._images = images
        self._files: dict[str, BootflashFile] = {}
        self._lock = RLock()

    def read(self, place: str) -> BootflashFile:
        """A file. Raises CliRefusal where there is none."""
        file = self._files.get(file_name(place))
        if file is None:
            raise _absent()
        return file

    def write(self, place: str, content: str, *, is_checkpoint: bool = False) -> bool:
        """Write a whole file; False where there is no space for it."""
        name, file = file_name(place), BootflashFile(content, time.time(), is_checkpoint)
        with self._lock:
            kept = {each: present for each, present in self._files.items() if each != name}
            used = sum(present.size_bytes for present in kept.values()) + file.size_bytes
            if used > FREE_BYTES or len(kept) >= MOST_FILES:
                return False
            self._files = {**kept, name: file}
            return True

    def move(self, place: str, to: str) -> None:
        """Give a file another name. Raises CliRefusal where there is none."""
        with self._lock:
            file = self.read(place)
            self.delete(place)
            self._files[file_name(to)] = file

    def delete(self, place: str) -> None:
        """Remove a file. Raises CliRefusal where there is none."""
        with self._lock:
            if self._files.pop(file_name(place), None) is None:
                raise _absent()

    def listing(self, place: str) -> str:
        """`dir bootflash:`, or of a file. Raises CliRefusal where there is none."""
        images = {image.name: (image.size_bytes, 0.0) for image in self._images.files()}
        entries = images | {name: (file.size_bytes, file.written_s) for name, file in self._files.items()}
        used = sum(size for size, _ in entries.values())
        free = min(FREE_BYTES - sum(file.size_bytes for file in self._files.values()), self._images.free_bytes)
        if place != "bootflash:":
            name = file_name(place)
            if name not in entries:
                raise _absent()
            entries = {name: entries[name]}
        rows = [
            f"{size:>11}    {time.strftime('%b %d %H:%M:%S %Y', time.gmtime(written_s))}  {name}"
            for name, (size, written_s) in sorted(entries.items())
        ]
        usage = ["", "Usage for bootflash://sup-local", f"{used:>11} bytes used", f"{free:>11} bytes free"]
        return "\n".join([*rows, *usage, f"{used + free:>11} bytes total"]) + "\n"


def file_name(place: str) -> str:
    """The name of a file in its forms: `bootflash:F`, `bootflash:///F`, `/bootflash/F`. Raises CliRefusal."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise _absent()
    return match[1]


def _absent() -> CliRefusal:
    return CliRefusal(twin_grammar()["texts"]["absent"])
