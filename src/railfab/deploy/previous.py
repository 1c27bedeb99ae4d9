"""What the switches ran before the last deploy, kept so that `rollback` can return to it."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from railfab.endpoints import write_private
from railfab.errors import RailfabError


def _folder(state: Path, fabric: str) -> Path:
    return state / f"{fabric}.previous"


class Previous:
    """Keeps what each switch ran, one run's texts in place of the last run's. Safe to use from several threads.

    Each text is kept just before its switch is changed, so that a run that is broken off can be rolled back too; a run
    that changes nothing leaves what was kept.
    """

    def __init__(self, state: Path, fabric: str) -> None:
        self._folder = _folder(state, fabric)
        self._lock = Lock()
        self._begun = False

    def keep(self, name: str, text: str) -> None:
        """What this switch runs now."""
        with self._lock:
            if not self._begun and self._folder.is_dir():
                for file in self._folder.iterdir():
                    file.unlink()
            self._begun = True
            write_private(self._folder / name, text)


def load_previous(state: Path, fabric: str) -> dict[str, str]:
    """Former configurations by switch. Raises RailfabError when none were kept."""
    folder = _folder(state, fabric)
    texts = {file.name: file.read_text() for file in sorted(folder.glob("*"))} if folder.is_dir() else {}
    if not texts:
        raise RailfabError(
            str(folder), "keeps nothing to return to", "Deploy first; each deploy keeps what it replaces"
        )
    return texts
