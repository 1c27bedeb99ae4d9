"""A file of another tool, as a tree with line numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from railfab.imports.existing import SourceError
from railfab.yaml_reader.composer import YamlFault, YamlFaultKind, YamlLimits, compose
from railfab.yaml_reader.files import Unread, UnreadableFile, file_text
from railfab.yaml_reader.tree import Tree

LIMITS = YamlLimits(depth=60, expanded=math.inf, merged_keys=1_000_000, tags=None)
"""A topology has about eight levels. What has several aliases is one tree, which no reader walks as a whole."""


def read_text(path: Path, max_bytes: int, remedies: Mapping[Unread, str]) -> str:
    """The text of a file. Raises SourceError with one of the remedies."""
    try:
        return file_text(path, max_bytes)
    except UnreadableFile as error:
        raise SourceError(str(path), error.problem, remedies[error.why]) from None


def read_tree(where: str, text: str) -> Tree:
    """Parse the document in a text. Raises SourceError with file and line."""
    tree, faults = compose(text, LIMITS)
    if faults:
        raise SourceError(f"{where}:{faults[0].line}", *_words(faults[0]))
    return tree


def _words(fault: YamlFault) -> tuple[str, str]:
    """The problem and the remedy."""
    match fault.kind:
        case YamlFaultKind.SYNTAX:
            return f"is not YAML ({fault.parser})", "Correct this line"
        case YamlFaultKind.DEPTH:
            return fault.problem, "Name a topology file"
        case YamlFaultKind.ALIAS:
            return f"*{fault.subject} has no anchor before it", "Define its anchor first"
    return fault.problem, fault.remedy
