"""Disks that are full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.kills.rollouts import Event

FILL = "filler"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A folder, for root on a file system of its own that is soon full."""
    mounted = os.geteuid() == 0
    if mounted:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)


def full(disk: str, folder: Path) -> Event:
    """The file system of a folder has no space left until the deploy has ended."""
    return Event(f"disk of {disk} full", partial(_fill, folder), partial(_free, folder))


def _fill(folder: Path, _step: int) -> None:
    assert folder.is_mount()
    with (folder / FILL).open("wb", buffering=0) as file:
        size = os.statvfs(folder).f_frsize
        try:
            while True:
                file.write(bytes(size))
        except OSError:
            return


def _free(folder: Path, _step: int) -> None:
    (folder / FILL).unlink()
