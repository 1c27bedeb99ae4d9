"""One virtual switch as a gNMI target: a configuration that can be set, and the state that the fabric is in."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from railfab.device import DeviceModel
from railfab.forwarding import BgpSession
from railfab.gnmi.paths import Element, to_text_elements
from railfab.gnmi.target import Edit, Found, Kind, Leaves, Model, Operation, PathNotFound, nest
from railfab.platforms import Platform
from railfab.twin.encoder import Encoder, Sample
from railfab.twin.native import Native
from railfab.twin.tree import Json, Names, bare, edited, found, leaves

logger = logging.getLogger(__name__)

Apply = Callable[[str, DeviceModel | None], None]
"""Hands a switch's model to the fabric; None is a switch that is not configured. Raises RailfabError."""

Observe = Callable[[str], tuple[Sequence[Sample], Sequence[BgpSession]]]
"""The present samples and BGP sessions of a switch."""


class VirtualSwitch:
    """A gNMI target. Its configuration is a tree that clients edit; each edit is parsed before it takes effect."""

    def __init__(self, name: str, platform: Platform, native: Native, *, apply: Apply, observe: Observe) -> None:
        self.name = name
        self.leaves = Leaves()
        self._platform = platform
        self._native = native
        self._apply = apply
        self._observe = observe
        self._names = Names(native.keys_of)
        self._encoder = Encoder(platform.telemetry, partial(native.wildcard, name), self.leaves)
        self._tree: Json = {}
        self._shown: dict[str, Any] = {}
        self._editing = threading.Lock()
        self._refreshing = threading.Lock()
        self._refreshed_s = float("-inf")
        self._timestamp_ns = 0
        self._take(native.factory(name))

    def learn(self, tree: Json) -> None:
        """Write names as this tree does: one that the platform has rendered."""
        self._names.learn(tree)

    def models(self) -> Sequence[Model]:
        return self._native.models

    @property
    def configured(self) -> bool:
        return self._native.configured(self._tree)

    def configure(self, tree: Json) -> None:
        """Lay a rendered configuration over the factory's. Raises RailfabError when it is not valid."""
        self.set([Edit(Operation.UPDATE, (), tree)])

    def set(self, edits: Sequence[Edit]) -> None:
        with self._editing:
            tree = edited(self._tree, edits, self._names, self.name)
            model = self._platform.parse(self._native.text(tree)) if self._native.configured(tree) else None
            self._apply(self.name, model)
            self._take(tree)
        self.touch()
        logger.info("%s: configuration changed", self.name)

    def _take(self, tree: Json) -> None:
        self._names.learn(tree)
        self._tree = tree
        values = {to_text_elements(path): value for path, value in leaves(tree, self._names).items()}
        self.leaves.replace(values, config=True, on_change=True)

    def touch(self) -> None:
        """Have the next refresh read the fabric, however young the values are."""
        self._refreshed_s = float("-inf")

    def refresh(self, max_age_s: float) -> int:
        with self._refreshing:
            now_s = time.monotonic()
            if now_s - self._refreshed_s >= max_age_s:
                self._refreshed_s = now_s
                self._timestamp_ns = time.time_ns()
                samples, sessions = self._observe(self.name)
                self._encoder.write(samples)
                self._show(sessions)
            return self._timestamp_ns

    def _show(self, sessions: Sequence[BgpSession]) -> None:
        """What sessions show beyond metrics."""
        shown = {
            path: value
            for session in sessions
            for path, value in self._native.session_leaves(self.name, session).items()
        }
        if shown != self._shown:
            self.leaves.drop(self._shown.keys() - shown.keys())
            for path, value in shown.items():
                self.leaves.put(path, value, on_change=True)
            self._shown = shown

    def get(self, path: tuple[Element, ...], kind: Kind) -> list[Found]:
        answers: dict[tuple[Element, ...], Any] = {}
        if kind is not Kind.STATE:
            answers = {answer.path: answer.value for answer in found(self._tree, path, self._names)}
        if kind is not Kind.CONFIG:
            for answer in nest(self.leaves.select(path, Kind.STATE), path):
                old = answers.get(answer.path)
                answers[answer.path] = answer.value if old is None else overlaid(old, answer.value, self._names)
        if not answers:
            raise PathNotFound(self.name, f"nothing at {to_text_elements(path)}", "Check the path and its keys")
        return [Found(*answer) for answer in answers.items()]


def overlaid(config: Any, state: Any, names: Names) -> Any:
    """Configuration with state laid over it, list entry by list entry; state counts where both have a leaf."""
    if not isinstance(config, dict) or not isinstance(state, dict):
        return state
    written = {bare(name): name for name in config}
    merged = dict(config)
    for name, child in state.items():
        own = written.get(name, name)
        old = merged.get(own)
        if isinstance(old, list) and isinstance(child, list):
            merged[own] = _overlaid_list(name, old, child, names)
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
