"""YAML parser of railfab: one document of mappings, lists and plain values, each with its line.

Stricter than YAML: no duplicate keys, no tags, no merges, no alias of a list or mapping (so that no document expands
without bound), and no number that YAML 1.1 and 1.2 read differently (`010`, `1:30`). Everything else is an error with
its line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from railfab.errors import IntentError, RailfabError, raise_all
from railfab.intent.display import MAX_CHARACTERS, display, display_key, one_line

Location = tuple[int | str, ...]

MAX_BYTES = 1_000_000
"""An intent is a page; a file larger than this is another kind of file."""
MAX_DEPTH = 50
"""Levels of nesting; an intent has six."""
MAX_FAULTS = 30
"""Faults of a file that are reported together."""

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that YAML does not allow (1.2.2, section 5.1, lists the allowed ones)."""
STDIN = Path("-")
"""The path that means standard input."""
DOTTED = re.compile(r"[a-z_]+(?:\.[\w-]+)+")
"""A key with the keys around it, such as `backend.spines.count`."""
WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((case(word) for word in ("yes", "true", "on") for case in (str, str.title, str.upper)), True),
    **dict.fromkeys((case(word) for word in ("no", "false", "off") for case in (str, str.title, str.upper)), False),
}
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+")
FLOAT = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9_]*)?\.[0-9]+|(?:0|[1-9][0-9_]*)\.?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser of libyaml, ten times as fast, where PyYAML was built with it."""


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file, and the line of every key and list element."""

    path: Path
    content: dict[int | str, Any]
    lines: dict[Location, int]

    def line(self, location: Location) -> int:
        """The line of a place, or of the innermost place around it that the file contains."""
        return next((self.lines[location[:n]] for n in range(len(location), 0, -1) if location[:n] in self.lines), 1)

    def where(self, location: Location) -> str:
        """File, line and key."""
        key = ".".join(map(display_key, location))
        return f"{self.path}:{self.line(location)}" + (f": {key}" if key else "")

    def key_line(self, text: str) -> int | None:
        """The line of the first key that a text names with the keys around it, or of the innermost of these that the
        file contains; None without any."""
        keys = [text] if text in self.content else DOTTED.findall(text)
        locations = (tuple(key.split(".")) for key in keys)
        return next((self.line(location) for location in locations if location[0] in self.content), None)

    def located(self, error: RailfabError) -> str:
        """File, line and place of an error about a valid document; without a line if it names no key of the file."""
        line = self.key_line(error.where) or self.key_line(error.remedy)
        return f"{self.path}:{line}: {error.where}" if line else f"{self.path}: {error.where}"


def read_document(path: Path, first_line: str = "version: 1") -> Document:
    """The mapping in a file. Raises IntentError, or Problems, if it is not YAML that railfab accepts.

    first_line: the first line that the remedy suggests for a file without a mapping.
    """
    text = _text(path)
    builder = _Builder(path)
    try:
        content = builder.document(yaml.parse(text, Loader=PARSER))
    except yaml.YAMLError as error:
        builder.faults.append(_syntax_fault(path, text, error))
    builder.stop_at_faults()
    if not isinstance(content, dict):
        raise IntentError(str(path), "the file contains no mapping", f"Begin it with `{first_line}`")
    return Document(path, content, builder.lines)


def remaining_faults(path: Path, faults: int) -> list[IntentError]:
    """The line that counts the faults of a file after the first MAX_FAULTS; none where there are no more."""
    more = faults - MAX_FAULTS
    return [IntentError(str(path), f"{more} more faults are not shown", "Correct the first ones")] if more > 0 else []


def _text(path: Path) -> str:
    try:
        content = standard_input() if path == STDIN else _start(path)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise IntentError(str(path), "no such file", "Check the path") from None
    except OSError as error:
        problem = f"the file cannot be read ({(error.strerror or str(error)).lower()})"
        raise IntentError(str(path), problem, "Name a readable text file") from None
    except UnicodeDecodeError:
        raise IntentError(str(path), "the file is not UTF-8 text", "Save it as UTF-8") from None
    if len(content) > MAX_BYTES:
        raise IntentError(str(path), f"the file is larger than {MAX_BYTES} bytes", "Use a smaller file")
    if match := UNPRINTABLE.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise IntentError(f"{path}:{line}", f"YAML does not allow the character U+{ord(match[0]):04X}", "Delete it")
    return text


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


@cache
def standard_input() -> bytes:
    """Standard input, read once: a command may start another process that reads the same document."""
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def input_for(path: Path) -> bytes | None:
    """Standard input of another process that reads the same document; None where that is a file."""
    return standard_input() if path == STDIN else None


def _syntax_fault(path: Path, text: str, error: yaml.YAMLError) -> IntentError:
    mark, context_mark = (getattr(error, name, None) for name in ("problem_mark", "context_mark"))
    line = mark.line if mark else 0
    problem = one_line(getattr(error, "problem", None) or str(error))
    if context_mark:
        problem += f", {one_line(getattr(error, 'context', ''))} from line {context_mark.line + 1}"
    lines = text.split("\n")
    tabbed = line < len(lines) and lines[line].lstrip(" ").startswith("\t")
    remedy = "Indent with spaces, not tabs" if tabbed else "Correct this line"
    return IntentError(f"{path}:{line + 1}", f"invalid YAML ({problem})", remedy)


class _Builder:
    """Builds values from YAML events, with their lines and faults. Recurses at most MAX_DEPTH calls."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[Location, int] = {}
        self.faults: list[RailfabError] = []
        self.anchors: dict[str, Any] = {}
        """Anchored values; an empty list for every list and mapping."""
        self.refused_alias = False

    def stop_at_faults(self) -> None:
        """Raise the faults found so far, if any."""
        raise_all([*self.faults[:MAX_FAULTS], *remaining_faults(self.path, len(self.faults))])

    def document(self, events: Iterator[yaml.Event]) -> Any:
        """The first document; None for an empty file."""
        content: Any = None
        has_content = False
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and has_content:
                self._fault(event, "a second document begins", "Write one document per file")
                break
            if isinstance(event, yaml.NodeEvent):
                content, has_content = self._value(event, events, (), 0), True
        return content

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], location: Location, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._fault(event, f"the nesting exceeds {MAX_DEPTH} levels", "Remove levels")
            self.stop_at_faults()
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event)
        self._tagged(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._anchored(event, self._scalar(event))
        self._anchored(event, [])
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, location, depth)
        return self._mapping(events, location, depth)

    def _anchored(self, event: yaml.Event, value: Any) -> Any:
        if anchor := getattr(event, "anchor", None):
            self.anchors[anchor] = value
        return value

    def _sequence(self, events: Iterator[yaml.Event], location: Location, depth: int) -> list[Any]:
        elements: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            place = (*location, len(elements))
            self.lines[place] = _line(event)
            elements.append(self._value(event, events, place, depth + 1))
        return elements

    def _mapping(self, events: Iterator[yaml.Event], location: Location, depth: int) -> dict[int | str, Any]:
        content: dict[int | str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(event, events, location, depth, content)
            place = location if key is None else (*location, key)
            if key is not None:
                self.lines[place] = _line(event)
            value = self._value(next(events), events, place, depth + 1)
            if key is not None:
                content[key] = value
        return content

    def _key(
        self,
        event: yaml.Event,
        events: Iterator[yaml.Event],
        location: Location,
        depth: int,
        known: dict[int | str, Any],
    ) -> int | str | None:
        """A key: an integer, or a text as it is written. None where it is neither, or already used."""
        if not isinstance(event, yaml.ScalarEvent):
            self._value(event, events, location, depth + 1)
            self._fault(event, "a key is not a plain value", "Use a word or a number")
            return None
        self._tagged(event)
        self._anchored(event, event.value)
        number = self._scalar(event) if INTEGER.fullmatch(event.value) else None
        key = number if isinstance(number, int) else str(event.value)
        if key == "<<" and event.implicit[0]:
            self._fault(event, "`<<` (merge) is not supported", "Write the keys of the mapping")
        elif key in known:
            self._fault(event, f"key {display(event.value)} is duplicate", "Keep one of them")
        return None if key == "<<" or key in known else key

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        """A quoted value is a text; an unquoted one may be a number, yes, no or empty."""
        text = event.value
        if not event.implicit[0]:
            return text
        if text in WORDS:
            return WORDS[text]
        if len(text) <= MAX_CHARACTERS:
            return _number(text)
        if text.lstrip("-+").replace("_", "").isdecimal():
            self._fault(event, f"a number has {len(text)} digits", "Use a smaller number")
        return text

    def _aliased(self, event: yaml.AliasEvent) -> Any:
        if event.anchor not in self.anchors:
            self._fault(event, f"alias {display(event.anchor)} has no anchor before it", "Write the value")
            return None
        value = self.anchors[event.anchor]
        if isinstance(value, list) and not self.refused_alias:  # once: a billion of them has one cause
            self.refused_alias = True
            self._fault(event, "an alias of a list or mapping is not supported", "Write its content")
        return value

    def _tagged(self, event: yaml.Event) -> None:
        if tag := getattr(event, "tag", None):
            tag = tag.replace("tag:yaml.org,2002:", "!!")
            self._fault(event, f"the tag {display(tag)} is not supported", "Remove the tag")

    def _fault(self, event: yaml.Event, problem: str, remedy: str) -> None:
        self.faults.append(IntentError(f"{self.path}:{_line(event)}", problem, remedy))


def _line(event: yaml.Event) -> int:
    mark = event.start_mark
    return mark.line + 1 if mark else 1


def _number(text: str) -> int | float | str:
    """A number in YAML 1.2 notation, with underscores allowed between digits; else the text itself."""
    digits = text.replace("_", "")
    if INTEGER.fullmatch(text):
        return int(digits, 16 if digits.startswith("0x") else 10)
    if FLOAT.fullmatch(text):
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text
