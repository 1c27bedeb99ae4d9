"""Measurements as native gNMI leaves, by the telemetry map with which the collector decodes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from railfab.gnmi.paths import elements, to_text_elements
from railfab.gnmi.values import Uint64
from railfab.lab.agent.linux_metrics import Measurement
from railfab.platforms import TelemetryMap, TelemetryRule

_LABEL = re.compile(r"\{(\w+)\}")
_WILDCARD = re.compile(r"\[([\w.-]+)=\*\]")

Value = str | int


def encode(map_: TelemetryMap, measurements: Iterable[Measurement]) -> tuple[dict[str, Value], frozenset[str]]:
    """Path and value of each leaf, and the paths of the leaves for ON_CHANGE subscriptions.

    A measurement without a rule, or with a state that no rule names, has no leaf.
    """
    rules: dict[str, list[TelemetryRule]] = {}
    for rule in map_.rules:
        rules.setdefault(rule.metric, []).append(rule)
    leaves: dict[str, Value] = {}
    on_change = set()
    for measurement in measurements:
        for rule in rules.get(measurement.metric, ()):
            value = _native(rule, measurement.value)
            if value is None or any(measurement.labels.get(name) != fixed for name, fixed in rule.labels.items()):
                continue
            path = _path(rule.path, tuple(measurement.labels.items()), tuple(measurement.keys.items()))
            leaves[path] = value
            if rule.on_change:
                on_change.add(path)
    return leaves, frozenset(on_change)


def _native(rule: TelemetryRule, value: float) -> Value | None:
    """Value of the leaf: the name of the state, or the number in the unit of the leaf."""
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
