"""Names of policies and profiles as another configuration has them for the same uses, and defaults that it states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from railfab.platforms.cumulus.defaults import default_of
from railfab.platforms.cumulus.differences import settings_of
from railfab.platforms.cumulus.parse import configuration_of, tree_of
from railfab.platforms.cumulus.qos import GLOBAL
from railfab.platforms.cumulus.qos_defaults import part
from railfab.platforms.cumulus.tree import SET, UNSET
from railfab.platforms.cumulus.tree import text as text_of
from railfab.platforms.shared.json_tree import Json

ANY = "*"
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NvueObjects:
    """A list of objects, and the leaves that name one. ANY in a path stands for a key."""

    place: Words
    uses: tuple[Words, ...]


def _path(text: str) -> Words:
    return tuple(text.split())


PROFILES = ("mapping", "pfc", "congestion-control", "egress-shaper", "egress-scheduler", "egress-queue-mapping")
OBJECTS = (
    NvueObjects(
        _path("router policy route-map"),
        (
            _path("vrf * router bgp neighbor * address-family * policy * route-map"),
            _path("vrf * router bgp address-family * redistribute * route-map"),
        ),
    ),
    NvueObjects(
        _path("router policy prefix-list"),
        (
            _path("router policy route-map * rule * match ip-prefix-list"),
            _path("vrf * router bgp neighbor * address-family * policy * prefix-list"),
        ),
    ),
    NvueObjects(_path("router bfd profile"), (_path("vrf * router bgp neighbor * bfd profile"),)),
    *(NvueObjects(("qos", name), (_path(f"interface * qos {name} profile"),)) for name in PROFILES),
)
"""A list that names another one is before it."""


def aligned(text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The text with the names that the other one has for the same uses, and every object that has another name.

    A name is replaced where it has one counterpart, and the new name is free in the text. Entries of lists state a
    default where those of the other text do.
    """
    tree, wanted = tree_of(text), tree_of(rendered)
    renamed: list[str] = []
    for objects in OBJECTS:
        names = dict(_new_names(objects, tree, wanted))
        if names:
            tree = _with_names(tree, objects, names)
            renamed += (f"{' '.join(objects.place)} {name}" for name in names)
    current = _text(tree, configuration_of(text).absent) if renamed else text
    stated = _with_defaults(current, rendered)
    return current if stated is None else _text(stated, configuration_of(text).absent), tuple(renamed)


def _text(tree: Json, absent: Sequence[Words]) -> str:
    """The text of a tree, and of what is unset besides."""
    unset: Json = {}
    for path in absent:
        _state(unset, path, {})
    return text_of(tree) + (text_of(unset).replace(f"- {SET}:", f"- {UNSET}:", 1) if unset else "")


def _new_names(objects: NvueObjects, tree: Json, wanted: Json) -> Iterator[tuple[str, str]]:
    ours, theirs = (dict(_used(each, objects)) for each in (tree, wanted))
    pairs = {(name, theirs[place]) for place, name in ours.items() if place in theirs}
    former, new = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    defined, intended = part(tree, *objects.place), part(wanted, *objects.place)
    for name, counterpart in sorted(pairs):
        is_single = former[name] == new[counterpart] == 1 and GLOBAL not in (name, counterpart)
        is_free = counterpart in intended and counterpart not in defined
        if name != counterpart and is_single and is_free and name in defined:
            yield name, counterpart


def _used(tree: Json, objects: NvueObjects) -> Iterator[tuple[Words, str]]:
    for use in objects.uses:
        yield from _leaves(tree, use, ())


def _leaves(tree: Any, use: Words, above: Words) -> Iterator[tuple[Words, str]]:
    """The leaves at a path, with their own path."""
    if not use:
        if isinstance(tree, str):
            yield above, tree
        return
    first, *rest = use
    if isinstance(tree, Mapping):
        for word in list(tree) if first == ANY else [first] if first in tree else []:
            yield from _leaves(tree[word], tuple(rest), (*above, word))


def _with_names(tree: Json, objects: NvueObjects, names: Mapping[str, str]) -> Json:
    """A copy of the tree with new names of these objects."""
    for path, name in list(_used(tree, objects)):
        if name in names:
            tree = _with(tree, path, names[name])
    listed = {names.get(name, name): child for name, child in part(tree, *objects.place).items()}
    return _with(tree, objects.place, listed)


def _with(tree: Json, path: Words, value: Any) -> Json:
    """A copy of the tree with another value at a path."""
    first, *rest = path
    return {**tree, first: _with(tree[first], tuple(rest), value) if rest else value}


def _with_defaults(text: str, rendered: str) -> Json | None:
    """The tree with the defaults that the entries of the other text state; None where it has them all."""
    stated = settings_of(text)
    missing = [
        setting
        for words, setting in settings_of(rendered).items()
        if words not in stated and setting.value is not None and setting.value == default_of(setting.path)
    ]
    tree = tree_of(text)
    left_out = [setting for setting in missing if _has_entry(tree, setting.words, setting.keys.values())]
    if not left_out:
        return None
    for setting in left_out:
        tree = _with_leaf(tree, setting.words, setting.value)
    return tree


def _has_entry(tree: Json, words: Words, keys: Any) -> bool:
    """Whether the innermost entry of a list around a setting is there."""
    last = max((at for at, word in enumerate(words) if word in keys), default=-1)
    return last >= 0 and words[last] in part(tree, *words[:last])


def _with_leaf(tree: Json, path: Words, value: Any) -> Json:
    first, *rest = path
    below = tree.get(first)
    child = _with_leaf(below if isinstance(below, dict) else {}, tuple(rest), value) if rest else value
    return {**tree, first: child}


def _state(tree: Json, path: Words, value: Any) -> None:
    *above, last = path
    for word in above:
        tree = tree.setdefault(word, {})
    tree[last] = value
