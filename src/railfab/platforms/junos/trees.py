"""Parts of a configuration tree: leaves, and containers that are left out when they are empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from railfab.platforms.shared.brace_text import quoted
from railfab.platforms.shared.line_tree import Line

Lines = Iterable[Line]


def leaf(*words: object) -> Line:
    """A statement of these words, each in quotes where it needs them."""
    return Line(" ".join(quoted(str(word)) for word in words))


def listed(words: str, values: Iterable[object]) -> Iterator[Line]:
    """A leaf-list; nothing without values."""
    texts = [quoted(str(value)) for value in values]
    if texts:
        yield Line(f"{words} {texts[0]}" if len(texts) == 1 else f"{words} [ {' '.join(texts)} ]")


def block(words: str, *children: Lines) -> Iterator[Line]:
    """A container, where it has anything."""
    content = tuple(line for lines in children for line in lines)
    if content:
        yield Line(words, content)


def short(words: str, *children: Lines) -> Iterator[Line]:
    """A container that Junos writes on one line where it has a single leaf: `then accept;`."""
    for line in block(words, *children):
        alone = len(line.children) == 1 and not line.children[0].children
        yield Line(f"{words} {line.children[0].text}") if alone else line


def entry(words: str, *children: Lines) -> Line:
    """An entry of a list, which is there also when it has nothing."""
    return Line(words, tuple(line for lines in children for line in lines))


def flag(words: str, on: bool) -> Iterator[Line]:
    """A statement that is there or not."""
    if on:
        yield Line(words)


def setting(words: str, value: object | None) -> Iterator[Line]:
    """A leaf, where it has a value."""
    if value is not None and value != "":
        yield Line(f"{words} {quoted(str(value))}")
