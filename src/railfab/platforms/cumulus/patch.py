"""Changes between trees of NVUE, as the text that `nv config patch` takes and as `nv` commands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from railfab.device import without_secrets
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.cumulus.tree import SET, UNSET, lines, text
from railfab.platforms.shared.json_tree import Json

CONTEXT_LINES = 2
_RANGE = re.compile(r"\d\.\.\d")
"""A range of numbers among the values of a leaf."""


def patch_text(before: Json, after: Json) -> str:
    """Operations that turn one tree into another: settings to unset, then those to set; empty for equal trees."""
    gone, settings = _gone(before, after), _settings(before, after)
    unset = text(gone).replace(f"- {SET}:", f"- {UNSET}:", 1) if gone else ""
    return unset + (text(typed(settings)) if settings else "")


def typed(tree: Mapping[str, Any], place: SchemaPlace | None = None) -> Json:
    """The tree with numbers where the model has numbers; every leaf of a tree that was read is a text."""
    place = place or model()
    return {name: _typed(child, place.step(name)) for name, child in tree.items()}


def _typed(child: Any, place: SchemaPlace | None) -> Any:
    if place is None:
        return child
    if isinstance(child, Mapping):
        return typed(child, place)
    is_number = place.value is not None and str(child).isdecimal() and _RANGE.search(place.value.spec)
    return int(child) if is_number else child


def _gone(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """The paths that the second tree lacks, or of which it has another kind of value.

    A list of words, which is one leaf here, is replaced by the set that follows.
    """
    paths: Json = {}
    for name, child in before.items():
        counterpart = after.get(name)
        if isinstance(child, Mapping) and isinstance(counterpart, Mapping):
            if below := _gone(child, counterpart):
                paths[name] = below
        elif counterpart is None or isinstance(child, Mapping) or isinstance(counterpart, Mapping):
            paths[name] = {}
    return paths


def _settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """The settings that the first tree lacks or has otherwise; a container that becomes empty is set again."""
    settings: Json = {}
    for name, child in after.items():
        former = before.get(name)
        if not isinstance(child, Mapping) or not isinstance(former, Mapping):
            if former is None or child != former:
                settings[name] = child
        elif not child and former:
            settings[name] = {}
        elif below := _settings(former, child):
            settings[name] = below
    return settings


def unified(before: Json, after: Json) -> str:
    """The difference of two trees in `nv set` commands, without secrets; empty for equal trees."""
    old, new = (sorted(lines(tree)) for tree in (before, after))
    shown = difflib.unified_diff(old, new, "running", "candidate", lineterm="", n=CONTEXT_LINES)
    return "\n".join(map(without_secrets, shown))
