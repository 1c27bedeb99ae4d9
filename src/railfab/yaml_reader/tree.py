"""The tree of a YAML document: texts as written, lists and mappings, each with its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NULLS = frozenset(("", "~", "null", "Null", "NULL"))


@dataclass(slots=True)
class Scalar:
    """A scalar as written. plain: without quotes. tag: stated with it."""

    text: str
    line: int
    plain: bool = True
    tag: str | None = None

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in NULLS


@dataclass(slots=True)
class Listed:
    entries: list[Tree]
    line: int


@dataclass(slots=True)
class Keyed:
    """A mapping. lines: of its keys; quoted: those in quotes."""

    entries: dict[str, Tree]
    lines: dict[str, int]
    line: int
    quoted: frozenset[str] = frozenset()


Tree = Scalar | Listed | Keyed


def words(mapping: Mapping[str, Tree]) -> dict[str, str]:
    """Keys of a mapping whose values are scalars, without nulls."""
    return {key: value.text for key, value in mapping.items() if isinstance(value, Scalar) and not value.is_null}


def line_of(tree: Tree, location: Sequence[int | str]) -> int:
    """The line of a key or list element, or of the innermost one around it that the document has; 1 without any."""
    line = 1
    for part in location:
        if isinstance(tree, Listed) and isinstance(part, int) and part < len(tree.entries):
            tree = tree.entries[part]
            line = tree.line
        elif isinstance(tree, Keyed) and (key := _key(tree, part)) is not None:
            line, tree = tree.lines[key], tree.entries[key]
        else:
            break
    return line


def _key(tree: Keyed, part: int | str) -> str | None:
    """The key as written: a number may be written with signs, underscores or in hexadecimal."""
    if (text := str(part)) in tree.entries:
        return text
    if not isinstance(part, int):
        return None
    return next((key for key in tree.entries if key not in tree.quoted and _is_number(key, part)), None)


def _is_number(text: str, number: int) -> bool:
    try:
        return int(text.replace("_", ""), 16 if text.startswith("0x") else 10) == number
    except ValueError:
        return False
