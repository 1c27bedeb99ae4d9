"""Configurations that the switches ran before the last deploy, stored for `rollback`."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from railfab.endpoints import write_private
from railfab.errors import RailfabError


def _folder(state: Path, fabric: str) -> Path:
    return state / f"{fabric}.previous"


class PreviousConfigurations:
    """Stores the former configuration of each switch that a run changes. Thread-safe.

    A configuration is stored just before its switch is changed, so an interrupted run can be rolled back too. The first
    one of a run replaces those of the run before; a run without changes leaves them.
    """

    def __init__(self, state: Path, fabric: str) -> None:
        self._folder = _folder(state, fabric)
        self._lock = Lock()
        self._started = False

    def keep(self, name: str, text: str) -> None:
        """Store the running configuration of a switch. Raises RailfabError when that is not possible."""
        with self._lock:
            try:
                if not self._started and self._folder.is_dir():
                    for file in self._folder.iterdir():
                        file.unlink()
                self._started = True
                write_private(self._folder / name, text)
            except OSError as error:
                problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
                raise RailfabError(str(self._folder), problem, "Name another folder with --state") from None


def load_previous(state: Path, fabric: str) -> dict[str, str]:
    """Former configurations by switch. Raises RailfabError when none are stored."""
    folder = _folder(state, fabric)
    try:
        texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*"))}
    except (OSError, UnicodeDecodeError):
        raise RailfabError(str(folder), "cannot be read", "Deploy again; each deploy stores what it replaces") from None
    if not texts:
        raise RailfabError(
            str(folder), "has no previous configurations", "Deploy first; each deploy stores what it replaces"
        )
    return texts
