"""Edits of a rendered configuration, as `tests/audit/*.yml` states them.

An edit has a place, `in`, which is one section or a list of them from the top, and what is done there:

    {add: LINES}                        below the section; without `in`, at the end of the text
    {remove: LINE}                      with everything below it
    {replace: LINE, with: LINES}        the line alone, what is below it stays
    {set: {key: value}}                 of a tree (JSON, YAML): merged into the mapping or list entry at `in`
    {remove: key}                       of a tree
    {text: OLD, with: NEW}              of the text, every occurrence
    {add: LINES}, {remove: LINES}       of SR Linux also `set / ...` lines, as `info flat` prints them

Sections of a tree are keys; `{name: ethernet-1/1}` selects the entry of a list. Each edit must change something: a
place, line or key that does not exist is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import yaml

from railfab.platforms.shared.edit_commands import statements
from railfab.platforms.srlinux.flat import tree_of_lines
from railfab.platforms.srlinux.schema import MARK, schema

Edit = Mapping[str, Any]
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
TREES: Mapping[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "sonic": (json.loads, lambda tree: json.dumps(tree, indent=4)),
    "srlinux": (json.loads, lambda tree: json.dumps(tree, indent=2)),
    "cumulus": (partial(yaml.load, Loader=LOADER), lambda tree: str(yaml.dump(tree, Dumper=DUMPER))),
}
"""Platforms whose configuration is a tree: its reader and writer."""


def base_text(platform: str, rendered: str) -> str:
    """The text to which edits are applied: of Junos in the form of `show configuration | display set`."""
    if platform != "junos":
        return rendered
    return "".join(f"set {' '.join(map(_word, statement))}\n" for statement in statements(rendered))


def _word(word: str) -> str:
    return f'"{word}"' if " " in word else word


def edited(platform: str, text: str, edits: Sequence[Edit]) -> str:
    """The text after these edits, in turn. Raises LookupError for one that changes nothing."""
    for edit in edits:
        after = _edited(platform, text, edit)
        if after == text:
            raise LookupError(f"{edit}: changes nothing")
        text = after
    return text


def _edited(platform: str, text: str, edit: Edit) -> str:
    if "text" in edit:
        return text.replace(edit["text"], edit["with"])
    if platform in TREES:
        read, write = TREES[platform]
        tree = read(text)
        flat = edit.get("add", edit.get("remove"))
        if isinstance(flat, str) and flat.startswith("set / "):
            for line in flat.splitlines():
                (_add_flat if "add" in edit else _remove_flat)(tree, tree_of_lines(line), schema().nodes)
            return write(tree)
        _edit_tree(_root(tree), _listed(edit.get("in", ())), edit)
        return write(tree)
    lines = text.splitlines()
    _edit_lines(lines, _listed(edit.get("in", ())), edit)
    return "\n".join(lines) + "\n"


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


# Trees


def _root(tree: Any) -> Any:
    """The mapping that the first key of a place is in: of Cumulus the `set` of its list of operations."""
    return next(operation["set"] for operation in tree if "set" in operation) if isinstance(tree, list) else tree


def _edit_tree(tree: Any, place: Sequence[Any], edit: Edit) -> None:
    node = tree
    for step in place:
        node = _below(node, step)
    if "set" in edit:
        _merge(node, edit["set"])
    elif isinstance(node, list):
        node.remove(next(entry for entry in node if _is(entry, edit["remove"])))
    else:
        del node[edit["remove"]]


def _below(node: Any, step: Any) -> Any:
    if isinstance(node, list):
        return next(entry for entry in node if _is(entry, step))
    return node[step]


def _is(entry: Any, keys: Any) -> bool:
    """Whether an entry has these keys, whatever the modules of their identities and whether numbers are texts."""
    if not (isinstance(keys, Mapping) and isinstance(entry, Mapping)):
        return bool(entry == keys)
    return all(key in entry and _bare(entry[key]) == _bare(value) for key, value in keys.items())


def _bare(value: Any) -> str:
    return str(value).removeprefix("srl_nokia-common:")


def _merge(node: Any, addition: Any) -> None:
    """Merge mappings; append the entries of a list; replace any other value."""
    if isinstance(node, list):
        node.extend(_listed(addition))
        return
    for key, value in addition.items():
        present = node.get(key)
        if isinstance(present, dict | list) and isinstance(value, type(present)) and value:
            _merge(present, value)
        else:
            node[key] = value


# Lines of SR Linux


def _add_flat(tree: dict[str, Any], addition: dict[str, Any], node: Any) -> None:
    """Merge the tree of a line."""
    for name, child in addition.items():
        below = node.get(name.rpartition(":")[2]) if isinstance(node, Mapping) else None
        if isinstance(child, dict):
            _add_flat(tree.setdefault(name, {}), child, below)
        elif _is_entries(child):
            entries = tree.setdefault(name, [])
            keys = {key: child[0][key] for key in below[MARK]}
            present = next((entry for entry in entries if _is(entry, keys)), None)
            if present is None:
                entries.append(present := dict(keys))
            _add_flat(present, child[0], below)
        elif isinstance(child, list):
            tree[name] = [*tree.get(name, ()), *(value for value in child if value not in tree.get(name, ()))]
        else:
            tree[name] = child


def _remove_flat(tree: dict[str, Any], removal: dict[str, Any], node: Any) -> None:
    """Remove the last node of a line."""
    ((name, child),) = removal.items()
    below = node.get(name.rpartition(":")[2]) if isinstance(node, Mapping) else None
    if isinstance(child, dict) and child:
        _remove_flat(tree[name], child, below)
        if not tree[name]:
            del tree[name]
    elif _is_entries(child):
        keys = {key: child[0][key] for key in below[MARK]}
        entry = next(entry for entry in tree[name] if _is(entry, keys))
        if rest := {key: value for key, value in child[0].items() if key not in keys}:
            _remove_flat(entry, rest, below)
        else:
            tree[name].remove(entry)
    else:
        del tree[name]


def _is_entries(child: Any) -> bool:
    return isinstance(child, list) and bool(child) and isinstance(child[0], dict)


# Lines


def _edit_lines(lines: list[str], place: Sequence[str], edit: Edit) -> None:
    start, end = 0, len(lines)
    for section in place:
        start = _line_at(lines, section, start, end) + 1
        end = _end_of(lines, start - 1)
    if "add" in edit:
        below = (line for line in lines[start:end] if line.strip())
        margin = next(map(_margin, below), _margin(lines[start - 1]) + "   ")
        at = start if place else len(lines) - (lines[-1:] == ["end"])
        lines[at:at] = [f"{margin if place else ''}{line}" for line in edit["add"].splitlines()]
        return
    at = _line_at(lines, edit.get("remove", edit.get("replace")), start, end)
    if "replace" in edit:
        lines[at : at + 1] = [f"{_margin(lines[at])}{line}" for line in edit["with"].splitlines()]
    else:
        del lines[at : _end_of(lines, at)]


def _line_at(lines: Sequence[str], text: str, start: int, end: int) -> int:
    """The first line with this text among the outermost of a section."""
    margins = [len(_margin(line)) for line in lines[start:end] if line.strip() and line.strip() != "!"]
    outermost = min(margins, default=0)
    for number in range(start, end):
        if lines[number].strip() == text.strip() and len(_margin(lines[number])) == outermost:
            return number
    raise LookupError(f"{text!r}: no such line there")


def _end_of(lines: Sequence[str], at: int) -> int:
    """The line after what is below a line."""
    margin = len(_margin(lines[at]))
    number = at + 1
    while number < len(lines) and (not lines[number].strip() or len(_margin(lines[number])) > margin):
        number += 1
    return number


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
