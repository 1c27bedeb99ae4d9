"""Lines of a configuration that the parser reads; of the others no device model says anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from railfab.platforms.shared.json_tree import Json, is_list
from railfab.platforms.srlinux.drain import DRAIN
from railfab.platforms.srlinux.tree import keys_of, lines


def read_paths(tree: Json, parse: Callable[[Json], object]) -> frozenset[str]:
    """The paths that a parser asks for in a tree without module prefixes: without keys, those of a drain apart.

    The parser asks for more of the policy of a drain than of any other one, whose lines are not known by that.
    """
    read: set[str] = set()
    parse(_Recorded(tree, "", read))
    return frozenset(read)


def read_lines(tree: Json, read: Collection[str]) -> frozenset[str]:
    """The lines of a tree at these paths, as `set / ...`."""
    return frozenset(lines(dict(_read_members(tree, "", read))))


class _Recorded(dict[str, Any]):
    """A tree that notes the path of each member that is asked for."""

    def __init__(self, tree: Json, path: str, read: set[str]) -> None:
        super().__init__((name, _recorded(child, f"{path}/{name}", read)) for name, child in tree.items())
        self._path, self._read = path, read

    def get(self, name: str, default: Any = None) -> Any:
        self._read.add(f"{self._path}/{name}")
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self._read.add(f"{self._path}/{name}")
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._read.add(f"{self._path}/{name}")
        return super().__contains__(name)


def _recorded(child: Any, path: str, read: set[str]) -> Any:
    if isinstance(child, dict):
        return _Recorded(child, path, read)
    return [_recorded(entry, _entry_at(path, entry), read) for entry in child] if is_list(child) else child


def _entry_at(path: str, entry: Json) -> str:
    """The path of what an entry of the list at a path has."""
    return f"{path}[{DRAIN}]" if entry.get("name") == DRAIN else path


def _read_members(tree: Json, path: str, read: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The members of a container that are read, with what is read of them."""
    for name, child in tree.items():
        at = f"{path}/{name}"
        if isinstance(child, dict) and child:
            if below := dict(_read_members(child, at, read)):
                yield name, below
        elif is_list(child):
            if entries := [entry for member in child if (entry := _read_entry(name, member, at, read))]:
                yield name, entries
        elif at in read:
            yield name, child


def _read_entry(name: str, entry: Json, path: str, read: Collection[str]) -> Json:
    """Part of an entry that is read, with its keys; empty when it has more and none of that is read."""
    keys = keys_of(name, entry)
    rest = {leaf: child for leaf, child in entry.items() if leaf not in keys}
    below = dict(_read_members(rest, _entry_at(path, entry), read))
    return {key: entry[key] for key in keys} | below if below or (not rest and path in read) else {}
