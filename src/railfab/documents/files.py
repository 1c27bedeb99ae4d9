"""Writing a folder of documents: all of them or none, and nothing of anybody else's touched."""

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


def write_folder(folder: Path, documents: Iterable[Document]) -> list[Path]:
    """Write the documents into a folder, which may be there already with other files; gives the paths, in order.

    They are written beside their places first, so that what cannot be written leaves all as it was.
    Raises RailfabError when the folder cannot be used.
    """
    try:
        with _aside(folder) as aside:
            names = [_written(aside, name, text) for name, text in documents]
            for path in aside.rglob("*"):
                _same_kind(path, folder / path.relative_to(aside))
            for path in sorted(aside.iterdir()):
                _move(path, folder / path.name)
            return [folder / name for name in names]
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(folder), problem, "Choose another place with -o") from error


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A folder of our own inside, on the same file system, gone at the end."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(mkdtemp(prefix=".railfab-", dir=folder))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if made:
            with suppress(OSError):
                folder.rmdir()


def _written(aside: Path, name: str, text: str) -> str:
    path = aside / name
    try:
        path.write_text(text, encoding="utf-8")
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return name


def _same_kind(path: Path, place: Path) -> None:
    """Raise OSError where a folder stands in the place of a file, or the reverse."""
    if place.exists() and path.is_dir() != place.is_dir():
        kind = errno.EISDIR if place.is_dir() else errno.ENOTDIR
        raise OSError(kind, os.strerror(kind), str(place))


def _move(path: Path, place: Path) -> None:
    """A file over the one that is there; a folder at once, or into the one that is there."""
    if path.is_dir() and place.is_dir():
        for below in path.iterdir():
            _move(below, place / below.name)
    else:
        path.replace(place)
