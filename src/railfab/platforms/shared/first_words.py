"""An index of tables of line patterns by the first word of the lines, so that a line meets few of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class ByFirstWord(Generic[Entry]):
    """The entries of a table, in its order, that can match a line.

    pattern: of an entry, that of whole lines.
    """

    def __init__(self, entries: Iterable[Entry], pattern: Callable[[Entry], str]) -> None:
        words = [(entry, first_word(pattern(entry))) for entry in entries]
        self._by_word = {word: [entry for entry, of in words if of in ("", word)] for _, word in words if word}
        self._of_any_word = [entry for entry, word in words if not word]

    def for_line(self, text: str) -> list[Entry]:
        return self._by_word.get(text.partition(" ")[0], self._of_any_word)


def first_word(pattern: str) -> str:
    """The first word of all lines that a pattern matches; empty where they differ, or it is not seen at once."""
    outline, groups = re.sub(r"\\[^ -]|\[[^]]*\]", "?", pattern).replace("\\", ""), 1
    while groups:
        outline, groups = re.subn(r"\((?:\?:( )[^()|]*|[^()]*)\)", r"\1?", outline)
    word = re.match(r"[\w-]+(?= |$)", outline)
    return word[0] if word and "|" not in outline else ""
