"""Encoding of canonical samples as a platform's native leaves: the inverse of the collector's decoding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from railfab.gnmi.paths import Element, elements
from railfab.gnmi.target import Leaf
from railfab.gnmi.values import Uint64
from railfab.platforms import TelemetryMap, TelemetryRule
from railfab.platforms.telemetry_map import LABEL, path_text
from railfab.twin.attempts import Values
from railfab.twin.counters import Labels
from railfab.twin.samples import Series

UINT32_MAX = 2**32 - 1
UINT64_RANGE = 2**64
_PATTERN = re.compile(r"[{*]")

Wildcard = Callable[[str, str, Labels], str | None]
"""The value for a `*` in a key or an element's name, from the key's name (or that of the element), its pattern and the
sample's labels; None if the rule does not apply to this sample."""


class Encoded(NamedTuple):
    """The state leaves of a switch and their values. leaves: the same object as before if none was added or removed."""

    leaves: tuple[Leaf, ...]
    values: list[Any]


class Slot(NamedTuple):
    """The leaf of a series. strong: its enumeration has one name for each state. adds: values of series are summed."""

    leaf: Leaf
    convert: Callable[[float], Any]
    strong: bool
    adds: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    """The leaves of a set of series, computed once for all values.

    leaves_of: of each series, the places of its leaves. series_of, converters: of each leaf, the place of its series
    and the conversion of its value. sums: of the few leaves with several series, the places of the others.
    """

    series: Sequence[Series]
    leaves: tuple[Leaf, ...]
    leaves_of: tuple[tuple[int, ...], ...]
    series_of: tuple[int, ...]
    converters: tuple[Callable[[float], Any], ...]
    sums: Mapping[int, tuple[int, ...]]

    def value(self, place: int, values: Values) -> Any:
        """The value of a leaf; that of several series is their sum."""
        convert = self.converters[place]
        value = convert(float(values[self.series_of[place]]))
        if place not in self.sums:
            return value
        return type(value)(value + sum(convert(float(values[other])) for other in self.sums[place]))


class Encoder:
    """Encodes the canonical samples of one switch as its state leaves.

    Samples that differ only in labels which the native path does not carry are added up. Only values that have changed
    are converted. Not thread-safe.
    """

    def __init__(self, telemetry: TelemetryMap, wildcard: Wildcard) -> None:
        self._wildcard = wildcard
        self._rules: dict[str, list[TelemetryRule]] = {}
        for rule in telemetry.rules:
            self._rules.setdefault(rule.metric, []).append(rule)
        self._converters = {id(rule): converter(rule) for rule in telemetry.rules}
        self._slots: dict[tuple[str, ...], tuple[Slot, ...]] = {}
        self._plan = _Plan((), (), (), (), (), {})
        self._before: Values = np.empty(0)
        self._encoded = Encoded((), [])

    def encode(self, series: Sequence[Series], values: Values) -> Encoded:
        """The leaves of these series with these values; fastest if `series` is the same object as before."""
        plan = self._plan
        if series is not plan.series and series != plan.series:
            plan = self._plan = self._planned(series)
            made = [plan.value(place, values) for place in range(len(plan.leaves))]
        else:
            made = self._encoded.values.copy()
            changed = np.flatnonzero(values != self._before).tolist()
            for place in {place for one in changed for place in plan.leaves_of[one]}:
                made[place] = plan.value(place, values)
        self._before = values
        self._encoded = Encoded(plan.leaves, made)
        return self._encoded

    def _planned(self, series: Sequence[Series]) -> _Plan:
        """Choose the series of each leaf: the first one, a stronger one instead of it, and those to be summed."""
        slots_of = self._slots_of(series)
        feeders: dict[tuple[Element, ...], list[tuple[int, Slot]]] = {}
        for index, slots in enumerate(slots_of):
            for slot in slots:
                held = feeders.get(slot.leaf.path)
                if held is None or (slot.strong and not held[-1][1].strong):
                    feeders[slot.leaf.path] = [(index, slot)]
                elif slot.adds:
                    held.append((index, slot))
        leaves_of: list[list[int]] = [[] for _ in series]
        for place, held in enumerate(feeders.values()):
            for index, _ in held:
                leaves_of[index].append(place)
        leaves = tuple([held[0][1].leaf for held in feeders.values()])
        return _Plan(
            series,
            self._plan.leaves if leaves == self._plan.leaves else leaves,
            tuple(map(tuple, leaves_of)),
            tuple([held[0][0] for held in feeders.values()]),
            tuple([held[0][1].convert for held in feeders.values()]),
            {place: tuple([at for at, _ in held[1:]]) for place, held in enumerate(feeders.values()) if held[1:]},
        )

    def _slots_of(self, series: Sequence[Series]) -> list[tuple[Slot, ...]]:
        """The slots of each series; those of the previous plan are used again."""
        keys = [(metric, *labels, *labels.values()) for metric, labels in series]
        known = self._slots
        self._slots = {
            key: known[key] if key in known else tuple(self._made(metric, labels))
            for key, (metric, labels) in zip(keys, series, strict=True)
        }
        return [self._slots[key] for key in keys]

    def _made(self, metric: str, labels: Labels) -> Iterator[Slot]:
        """The leaves that a series feeds, by the first rule of its metric that applies; none where no rule does."""
        for rule in self._rules.get(metric, ()):
            path = native_path(rule, labels, self._wildcard)
            if path is not None:
                yield from self._leaves_of(rule, path, labels)
                return

    def _leaves_of(self, rule: TelemetryRule, path: tuple[Element, ...], labels: Labels) -> Iterator[Slot]:
        siblings = rule.from_leaf or {}
        for name, template in siblings.items():
            text = LABEL.sub(lambda match: labels[match[1]].removeprefix(match[2] or ""), template)
            leaf = Leaf((*path[:-1], Element(name)), on_change=rule.on_change)
            yield Slot(leaf, _constant(text), strong=True, adds=False)
        if path[-1].name not in siblings:
            strong = rule.states is None or len(set(rule.states.values())) == len(rule.states)
            adds = rule.states is None and rule.encoding in _COUNTS
            leaf = Leaf(path, on_change=rule.on_change)
            yield Slot(leaf, self._converters[id(rule)], strong=strong, adds=adds)


def native_path(rule: TelemetryRule, labels: Labels, wildcard: Wildcard) -> tuple[Element, ...] | None:
    """The path that carries a sample with these labels by this rule; None when the rule does not apply."""
    for name, value in rule.labels.items():
        if labels.get(name) != value:
            return None
    steps = []
    for step, wanted in _templates(rule.path):
        if not step.keys and not _PATTERN.search(step.name):
            steps.append(step)
            continue
        texts = [path_text(rule, label, beginning, labels.get(label)) for label, beginning in wanted]
        given = tuple([text for text in texts if text is not None])
        if len(given) < len(wanted):
            return None
        patterns = ((step.name, step.name), *step.keys)
        wildcards = tuple([(name, wildcard(name, text, labels)) for name, text in patterns if "*" in text])
        filled = _filled(step, given, wildcards)
        if filled is None:
            return None
        steps.append(filled)
    return tuple(steps)


@cache
def _templates(path: str) -> tuple[tuple[Element, tuple[tuple[str, str], ...]], ...]:
    """The steps of a rule's path, and the labels that go into the name and the keys of each, in their order, with the
    text that each begins with and the path lacks."""
    return tuple(
        (step, tuple(LABEL.findall(" ".join((step.name, *dict(step.keys).values()))))) for step in elements(path)
    )


@lru_cache(maxsize=1 << 17)
def _filled(step: Element, given: tuple[str, ...], wildcards: tuple[tuple[str, str | None], ...]) -> Element | None:
    """A step with labels in place of the names in braces, and the platform's values for each `*`.

    One object for equal steps: the leaves of a port have most of their path in common.
    """
    rest, words = iter(given), dict(wildcards)
    if None in words.values():
        return None
    texts = []
    for name, pattern in ((step.name, step.name), *step.keys):
        word = words.get(name) or ""
        parts = LABEL.split(pattern)[::3]
        text = parts[0].replace("*", word, 1)
        for part in parts[1:]:
            text += next(rest) + part.replace("*", word, 1)
        texts.append(text)
    return Element(texts[0], tuple(zip([name for name, _ in step.keys], texts[1:], strict=True)))


def converter(rule: TelemetryRule) -> Callable[[float], Any]:
    """Canonical value to the leaf's value: the rule's scale undone, its states reversed, its encoding kept."""
    if rule.states is not None:
        return _state(rule)
    return _CONVERTERS[rule.encoding](rule.scale)


def _constant(text: str) -> Callable[[float], str]:
    return lambda _: text


def _state(rule: TelemetryRule) -> Callable[[float], str]:
    """The first state with the value; the nearest one where no state has it."""
    states = dict(reversed([(value, name) for name, value in (rule.states or {}).items()]))

    def convert(value: float) -> str:
        exact = states.get(value)
        return exact if exact is not None else states[min(states, key=lambda known: abs(known - value))]

    return convert


def _uint64(scale: float) -> Callable[[float], Uint64]:
    return lambda value: Uint64(round(value / scale) % UINT64_RANGE)


def _uint32(scale: float) -> Callable[[float], int]:
    return lambda value: min(max(round(value / scale), 0), UINT32_MAX)


def _decimal(scale: float) -> Callable[[float], Decimal]:
    return lambda value: Decimal(repr(value / scale))


def _timestamp(scale: float) -> Callable[[float], str]:
    def convert(value: float) -> str:
        moment = datetime.fromtimestamp(value / scale, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    return convert


def _number(scale: float) -> Callable[[float], str]:
    return lambda value: f"{value / scale:g}"


_COUNTS = frozenset(("uint64", "uint32"))
_CONVERTERS: Mapping[str, Callable[[float], Callable[[float], Any]]] = {
    "uint64": _uint64,
    "uint32": _uint32,
    "decimal": _decimal,
    "timestamp": _timestamp,
    "string": _number,
}
