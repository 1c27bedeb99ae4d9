"""Files beside a running lab or twin: owned by the user who called sudo, and written atomically."""

from __future__ import annotations

import errno
import os
from pathlib import Path

PART = ".part"
"""Ending of a file that is being written; one that a killed process left is no content."""


def give_to_caller(path: Path) -> None:
    """Change the owner of a file that sudo wrote to the user who called sudo."""
    uid, gid = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if os.geteuid() == 0 and uid and gid:
        os.chown(path, int(uid), int(gid), follow_symlinks=False)


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, each owned by the user who called sudo. Raises OSError."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    give_to_caller(path)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically; missing folders are made, from several threads too.

    The content is on the disk before the name is, so that a loss of power leaves the whole file or none.
    """
    make_folder(path.parent)
    part = path.with_name(path.name + PART)
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fdatasync(file.fileno())
        give_to_caller(part)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
