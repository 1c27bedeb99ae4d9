"""The files of a running twin in the state directory, and the lock that admits one twin of a fabric."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from railfab.endpoints import Credentials, give_to_caller, make_folder, state_file, write_private
from railfab.errors import LabError


@dataclass(frozen=True, slots=True)
class TwinFiles:
    """The files of one twin, all in the directory of `endpoints` and with its name."""

    endpoints: Path

    @property
    def credentials(self) -> Path:
        return self._beside("credentials.yml")

    @property
    def ca(self) -> Path:
        return self._beside("ca.pem")

    @property
    def ca_key(self) -> Path:
        """The private key of the CA."""
        return self._beside("ca.key")

    @property
    def host_key(self) -> Path:
        return self._beside("ssh_host_key")

    @property
    def known_hosts(self) -> Path:
        return self._beside("known_hosts")

    @property
    def control(self) -> Path:
        return self._beside("control.json")

    @property
    def lock(self) -> Path:
        return self._beside("lock")

    @property
    def log(self) -> Path:
        """Output of a twin without a terminal; it stays when the twin ends, until the next one starts."""
        return self._beside("log")

    def written(self) -> tuple[Path, ...]:
        """The files of a running twin, removed when it ends."""
        return self.endpoints, self.known_hosts, self.control

    def kept(self) -> tuple[Path, ...]:
        """The files that stay for the next twin of the fabric: its clients know what is in them."""
        return self.credentials, self.ca, self.ca_key, self.host_key

    def _beside(self, suffix: str) -> Path:
        return self.endpoints.with_suffix(f".{suffix}")


def twin_files(state: Path, fabric: str) -> TwinFiles:
    """The files of a twin of this fabric, with absolute paths, for readers in other directories."""
    return TwinFiles(state_file(state.resolve(), fabric, "twin"))


@contextmanager
def claimed(state: Path, fabric: str) -> Iterator[TwinFiles]:
    """Lock the files of a twin while the context lasts, and remove them at the end, except for the kept ones.

    Files of a twin that was killed are overwritten. Raises LabError when a twin of this fabric is running.
    """
    files = twin_files(state, fabric)
    _make_directory(files.lock.parent)
    with _open_lock(files.lock).open("a") as lock:  # without emptying that of a running twin
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "Stop it, or use another --state"
            raise LabError(fabric, f"a twin is already running ({files.endpoints})", remedy) from None
        give_to_caller(files.lock)
        lock.truncate(0)
        print(os.getpid(), file=lock, flush=True)
        try:
            yield files
        finally:
            for path in (*files.written(), files.lock):
                path.unlink(missing_ok=True)


def _make_directory(path: Path) -> None:
    """Create the state directory if it is missing, readable by the user who called sudo."""
    if path.is_dir():
        return
    try:
        make_folder(path)
    except OSError as error:
        raise LabError(
            str(path), f"cannot be created ({error.strerror})", "Name another directory with --state"
        ) from None


def _open_lock(path: Path) -> Path:
    """The lock file. Raises LabError when it cannot be written."""
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise LabError(str(path), "cannot be written", "Name another directory with --state, or change its owner")
    return path


def write_credentials(path: Path, credentials: Credentials) -> None:
    """Write user and password where only the owner can read them."""
    write_private(path, json.dumps({"username": credentials.username, "password": credentials.password}) + "\n")
