"""Statements of a configuration that is a tree of words: the twin of `statements`, whose configurations are lines.

A section is a class, and its fields are its statements, in the order in which they are written:

    @dataclass(slots=True, kw_only=True)
    class Interface:
        enabled: bool = flag("disable", default=True)
        mtu_bytes: int | None = leaf("mtu", NUMBER)
        lacp: bool = flag("ether-options/lacp/active")

Each step of a path is a header, below which the next one stands; statements with the same headers stand together. A
value that is the default is not written. Reading is total: what no statement takes is skipped. A word refuses a text
with ValueError, which is a problem with its path, or leaves it unmodelled with LookupError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from railfab.platforms.shared.brace_text import quoted
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.statements import STATEMENT, Word, default_of
from railfab.platforms.shared.words import Words

T = TypeVar("T")
Node = dict[str, "Node"]
"""A tree to be written: headers, each with what stands below it."""
UNSTATED: Any = object()

TEXT = Word(r".+", str, quoted)


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _positive(text: str) -> int:
    if not (number := _whole(text)):
        raise LookupError(text)
    return number


NUMBER, POSITIVE = Word(r"\d+", _whole), Word(r"\d+", _positive)
"""POSITIVE: 0 is unmodelled."""


def known(words: Mapping[T, str]) -> Word[T]:
    """A value that has one of these words; another word is unmodelled."""
    values = {text: value for value, text in words.items()}
    return Word(".+", values.__getitem__, words.__getitem__)


# Trees


def at(node: Node, path: str) -> Node:
    """Content below the headers of a path; they are written also when it stays empty."""
    for header in filter(None, path.split("/")):
        node = node.setdefault(header, {})
    return node


def tree_lines(node: Node) -> tuple[Line, ...]:
    """The lines of a tree."""
    return tuple(Line(header, tree_lines(inner)) for header, inner in node.items())


# Statements


@dataclass(frozen=True, slots=True)
class TreeStatement:
    """Statement that writes the value of a field, and reads it: UNSTATED where the configuration does not state it."""

    write: Callable[[Any, Node], None]
    read: Callable[[Words], Any]


def _field(write: Callable[[Any, Node], None], read: Callable[[Words], Any], default: Any = None) -> Any:
    return field(default=default, metadata={STATEMENT: TreeStatement(write, read)})


def _steps(path: str) -> tuple[str, ...]:
    """The words of a path."""
    return tuple(path.replace("/", " ").split())


def leaf(path: str, word: Word[Any] = TEXT, *, default: Any = None) -> Any:
    """A value after its path; of several the last one counts."""
    above, _, name = path.rpartition("/")
    way = _steps(path)

    def write(value: Any, node: Node) -> None:
        at(node, above)[f"{name} {word.text(value)}".lstrip()] = {}

    def read(words: Words) -> Any:
        text = words.text(*way)
        return UNSTATED if text is None else _value(words, way, word, text)

    return _field(write, read, default)


def _value(words: Words, way: tuple[str, ...], word: Word[Any], text: str) -> Any:
    try:
        return word.value(text)
    except ValueError as error:
        words.problem(str(error), str(error).replace(f"{text!r} is not", "Use"), *way)
    except LookupError:
        pass
    return UNSTATED


def flag(path: str, *, default: bool = False) -> Any:
    """A statement of the opposite of the default."""
    *above, last = _steps(path)
    return _field(_headers(path), lambda words: not default if last in words.at(*above) else UNSTATED, default)


def unread(path: str) -> Any:
    """A statement that is only written: it says nothing of the model."""
    return _field(_headers(path), lambda _: UNSTATED, False)


def _headers(path: str) -> Callable[[Any, Node], None]:
    """Writes a path without a value."""

    def write(_: object, node: Node) -> None:
        at(node, path)

    return write


def values(path: str) -> Any:
    """A leaf-list."""
    above, _, name = path.rpartition("/")
    way = _steps(path)

    def write(listed: Iterable[str], node: Node) -> None:
        texts = " ".join(map(quoted, listed))
        at(node, above)[f"{name} [ {texts} ]" if len(tuple(listed)) > 1 else f"{name} {texts}"] = {}

    return _field(write, lambda words: words.texts(*way) or UNSTATED, ())


def below(path: str, kind: type[Any]) -> Any:
    """A section that there is once, or None."""
    *above, last = _steps(path)
    return _field(
        lambda value, node: form_of(kind).write(value, at(node, path)),
        lambda words: form_of(kind).read(words.at(*above, last)) if last in words.at(*above) else UNSTATED,
    )


def sections(path: str, kind: type[Any], *, oneline: bool = False) -> Any:
    """A mapping from the words after a path to their sections. oneline: each with its statements on one line."""
    above, _, name = path.rpartition("/")
    way = _steps(path)

    def write(entries: Mapping[Any, Any], node: Node) -> None:
        place = at(node, above)
        for key, value in entries.items():
            header, section = f"{name} {quoted(key)}".lstrip(), form_of(kind).node(value)
            place[" ".join((header, *section)) if oneline else header] = {} if oneline else section

    def read(words: Words) -> Any:
        return {key: form_of(kind).read(section) for key, section in words.entries(*way)} or UNSTATED

    return field(default_factory=dict, metadata={STATEMENT: TreeStatement(write, read)})


# Sections


class Form:
    """The statements of a section."""

    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind
        self._statements = [(each.name, default_of(each), each.metadata[STATEMENT]) for each in fields(kind)]

    def write(self, target: Any, node: Node) -> None:
        for name, default, statement in self._statements:
            if (value := getattr(target, name)) != default:
                statement.write(value, node)

    def node(self, target: Any) -> Node:
        node: Node = {}
        self.write(target, node)
        return node

    def read(self, words: Words) -> Any:
        pairs = ((name, statement.read(words)) for name, _, statement in self._statements)
        return self._kind(**{name: value for name, value in pairs if value is not UNSTATED})


def form_of(kind: type[Any]) -> Form:
    """The statements of a class, looked at once."""
    if kind not in _FORMS:
        _FORMS[kind] = Form(kind)
    return _FORMS[kind]


_FORMS: dict[type[Any], Form] = {}


def tree_written(section: object) -> tuple[Line, ...]:
    """The lines of a section."""
    return tree_lines(form_of(type(section)).node(section))


def tree_read(kind: type[T], words: Words) -> T:
    """The section that these words state."""
    section: T = form_of(kind).read(words)
    return section
