"""Views of a virtual switch for gNMI: its configuration, and leaves of its state, as of one moment."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

from railfab.gnmi.leaves import LeafLayout
from railfab.gnmi.paths import Element, elements, to_text_elements
from railfab.gnmi.target import DataType, Found, Leaf, PathNotFound, Selected, nest
from railfab.gnmi.values import Uint64
from railfab.platforms import SIMULATED_TIME, Datastore
from railfab.twin.encoder import Encoded

T = TypeVar("T")

TIME = Leaf(elements(SIMULATED_TIME))


@dataclass(frozen=True, slots=True, eq=False)
class SwitchLayout:
    """The leaves of a switch: those of its configuration, and of its state."""

    configuration: Any
    state: LeafLayout


@dataclass(frozen=True, slots=True, eq=False)
class SwitchView:
    """A switch at one moment; see `railfab.gnmi.target.View`.

    read_s: when the fabric was read, monotonic [s]. change: the object that stood for the last change before that.
    """

    name: str
    store: Datastore
    layout: SwitchLayout
    values: Sequence[Any]
    timestamp_ns: int
    read_s: float
    change: object

    def select(self, pattern: tuple[Element, ...], data_type: DataType = DataType.ALL) -> list[Selected]:
        chosen: dict[tuple[Element, ...], Selected] = {}
        pattern = self.store.plain_path(pattern)
        if data_type is not DataType.STATE:
            for path, value in self.store.selected(self.layout.configuration, pattern):
                chosen[path] = Selected(Leaf(path, config=True, on_change=True), None, value)
        if data_type is not DataType.CONFIG:
            leaves = self.layout.state.leaves
            for place in self.layout.state.places(pattern):
                chosen[leaves[place].path] = Selected(leaves[place], place)
        return list(chosen.values())

    def get(self, path: tuple[Element, ...], data_type: DataType) -> list[Found]:
        state: list[Found] = []
        path = self.store.plain_path(path)
        if data_type is not DataType.CONFIG:
            leaves = self.layout.state.leaves
            state = [Found(leaves[place].path, self.values[place]) for place in self.layout.state.places(path)]
            state = nest(state, path)
        if data_type is DataType.STATE:
            answers = self.store.named(state)
        else:
            answers = self.store.get(self.layout.configuration, path, state)
        if not answers:
            raise PathNotFound(self.name, f"nothing at {to_text_elements(path)}", "Check the path and its keys")
        return answers


class StateReading(NamedTuple):
    """Leaves of the state in several parts, and the simulated time of their values [ns]."""

    simulated_ns: int
    parts: tuple[Encoded, ...]


class SwitchReader:
    """Makes views of a switch: of its configuration, and of the leaves of its state that `read` has.

    A view serves until `touch` is called, which every change of a state does; only counters have to be read to see
    them change. stamp: the time stamp of what had been counted at a simulated time; both in ns.
    """

    change_age_s = math.inf

    def __init__(
        self, name: str, store: Datastore, stamp: Callable[[int], int], read: Callable[[], StateReading]
    ) -> None:
        self._name = name
        self._store = store
        self._stamp = stamp
        self._read_state = read
        self._change: object = object()
        self._view: SwitchView | None = None
        self._reading = threading.Lock()
        self._layout = SwitchLayout(None, LeafLayout(()))
        self._leaves: tuple[Sequence[Leaf], ...] = ()

    def touch(self) -> None:
        """Mark the last view as outdated: the fabric is read again before the next answer."""
        self._change = object()

    def view(self, max_age_s: float) -> SwitchView | None:
        view = self._view
        fresh = view is not None and view.change is self._change and time.monotonic() - view.read_s <= max_age_s
        return view if fresh else None

    def refresh(self) -> SwitchView:
        with self._reading:
            return self._read()

    def _read(self) -> SwitchView:
        change, configuration, read_s = self._change, self._store.running, time.monotonic()
        simulated_ns, parts = self._read_state()
        layout = self._laid_out(configuration, tuple([part.leaves for part in parts]))
        values = [*chain.from_iterable(part.values for part in parts), Uint64(simulated_ns)]
        self._view = SwitchView(self._name, self._store, layout, values, self._stamp(simulated_ns), read_s, change)
        return self._view

    def _laid_out(self, configuration: Any, leaves: tuple[Sequence[Leaf], ...]) -> SwitchLayout:
        """The present layout; the same object while no leaf is added or removed."""
        state = self._layout.state
        if len(leaves) != len(self._leaves) or not all(map(is_, leaves, self._leaves)):
            self._leaves = leaves
            state = LeafLayout((*chain.from_iterable(leaves), TIME))
        if state is not self._layout.state or configuration is not self._layout.configuration:
            self._layout = SwitchLayout(configuration, state)
        return self._layout


class LeafSource(Generic[T]):
    """State leaves that no metric carries, made of BGP sessions, ports, the chassis or commits."""

    def __init__(self, leaves_of: Callable[[Sequence[T]], Mapping[str, Any]]) -> None:
        self._leaves_of = leaves_of
        self._sources: Sequence[T] = ()
        self._paths: tuple[str, ...] = ()
        self._encoded = Encoded((), [])

    def encode(self, sources: Sequence[T]) -> Encoded:
        """The leaves of these sources."""
        if sources is self._sources or sources == self._sources:
            return self._encoded
        self._sources = sources
        shown = self._leaves_of(sources)
        before, self._paths = self._paths, tuple(shown)
        leaves = self._encoded.leaves
        if before != self._paths:
            leaves = tuple([Leaf(elements(path), on_change=True) for path in shown])
        self._encoded = Encoded(leaves, list(shown.values()))
        return self._encoded
