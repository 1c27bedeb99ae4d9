"""One document that a user wrote: mappings, lists and plain values, with the line of each key.

Stricter than YAML: no duplicate keys, no tags, no merges, no alias of a list or mapping (so that no document expands
without bound), and no number that YAML 1.1 and 1.2 read differently (`010`, `1:30`). Everything else is an error with
its line.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from railfab.errors import IntentError, RailfabError, raise_all
from railfab.text.display import display_key
from railfab.yaml_reader.composer import YamlFault, YamlFaultKind, YamlLimits, compose
from railfab.yaml_reader.files import Unread, UnreadableFile, decoded, file_text
from railfab.yaml_reader.tree import Keyed, Tree, line_of
from railfab.yaml_reader.values import strict_values

Location = tuple[int | str, ...]

MAX_BYTES = 1_000_000
"""An intent is a page; a file larger than this is another kind of file."""
LIMITS = YamlLimits(depth=50)
"""An intent has six levels."""
MAX_FAULTS = 30
"""Faults of a file that are reported together."""

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that YAML does not allow (1.2.2, section 5.1, lists the allowed ones)."""
REMEDIES = {
    Unread.MISSING: "Check the path",
    Unread.REFUSED: "Name a readable text file",
    Unread.ENCODING: "Save it as UTF-8",
    Unread.SIZE: "Use a smaller file",
}
STDIN = Path("-")
"""The path that means standard input."""


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file, and its tree, which has the line of every key and list element."""

    path: Path
    content: dict[int | str, Any]
    tree: Tree = field(default_factory=lambda: Keyed({}, {}, 1))

    def line(self, location: Location) -> int:
        """The line of a place, or of the innermost place around it that the file contains."""
        return line_of(self.tree, location)

    def where(self, location: Location) -> str:
        """File, line and key."""
        key = ".".join(map(display_key, location))
        return f"{self.path}:{self.line(location)}" + (f": {key}" if key else "")

    def located(self, error: RailfabError) -> RailfabError:
        """The error of a valid document with file and line in front of its place; without a line if the file has none
        of the keys that it is about."""
        line = next((self.line(key) for key in error.keys if key[0] in self.content), None)
        return error.changed(where=f"{self.path}:{line}: {error.where}" if line else f"{self.path}: {error.where}")


def read_document(path: Path, first_line: str = "version: 1") -> Document:
    """The mapping in a file. Raises IntentError, or Problems, if it is not YAML that railfab accepts.

    first_line: the first line that the remedy suggests for a file without a mapping.
    """
    tree, faults = compose(_text(path), LIMITS)
    content, value_faults = strict_values(tree)
    errors = [_error(path, fault) for fault in sorted((*faults, *value_faults), key=lambda fault: fault.line)]
    raise_all([*errors[:MAX_FAULTS], *remaining_faults(path, len(errors))])
    if not isinstance(content, dict):
        raise IntentError(str(path), "the file contains no mapping", f"Begin it with `{first_line}`")
    return Document(path, content, tree)


def _error(path: Path, fault: YamlFault) -> IntentError:
    problem = f"invalid YAML ({fault.problem})" if fault.kind is YamlFaultKind.SYNTAX else fault.problem
    return IntentError(f"{path}:{fault.line}", problem, fault.remedy)


def remaining_faults(path: Path, faults: int) -> list[IntentError]:
    """The line that counts the faults of a file after the first MAX_FAULTS; none where there are no more."""
    more = faults - MAX_FAULTS
    return [IntentError(str(path), f"{more} more faults are not shown", "Correct the first ones")] if more > 0 else []


def _text(path: Path) -> str:
    try:
        text = decoded(standard_input(), MAX_BYTES) if path == STDIN else file_text(path, MAX_BYTES)
    except UnreadableFile as error:
        problem = error.problem if error.why is Unread.MISSING else f"the file {error.problem}"
        raise IntentError(str(path), problem, REMEDIES[error.why]) from None
    if match := UNPRINTABLE.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise IntentError(f"{path}:{line}", f"YAML does not allow the character U+{ord(match[0]):04X}", "Delete it")
    return text


@cache
def standard_input() -> bytes:
    """Standard input, read once: a command may start another process that reads the same document."""
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def input_for(path: Path) -> bytes | None:
    """Standard input of another process that reads the same document; None where that is a file."""
    return standard_input() if path == STDIN else None
