"""What a gNMI server serves: a target and its leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from railfab.errors import RailfabError
from railfab.gnmi.paths import Element, elements, matches_elements


class RequestRefused(RailfabError):
    """A request that the target does not serve, and why; nothing was changed by it."""


class PathNotFound(RequestRefused):
    """A path at which the target has nothing."""


class Kind(StrEnum):
    """What a Get asks for; the names of gNMI's DataType."""

    ALL = "ALL"
    CONFIG = "CONFIG"
    STATE = "STATE"


class Operation(StrEnum):
    DELETE = "DELETE"
    REPLACE = "REPLACE"
    UPDATE = "UPDATE"


class Edit(NamedTuple):
    """One step of a Set. value: None for a delete."""

    operation: Operation
    path: tuple[Element, ...]
    value: Any = None


class Model(NamedTuple):
    """A YANG module that a target names in its capabilities."""

    name: str
    organization: str
    version: str


class Found(NamedTuple):
    """An answer to a Get: a leaf's value, or a container as JSON (RFC 7951)."""

    path: tuple[Element, ...]
    value: Any


@dataclass(slots=True)
class Leaf:
    """One leaf of a target; its value changes in place.

    config: whether it is configuration. on_change: whether a client that leaves the mode to the target gets changes
    instead of samples.
    """

    path: str
    steps: tuple[Element, ...]
    value: Any
    config: bool = False
    on_change: bool = False


Shape = tuple[str, ...]
"""The names along a path, without keys: leaves of one kind share it."""


class Leaves:
    """The leaves of a target, by canonical path; generation rises whenever one comes or goes.

    A path may have a configured value and a present one; where both are asked for, the present one counts. Safe to
    use from several threads.
    """

    def __init__(self) -> None:
        self._config: dict[str, Leaf] = {}
        self._state: dict[str, Leaf] = {}
        self._shapes: dict[Shape, dict[str, None]] = {}
        self._lock = threading.RLock()
        self.generation = 0

    def __len__(self) -> int:
        return len(self._config.keys() | self._state.keys())

    def put(self, path: str, value: Any, *, config: bool = False, on_change: bool = False) -> Leaf:
        """Set a leaf's value, making the leaf if it is new."""
        with self._lock:
            leaf = (self._config if config else self._state).get(path)
            if leaf is None:
                leaf = Leaf(path, elements(path), value, config, on_change)
                self.add(leaf)
            leaf.value = value
            return leaf

    def add(self, leaf: Leaf) -> None:
        """Take in a leaf that somebody else keeps up to date, in place of one with its path."""
        with self._lock:
            (self._config if leaf.config else self._state)[leaf.path] = leaf
            self._shapes.setdefault(_shape(leaf.steps), {})[leaf.path] = None
            self.generation += 1

    def drop(self, paths: Iterable[str], *, config: bool = False) -> None:
        """Remove leaves; those that are not there are passed over."""
        with self._lock:
            own, other = (self._config, self._state) if config else (self._state, self._config)
            gone = [leaf for path in paths if (leaf := own.pop(path, None)) is not None]
            for leaf in gone:
                if leaf.path not in other:
                    self._forget(leaf)
            self.generation += bool(gone)

    def replace(self, values: Mapping[str, Any], *, config: bool, on_change: bool = False) -> None:
        """Make these the only leaves of configuration, or the only ones of state."""
        with self._lock:
            own = self._config if config else self._state
            self.drop([path for path in own if path not in values], config=config)
            for path, value in values.items():
                self.put(path, value, config=config, on_change=on_change)

    def select(self, pattern: tuple[Element, ...], kind: Kind = Kind.ALL) -> list[Leaf]:
        """The leaves at or below a path, which may hold wildcards."""
        names = tuple(Element(step.name) for step in pattern)
        with self._lock:
            near = (
                leaf
                for shape, paths in self._shapes.items()
                if matches_elements(names, tuple(Element(name) for name in shape))
                for path in paths
                if (leaf := self._at(path, kind)) is not None
            )
            return [leaf for leaf in near if matches_elements(pattern, leaf.steps)]

    def _at(self, path: str, kind: Kind) -> Leaf | None:
        present = None if kind is Kind.CONFIG else self._state.get(path)
        return self._config.get(path) if present is None and kind is not Kind.STATE else present

    def _forget(self, leaf: Leaf) -> None:
        shape = _shape(leaf.steps)
        del self._shapes[shape][leaf.path]
        if not self._shapes[shape]:
            del self._shapes[shape]


def _shape(steps: tuple[Element, ...]) -> Shape:
    return tuple(step.name for step in steps)


class Target(Protocol):
    """What a GnmiServer serves. `get` and `set` are called from worker threads, all else from the server's loop."""

    name: str
    leaves: Leaves

    def models(self) -> Sequence[Model]: ...

    def refresh(self, max_age_s: float) -> int:
        """Bring the leaves up to date unless they are younger than this; the time of their values [ns since 1970]."""
        ...

    def get(self, path: tuple[Element, ...], kind: Kind) -> list[Found]:
        """What stands at this path, wildcards resolved. Raises PathNotFound."""
        ...

    def set(self, edits: Sequence[Edit]) -> None:
        """Apply all of them or none. Raises RailfabError with the reason; then nothing has changed."""
        ...


def nest(leaves: Iterable[Leaf], root: tuple[Element, ...]) -> list[Found]:
    """The leaves below a path as answers to a Get: one for each node that the path matches, containers as JSON."""
    depth = len(root)
    found: dict[tuple[Element, ...], Any] = {}
    for leaf in leaves:
        at, rest = leaf.steps[:depth], leaf.steps[depth:]
        if rest:
            _grow(found.setdefault(at, dict(at[-1].keys) if at else {}), rest, leaf.value)
        else:
            found[at] = leaf.value
    return [Found(at, value) for at, value in found.items()]


def _grow(node: dict[str, Any], steps: tuple[Element, ...], value: Any) -> None:
    """Put a value into a JSON tree, making containers and list entries on the way."""
    for step in steps[:-1]:
        keys = dict(step.keys)
        node = _entry(node.setdefault(step.name, []), keys) if keys else node.setdefault(step.name, {})
    node[steps[-1].name] = value


def _entry(entries: list[dict[str, Any]], keys: dict[str, str]) -> dict[str, Any]:
    """The list entry with these keys, made if it is missing."""
    if entries and keys.items() <= entries[-1].items():
        return entries[-1]
    for entry in entries:
        if keys.items() <= entry.items():
            return entry
    entries.append(dict(keys))
    return entries[-1]
