"""The leaves in which two SR Linux configurations differ, with their keys, their defaults and their list entries."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from railfab.platforms.differences import Difference, Side
from railfab.platforms.setting_patterns import ABSENT
from railfab.platforms.shared.json_tree import Json, is_list, leaf_text
from railfab.platforms.srlinux.filters import Filtering, filtering, present_path
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import cli_value, key_words, keys_of, plain_tree
from railfab.platforms.srlinux.unused import UNUSED, is_below, next_hops_that_drop, unused_places

SECTION_DEPTH = {"/system": 2}
"""Containers whose children are the sections of a configuration; elsewhere those at the top are."""
LEFT_BY_DRAIN = "/system/maintenance"
"""Container that is a setting only when it is empty: it stays when a drain ends, and has no meaning."""
DISABLED_IS_NONE = "/network-instance/aggregate-routes/route"
"""List of which a disabled entry is as one that is missing: its leaves are no difference of their own."""

STATIC_ROUTES = "/network-instance/static-routes/route"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """The innermost list entry around a setting, or the whole tree.

    path: of the list. place: with its keys. keys: of all lists around, as `LIST.KEY`.
    """

    path: str
    place: str
    keys: Mapping[str, str]
    tree: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSetting:
    """One leaf, leaf-list, empty container or entry without other leaves than its keys.

    value: as in the CLI; None where there is none. entry: that it is in.
    """

    path: str
    place: str
    value: str | None
    entry: ListEntry

    @property
    def line(self) -> str:
        """`/ interface ethernet-1/1 mtu 9232`, as in `set / interface ...`."""
        return f"/{self.place}" if self.value is None else f"/{self.place} {self.value}"

    @property
    def section(self) -> str:
        """The top-level container, or the one below `/system`."""
        steps = self.path.split("/")
        return "/".join(steps[: 1 + SECTION_DEPTH.get(f"/{steps[1]}", 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingContext:
    """Facts of a configuration that decide about the effect of a setting.

    unused: places of objects without use. drops: groups of next hops that drop packets.
    """

    filters: Filtering
    unused: tuple[str, ...]
    drops: frozenset[tuple[str, str]]

    def values(self, entry: ListEntry) -> Mapping[str, Any]:
        """Values of a setting, by its list entry: those of filters, and `route.drops` of a static route."""
        if entry.path == STATIC_ROUTES:
            group = str(entry.tree.get("next-hop-group"))
            return {"route.drops": (entry.keys.get("network-instance.name", ""), group) in self.drops}
        return self.filters.values(entry.path, entry.keys)


def settings(tree: Json) -> Iterator[TreeSetting]:
    """Every setting of a tree without module prefixes."""
    yield from _below("", "", tree, ListEntry(path="", place="", keys={}, tree=tree))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """Every leaf in which a configuration differs from a rendered one, sorted. Raises ConfigError for broken JSON."""
    configured, intended = plain_tree(text), plain_tree(rendered)
    unequal = _unequal(configured, intended, "")
    unused = unused_places(configured, *unequal)
    stated, wanted = map(_by_place, unequal)
    entries = _entries(stated) & _entries(wanted)
    stated = {
        place: setting
        for place, setting in stated.items()
        if setting.entry.place not in entries or not _is_none(setting.entry)
    }
    context = SettingContext(
        filters=filtering(configured, intended), unused=unused, drops=next_hops_that_drop(configured)
    )
    places = {**stated, **wanted}
    places = {place: setting for place, setting in places.items() if setting.path != LEFT_BY_DRAIN}
    different = (_difference(stated.get(place), wanted.get(place), entries, context) for place in places)
    return tuple(sorted(filter(None, different), key=lambda difference: difference.text))


def _entries(settings: Mapping[str, TreeSetting]) -> set[str]:
    """The places of the list entries that have one of the settings."""
    return {setting.entry.place for setting in settings.values()}


def _is_none(entry: ListEntry) -> bool:
    return entry.path == DISABLED_IS_NONE and entry.tree.get("admin-state") == "disable"


def _by_place(tree: Json) -> dict[str, TreeSetting]:
    """The settings of a tree by place; the second one at a place, of an entry that is there twice, is another."""
    by_place: dict[str, TreeSetting] = {}
    for setting in settings(tree):
        again = setting
        while again.place in by_place:
            again = replace(again, place=f"{again.place} again")
        by_place[again.place] = again
    return by_place


def _unequal(configured: Json, wanted: Json, path: str) -> tuple[Json, Json]:
    """Both trees without what is equal in them. An entry of a list is left whole, for conditions on all its leaves."""
    left: Json = {}
    right: Json = {}
    for name in {**configured, **wanted}:
        stated: Any = configured.get(name)
        intended: Any = wanted.get(name)
        if stated == intended:
            continue
        if isinstance(stated, dict) and isinstance(intended, dict):
            stated, intended = _unequal(stated, intended, f"{path}/{name}")
        elif is_list(stated) and is_list(intended) and (keys := schema().keys(f"{path}/{name}")):
            stated, intended = _unequal_entries(stated, intended, keys)
        if name in configured and (stated or not configured[name]):
            left[name] = stated
        if name in wanted and (intended or not wanted[name]):
            right[name] = intended
    return left, right


def _unequal_entries(configured: list[Json], wanted: list[Json], keys: Sequence[str]) -> tuple[list[Json], list[Json]]:
    def named(entry: Json) -> tuple[str, ...]:
        return tuple(leaf_text(entry.get(key)) for key in keys)

    expected = {named(entry): entry for entry in wanted}
    equal = {named(entry) for entry in configured if expected.get(named(entry)) == entry}
    left = [entry for entry in configured if named(entry) not in equal or entry != expected[named(entry)]]
    return left, [entry for entry in wanted if named(entry) not in equal]


def _difference(
    configured: TreeSetting | None, wanted: TreeSetting | None, entries: Container[str], context: SettingContext
) -> Difference | None:
    """The difference of two settings at one place; None where they have the same effect.

    entries: list entries that both configurations have; in the others a default is not in effect. context: of the
    configuration.
    """
    setting = configured or wanted
    assert setting is not None
    if setting.place == setting.entry.place and setting.place in entries:
        return None  # an entry with its keys alone, which the other one has with settings
    usual = schema().default(setting.path)
    default = usual if setting.entry.place in entries else None
    effect, intended = (default if side is None else side.value or "" for side in (configured, wanted))
    if effect == intended or schema().is_plain_container(setting.path):
        return None
    values = {
        **setting.entry.keys,
        "value": ABSENT if effect is None else effect,
        "intended": ABSENT if intended is None else intended,
        "default": ABSENT if usual is None else usual,
        **context.values(setting.entry),
    }
    path = present_path(setting.path)
    return Difference(
        side=Side.MISSING if configured is None else Side.ADDED if wanted is None else Side.CHANGED,
        path=UNUSED + path if is_below(setting.place, context.unused) else path,
        text=f"delete /{setting.place}" if configured is None else f"set {configured.line}",
        section=setting.section,
        values=values,
        entry=setting.entry.tree,
    )


def _below(path: str, place: str, node: Json, entry: ListEntry) -> Iterator[TreeSetting]:
    """The settings in a container or a list entry."""
    for name, child in node.items():
        below, at = f"{path}/{name}", f"{place} {name}"
        if is_list(child):
            for listed in child:
                yield from _in_entry(below, at, listed, entry)
        elif isinstance(child, dict) and child:
            yield from _below(below, at, child, entry)
        else:
            value = None if isinstance(child, dict) else cli_value(child)
            yield TreeSetting(path=below, place=at, value=value, entry=entry)


def _in_entry(path: str, place: str, tree: Json, around: ListEntry) -> Iterator[TreeSetting]:
    """The settings of one list entry; the entry itself where it has only its keys."""
    name = path.rpartition("/")[2]
    known = schema().keys(path)
    names = known if known and all(key in tree for key in known) else keys_of(name, tree)
    at = f"{place} {key_words(tree, names)}".rstrip()
    keys = {**around.keys, **{f"{name}.{key}": leaf_text(tree[key]) for key in names}}
    entry = ListEntry(path=path, place=at, keys=keys, tree=tree)
    rest = {leaf: value for leaf, value in tree.items() if leaf not in names}
    if rest:
        yield from _below(path, at, rest, entry)
    else:
        yield TreeSetting(path=path, place=at, value=None, entry=entry)
