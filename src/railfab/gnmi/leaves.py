"""An index that selects leaves by path, and a store for targets that set each leaf by its path."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from railfab.gnmi.paths import Element, elements, matches_elements, to_text_elements
from railfab.gnmi.target import DataType, Found, Leaf, PathNotFound, Selected, nest


class LeafLayout:
    """A fixed sequence of leaves. The index by the names in their paths is built on first use."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves = tuple(leaves)

    @cached_property
    def _by_names(self) -> dict[tuple[Element, ...], list[int]]:
        """The places of leaves by their paths without keys."""
        by_names: dict[tuple[str, ...], list[int]] = {}
        for place, leaf in enumerate(self.leaves):
            by_names.setdefault(tuple([step.name for step in leaf.path]), []).append(place)
        return {tuple(map(Element, names)): places for names, places in by_names.items()}

    def places(self, pattern: tuple[Element, ...]) -> list[int]:
        """The places of the leaves at or below a path, which may hold wildcards."""
        names = tuple(Element(step.name) for step in pattern)
        return [
            place
            for shape, places in self._by_names.items()
            if matches_elements(names, shape)
            for place in places
            if matches_elements(pattern, self.leaves[place].path)
        ]


@dataclass(frozen=True, slots=True)
class LeavesView:
    """The leaves of a store at one moment; see `railfab.gnmi.target.View`. read_s: when it was made, monotonic [s]."""

    target: str
    layout: LeafLayout
    values: Sequence[Any]
    timestamp_ns: int
    read_s: float

    def select(self, pattern: tuple[Element, ...], data_type: DataType = DataType.ALL) -> list[Selected]:
        selected: dict[tuple[Element, ...], Selected] = {}
        for place in self.layout.places(pattern):
            leaf = self.layout.leaves[place]
            wanted = data_type is DataType.ALL or leaf.config == (data_type is DataType.CONFIG)
            if wanted and not (leaf.config and leaf.path in selected):
                selected[leaf.path] = Selected(leaf, place)
        return list(selected.values())

    def get(self, path: tuple[Element, ...], data_type: DataType) -> list[Found]:
        chosen = self.select(path, data_type)
        if not chosen:
            raise PathNotFound(self.target, f"nothing at {to_text_elements(path)}", "Check the path and its keys")
        return nest([Found(leaf.leaf.path, self.values[leaf.place or 0]) for leaf in chosen], path)


class Leaves:
    """The leaves of a target by canonical path, for a target that sets each by itself.

    A path may have a configured value and a state value. Thread-safe; only `view` may be called on an event loop.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._held: dict[tuple[str, bool], tuple[Leaf, Any]] = {}
        self._layout: LeafLayout | None = None
        self._view: LeavesView | None = None

    def put(self, path: str, value: Any, *, config: bool = False, on_change: bool = False) -> None:
        """Set a leaf's value, adding the leaf if it is new."""
        with self._lock:
            held = self._held.get((path, config))
            if held is None:
                self._layout = None
                leaf = Leaf(elements(path), config, on_change)
            else:
                leaf = held[0]
            self._held[path, config] = leaf, value
            self._view = None

    def drop(self, paths: Iterable[str], *, config: bool = False) -> None:
        """Remove leaves; paths without a leaf are ignored."""
        with self._lock:
            for path in paths:
                if self._held.pop((path, config), None) is not None:
                    self._layout = self._view = None

    def replace(self, values: Mapping[str, Any], *, on_change: Iterable[str] = ()) -> None:
        """Make these the only leaves of state. on_change: the paths of those whose changes are sent."""
        with self._lock:
            gone = [path for path, config in self._held if not config and path not in values]
        self.drop(gone)
        events = frozenset(on_change)
        for path, value in values.items():
            self.put(path, value, on_change=path in events)

    def view(self, max_age_s: float) -> LeavesView | None:
        """The last view, if it is no older than this and no leaf has been set since."""
        view = self._view
        return view if view is not None and time.monotonic() - view.read_s <= max_age_s else None

    def publish(self) -> LeavesView:
        """A view of the present values."""
        with self._lock:
            if self._layout is None:  # state first: select prefers it to configuration
                self._held = dict(sorted(self._held.items(), key=lambda entry: entry[0][1]))
                self._layout = LeafLayout([leaf for leaf, _ in self._held.values()])
            values = [value for _, value in self._held.values()]
            self._view = LeavesView(self._target, self._layout, values, time.time_ns(), time.monotonic())
            return self._view
