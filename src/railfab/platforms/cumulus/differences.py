"""The settings in which two configurations differ, with their keys, their defaults and the container around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from railfab.platforms.cumulus.defaults import default_of
from railfab.platforms.cumulus.parse import configuration_of, tree_of
from railfab.platforms.cumulus.qos import GLOBAL
from railfab.platforms.cumulus.qos_defaults import part, with_defaults
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.cumulus.tree import value_words, word
from railfab.platforms.differences import Difference, Side
from railfab.platforms.setting_patterns import ABSENT
from railfab.platforms.shared.json_tree import Json

Words = tuple[str, ...]


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


QOS = "qos"
IMPLIED = (("egress-queue-mapping",), ("traffic-pool",))
"""Parts of QoS that `qos roce` sets as a whole, and that a configuration leaves out."""
UNUSED, UNSET = "/unused", "/unset"
"""Begin the path of a setting of an object that the rendered configuration lacks, and of one that is unset."""
EQUAL = {
    ("/qos/mapping/trust", "both", "l3"),
    ("/qos/mapping/trust", "l3", "both"),
    ("/vrf/router/bgp/neighbor/timers/route-advertisement", "none", "auto"),
    ("/vrf/router/bgp/timers/route-advertisement", "auto", "none"),
}
"""Values with the same effect: of trust for IP packets, whose code points decide (Quality of Service, Classification),
and no interval between updates, which is the default (NVUE reference, Show Commands, BGP)."""
_PROFILE = re.compile(r"/interface/qos/([\w-]+)/profile")
_PHYSICAL = re.compile(r"swp\d+(?:s\d+)?")
SVI = "vlan"
_LOGICAL = re.compile(rf"(?:bond|{SVI})\d+")
_OBJECTS = re.compile(
    r"/acl/|/vrf/router/bgp/peer-group/|/vrf/|/router/bfd/profile/|/router/policy/[\w-]+/|/router/pbr/"
    r"|/qos/(?:mapping|remark|egress-scheduler|egress-shaper|congestion-control|pfc|link-pause)/"
)
"""Lists of objects that do nothing until a setting names them, which is a difference by itself."""


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """Every setting in which a configuration differs from a rendered one, sorted. Raises ConfigError.

    One that states a default is none; a port or session that is missing is one by itself.
    """
    if text == rendered:
        return ()
    tree, wanted_tree = tree_of(text), tree_of(rendered)
    configured, wanted = settings_of(text), settings_of(rendered)
    by_text: dict[str, Difference] = {}
    left_out = [name for name in IMPLIED if name[0] not in part(tree, QOS)]
    queues = cache(lambda: (with_defaults(part(tree, QOS)), with_defaults(part(wanted_tree, QOS))))
    for words in {**configured, **wanted}:
        difference = _difference(configured.get(words), wanted.get(words))
        if difference is not None and not (
            words[0] == QOS and words[1:2] in left_out and _is_implied(words[1:], *queues())
        ):
            difference = _with_targets(difference, tree, wanted_tree)
            is_added = difference.side is Side.ADDED
            placed = _of_new_object(difference, words, wanted_tree) if is_added else _whole(difference, words, tree)
            if is_added and (_is_spare(words, tree, wanted_tree) or _passes_all(words, tree)):
                placed = replace(difference, path=f"{UNUSED}{difference.path}")
            by_text[placed.text] = placed
    for path in configuration_of(text).absent:
        unset = _unset(path, wanted_tree)
        by_text[unset.text] = unset
    return tuple(by_text[line] for line in sorted(by_text))


def _with_targets(difference: Difference, tree: Json, wanted: Json) -> Difference:
    """The difference; of the profile of a port with the settings of both profiles, `target` and `intended_target`."""
    match = _PROFILE.fullmatch(difference.path)
    if match is None:
        return difference
    named = {"target": (tree, "value"), "intended_target": (wanted, "intended")}
    targets = {
        f"{name}.{leaf}": value
        for name, (side, chosen) in named.items()
        for leaf, value in part(side, QOS, match[1], str(difference.values[chosen])).items()
        if not isinstance(value, Mapping)
    }
    return replace(difference, values={**difference.values, **targets})


def _is_implied(words: Words, configured: Json, wanted: Json) -> bool:
    """Whether two configurations of QoS have the same at a place with what a switch does where they state nothing."""
    implied = _at(configured, words)
    return bool(implied != ABSENT and implied == _at(wanted, words))


def _at(tree: Any, words: Words) -> Any:
    for step in words:
        tree = tree.get(step, ABSENT) if isinstance(tree, Mapping) else ABSENT
    return tree


def _is_spare(words: Words, tree: Json, wanted: Json) -> bool:
    """Whether a setting is of an SVI of others, or of their bond, with spare ports alone."""
    interfaces = part(wanted, "interface")
    if words[0] != "interface" or len(words) < 2 or words[1] in interfaces or not _LOGICAL.fullmatch(words[1]):
        return False
    members = part(tree, "interface", words[1], "bond", "member")
    return words[1].startswith(SVI) or (bool(members) and interfaces.keys().isdisjoint(members))


def _passes_all(words: Words, tree: Json) -> bool:
    """Whether a setting applies an ACL to a port all of whose rules permit, as what no rule matches passes too."""
    if words[0] != "interface" or words[2:3] != ("acl",) or len(words) < 4:
        return False
    rules = part(tree, "acl", words[3], "rule").values()
    return bool(rules) and all(part(rule, "action").keys() <= {"permit", "log", "count"} for rule in rules)


def _of_new_object(difference: Difference, words: Words, wanted: Mapping[str, Any]) -> Difference:
    """The difference; at another path where it belongs to a port or an object that the intent does not have."""
    is_port = words[0] == "interface" and len(words) > 1 and _PHYSICAL.fullmatch(words[1]) is not None
    listed = words[:1] if is_port else _list_of(difference, words)
    if listed and words[len(listed)] not in (GLOBAL, *part(wanted, *listed)):
        return replace(difference, path=f"{UNUSED}{difference.path}")
    return difference


def _list_of(difference: Difference, words: Words) -> Words:
    """The words of the list of objects that a setting belongs to; none where it belongs to none."""
    match = _OBJECTS.match(f"{difference.path}/")
    if match is None:
        return ()
    last = match[0].rstrip("/").rpartition("/")[2]
    listed = words[: words.index(last) + 1]
    return listed if len(listed) < len(words) else ()


def _whole(difference: Difference, words: Words, tree: Mapping[str, Any]) -> Difference:
    """The difference, or that of the missing interface or session which it belongs to."""
    for list_words in (words[:1], words[:5]):
        is_whole = list_words == ("interface",) or list_words[2:] == ("router", "bgp", "neighbor")
        if difference.side is Side.MISSING and is_whole and len(words) > len(list_words):
            entry = words[: len(list_words) + 1]
            if entry[-1] not in part(tree, *list_words):
                keys = {name: value for name, value in difference.values.items() if name.endswith(".key")}
                path = "/interface" if len(list_words) == 1 else "/vrf/router/bgp/neighbor"
                return replace(difference, path=path, text=f"nv unset {' '.join(map(word, entry))}", values=keys)
    return difference


def _unset(path: Words, wanted: Mapping[str, Any]) -> Difference:
    """The difference for what is unset and was not set; of a port that the intent does not have, at another path."""
    tree: Json = {"all": {}}
    for step in reversed(path):
        tree = {step: tree}
    ((_, setting),) = _settings(tree)
    keys = {f"{name}.key": key for name, key in setting.keys.items()}
    text = f"nv unset {' '.join(map(word, path))}"
    unset = Difference(side=Side.ADDED, path=f"{UNSET}{setting.path}", text=text, section=setting.section, values=keys)
    return _of_new_object(unset, path, wanted)


@lru_cache(maxsize=4)
def settings_of(text: str) -> Mapping[Words, NvueSetting]:
    """The settings of a text by the words of their commands; an audit compares a text with two others."""
    return dict(_settings(tree_of(text)))


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
        if child == {} and below is not None and below.keys and not (below.words or is_key):
            continue  # a list without entries
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
    if effect == intended or (setting.path, effect, intended) in EQUAL:
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
