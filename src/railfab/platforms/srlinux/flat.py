"""SR Linux configuration as `info flat from running` prints it: lines `set / interface ethernet-1/1 mtu 9232`.

The schema tells containers, lists and leaves apart; below what it does not know, the last word is a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from railfab.errors import ConfigError
from railfab.platforms.shared.json_tree import Json, leaf_text
from railfab.platforms.srlinux.schema import MARK, Node, schema
from railfab.platforms.srlinux.value_types import fits

WHAT = "SR Linux configuration"
_SET = re.compile(r"set / ?(?P<words>.*)")
_BESIDE = re.compile(r"#.*|--\{.*|\S*[#>] ?(?:info|show|quit|exit|diff)\b.*|\S+[#>]|")
"""A prompt, which SR Linux shows on two lines, a command behind it, a comment, or nothing."""
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
_NUMBERS = ("int", "uint")


def is_flat(text: str) -> bool:
    """Whether a text consists of such lines."""
    return _SET.match(text) is not None or "\nset / " in text


def tree_of_lines(text: str) -> Json:
    """The tree of the lines, with the modules of names as JSON has them. Raises ConfigError."""
    tree: Json = {}
    for number, line in enumerate(text.splitlines(), 1):
        said = line.strip()
        if match := _SET.fullmatch(said):
            _add(tree, schema().nodes, (), words_of_line(match["words"]))
        elif _BESIDE.fullmatch(said) is None:
            remedy = "Pass the output of `info flat from running`, or JSON"
            raise ConfigError(f"{WHAT}: line {number}", f"{said!r} sets nothing", remedy)
    return tree


def words_of_line(text: str) -> list[str]:
    """The words of a line; a quoted one may hold blanks."""
    words = _WORD.findall(text)
    return [str(json.loads(word)) if len(word) > 1 and word[0] == word[-1] == '"' else word for word in words]


def _add(tree: Json, node: Node, at: tuple[str, ...], words: Sequence[str]) -> None:
    """Add a line below a container. at: the names of the steps to it."""
    if not words:
        return
    name, rest = words[0], words[1:]
    place = (*at, name)
    module = schema().namespaces.get(place)
    full = f"{module}:{name}" if module else name
    child = node.get(name) if isinstance(node, dict) else None
    if isinstance(child, dict) and isinstance(child.get(MARK), list):
        entry, left = _entry(tree.setdefault(full, []), child[MARK], child, rest)
        _add(entry, child, place, left)
    elif isinstance(child, dict):
        _add(tree.setdefault(full, {}), child, place, rest)
    elif isinstance(child, list):
        values = [typed_value(child, word) for word in (rest[1:-1] if rest[:1] == ["["] else rest)]
        tree[full] = [*tree.get(full, []), *values]
    elif child is None and (len(rest) > 1 or (rest and tree.get(full, rest[0]) != rest[0])):
        tree[full] = _as_container(tree.get(full, {}))
        _add(tree[full], None, place, rest)
    else:
        tree[full] = typed_value(child, rest[0]) if rest else [None]


def _as_container(present: Any) -> Json:
    """The container below a name that the schema does not know: a value is the key of an entry."""
    return present if isinstance(present, dict) else {} if present == [None] else {present: [None]}


def _entry(entries: list[Json], keys: list[str], node: Node, words: Sequence[str]) -> tuple[Json, Sequence[str]]:
    """The entry of a list that the words name, and the words behind its keys: the first one without its name."""
    values = {keys[0]: typed_value(node.get(keys[0]), words[0] if words else "")}
    left = words[1:]
    for key in keys[1:]:
        if left[:1] == [key]:
            values[key] = typed_value(node.get(key), left[1] if len(left) > 1 else "")
            left = left[2:]
    entry = next((entry for entry in entries if all(entry.get(key) == value for key, value in values.items())), None)
    if entry is None:
        entry = dict(values)
        entries.append(entry)
    return entry, left


def typed_value(node: Node, word: str) -> Any:
    """A value in the type of its leaf; numbers of 64 bits are texts in JSON (RFC 7951, section 6.1)."""
    return _typed((schema().type_of(node) or {}) if node is not None else {}, word)


def _typed(kind: Mapping[str, Any], word: str) -> Any:
    """Likewise; of a union, in its first type that the word fits (RFC 7950, section 9.12)."""
    name = kind.get("type", "")
    if name == "union":
        return _typed(next((member for member in kind["members"] if fits(word, member)), {}), word)
    if name == "boolean" and word in (leaf_text(True), leaf_text(False)):
        return word == leaf_text(True)
    is_number = name.startswith(_NUMBERS) and not name.endswith("64") and word.removeprefix("-").isdecimal()
    return int(word) if is_number else word
