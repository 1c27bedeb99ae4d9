"""What railfab makes of the settings of a gnmic configuration, by settings.yml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

import yaml

from railfab.imports.gnmic.config import GnmicConfig, Setting


class Verdict(StrEnum):
    """What becomes of a setting. UNKNOWN: neither gnmic's documentation nor railfab has the key."""

    DIFFERS = "differs"
    MISSING = "missing"
    WITHOUT = "without"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """As tables show it."""
        return {"missing": "not supported", "without": "not needed", "unknown": "not known"}.get(self.value, self.value)


@dataclass(frozen=True, slots=True)
class Note:
    """What railfab does in place of a setting."""

    place: str
    line: int
    verdict: Verdict
    text: str


@cache
def _meanings() -> dict[str, tuple[Verdict, str] | None]:
    """By pattern; None where the setting is converted."""
    document = yaml.safe_load(files(__package__).joinpath("settings.yml").read_text())
    return {
        pattern: None if meaning is None else next((Verdict(word), text) for word, text in meaning.items())
        for pattern, meaning in document.items()
    }


def notes(config: GnmicConfig) -> Iterator[Note]:
    """A note for each setting that is not converted, in the order of the file; alike ones of several targets once."""
    yield from _once(_notes(config.settings))
    for name, line in config.unset.items():
        yield Note(f"${name}", line, Verdict.DIFFERS, "the variable is not set here, and empty text is read")


def _notes(settings: Iterable[Setting]) -> Iterator[tuple[Setting, Note]]:
    for setting in settings:
        meaning = _meanings().get(setting.pattern, (Verdict.UNKNOWN, "no key of gnmic that railfab knows; not read"))
        if meaning is not None:
            yield setting, Note(setting.place, setting.line, *meaning)


def _once(found: Iterable[tuple[Setting, Note]]) -> Iterator[Note]:
    """One note for all places with the same pattern."""
    grouped: dict[str, list[Note]] = {}
    for setting, note in found:
        same = setting.pattern if note.verdict is not Verdict.UNKNOWN else setting.place
        grouped.setdefault(same, []).append(note)
    for first, *more in grouped.values():
        place = f"{first.place} and {len(more):,} more" if more else first.place
        yield Note(place, first.line, first.verdict, first.text)
