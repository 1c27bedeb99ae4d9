"""What a running twin leaves in the state directory, and that only one twin of a fabric runs there."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from railfab.endpoints import Credentials, give_to_caller, state_file, write_private
from railfab.errors import LabError


@dataclass(frozen=True, slots=True)
class TwinFiles:
    """The files of one twin; all but `endpoints` lie beside it, under its name."""

    endpoints: Path

    @property
    def credentials(self) -> Path:
        return self._beside("credentials.yml")

    @property
    def ca(self) -> Path:
        return self._beside("ca.pem")

    @property
    def control(self) -> Path:
        return self._beside("control.json")

    @property
    def lock(self) -> Path:
        return self._beside("lock")

    def written(self) -> tuple[Path, ...]:
        return self.endpoints, self.credentials, self.ca, self.control

    def _beside(self, suffix: str) -> Path:
        return self.endpoints.with_suffix(f".{suffix}")


def twin_files(state: Path, fabric: str) -> TwinFiles:
    """Where a twin of this fabric keeps its files; paths are absolute, for readers in other directories."""
    return TwinFiles(state_file(state.resolve(), fabric, "twin"))


@contextmanager
def claimed(state: Path, fabric: str) -> Iterator[TwinFiles]:
    """The files of a twin, its own as long as the context lasts; what was written is removed at the end.

    What a twin that died left behind is overwritten. Raises LabError when a twin of this fabric is running.
    """
    files = twin_files(state, fabric)
    _make_directory(files.lock.parent)
    with _open_lock(files.lock).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "Stop that one, or use another --state"
            raise LabError(fabric, f"a twin is running already ({files.endpoints})", remedy) from None
        give_to_caller(files.lock)
        try:
            yield files
        finally:
            for path in (*files.written(), files.lock):
                path.unlink(missing_ok=True)


def _make_directory(path: Path) -> None:
    """The state directory, made if it is missing and readable by the user who called sudo."""
    if path.is_dir():
        return
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise LabError(str(path), f"cannot be made ({error.strerror})", "Name another directory with --state") from None
    give_to_caller(path)


def _open_lock(path: Path) -> Path:
    """The lock file, checked to be one that can be written."""
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise LabError(str(path), "cannot be written", "Name another directory with --state, or change its owner")
    return path


def write_credentials(path: Path, credentials: Credentials) -> None:
    """Write user and password where only the owner can read them."""
    write_private(path, json.dumps({"username": credentials.username, "password": credentials.password}) + "\n")
