"""Parse a YAML file to a tree with line numbers.

The tree is built from the events of the parser, without its composer, because a file can be as large as a fabric, and
to limit the growth by aliases and merge keys and the depth of nesting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from railfab.imports.existing import SourceError

DEEPEST = 60
"""Levels of nesting; a topology has about eight."""
MERGED = 1_000_000
"""Limit of keys that all merges of a file add."""
MERGE_KEY = "<<"
NULLS = ("", "~", "null", "Null", "NULL")
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as written. plain: without quotes."""

    text: str
    line: int
    plain: bool = True

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in NULLS


@dataclass(frozen=True, slots=True)
class Listed:
    entries: list[Tree]
    line: int


@dataclass(frozen=True, slots=True)
class Keyed:
    """A mapping. lines: of its keys."""

    entries: dict[str, Tree]
    lines: dict[str, int]
    line: int


Tree = Text | Listed | Keyed


def read_tree(where: str, text: str) -> Tree:
    """Parse the document in a text. Raises SourceError with file and line."""
    reader = _Reader(where, text)
    try:
        return reader.document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SourceError(f"{where}:{line}", f"is not YAML ({error.problem})", "Correct this line") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise SourceError(where, f"is not YAML ({str(error).splitlines()[0]})", "Correct the syntax") from None


class _Reader:
    """Reads one document."""

    def __init__(self, where: str, text: str) -> None:
        self._where = where
        self._events: Iterator[Any] = yaml.parse(text, Loader=Loader)
        self._anchors: dict[str, Tree] = {}
        self._merged = 0

    def document(self) -> Tree:
        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return Text("", 1)
        tree = self._tree(event, 1)
        next(self._events)
        if isinstance(extra := next(self._events), yaml.DocumentStartEvent):
            raise self._fault(extra, "a second document begins", "Write one document per file")
        return tree

    def _tree(self, event: Any, depth: int) -> Tree:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise self._fault(event, f"*{event.anchor} has no anchor before it", "Define its anchor first")
            return self._anchors[event.anchor]
        if depth > DEEPEST:
            raise self._fault(event, f"the nesting exceeds {DEEPEST} levels", "Name a topology file")
        tree = self._new(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = tree
        return tree

    def _new(self, event: Any, depth: int) -> Tree:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            return Text(event.value, line, bool(event.implicit[0]))
        if isinstance(event, yaml.SequenceStartEvent):
            entries = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                entries.append(self._tree(event, depth + 1))
            return Listed(entries, line)
        return self._mapping(line, depth)

    def _mapping(self, line: int, depth: int) -> Keyed:
        keyed, merges = Keyed({}, {}, line), []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._tree(event, depth + 1)
            value = self._tree(next(self._events), depth + 1)
            if not isinstance(key, Text):
                raise self._fault(event, "a key is not a plain value", "Use a word or a number")
            if key.text == MERGE_KEY and key.plain:
                merges.append((event, value))
            elif key.text in keyed.entries:
                raise self._fault(event, f"key {key.text!r} is duplicate", "Keep one of them")
            else:
                keyed.entries[key.text], keyed.lines[key.text] = value, key.line
        for event, value in merges:
            self._merge(event, keyed, value)
        return keyed

    def _merge(self, event: Any, into: Keyed, value: Tree) -> None:
        """Merge mappings: keys of the mapping itself take precedence, then those of earlier merged mappings."""
        for merged in value.entries if isinstance(value, Listed) else [value]:
            if not isinstance(merged, Keyed):
                raise self._fault(event, "merges a value that is not a mapping", "Name the anchor of a mapping")
            self._merged += len(merged.entries)
            if self._merged > MERGED:
                raise self._fault(event, f"merges more than {MERGED} keys", "Write them out")
            for key, entry in merged.entries.items():
                if key not in into.entries:
                    into.entries[key], into.lines[key] = entry, merged.lines[key]

    def _fault(self, event: Any, problem: str, remedy: str) -> SourceError:
        return SourceError(f"{self._where}:{event.start_mark.line + 1}", problem, remedy)


def words(mapping: Mapping[str, Tree]) -> dict[str, str]:
    """Keys of a mapping whose values are scalars, without nulls."""
    return {key: value.text for key, value in mapping.items() if isinstance(value, Text) and not value.is_null}
