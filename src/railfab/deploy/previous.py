"""What the switches ran before the last deploy, kept so that `rollback` can return to it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from railfab.deploy.run import Outcome
from railfab.endpoints import write_private
from railfab.errors import RailfabError


def _folder(state: Path, fabric: str) -> Path:
    return state / f"{fabric}.previous"


def save_previous(state: Path, fabric: str, outcomes: Iterable[Outcome]) -> None:
    """Keep the former configuration of each switch that changed; a run that changed nothing leaves what was kept."""
    changed = [outcome for outcome in outcomes if outcome.changed and outcome.before is not None]
    folder = _folder(state, fabric)
    if changed and folder.is_dir():
        for file in folder.iterdir():
            file.unlink()
    for outcome in changed:
        write_private(folder / outcome.name, outcome.before or "")


def load_previous(state: Path, fabric: str) -> dict[str, str]:
    """Former configurations by switch. Raises RailfabError when none were kept."""
    folder = _folder(state, fabric)
    texts = {file.name: file.read_text() for file in sorted(folder.glob("*"))} if folder.is_dir() else {}
    if not texts:
        raise RailfabError(
            str(folder), "keeps nothing to return to", "Deploy first; each deploy keeps what it replaces"
        )
    return texts
