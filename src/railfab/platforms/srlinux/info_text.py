"""Trees of SR Linux as the CLI prints them: in braces, as JSON, and as differences.

    interface ethernet-1/1 {
        admin-state enable
    }

Leaves stand before containers; the order of the switch, that of its models, is not known. Trees are without modules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from railfab.gnmi.paths import Element
from railfab.gnmi.values import Uint64
from railfab.platforms.shared.json_paths import has_keys
from railfab.platforms.shared.json_tree import Json, is_list, leaf_text
from railfab.platforms.srlinux.tree import cli_word, entry_keys, key_words, lines

INDENT = 4
DIFF_INDENT = 6
"""Columns before the outermost line of `info` and of `diff`, as learn-srlinux prints them (navigating-srl.md)."""


class _Line(NamedTuple):
    """depth: below the outermost line. sign: of a difference."""

    depth: int
    text: str
    sign: str = " "


def info(tree: Json) -> str:
    """A tree in braces."""
    return "".join(f"{' ' * (INDENT * (1 + line.depth))}{line.text}\n" for line in _container(tree, 0))


def difference(old: Json, new: Json) -> str:
    """Lines that a candidate adds and removes, with the places around it."""
    return "".join(
        f"{line.sign}{' ' * (DIFF_INDENT - 1 + INDENT * line.depth)}{line.text}\n" for line in _changes(old, new, 0)
    )


def flat_difference(old: Json, new: Json) -> str:
    """The same as lines: `insert / interface ethernet-1/1 description x`."""
    before, after = (dict.fromkeys(line.removeprefix("set ") for line in lines(tree)) for tree in (old, new))
    removed = [f"delete {line}\n" for line in before if line not in after]
    return "".join([*removed, *(f"insert {line}\n" for line in after if line not in before)])


def as_json(tree: Json) -> str:
    """A tree as `| as json` prints it: numbers of 64 bits and decimals are texts (RFC 7951, section 6.1)."""
    return json.dumps(_json_value(tree), indent=2, ensure_ascii=False) + "\n"


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_value(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_json_value(child) for child in value]
    return str(value) if isinstance(value, (Uint64, Decimal)) else value


def kept(tree: Any, words: Sequence[str]) -> Any:
    """The part of a tree that words name, with the places around it; None where there is nothing.

    `*` stands for any entry, as does a list without a key at the end.
    """
    if not words:
        return tree
    name, *rest = words
    child = tree.get(name) if isinstance(tree, dict) else None
    if child is None:
        return None
    if not is_list(child):
        part = kept(child, rest)
        return None if part is None else {name: part}
    entries = [part for entry in child if (part := _kept_entry(name, entry, rest)) is not None]
    return {name: entries} if entries else None


def _kept_entry(name: str, entry: Json, words: Sequence[str]) -> Json | None:
    keys, left = entry_keys(name, entry), list(words)
    for number, key in enumerate(keys):
        if not left:
            break
        if number and left[0] == key:
            left.pop(0)
        if left.pop(0) not in ("*", cli_word(entry[key]), leaf_text(entry[key])):
            return None
    part: Json | None = kept(entry, left)
    return None if part is None else {key: entry[key] for key in keys} | part


def inner(tree: Json, place: Sequence[Element]) -> Json:
    """The node at one place of a tree; empty where the tree lacks it."""
    node: Any = tree
    for step in place:
        child = node.get(step.name, {})
        entries = child if isinstance(child, list) else [child]
        node = next((entry for entry in entries if has_keys(entry, step)), {})
    return dict(node)


def _container(node: Json, depth: int, hidden: Iterable[str] = ()) -> Iterator[_Line]:
    for name, child in _members(node, hidden):
        yield from _member(name, child, depth)


def _members(node: Mapping[str, Any], hidden: Iterable[str] = ()) -> list[tuple[str, Any]]:
    """The members of a container, leaves first."""
    members = [(name, child) for name, child in node.items() if name not in hidden]
    return sorted(members, key=lambda member: (isinstance(member[1], dict) or is_list(member[1]), member[0]))


def _member(name: str, child: Any, depth: int) -> Iterator[_Line]:
    if isinstance(child, dict):
        yield from _braces(name, child, depth)
    elif is_list(child):
        for entry in child:
            keys = entry_keys(name, entry)
            yield from _braces(f"{name} {key_words(entry, keys)}".rstrip(), entry, depth, keys)
    elif isinstance(child, list):
        yield from _values(name, child, depth)
    else:
        yield _Line(depth, f"{name} {cli_word(child)}")


def _braces(header: str, node: Json, depth: int, keys: Iterable[str] = ()) -> Iterator[_Line]:
    yield _Line(depth, f"{header} {{")
    yield from _container(node, depth + 1, keys)
    yield _Line(depth, "}")


def _values(name: str, values: Sequence[Any], depth: int) -> Iterator[_Line]:
    if list(values) == [None]:
        yield _Line(depth, name)
        return
    yield _Line(depth, f"{name} [")
    yield from (_Line(depth + 1, cli_word(value)) for value in values)
    yield _Line(depth, "]")


def _changes(old: Json, new: Json, depth: int, hidden: Iterable[str] = ()) -> Iterator[_Line]:
    for name, _ in _members({**old, **new}, hidden):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _inside(name, _changes(before, after, depth + 1), depth)
        elif is_list(before) and is_list(after):
            yield from _entry_changes(name, before, after, depth)
        else:
            yield from _signed("-", name, before, depth)
            yield from _signed("+", name, after, depth)


def _entry_changes(name: str, old: Any, new: Any, depth: int) -> Iterator[_Line]:
    before, after = ({key_words(entry, entry_keys(name, entry)): entry for entry in side} for side in (old, new))
    for words in {**before, **after}:
        was, now = before.get(words), after.get(words)
        if was == now:
            continue
        if was is None or now is None:
            yield from _signed("-" if now is None else "+", name, [was or now], depth)
        else:
            changes = _changes(was, now, depth + 1, entry_keys(name, was))
            yield from _inside(f"{name} {words}", changes, depth)


def _inside(header: str, changes: Iterable[_Line], depth: int) -> Iterator[_Line]:
    yield _Line(depth, f"{header} {{")
    yield from changes
    yield _Line(depth, "}")


def _signed(sign: str, name: str, child: Any, depth: int) -> Iterator[_Line]:
    if child is not None:
        yield from (line._replace(sign=sign) for line in _member(name, child, depth))
