"""A virtual switch as a gNMI target: a configuration that clients edit, and the state of its fabric."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from railfab.device import DeviceModel
from railfab.forwarding import BgpSession
from railfab.gnmi.leaves import Layout
from railfab.gnmi.paths import Element, elements, to_text_elements
from railfab.gnmi.target import DataType, Edit, Found, Leaf, Model, PathNotFound, Selected, nest
from railfab.platforms import Platform
from railfab.platforms.shared.json_datastore import Names, edited, found, selected
from railfab.platforms.shared.json_tree import Json, bare
from railfab.twin.encoder import Encoded, Encoder
from railfab.twin.native import Native
from railfab.twin.samples import ObservedSwitch

logger = logging.getLogger(__name__)

_PARSING = threading.Lock()
"""Held by the Set that is being parsed: Sets that are parsed at the same time would slow down each other and the event
loop of the servers. Only worker threads of Sets wait for it."""

Apply = Callable[[str, DeviceModel | None], None]
"""Hands a switch's model to the fabric and returns when it has taken effect; None is a switch without configuration.
Raises RailfabError."""


Observe = Callable[[str], ObservedSwitch]
"""Reads the state of a switch without waiting for a lock."""


@dataclass(frozen=True, slots=True, eq=False)
class SwitchLayout:
    """The leaves of a switch: those of its configuration tree, and of its state."""

    tree: Json
    state: Layout


@dataclass(frozen=True, slots=True, eq=False)
class SwitchView:
    """A switch at one moment; see `railfab.gnmi.target.View`.

    read_s: when the fabric was read, monotonic [s]. change: the object that stood for the last change before that.
    """

    name: str
    names: Names
    layout: SwitchLayout
    values: Sequence[Any]
    timestamp_ns: int
    read_s: float
    change: object

    def select(self, pattern: tuple[Element, ...], data_type: DataType = DataType.ALL) -> list[Selected]:
        chosen: dict[tuple[Element, ...], Selected] = {}
        if data_type is not DataType.STATE:
            for path, value in selected(self.layout.tree, pattern, self.names):
                chosen[path] = Selected(Leaf(path, config=True, on_change=True), None, value)
        if data_type is not DataType.CONFIG:
            leaves = self.layout.state.leaves
            for place in self.layout.state.places(pattern):
                chosen[leaves[place].path] = Selected(leaves[place], place)
        return list(chosen.values())

    def get(self, path: tuple[Element, ...], data_type: DataType) -> list[Found]:
        answers: dict[tuple[Element, ...], Any] = {}
        if data_type is not DataType.STATE:
            answers = {answer.path: answer.value for answer in found(self.layout.tree, path, self.names)}
        if data_type is not DataType.CONFIG:
            leaves = self.layout.state.leaves
            state = [Found(leaves[place].path, self.values[place]) for place in self.layout.state.places(path)]
            for answer in nest(state, path):
                old = answers.get(answer.path)
                answers[answer.path] = answer.value if old is None else overlaid(old, answer.value, self.names)
        if not answers:
            raise PathNotFound(self.name, f"nothing at {to_text_elements(path)}", "Check the path and its keys")
        return [Found(*answer) for answer in answers.items()]


class VirtualSwitch:
    """A gNMI target. Its configuration is a tree that clients edit; each Set is parsed before it takes effect.

    Streams and Gets work from views, which are read in a worker thread and published by replacing one reference.
    The fabric calls `touch` after each change of a state; only counters have to be read to see them change.
    model: the configuration as a device model; None while the switch has nothing but its factory configuration.
    """

    change_age_s = math.inf

    def __init__(self, name: str, platform: Platform, native: Native, *, apply: Apply, observe: Observe) -> None:
        self.name = name
        self._native = native
        self._apply = apply
        self._observe = observe
        self._names = Names(native.keys_of)
        self._encoder = Encoder(platform.telemetry, partial(native.wildcard, name))
        self._sessions = _SessionLeaves(partial(native.session_leaves, name))
        self._editing = threading.Lock()
        self._change: object = object()
        self._view: SwitchView | None = None
        self._layout = SwitchLayout({}, Layout(()))
        self._encoded: tuple[Leaf, ...] = ()
        self.model: DeviceModel | None = None
        self._tree: Json = {}
        self._take(native.factory(name), None)

    def learn(self, tree: Json) -> None:
        """Take the module prefixes of names from a rendered tree."""
        self._names.learn(tree)

    def models(self) -> Sequence[Model]:
        return self._native.models

    def load(self, tree: Json) -> DeviceModel:
        """Merge a rendered configuration into the factory's; its model, for the caller to apply.

        Raises RailfabError when it is not valid.
        """
        merged = overlaid(self._tree, tree, self._names)
        model = self._native.parse(merged)
        self._take(merged, model)
        return model

    def set(self, edits: Sequence[Edit]) -> None:
        with self._editing:
            with _PARSING:
                tree = edited(self._tree, edits, self._names, self.name)
                model = self._native.parse(tree) if self._native.configured(tree) else None
            self._apply(self.name, model)
            self._take(tree, model)
        logger.info("%s: configuration changed", self.name)

    def _take(self, tree: Json, model: DeviceModel | None) -> None:
        self._names.learn({name: child for name, child in tree.items() if self._tree.get(name) is not child})
        self._tree, self.model = tree, model
        self.touch()

    def touch(self) -> None:
        """Mark the last view as outdated: the fabric is read again before the next answer."""
        self._change = object()

    def view(self, max_age_s: float) -> SwitchView | None:
        view = self._view
        fresh = view is not None and view.change is self._change and time.monotonic() - view.read_s <= max_age_s
        return view if fresh else None

    def refresh(self) -> SwitchView:
        change, tree, read_s, timestamp_ns = self._change, self._tree, time.monotonic(), time.time_ns()
        observed = self._observe(self.name)
        encoded = self._encoder.encode(observed.series, observed.values)
        layout = self._laid_out(tree, encoded, self._sessions.update(observed.sessions))
        values = encoded.values + self._sessions.values
        self._view = SwitchView(self.name, self._names, layout, values, timestamp_ns, read_s, change)
        return self._view

    def _laid_out(self, tree: Json, encoded: Encoded, other_sessions: bool) -> SwitchLayout:
        """The present layout; the same object while no leaf is added or removed."""
        state = self._layout.state
        if encoded.leaves is not self._encoded or other_sessions:
            self._encoded = encoded.leaves
            state = Layout((*encoded.leaves, *self._sessions.leaves))
        if state is not self._layout.state or tree is not self._layout.tree:
            self._layout = SwitchLayout(tree, state)
        return self._layout


class _SessionLeaves:
    """The leaves of BGP sessions that no metric carries."""

    def __init__(self, leaves_of: Callable[[BgpSession], Mapping[str, Any]]) -> None:
        self._leaves_of = leaves_of
        self._sessions: Sequence[BgpSession] = ()
        self._paths: tuple[str, ...] = ()
        self.leaves: tuple[Leaf, ...] = ()
        self.values: list[Any] = []

    def update(self, sessions: Sequence[BgpSession]) -> bool:
        """Set the leaves from these sessions; whether leaves were added or removed."""
        if sessions is self._sessions or sessions == self._sessions:
            return False
        self._sessions = sessions
        shown = {path: value for session in sessions for path, value in self._leaves_of(session).items()}
        self.values = list(shown.values())
        before, self._paths = self._paths, tuple(shown)
        if before == self._paths:
            return False
        self.leaves = tuple([Leaf(elements(path), on_change=True) for path in shown])
        return True


def overlaid(config: Any, state: Any, names: Names) -> Any:
    """Two trees merged, list entry by list entry; where both have a leaf, that of the second is used.

    Neither is changed, and the result shares their parts.
    """
    if not isinstance(config, dict) or not isinstance(state, dict):
        return state
    written = {bare(name): name for name in config}
    merged = dict(config)
    for name, child in state.items():
        own = written.get(bare(name), name)
        old = merged.get(own)
        if isinstance(old, list) and isinstance(child, list):
            merged[own] = _overlaid_list(bare(name), old, child, names)
        else:
            merged[own] = child if old is None else overlaid(old, child, names)
    return merged


def _overlaid_list(name: str, config: list[Any], state: list[Any], names: Names) -> list[Any]:
    if not all(isinstance(entry, dict) for entry in (*config, *state)):
        return state
    merged = list(config)
    places = {_keys(name, entry, names): index for index, entry in enumerate(config)}
    for entry in state:
        place = places.get(_keys(name, entry, names))
        if place is None:
            merged.append(entry)
        else:
            merged[place] = overlaid(merged[place], entry, names)
    return merged


def _keys(name: str, entry: Json, names: Names) -> frozenset[tuple[str, str]]:
    return frozenset(names.keys_of(name, entry).items())
