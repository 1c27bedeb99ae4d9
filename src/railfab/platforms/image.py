"""A software image, as an operator names it, and what its file name tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

ALGORITHMS = {32: "md5", 64: "sha256", 128: "sha512"}
"""Algorithm of a checksum, by its number of hexadecimal digits."""
_PLACE = re.compile(r"(?:[a-z]+://)?[\w.:/@%+~=-]+")
_NUMBERED = re.compile(r"\d+\.\d+|\d{6}")
_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A software image. place: its file on the switch, or the URL from which the switch fetches it.

    version: which the switch reports when it runs the image; empty where the file name states it. checksum: of the
    file, in lower case; empty where nobody has stated one.
    """

    place: str
    version: str = ""
    checksum: str = ""

    def __post_init__(self) -> None:
        if not _PLACE.fullmatch(self.place) or not self.file:
            raise ValueError("is no file and no URL")
        if self.checksum and (not _HEX.fullmatch(self.checksum) or not self.algorithm):
            raise ValueError("is no MD5, SHA-256 or SHA-512 in hexadecimal digits")

    @property
    def is_url(self) -> bool:
        return "://" in self.place

    @property
    def file(self) -> str:
        """The name of the file, without its folder."""
        return re.split(r"[/:]", self.place)[-1]

    @property
    def algorithm(self) -> str:
        """`md5`, `sha256` or `sha512`: that of the checksum; empty without one."""
        return ALGORITHMS.get(len(self.checksum), "")

    @property
    def states_version(self) -> bool:
        """Whether it is known which version it is, or can be compared with one that a switch reports."""
        return bool(self.version) or _NUMBERED.search(self.file) is not None

    def is_of(self, version: str) -> bool:
        """Whether a version that a switch reports is that of this image.

        Systems write it in several ways: `nxos64-cs.10.5.4.M.bin` runs as `10.5(4)`, `EOS-4.34.2F.swi` as `4.34.2F`.
        """
        reported = _numbered(_words(version))
        if self.version:
            return reported == _numbered(_words(self.version))
        return _contains(_words(self.file), reported)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+[a-z]?(?:\d+)?", text.lower())


def _numbered(words: list[str]) -> list[str]:
    """The words from the first number on: `Cumulus Linux 5.15.0` without the name of the system; all without one."""
    first = next((place for place, word in enumerate(words) if word[0].isdigit()), 0)
    return words[first:]


def _contains(words: list[str], part: list[str]) -> bool:
    return bool(part) and any(words[place : place + len(part)] == part for place in range(len(words)))
