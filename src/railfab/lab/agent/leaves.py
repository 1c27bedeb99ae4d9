"""Canonical readings to native leaves, by the same map that the collector decodes them with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from railfab.gnmi.paths import elements, to_text_elements
from railfab.gnmi.values import Uint64
from railfab.lab.agent.readings import Reading
from railfab.platforms import TelemetryMap, TelemetryRule

_LABEL = re.compile(r"\{(\w+)\}")
_WILDCARD = re.compile(r"\[([\w.-]+)=\*\]")

Value = str | int


def encode(map_: TelemetryMap, readings: Iterable[Reading]) -> tuple[dict[str, Value], frozenset[str]]:
    """Canonical path and value of each leaf, and the paths of those worth an ON_CHANGE subscription.

    A reading that the map has no rule for, or whose state no rule names, has no leaf.
    """
    rules: dict[str, list[TelemetryRule]] = {}
    for rule in map_.rules:
        rules.setdefault(rule.metric, []).append(rule)
    leaves: dict[str, Value] = {}
    on_change = set()
    for reading in readings:
        for rule in rules.get(reading.metric, ()):
            value = _native(rule, reading.value)
            if value is None or any(reading.labels.get(name) != fixed for name, fixed in rule.labels.items()):
                continue
            path = _path(rule.path, tuple(reading.labels.items()), tuple(reading.keys.items()))
            leaves[path] = value
            if rule.on_change:
                on_change.add(path)
    return leaves, frozenset(on_change)


def _native(rule: TelemetryRule, value: float) -> Value | None:
    """The leaf's value: the state of that number, or the number in the leaf's own unit."""
    if rule.states is not None:
        return next((state for state, number in rule.states.items() if number == value), None)
    number = round(value / rule.scale)
    return Uint64(number) if rule.encoding == "uint64" else number


@lru_cache(maxsize=1 << 14)
def _path(pattern: str, labels: tuple[tuple[str, str], ...], keys: tuple[tuple[str, str], ...]) -> str:
    text = _LABEL.sub(lambda found: _escaped(dict(labels), found[1]), pattern)
    text = _WILDCARD.sub(lambda found: f"[{found[1]}={_escaped(dict(keys), found[1])}]", text)
    return to_text_elements(elements(text))


def _escaped(values: Mapping[str, str], name: str) -> str:
    return values[name].replace("\\", "\\\\").replace("]", "\\]")
