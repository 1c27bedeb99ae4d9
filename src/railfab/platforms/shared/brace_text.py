"""Configuration text of nested braces, and its statements: each leaf as the words from the top of the tree to it.

Statements are the form in which two configurations are compared, because a tree has several texts: `a { b c; }`,
`a b c;` and `set a b c` are one statement, and `a [ b c ];` is two. A quoted word is one word, without its quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from railfab.errors import ConfigError
from railfab.platforms.shared.line_tree import Line

Statement = tuple[str, ...]

INDENT = "    "
INACTIVE, PROTECT = "inactive:", "protect:"
MARKERS = (INACTIVE, PROTECT)
"""Words before a statement: one that is not in effect, and one that cannot be changed."""

MARKS = frozenset("{};[]")
LITERAL = "\0"

_TOKEN = re.compile(
    r'(?P<comment>/\*.*?\*/|#[^\n]*)|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<mark>[{};\[\]])'
    r'|(?P<word>(?:[^\s{};\[\]"/]|/(?!\*))(?:[^\s{};\[\]"]+|\[[\w,*-]+\])*)|(?P<broken>"|/\*)',
    re.DOTALL,
)
_PLAIN = re.compile(r'[^\s{};\[\]"#\\]+')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def quoted(word: str) -> str:
    """A word as the text has it: in quotes where it has blanks or marks of the format, or is empty."""
    if _PLAIN.fullmatch(word) and "/*" not in word:
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def brace_text(tree: tuple[Line, ...]) -> str:
    """The text of a tree, in the format of `show configuration`."""
    return "".join(f"{line}\n" for root in tree for line in _written(root, ""))


def _written(line: Line, margin: str) -> Iterator[str]:
    if not line.children:
        yield f"{margin}{line.text};"
        return
    yield f"{margin}{line.text} {{"
    for child in line.children:
        yield from _written(child, margin + INDENT)
    yield f"{margin}}}"


def brace_statements(text: str) -> Iterator[Statement]:
    """The statements of a text in braces, in their order; a container without content is a statement too.

    Those that are not in effect begin with INACTIVE. Raises ConfigError for a text that has no such form.
    """
    above: list[OpenContainer] = []
    words: list[str] = []
    listed: list[str] | None = None
    for token, number in brace_tokens(text):
        if token == "[" and words and listed is None:
            listed = []
        elif token == "]" and listed is not None:
            yield from (_statement(above, [*words, *value]) for value in [[member] for member in listed] or [[]])
            words, listed = [], None
        elif token == "{" and listed is None and words:
            above.append(OpenContainer(tuple(words)))
            words = []
        elif token == "}" and listed is None and above and not words:
            closed = above.pop()
            if not closed.has_content:
                yield _statement(above, closed.words)
            _fill(above)
        elif token == ";" and listed is None:
            if words:
                yield _statement(above, words)
            words = []
            _fill(above)
        elif token in MARKS:
            raise ConfigError(f"line {number}", f"{token!r} is not expected here", "Balance the braces")
        else:
            (words if listed is None else listed).append(token.removeprefix(LITERAL))
    if above or words or listed is not None:
        raise ConfigError("end of the configuration", "a brace or a semicolon is missing", "Balance the braces")


@dataclass(slots=True)
class OpenContainer:
    """A container that is being read. words: its own."""

    words: tuple[str, ...]
    has_content: bool = False


def _fill(above: Sequence[OpenContainer]) -> None:
    if above:
        above[-1].has_content = True


def _statement(above: Sequence[OpenContainer], words: Sequence[str]) -> Statement:
    """The words of a statement below these containers, with markers first."""
    path = [*(word for container in above for word in container.words), *words]
    marks = {word for word in path if word in MARKERS}
    return (*(mark for mark in MARKERS if mark in marks), *(word for word in path if word not in MARKERS))


def brace_tokens(text: str) -> Iterator[tuple[str, int]]:
    """Words and marks with their line numbers. A quoted word begins with LITERAL, so that it is no mark."""
    number, at = 1, 0
    for match in _TOKEN.finditer(text):
        number += text.count("\n", at, match.start())
        at = match.start()
        kind = match.lastgroup
        if kind in ("word", "mark"):
            yield match[0], number
        elif kind == "quoted":
            yield LITERAL + _ESCAPED.sub(r"\1", match[0][1:-1]), number
        elif kind == "broken":
            raise ConfigError(f"line {number}", f"{match[0]} is not closed", "Close it")


@lru_cache(maxsize=65_536)
def shown(statement: Statement) -> str:
    """The words of a statement as one line, with quotes where they need them."""
    return " ".join(map(quoted, statement))
