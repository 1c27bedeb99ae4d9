"""Sets of files that are written into a folder together: all of them or none, without touching other files."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from railfab.errors import RailfabError

Document = tuple[str, str]
"""Name below the folder, and text."""
Content = tuple[str, str | bytes]
"""Name below the folder, and text or bytes."""


def write_folder(folder: Path, documents: Iterable[Content]) -> list[Path]:
    """Write the documents into a folder, which may exist and contain other files; returns the paths, in order.

    They are written into a temporary folder first, so that an error changes nothing.
    Raises RailfabError if the folder cannot be used.
    """
    try:
        with _temporary(folder) as temporary:
            names = [_written(temporary, name, text) for name, text in documents]
            paths = sorted(temporary.iterdir())
            for path in paths:
                _same_kind(path, folder / path.name)
            for path in paths:
                _move(path, folder / path.name)
            return [folder / name for name in names]
    except OSError as error:
        problem = f"the folder cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(folder), problem, "Use another folder with -o") from error


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """A temporary folder inside, on the same file system."""
    created = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(mkdtemp(prefix=".railfab-", dir=folder))
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if created:
            with suppress(OSError):
                folder.rmdir()


def _written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    octets = content.encode() if isinstance(content, str) else content
    try:
        path.write_bytes(octets)
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        path.write_bytes(octets)
    return name


def _same_kind(path: Path, place: Path) -> None:
    """Raise OSError if a folder exists in place of a file, or the reverse, also below."""
    if not place.exists():
        return
    if path.is_dir() != place.is_dir():
        kind = errno.EISDIR if place.is_dir() else errno.ENOTDIR
        raise OSError(kind, os.strerror(kind), str(place))
    if path.is_dir():
        for below in path.iterdir():
            _same_kind(below, place / below.name)


def _move(path: Path, place: Path) -> None:
    """Replace a file, or merge a folder into the existing one."""
    if path.is_dir() and place.is_dir():
        for below in path.iterdir():
            _move(below, place / below.name)
    else:
        path.replace(place)
