"""Commands of a CLI as data: in which modes each is taken, by which words, and what it says or does.

A table is a list of entries as `dialect.yml` has them: `in`, modes or `any`; `line`, its words, of which `{name}` is a
word that the user chooses and `{name...}` the rest of the line; `says`, the text of the answer, or `does`, the name of
an action. Words may be shortened as long as they stay unique. For example:

    - {in: exec, line: 'terminal width {columns}', says: 'Width set to {columns} columns.'}
    - {in: exec session, line: 'show running-config', does: running}
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

ANY_MODE = "any"
_PARAMETER = re.compile(r"\{(\w+)(\.\.\.)?\}")
_WORD = re.compile(r"\S+")


class Mismatch(StrEnum):
    """Reason why a line is no command: an unknown word, one with which several begin, words that are missing."""

    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command. words: of its line. says: an answer with the values of its parameters. does: an action."""

    modes: frozenset[str]
    words: tuple[str, ...]
    says: str | None
    does: str | None


@dataclass(frozen=True, slots=True)
class Command:
    """An entry as it was typed. values: of its parameters."""

    entry: CommandEntry
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NoCommand:
    """A line that is none. column: of the word at fault, or where one is missing, from 0."""

    why: Mismatch
    column: int


class CommandTable:
    """The commands of a CLI. entries: as in `dialect.yml`. Raises ValueError for an entry that is not valid."""

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        self.entries = tuple(map(_entry, entries))

    def command(self, mode: str, line: str) -> Command | NoCommand:
        """The command that a line is in a mode."""
        words = [(match[0], match.start()) for match in _WORD.finditer(line)]
        return self._command(mode, words, lambda place: line[words[place][1] :].rstrip(), len(line))

    def of_words(self, mode: str, words: Sequence[str]) -> Command | NoCommand:
        """The command that words are, which may hold blanks; the column of a mismatch is the number of the word.

        The rest of the words as one value is quoted as a shell reads it.
        """
        places = [(word, place) for place, word in enumerate(words)]
        return self._command(mode, places, lambda place: shlex.join(words[place:]), len(words))

    def _command(
        self, mode: str, words: Sequence[tuple[str, int]], rest: Callable[[int], str], end: int
    ) -> Command | NoCommand:
        entries = [entry for entry in self.entries if mode in entry.modes or ANY_MODE in entry.modes]
        for place, (typed, column) in enumerate(words):
            entries = _taking(entries, place, typed)
            if not entries:
                return NoCommand(Mismatch.UNKNOWN, column)
            if _is_ambiguous(entries, place, typed):
                return NoCommand(Mismatch.AMBIGUOUS, column)
        whole = [entry for entry in entries if _is_whole(entry, len(words))]
        if not whole:
            return NoCommand(Mismatch.INCOMPLETE, end)
        entry = min(whole, key=_parameters)
        return Command(entry, dict(_values(entry, rest, words)))


def _entry(entry: Mapping[str, Any]) -> CommandEntry:
    says, does = entry.get("says"), entry.get("does")
    if (says is None) == (does is None):
        raise ValueError(f"command {entry['line']!r} needs one of says and does")
    return CommandEntry(frozenset(entry["in"].split()), tuple(entry["line"].split()), says, does)


def _taking(entries: Sequence[CommandEntry], place: int, typed: str) -> list[CommandEntry]:
    """The entries that take a word at this place; those that have it in full, where there are any."""
    taking = [entry for entry in entries if _takes(entry, place, typed)]
    full = [entry for entry in taking if entry.words[place : place + 1] == (typed,)]
    return full or [entry for entry in taking if not _is_parameter(entry, place)] or taking


def _takes(entry: CommandEntry, place: int, typed: str) -> bool:
    if place >= len(entry.words):
        return entry.words[-1:] != () and entry.words[-1].endswith("...}")
    return _is_parameter(entry, place) or entry.words[place].startswith(typed)


def _is_parameter(entry: CommandEntry, place: int) -> bool:
    return _PARAMETER.fullmatch(entry.words[min(place, len(entry.words) - 1)]) is not None


def _is_ambiguous(entries: Sequence[CommandEntry], place: int, typed: str) -> bool:
    words = {entry.words[place] for entry in entries if place < len(entry.words) and not _is_parameter(entry, place)}
    return len(words) > 1 and typed not in words


def _is_whole(entry: CommandEntry, count: int) -> bool:
    rest = bool(entry.words) and entry.words[-1].endswith("...}")
    return count >= len(entry.words) if rest else count == len(entry.words)


def _parameters(entry: CommandEntry) -> int:
    return sum(_PARAMETER.fullmatch(word) is not None for word in entry.words)


def _values(
    entry: CommandEntry, rest: Callable[[int], str], words: Sequence[tuple[str, int]]
) -> Iterable[tuple[str, str]]:
    for place, (word, (typed, _)) in enumerate(zip(entry.words, words, strict=False)):
        match = _PARAMETER.fullmatch(word)
        if match is not None:
            yield match[1], rest(place) if match[2] else typed
