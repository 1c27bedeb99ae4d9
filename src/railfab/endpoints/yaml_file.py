"""A YAML or JSON file that is a mapping, with the line of each key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from railfab.errors import EndpointError

MAX_CHARACTERS = 50_000_000
"""Limit of what is read of an endpoints file: more than any fabric needs, and an end for endless files."""
DEEPEST = 60
"""Levels of nesting; an endpoints file has four. libyaml has no limit of its own, and ends the process."""
MERGE = "tag:yaml.org,2002:merge"
LEVELS = 3
"""Levels whose keys are names: hosts, their keys, and the keys of `data`."""
OTHER_FILE = "Name an endpoints file or a Nornir hosts.yml"
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Marked(NamedTuple):
    """A mapping of a file. lines: of its keys; line: its own."""

    values: dict[Any, Any]
    lines: dict[Any, int]
    line: int
    node: yaml.MappingNode

    def below(self, key: Any) -> Marked | None:
        """The mapping at a key; empty for null, None for any other value."""
        value = self.values[key]
        if value is None:
            return Marked({}, {}, self.lines[key], self.node)
        node = next(node for name, node in reversed(self.node.value) if name.value == key)
        return _marked(value, node) if isinstance(value, dict) else None


def read_text(path: Path) -> str:
    """The text of a file. Raises EndpointError."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_CHARACTERS)
    except FileNotFoundError:
        raise EndpointError(str(path), "no such file", "Start the lab or the twin first, or name a file") from None
    except OSError as error:
        problem = f"the file cannot be read ({(error.strerror or str(error)).lower()})"
        raise EndpointError(str(path), problem, "Check its permissions") from None
    except UnicodeDecodeError:
        raise EndpointError(str(path), "the file is not UTF-8 text", OTHER_FILE) from None


def parse_mapping(path: Path, text: str) -> Marked:
    """The mapping in the text of a file. Raises EndpointError for anything else, and for a key that is there twice."""
    try:
        _check_depth(text)
        loader = Loader(text)
        node = loader.get_single_node()
        _keys_as_texts(node, LEVELS)
        for key, first, line in _duplicates(node, LEVELS):
            raise EndpointError(f"{path}:{line}", f"{key!r} is on line {first} already", "Keep one of them")
        document = None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise EndpointError(where, f"invalid YAML ({str(error).splitlines()[0]})", "Correct its syntax") from None
    if not isinstance(document, dict) or not isinstance(node, yaml.MappingNode):
        raise EndpointError(str(path), "the file contains no mapping", OTHER_FILE)
    return _marked(document, node)


def _check_depth(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise ValueError(f"the nesting exceeds {DEEPEST} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _keys_as_texts(node: yaml.Node | None, levels: int) -> None:
    """Have keys of the upper levels read as they are written: a name may be `7`, `null` or `on`."""
    if isinstance(node, yaml.MappingNode) and levels:
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != MERGE:
                key.tag = "tag:yaml.org,2002:str"
            _keys_as_texts(value, levels - 1)


def _duplicates(node: yaml.Node | None, levels: int) -> Iterator[tuple[str, int, int]]:
    """Keys that a mapping has twice, and both lines: of the two, one would have no effect."""
    if not isinstance(node, yaml.MappingNode) or not levels:
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.tag != MERGE and isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                yield key.value, seen[key.value], line
            seen[key.value] = line
        yield from _duplicates(value, levels - 1)


def _marked(values: dict[Any, Any], node: yaml.MappingNode) -> Marked:
    lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}
    own = node.start_mark.line + 1
    return Marked(values, {key: lines.get(key, own) for key in values}, own, node)
