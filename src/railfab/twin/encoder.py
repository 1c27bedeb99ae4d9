"""Canonical samples to a platform's native leaves: the collector's decoding, the other way round."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Protocol

from railfab.gnmi.paths import Element, elements, to_text_elements
from railfab.gnmi.target import Leaf, Leaves
from railfab.gnmi.values import Uint64
from railfab.platforms import TelemetryMap, TelemetryRule

UINT32_MAX = 2**32 - 1
UINT64_RANGE = 2**64
_LABEL = re.compile(r"\{(\w+)\}")

Labels = Mapping[str, str]
Wildcard = Callable[[str, str, Labels], str | None]
"""What a `*` in a key stands for: from the key's name, its pattern and the sample's labels; None if the rule is not for
this sample."""


class Sample(Protocol):
    """One canonical value of one switch; labels are without `device`."""

    @property
    def metric(self) -> str: ...

    @property
    def labels(self) -> Labels: ...

    @property
    def value(self) -> float: ...


class Slot:
    """Where the samples of one metric and one set of labels go. strong: its enumeration says each state apart."""

    __slots__ = ("adds", "convert", "leaf", "strong")

    def __init__(self, leaf: Leaf, convert: Callable[[float], Any], *, strong: bool, adds: bool) -> None:
        self.leaf = leaf
        self.convert = convert
        self.strong = strong
        self.adds = adds


class Encoder:
    """Writes samples into the state leaves of one switch.

    Samples that differ only in labels which the native path does not carry are added up. A leaf that no sample feeds
    any more is dropped.
    """

    def __init__(self, telemetry: TelemetryMap, wildcard: Wildcard, leaves: Leaves) -> None:
        self._wildcard = wildcard
        self._leaves = leaves
        self._rules: dict[str, list[TelemetryRule]] = {}
        for rule in telemetry.rules:
            self._rules.setdefault(rule.metric, []).append(rule)
        self._slots: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Slot, ...]] = {}
        self._own: dict[str, Leaf] = {}
        self._fed: set[str] = set()

    def write(self, samples: Iterable[Sample]) -> None:
        """Make these samples the switch's state."""
        fed: dict[str, tuple[Slot, Any]] = {}
        for sample in samples:
            key = (sample.metric, tuple(sample.labels.items()))
            slots = self._slots.get(key)
            if slots is None:
                slots = self._slots[key] = tuple(self._made(sample))
            for slot in slots:
                _feed(fed, slot, slot.convert(sample.value))
        for slot, value in fed.values():  # only now: nobody sees half of a sum
            slot.leaf.value = value
        for path in fed.keys() - self._fed:  # and nobody a leaf without a value
            self._leaves.add(fed[path][0].leaf)
        gone = self._fed - fed.keys()
        if gone:
            self._forget(gone)
        self._fed = set(fed)

    def _forget(self, gone: set[str]) -> None:
        self._leaves.drop(gone)
        for path in gone:
            del self._own[path]
        self._slots = {
            key: slots for key, slots in self._slots.items() if not any(slot.leaf.path in gone for slot in slots)
        }

    def _made(self, sample: Sample) -> Iterable[Slot]:
        """The leaves that a sample feeds, by the first rule of its metric that is for it; none is a platform's gap."""
        for rule in self._rules.get(sample.metric, ()):
            path = native_path(rule, sample.labels, self._wildcard)
            if path is not None:
                yield from self._leaves_of(rule, path, sample.labels)
                return

    def _leaves_of(self, rule: TelemetryRule, path: tuple[Element, ...], labels: Labels) -> Iterable[Slot]:
        siblings = rule.from_leaf or {}
        for name, template in siblings.items():
            text = _LABEL.sub(lambda match: labels[match.group(1)], template)
            yield self._slot((*path[:-1], Element(name)), rule, _constant(text), strong=True, adds=False)
        if path[-1].name not in siblings:
            strong = rule.states is None or len(set(rule.states.values())) == len(rule.states)
            adds = rule.states is None and rule.encoding in _COUNTS
            yield self._slot(path, rule, converter(rule), strong=strong, adds=adds)

    def _slot(
        self,
        path: tuple[Element, ...],
        rule: TelemetryRule,
        convert: Callable[[float], Any],
        *,
        strong: bool,
        adds: bool,
    ) -> Slot:
        text = to_text_elements(path)
        leaf = self._own.setdefault(text, Leaf(text, path, None, config=False, on_change=rule.on_change))
        return Slot(leaf, convert, strong=strong, adds=adds)


def _feed(fed: dict[str, tuple[Slot, Any]], slot: Slot, value: Any) -> None:
    """Note the value of a leaf, beside what another sample of this round may have given it."""
    path = slot.leaf.path
    before = fed.get(path)
    if before is None or (slot.strong and not before[0].strong):
        fed[path] = slot, value
    elif slot.adds:
        fed[path] = slot, type(value)(before[1] + value)


def native_path(rule: TelemetryRule, labels: Labels, wildcard: Wildcard) -> tuple[Element, ...] | None:
    """The path that carries a sample with these labels by this rule; None when the rule is not for it."""
    if any(labels.get(name) != value for name, value in rule.labels.items()):
        return None
    steps = []
    for step in elements(rule.path):
        keys = tuple((name, _key(name, pattern, labels, wildcard)) for name, pattern in step.keys)
        known = tuple((name, value) for name, value in keys if value is not None)
        if len(known) < len(keys):
            return None
        steps.append(Element(step.name, known))
    return tuple(steps)


@cache
def _template(pattern: str) -> tuple[str, tuple[str, ...]]:
    """A key's pattern as a text for `%`, and the labels that go into it."""
    return _LABEL.sub("%s", pattern.replace("%", "%%")), tuple(_LABEL.findall(pattern))


def _key(name: str, pattern: str, labels: Labels, wildcard: Wildcard) -> str | None:
    """The value of a key: the pattern with labels for names in braces, and the platform's word for a `*`."""
    template, wanted = _template(pattern)
    if any(label not in labels for label in wanted):
        return None
    word = wildcard(name, pattern, labels) if "*" in pattern else ""
    if word is None:
        return None
    return template.replace("*", word.replace("%", "%%"), 1) % tuple(labels[label] for label in wanted)


def converter(rule: TelemetryRule) -> Callable[[float], Any]:
    """Canonical value to the leaf's value: the rule's scale undone, its states reversed, its encoding kept."""
    if rule.states is not None:
        return _state(rule)
    return _CONVERTERS[rule.encoding](rule.scale)


def _constant(text: str) -> Callable[[float], str]:
    return lambda _: text


def _state(rule: TelemetryRule) -> Callable[[float], str]:
    """The first state with the value; the one nearest to it where none has it."""
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
