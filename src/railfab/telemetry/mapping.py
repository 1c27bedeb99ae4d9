"""A platform's telemetry map, compiled: which canonical series a native leaf carries, and its value."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from math import isfinite
from types import MappingProxyType
from typing import Any

from railfab.gnmi.paths import Element, elements
from railfab.metrics import CATALOGUE, Kind, Metric
from railfab.platforms import TelemetryMap, TelemetryRule
from railfab.platforms.telemetry_map import LABEL, PLACEHOLDER, carried_labels
from railfab.units import NS_PER_S

_IN_NAMES = {"priority": r"\d+"}
"""What a label may be inside an element's name, where it is not any text: `PFC_3_ON2OFF_RX_PKTS` of SONiC is no counter
`PFC_{priority}_RX_PKTS`."""

Steps = tuple[Element, ...]
Names = tuple[str, ...]


class Undecodable(Exception):
    """A leaf whose value its rule cannot read."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule ready for matching. keys: (step, key name, pattern whose groups are labels).

    elements: the steps whose names are patterns, with these. place: of the rule in the map.
    siblings: leaf of the same list entry to the pattern of its text, for labels that the path lacks.
    beginnings: texts before what the groups of some labels match. values: of labels that the path has in other words,
    by text. classes: the class of the intent that stands for a value, by label.
    number: the canonical value of a leaf; raises Undecodable.
    """

    rule: TelemetryRule
    metric: Metric
    names: Names
    elements: Mapping[int, re.Pattern[str]]
    keys: tuple[tuple[int, str, re.Pattern[str]], ...]
    siblings: Mapping[str, re.Pattern[str]]
    beginnings: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]]
    classes: Mapping[str, Mapping[str, str]]
    number: Callable[[Any], float]
    place: int = 0

    def labels(self, steps: Steps) -> dict[str, str] | None:
        """The labels that this path gives, the fixed ones included; None where the path does not match."""
        texts = [(pattern, steps[index].name) for index, pattern in self.elements.items()]
        texts += [(pattern, dict(steps[index].keys).get(name, "")) for index, name, pattern in self.keys]
        found = dict(self.rule.labels)
        for pattern, text in texts:
            match = pattern.fullmatch(text)
            if match is None:
                return None
            found.update(self.matched(match))
        return found

    def matched(self, match: re.Match[str]) -> dict[str, str]:
        """The labels of one pattern."""
        labels = match.groupdict()
        return {name: self._value(name, text) for name, text in labels.items()}

    def _value(self, label: str, text: str) -> str:
        value = self.values[label][text] if label in self.values else self.beginnings.get(label, "") + text
        return self.classes[label].get(value, value) if label in self.classes else value

    @property
    def kernel_scale(self) -> float:
        """The factor of a number; 0 for a time in nanoseconds."""
        return 0.0 if self.rule.encoding == "timestamp" else self.rule.scale

    def begins(self, path: Names) -> bool:
        """Whether the first steps of the rule's path may have these names."""
        return len(path) <= len(self.names) and all(self._names(index, name) for index, name in enumerate(path))

    def ends_in(self, leaf: str) -> bool:
        """Whether this leaf carries the value."""
        return self._names(len(self.names) - 1, leaf)

    def _names(self, index: int, name: str) -> bool:
        pattern = self.elements.get(index)
        return name == self.names[index] if pattern is None else pattern.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that a path matches, and the labels that the path gives."""

    rule: Rule
    labels: Mapping[str, str]


class PathMap:
    """The rules of one platform, by the names along their paths; those with patterns for names are searched."""

    def __init__(self, telemetry: TelemetryMap) -> None:
        rules = [
            replace(compiled(rule, telemetry.metric(rule.metric)), classes=telemetry.classes, place=place)
            for place, rule in enumerate(telemetry.rules)
        ]
        self._patterned = [rule for rule in rules if rule.elements]
        self._rules: dict[Names, list[Rule]] = defaultdict(list)
        self._texts: set[Names] = set()
        self._keys: dict[Names, set[str]] = defaultdict(set)
        for rule in rules:
            if rule.elements:
                continue
            self._rules[rule.names].append(rule)
            self._texts.update((*rule.names[:-1], leaf) for leaf in rule.siblings)
            for index, name, _ in rule.keys:
                self._keys[rule.names[: index + 1]].add(name)

    def matches(self, steps: Steps) -> tuple[Match, ...]:
        """Matches of a leaf, one for each metric with its fixed labels: the first rule counts."""
        found: dict[tuple[str, tuple[tuple[str, str], ...]], Match] = {}
        for rule in self._candidates(names(steps)):
            labels = rule.labels(steps)
            if labels is not None:
                found.setdefault((rule.metric.name, tuple(sorted(rule.rule.labels.items()))), Match(rule, labels))
        return tuple(found.values())

    def _candidates(self, path: Names) -> list[Rule]:
        patterned = [rule for rule in self._patterned if len(rule.names) == len(path) and rule.begins(path)]
        plain = self._rules.get(path, [])
        return sorted((*plain, *patterned), key=lambda rule: rule.place) if patterned else plain

    def is_text(self, steps: Steps) -> bool:
        """Whether other leaves of the same list entry take a label from this one."""
        *entry, leaf = names(steps) or ("",)
        return (*entry, leaf) in self._texts or any(
            leaf in rule.siblings and len(rule.names) == len(steps) and rule.begins(tuple(entry))
            for rule in self._patterned
        )

    def keys_of(self, path: Names) -> frozenset[str]:
        """The names of the keys of the list at this place; none where the rules know of no list."""
        here = len(path) - 1
        patterned = (rule for rule in self._patterned if rule.begins(path))
        return frozenset(self._keys.get(path, ())).union(
            name for rule in patterned for index, name, _ in rule.keys if index == here
        )


path_map = lru_cache(maxsize=16)(PathMap)
"""The rules of a platform, compiled once for all of its targets."""


def names(steps: Steps) -> Names:
    return tuple(step.name for step in steps)


def compiled(rule: TelemetryRule, entry: Metric | None = None) -> Rule:
    """A rule ready for matching. entry: its metric, by default that of the catalogue.

    Raises KeyError for a metric that the catalogue does not have, or a label that the metric does not have.
    """
    steps = elements(rule.path)
    written = {label: "|".join(map(re.escape, texts.values())) for label, texts in rule.texts.items()}
    in_names = _IN_NAMES | written
    patterns = {
        index: _pattern(step.name, in_names) for index, step in enumerate(steps) if PLACEHOLDER.search(step.name)
    }
    keys = tuple(
        (index, name, _key_pattern(text, written)) for index, step in enumerate(steps) for name, text in step.keys
    )
    siblings = {leaf: _pattern(text) for leaf, text in (rule.from_leaf or {}).items()}
    entry = entry or CATALOGUE[rule.metric]
    given = {*rule.labels, *carried_labels(rule)}
    if stray := given - set(entry.labels):
        raise KeyError(f"{rule.path}: {rule.metric} has no label {', '.join(sorted(stray))}")
    return Rule(
        rule=rule,
        metric=entry,
        names=names(steps),
        elements=patterns,
        keys=keys,
        siblings=siblings,
        beginnings={match[1]: match[2] for match in _labels_in(rule) if match[2]},
        values={label: {text: value for value, text in texts.items()} for label, texts in rule.texts.items()},
        classes={},
        number=_reader(rule, entry),
    )


def _labels_in(rule: TelemetryRule) -> Iterator[re.Match[str]]:
    return chain.from_iterable(map(LABEL.finditer, (rule.path, *(rule.from_leaf or {}).values())))


def _reader(rule: TelemetryRule, entry: Metric) -> Callable[[Any], float]:
    """Conversion of the rule's leaf to a number: chosen once, since every update is converted."""
    if entry.kind is Kind.INFO:
        return lambda _: 1.0
    if rule.states is not None:
        return partial(_state, states=rule.states)
    if rule.encoding == "timestamp":
        return _timestamp_s
    scale = rule.scale
    return _number if scale == 1.0 else lambda value: _number(value) * scale


def _pattern(text: str, labels: Mapping[str, str] = MappingProxyType({})) -> re.Pattern[str]:
    """A key's text as a pattern: `{label}` is a group, `*` anything, the rest itself. labels: patterns of some."""
    out, at = "", 0
    for found in PLACEHOLDER.finditer(text):
        out += re.escape(text[at : found.start()])
        out += f"(?P<{found[1]}>{labels.get(found[1], '.+')})" if found[1] else ".*"
        at = found.end()
    return re.compile(out + re.escape(text[at:]))


def _key_pattern(text: str, labels: Mapping[str, str]) -> re.Pattern[str]:
    """Likewise of a key's value; an identity may have the prefix of its module (RFC 7951, section 6.8)."""
    prefix = "" if PLACEHOLDER.search(text) or not text[:1].isalpha() else r"(?:[A-Za-z_][\w.-]*:)?"
    return re.compile(prefix + _pattern(text, labels).pattern)


def _number(value: Any) -> float:
    """A number as any encoding writes it: 64-bit integers and decimals are strings in JSON_IETF."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Undecodable(f"{value!r} is no number") from None
    if not isfinite(number):
        raise Undecodable(f"{value!r} is no number")
    return number


def _state(value: Any, states: Mapping[str, float]) -> float:
    """The number of an enumeration's value; an identity's module prefix does not count."""
    text = str(value)
    found = states.get(text, states.get(text.rpartition(":")[2]))
    if found is None:
        raise Undecodable(f"{value!r} is no known state")
    return float(found)


def _timestamp_s(value: Any) -> float:
    """Unix time of an RFC 3339 text, or of a number of nanoseconds (OpenConfig's timeticks64)."""
    try:
        return _number(value) / NS_PER_S
    except Undecodable:
        if not isinstance(value, str):
            raise
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError):
        raise Undecodable(f"{value!r} is no time") from None
