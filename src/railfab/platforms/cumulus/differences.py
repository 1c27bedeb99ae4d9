"""The settings in which two configurations differ, with their keys, their defaults and the container around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railfab.platforms.cumulus.defaults import default_of
from railfab.platforms.cumulus.parse import tree_of
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.cumulus.tree import value_words, word
from railfab.platforms.differences import Difference, Side
from railfab.platforms.setting_patterns import ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class NvueSetting:
    """One leaf or empty container. path: without keys. words: of its command. keys: of the lists around it.

    value: of a leaf, else None. entry: the innermost list entry around it, or the whole tree.
    """

    path: str
    words: tuple[str, ...]
    keys: Mapping[str, str]
    value: str | None
    entry: Mapping[str, Any]

    @property
    def section(self) -> str:
        steps = self.path.split("/")
        return "/".join(steps[: 3 if steps[1:2] in (["router"], ["system"]) else 2])

    @property
    def line(self) -> str:
        command = " ".join(map(word, self.words))
        return command if self.value is None else f"{command} {value_words(command, self.value)}"


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """Every setting in which a configuration differs from a rendered one, sorted. Raises ConfigError.

    One that states a default is none.
    """
    if text == rendered:
        return ()
    configured, wanted = (dict(_settings(tree_of(side))) for side in (text, rendered))
    different = (_difference(configured.get(words), wanted.get(words)) for words in {**configured, **wanted})
    return tuple(sorted(filter(None, different), key=lambda difference: difference.text))


def _settings(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], NvueSetting]]:
    for setting in _below(tree, model(), "", (), {}, tree):
        yield setting.words, setting


def _below(
    tree: Mapping[str, Any],
    place: SchemaPlace | None,
    path: str,
    words: tuple[str, ...],
    keys: Mapping[str, str],
    entry: Mapping[str, Any],
) -> Iterator[NvueSetting]:
    """The settings in a container. A word that the model has as a key is not part of a path."""
    for name, child in tree.items():
        is_key = place is not None and name not in place.words and place.step(name) is not None
        below = place.step(name) if place is not None else None
        at, below_keys = (path, {**keys, path.rpartition("/")[2]: name}) if is_key else (f"{path}/{name}", keys)
        if isinstance(child, Mapping) and child:
            around = child if is_key else entry
            yield from _below(child, below, at, (*words, name), below_keys, around)
        else:
            value = None if isinstance(child, Mapping) else str(child)
            yield NvueSetting(path=at, words=(*words, name), keys=below_keys, value=value, entry=entry)


def _difference(configured: NvueSetting | None, wanted: NvueSetting | None) -> Difference | None:
    """The difference of two settings at one place; None where they have the same effect."""
    setting = configured or wanted
    assert setting is not None
    default = default_of(setting.path)
    effect, intended = (default if side is None else side.value or "" for side in (configured, wanted))
    if effect == intended:
        return None
    return Difference(
        side=Side.MISSING if configured is None else Side.ADDED if wanted is None else Side.CHANGED,
        path=setting.path,
        text=f"nv unset {' '.join(map(word, setting.words))}" if configured is None else f"nv set {configured.line}",
        section=setting.section,
        values={
            **{f"{name}.key": key for name, key in setting.keys.items()},
            "value": ABSENT if effect is None else effect,
            "intended": ABSENT if intended is None else intended,
        },
        entry=setting.entry,
    )
