"""A configuration as a JSON tree (RFC 7951) that gNMI reads and edits by paths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from railfab.device import DeviceModel
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Edit, Found
from railfab.platforms.shared import json_tree
from railfab.platforms.shared.json_edits import edited
from railfab.platforms.shared.json_names import JsonNames, KeysOf, Schema
from railfab.platforms.shared.json_paths import nodes_at, selected
from railfab.platforms.shared.json_tree import Json, bare, tree_of


class JsonDatastore:
    """The configuration of one virtual switch; see `railfab.platforms.Datastore`.

    factory: the configuration of a new switch. rendered: one from which the module prefixes of names are learnt.
    configured: whether a tree has more than the factory configuration. parse: tree to model. check: raises RailfabError
    for a tree that the switch would not accept; it is called before `configured` and `parse`. check_path: raises
    RequestRefused for a path of a Set that the switch does not know. modules, rivals, identities: see `Names`.
    """

    def __init__(
        self,
        device: str,
        keys_of: KeysOf,
        *,
        factory: Json,
        rendered: Json,
        configured: Callable[[Json], bool],
        parse: Callable[[Json], DeviceModel],
        check: Callable[[Json], None] = lambda _tree: None,
        check_path: Callable[[tuple[Element, ...]], None] = lambda _path: None,
        modules: Mapping[Schema, str] | None = None,
        rivals: Mapping[Schema, Collection[str]] | None = None,
        identities: Mapping[Schema, Mapping[str, str]] | None = None,
    ) -> None:
        self._device = device
        self._names = JsonNames(keys_of, modules, rivals, identities)
        self.running: Json = self._names.adopted(factory, ())
        self._configured = configured
        self._parse = parse
        self._check = check
        self._check_path = check_path
        for tree in (factory, rendered):
            self._names.learn(tree)

    def merged(self, tree: Json) -> Json:
        """The running configuration with a rendered one laid over it."""
        merged: Json = overlaid(self.running, tree, self._names)
        return merged

    def edited(self, edits: Sequence[Edit]) -> Json:
        for edit in edits:
            self._check_path(edit.path)
        return edited(self.running, edits, self._names, self._device)

    def replaced(self, text: str) -> Json:
        tree: Json = self._names.adopted(tree_of(text, self._device), ())
        return tree

    def text(self, configuration: Json) -> str:
        return json_tree.text(configuration)

    def model(self, configuration: Json) -> DeviceModel | None:
        self._check(configuration)
        return self._parse(configuration) if self._configured(configuration) else None

    def commit(self, configuration: Json) -> None:
        changed = {name: child for name, child in configuration.items() if self.running.get(name) is not child}
        self._names.learn(changed)
        self.running = configuration

    def get(self, configuration: Json, path: tuple[Element, ...], state: list[Found]) -> list[Found]:
        answers = {answer.path: answer.value for answer in nodes_at(configuration, path, self._names)}
        for answer in self.named(state):
            held = answers.get(answer.path)
            answers[answer.path] = answer.value if held is None else overlaid(held, answer.value, self._names)
        return [Found(*answer) for answer in answers.items()]

    def named(self, state: list[Found]) -> list[Found]:
        return [
            Found(answer.path, self._names.adopted(answer.value, tuple([step.name for step in answer.path])))
            for answer in state
        ]

    def plain_path(self, path: tuple[Element, ...]) -> tuple[Element, ...]:
        return self._names.plain_path(path)

    def selected(self, configuration: Json, pattern: tuple[Element, ...]) -> Iterator[tuple[tuple[Element, ...], Any]]:
        return selected(configuration, pattern, self._names)


def overlaid(config: Any, state: Any, names: JsonNames) -> Any:
    """Two trees merged, list entry by list entry; where both have a leaf, that of the second is used.

    Neither is changed, and the result shares their parts.
    """
    if not isinstance(config, dict) or not isinstance(state, dict):
        return state
    written = {bare(name): name for name in config}
    merged = dict(config)
    for name, child in state.items():
        written_name = written.get(bare(name), name)
        old = merged.get(written_name)
        if isinstance(old, list) and isinstance(child, list):
            merged[written_name] = _overlaid_list(bare(name), old, child, names)
        else:
            merged[written_name] = child if old is None else overlaid(old, child, names)
    return merged


def _overlaid_list(name: str, config: list[Any], state: list[Any], names: JsonNames) -> list[Any]:
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


def _keys(name: str, entry: Json, names: JsonNames) -> frozenset[tuple[str, str]]:
    return frozenset(names.keys_of(name, entry).items())
