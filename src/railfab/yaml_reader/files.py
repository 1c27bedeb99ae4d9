"""The text of a file that a user names, of limited size."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path


class Unread(Enum):
    """The reason why a file cannot be read."""

    MISSING = auto()
    REFUSED = auto()
    ENCODING = auto()
    SIZE = auto()


class UnreadableFile(Exception):
    """A file that cannot be read as text. problem: of a file, such as `is not UTF-8 text`."""

    def __init__(self, why: Unread, problem: str) -> None:
        super().__init__(problem)
        self.why = why
        self.problem = problem


def file_text(path: Path, max_bytes: int) -> str:
    """The text of a file, without a byte order mark. Raises UnreadableFile."""
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise UnreadableFile(Unread.MISSING, "no such file") from None
    except OSError as error:
        raise UnreadableFile(Unread.REFUSED, f"cannot be read ({(error.strerror or str(error)).lower()})") from None
    return decoded(content, max_bytes)


def decoded(content: bytes, max_bytes: int) -> str:
    """The text of a content of limited size. Raises UnreadableFile."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if len(content) <= max_bytes:
            raise UnreadableFile(Unread.ENCODING, "is not UTF-8 text") from None
    if len(content) > max_bytes:
        raise UnreadableFile(Unread.SIZE, f"is larger than {max_bytes} bytes")
    return text
