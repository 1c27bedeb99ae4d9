"""What railfab makes of the settings of a gnmic configuration, by settings.yml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from railfab.imports.gnmic.config import GnmicConfig
from railfab.imports.gnmic.settings import GnmicSetting, Verdict

__all__ = ["Note", "Verdict", "notes"]


@dataclass(frozen=True, slots=True)
class Note:
    """What railfab does in place of a setting."""

    place: str
    line: int
    verdict: Verdict
    text: str


def notes(config: GnmicConfig) -> Iterator[Note]:
    """A note for each setting that is not converted, in the order of the file; alike ones of several targets once."""
    yield from _once(_notes(config.settings))
    for name, line in config.unset.items():
        yield Note(f"${name}", line, Verdict.DIFFERS, "the variable is not set here, and empty text is read")


def _notes(settings: Iterable[GnmicSetting]) -> Iterator[tuple[GnmicSetting, Note]]:
    for setting in settings:
        meaning = setting.meaning
        if meaning.verdict is not None:
            yield setting, Note(setting.place, setting.line, meaning.verdict, meaning.text)


def _once(found: Iterable[tuple[GnmicSetting, Note]]) -> Iterator[Note]:
    """One note for all places with the same pattern."""
    grouped: dict[str, list[Note]] = {}
    for setting, note in found:
        same = setting.pattern if note.verdict is not Verdict.UNKNOWN else setting.place
        grouped.setdefault(same, []).append(note)
    for first, *more in grouped.values():
        place = f"{first.place} and {len(more):,} more" if more else first.place
        yield Note(place, first.line, first.verdict, first.text)
