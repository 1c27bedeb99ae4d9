"""FRR's startup file, replaced as a whole."""

from __future__ import annotations

import contextlib
import os

from railfab.platforms.frr.on_switch.places import ETC, STARTUP, ChangeRefused

SAVING = ETC / "frr.conf.railfab"
"""The next startup file, complete, until it is renamed."""


def prepare_startup(text: str) -> None:
    """Write the next startup file beside the present one, with its owner and mode, and flush it to the disk."""
    try:
        with SAVING.open("w") as file:
            file.write(text)
            file.flush()
            present = STARTUP if STARTUP.exists() else ETC
            owner = present.stat()
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            os.fchmod(file.fileno(), owner.st_mode & 0o666)
            os.fsync(file.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            SAVING.unlink()
        problem = f"cannot save its configuration ({error.strerror or error})"
        raise ChangeRefused("commit", problem, f"Check the free space of {ETC}") from None


def replace_startup() -> None:
    """Rename the prepared file over the startup file; a file that is a mount point is written in place."""
    target = STARTUP.resolve()
    try:
        SAVING.replace(target)
    except OSError:
        with target.open("w") as file:
            file.write(SAVING.read_text())
            file.flush()
            os.fsync(file.fileno())
        SAVING.unlink()
    folder = os.open(str(ETC), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
