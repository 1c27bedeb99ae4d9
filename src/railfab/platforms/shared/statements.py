"""Statements: each line of a configuration written once, with the field of which it states the value.

A section of a configuration is a class, and its fields are its statements, in the order in which they are written:

    @dataclass(slots=True, kw_only=True)
    class Interface:
        enabled: bool = flag("shutdown", default=True)
        mtu_bytes: int | None = line("mtu {}", integer(68, 65535))

`written` gives the lines of such an object, `Reading` stores lines in it. A field with its default is not written. In a
template `{}` is a word, and what is between brackets is left out where a word of it is None. Reading is total: a line
that no statement takes is skipped, and a bad value is an error of its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import lru_cache
from itertools import compress
from operator import attrgetter, ne
from typing import Any, Generic, TypeVar

from railfab.errors import ConfigError, RailfabError
from railfab.platforms.shared.first_words import ByFirstWord
from railfab.platforms.shared.line_tree import Line

T = TypeVar("T")
C = TypeVar("C")
Groups = Sequence[str | None]
Store = Callable[[Any, Groups], object]
STATEMENT = "statement"

leaf = lru_cache(maxsize=16384)(Line)
"""A line without lines below it: the ports of a switch share most of theirs."""


# Words


@dataclass(frozen=True, slots=True)
class Word(Generic[T]):
    """A part of a line that states a value.

    pattern: without groups. value: of a text; raises ValueError. text: of a value.
    """

    pattern: str
    value: Callable[[str], T]
    text: Callable[[T], str] = str


WORD = Word(r"\S+", str)
REST = Word(r".+", str)


def integer(low: int, high: int) -> Word[int]:
    """A number within bounds."""
    return Word(r"\d+", lambda text: within(text, low, high))


def choice(words: Mapping[T, str]) -> Word[T]:
    """A value that has one of these words."""
    values = {text: value for value, text in words.items()}
    return Word("|".join(map(re.escape, values)), values.__getitem__, words.__getitem__)


def within(text: str, low: int, high: int) -> int:
    """The number in a text. Raises ValueError for another text, and outside its range."""
    if not text.isdecimal():
        raise ValueError(f"{text!r} is not a number")
    number = int(text)
    if not low <= number <= high:
        raise ValueError(f"{number} is not within {low} to {high}")
    return number


class Template:
    """A line with words: `logging[ vrf {}] host {}`. It takes and gives one value a word.

    text: the line that states values. values: of the groups of a match; raises ValueError for a bad one.
    """

    def __init__(self, text: str, words: tuple[Word[Any], ...]) -> None:
        if text.count("{}") != len(words):
            raise ValueError(f"{text!r} has not {len(words)} words")
        self._words = words
        self._parts = tuple((part, place % 2 == 1) for place, part in enumerate(re.split(r"[\[\]]", text)) if part)
        patterns = iter(f"({word.pattern})" for word in words)
        self.pattern = "".join(_pattern(part, patterns, optional=optional) for part, optional in self._parts)
        self.text: Callable[..., str] = self._text
        if "[" not in text:
            texts = [word.text for word in words]
            self.text = _one_word(text, texts[0]) if len(words) == 1 else _all_words(text, texts)

    def _text(self, *values: Any) -> str:
        texts = [None if value is None else word.text(value) for word, value in zip(self._words, values, strict=True)]
        place, pieces = 0, []
        for part, optional in self._parts:
            stated = texts[place : (place := place + part.count("{}"))]
            if not (optional and None in stated):
                pieces.append(part.format(*stated))
        return "".join(pieces)

    def values(self, groups: Groups) -> list[Any]:
        return [None if text is None else word.value(text) for word, text in zip(self._words, groups, strict=True)]


def _one_word(template: str, text: Callable[[Any], str]) -> Callable[[Any], str]:
    head, tail = template.split("{}")
    return lambda value: head + text(value) + tail


def _all_words(template: str, texts: Sequence[Callable[[Any], str]]) -> Callable[..., str]:
    written = template.format
    return lambda *values: written(*[text(value) for text, value in zip(texts, values, strict=True)])


def _pattern(part: str, words: Iterator[str], *, optional: bool) -> str:
    head, *tail = map(re.escape, part.split("{}"))
    pattern = head + "".join(next(words) + literal for literal in tail)
    return f"(?:{pattern})?" if optional else pattern


# Statements


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement that writes the value of a field, and reads it.

    lines: of a value that is not the default. reads: patterns, and what each stores in the object from its groups; the
    section that it returns takes the lines below.
    """

    lines: Callable[[Any], Iterable[Line]]
    reads: Callable[[str], Iterable[tuple[str, Store]]]


def _field(statement: Statement, default: Any) -> Any:
    metadata = {STATEMENT: statement}
    if isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def line(
    template: str,
    *words: Word[Any],
    default: Any = None,
    make: Callable[..., Any] | None = None,
    parts: Callable[[Any], Sequence[Any]] | None = None,
    means: Mapping[str, Any] | None = None,
    beside: tuple[str, ...] = (),
) -> Any:
    """A value in a line. Of several words it is a tuple, or what `make` makes of them and `parts` takes apart.

    means: other lines that are read, as patterns, with the values that they state. beside: lines that are written
    before it and not read.
    """
    form = Template(template, words)
    above, text, single = tuple(map(leaf, beside)), form.text, len(words) == 1

    @lru_cache(maxsize=4096)
    def lines(value: Any) -> tuple[Line, ...]:
        return (*above, leaf(text(value) if single else text(*(parts(value) if parts else value))))

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        def store(target: Any, groups: Groups) -> None:
            values = form.values(groups)
            setattr(target, name, make(*values) if make else (values[0] if single else tuple(values)))

        yield form.pattern, store
        for pattern, value in (means or {}).items():
            yield pattern, _constant(name, value)

    return _field(Statement(lines, reads), default)


def flag(text: str, *, default: bool = False, beside: tuple[str, ...] = ()) -> Any:
    """A line that states the opposite of the default. beside: lines that are written after it and not read."""
    stated = tuple(map(leaf, (text, *beside)))
    return _field(Statement(lambda _: stated, lambda name: ((re.escape(text), _constant(name, not default)),)), default)


def unread(text: str) -> Any:
    """A line that is only written: it says nothing of the model."""
    return _field(Statement(lambda _: (leaf(text),), lambda _: ()), False)


def taken(*patterns: str) -> Any:
    """Whether there is one of these lines, none of which is ever written."""
    statement = Statement(lambda _: (), lambda name: ((pattern, _constant(name, True)) for pattern in patterns))
    return _field(statement, False)


def _constant(name: str, value: Any) -> Store:
    return lambda target, _groups: setattr(target, name, value)


def lines(template: str, *words: Word[Any], further: str | None = None) -> Any:
    """A list with an element for each line. further: template of all but the first."""
    form = Template(template, words)
    next_form = Template(further, words) if further else form
    single = len(words) == 1

    def written_lines(values: Sequence[Any]) -> list[Line]:
        texts = (form.text, *[next_form.text] * (len(values) - 1))
        return [leaf(text(value) if single else text(*value)) for text, value in zip(texts, values, strict=True)]

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        def store(target: Any, groups: Groups) -> None:
            values = form.values(groups)
            getattr(target, name).append(values[0] if single else tuple(values))

        for pattern in dict.fromkeys((form.pattern, next_form.pattern)):
            yield pattern, store

    return _field(Statement(written_lines, reads), list)


def table(template: str, key: Word[Any], value: Word[Any]) -> Any:
    """A mapping with a line for each entry."""
    form = Template(template, (key, value))

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        def store(target: Any, groups: Groups) -> None:
            entry_key, entry = form.values(groups)
            getattr(target, name)[entry_key] = entry

        yield form.pattern, store

    return _field(Statement(lambda entries: [leaf(form.text(*entry)) for entry in entries.items()], reads), dict)


def below(header: str, kind: type[object]) -> Any:
    """A section that there is once, or None."""

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        def store(target: Any, _groups: Groups) -> object:
            if getattr(target, name) is None:
                setattr(target, name, kind())
            return getattr(target, name)

        yield re.escape(header), store

    return _field(Statement(lambda value: (Line(header, written(value)),), reads), None)


def sections(header: str, *words: Word[Any], kind: type[object]) -> Any:
    """A mapping from what headers state to their sections."""
    form = Template(header, words)
    single = len(words) == 1

    def section_lines(entries: Mapping[Any, object]) -> list[Line]:
        text, of_section = form.text, schema_of(kind).lines
        return [Line(text(key) if single else text(*key), of_section(value)) for key, value in entries.items()]

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        def store(target: Any, groups: Groups) -> object:
            values = form.values(groups)
            return _entry(target, name, values[0] if single else tuple(values), kind)

        yield form.pattern, store

    return _field(Statement(section_lines, reads), dict)


def prefixed(prefix: str, word: Word[Any], kind: type[object]) -> Any:
    """A mapping from the word of a prefix to what the lines with it state, as `neighbor 192.0.2.1 remote-as 65001`."""
    form = Template(f"{prefix} {{}} ", (word,))

    def prefixed_lines(entries: Mapping[Any, object]) -> list[Line]:
        heads = {form.text(key): value for key, value in entries.items()}
        return [leaf(head + stated.text) for head, value in heads.items() for stated in written(value)]

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        for pattern, store in schema_of(kind).reads:
            yield form.pattern + pattern, _prefixed_store(name, word, kind, store)

    return _field(Statement(prefixed_lines, reads), dict)


def _prefixed_store(name: str, word: Word[Any], kind: type[object], store: Store) -> Store:
    def store_entry(target: Any, groups: Groups) -> object:
        key, *rest = groups
        return store(_entry(target, name, word.value(key or ""), kind), rest)

    return store_entry


def _entry(target: Any, name: str, key: Any, kind: type[object]) -> object:
    entries = getattr(target, name)
    if key not in entries:
        entries[key] = kind()
    return entries[key]


def inline(kind: type[object]) -> Any:
    """Statements of another class, in the section itself."""

    def reads(name: str) -> Iterator[tuple[str, Store]]:
        for pattern, store in schema_of(kind).reads:
            yield pattern, _inline_store(name, store)

    return _field(Statement(written, reads), kind)


def _inline_store(name: str, store: Store) -> Store:
    return lambda target, groups: store(getattr(target, name), groups)


# Sections


class Schema:
    """The statements of a section. reads: patterns of lines, and what each stores."""

    def __init__(self, kind: type[Any]) -> None:
        stated = [(each, each.metadata[STATEMENT]) for each in fields(kind) if STATEMENT in each.metadata]
        self._names = [each.name for each, _ in stated]
        self._defaults = [default_of(each) for each, _ in stated]
        self._lines = [statement.lines for _, statement in stated]
        self._fetch = attrgetter(*self._names, *self._names[:1])  # of one name it would give no tuple
        self.reads = [read for each, statement in stated for read in statement.reads(each.name)]
        patterns = [(re.compile(pattern), store) for pattern, store in self.reads]
        self._index = ByFirstWord(patterns, lambda read: read[0].pattern)

    def lines(self, target: Any) -> tuple[Line, ...]:
        values = self._fetch(target)
        lines: list[Line] = []
        for value, of_value in compress(zip(values, self._lines, strict=False), map(ne, values, self._defaults)):
            lines += of_value(value)
        return tuple(lines)

    def stated(self, target: Any) -> dict[str, Any]:
        """The values that are not the default, by field."""
        values = zip(self._names, self._fetch(target), self._defaults, strict=False)
        return {name: value for name, value, default in values if value != default}

    def match(self, text: str) -> tuple[Store, Groups] | None:
        """Store that takes a line, with its groups."""
        for pattern, store in self._index.for_line(text):
            if match := pattern.fullmatch(text):
                return store, match.groups()
        return None


def default_of(each: Field[Any]) -> object:
    """The value of a field of which nothing is stated."""
    return each.default_factory() if each.default_factory is not MISSING else each.default


def schema_of(kind: type[Any]) -> Schema:
    """The statements of a class, looked at once."""
    if kind not in _SCHEMAS:
        _SCHEMAS[kind] = Schema(kind)
    return _SCHEMAS[kind]


_SCHEMAS: dict[type[Any], Schema] = {}


def written(target: object) -> tuple[Line, ...]:
    """The lines of a section."""
    return schema_of(type(target)).lines(target)


def over(general: C, specific: C) -> C:
    """A section with the values of another where it states none itself."""
    return replace(general, **schema_of(type(specific)).stated(specific))  # type: ignore[type-var]


class Reading:
    """Lines being read. errors: the bad values so far, each with its line and section."""

    def __init__(self) -> None:
        self.errors: list[RailfabError] = []

    def read(self, target: object, lines: Iterable[Line], *, where: str = "") -> None:
        """Store the values of lines in a section. where: its header."""
        schema = schema_of(type(target))
        for stated in lines:
            match = schema.match(stated.text)
            if match is None:
                continue
            store, groups = match
            try:
                inner = store(target, groups)
            except ValueError as error:
                place = f"line {stated.number}" + (f", in {where}" if where else "")
                self.errors.append(
                    ConfigError(place, f"{stated.text!r} has a bad value ({error})", "Correct the value")
                )
                continue
            if inner is not None:
                self.read(inner, stated.children, where=stated.text)
