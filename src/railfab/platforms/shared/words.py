"""A configuration as a tree of words, in which `multipath multiple-as;` and `multipath { multiple-as; }` are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from railfab.errors import ConfigError, RailfabError
from railfab.platforms.shared.brace_text import Statement, shown

T = TypeVar("T")


class Words:
    """A word of the configuration with the words after it, in their order.

    Readers return a value or None; one that is not valid is noted among the problems, with its path.
    """

    __slots__ = ("below", "path", "problems")

    def __init__(self, path: Statement, problems: list[RailfabError]) -> None:
        self.path = path
        self.problems = problems
        self.below: dict[str, Words] = {}

    def add(self, statement: Statement) -> None:
        place = self
        for word in statement:
            below = place.below.get(word)
            if below is None:
                below = place.below[word] = Words((*place.path, word), self.problems)
            place = below

    def __contains__(self, word: str) -> bool:
        return word in self.below

    def at(self, *words: str) -> Words:
        """Words below these ones; empty where the configuration does not have them."""
        below = self
        for word in words:
            below = below.below.get(word) or Words((*below.path, word), self.problems)
        return below

    def entries(self, *words: str) -> Iterator[tuple[str, Words]]:
        """The entries of a list by name: what follows these words."""
        yield from self.at(*words).below.items()

    def texts(self, *words: str) -> tuple[str, ...]:
        """The values of a leaf-list, in their order."""
        return tuple(self.at(*words).below)

    def text(self, *words: str) -> str | None:
        """The value of a leaf; of several the last, as when they are loaded."""
        texts = self.texts(*words)
        return texts[-1] if texts else None

    def value(self, kind: Callable[[str], T], meaning: str, *words: str) -> T | None:
        """The value of a leaf, converted."""
        text = self.text(*words)
        if text is None:
            return None
        try:
            return kind(text)
        except ValueError:
            self.problem(f"{text!r} is not {meaning}", f"Use {meaning}", *words)
            return None

    def number(self, *words: str) -> int | None:
        return self.value(_number, "a whole number", *words)

    def problem(self, what: str, remedy: str, *words: str) -> None:
        self.problems.append(ConfigError(shown((*self.path, *words)), what, remedy))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise ValueError
    return int(text)


def words_of(statements: Iterable[Statement], problems: list[RailfabError]) -> Words:
    """The tree of these statements."""
    root = Words((), problems)
    for statement in statements:
        root.add(statement)
    return root
