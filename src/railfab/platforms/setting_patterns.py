"""Patterns of settings: a place in a configuration, and conditions on the values there. The form of `hazards.yml`, and
of `sections.yml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Generic, TypeVar

from railfab.device import DeviceModel
from railfab.platforms.differences import NEGATION, TAKES_BACK, Difference, Side
from railfab.platforms.hazard_facts import CONFIGURED_FACTS, FACTS

ABSENT = "absent"
"""The value of a leaf that is not set and has no default."""
OPTIONAL_NO = "(?:no )?"
LINES_BESIDE = ("unless_added", "when_added", "when_missing", "unless_missing")
"""Fields of a pattern with patterns of further lines."""
BELOW_IT = "/..."
"""End of a path that stands for a node and everything below it."""


class Operator(StrEnum):
    """Comparison of a value with an operand."""

    IS = "is"
    IS_NOT = "is_not"
    IN = "in"
    NOT_IN = "not_in"
    BELOW = "below"
    AT_LEAST = "at_least"
    ABOVE = "above"
    MATCHES = "matches"
    OVERLAPS = "overlaps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition. name: of a value (see Difference.value), or of a group of the pattern of a line, or a fact.

    operand: a constant, a list of them, or a fact of the intent or of the configuration: `$max_paths`,
    `$rate_gbps(interface.name)`, where the argument is the name of a value. `$value(NAME)` is the value of that name
    itself.
    """

    name: str
    test: Operator
    operand: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingPattern:
    """Pattern of a difference from the rendered intent.

    paths: places without keys; lines: patterns of whole lines after their sections; one of them is set.
    sides: differences to which it applies. unless: conditions any of which excuses it. unless_added: patterns of lines
    that excuse a missing one where the configuration has such a line more in the same section: another value of it.
    when_added, when_missing, unless_missing: patterns of whole lines of which the configuration has one more, or lacks
    one. `{NAME}` in all of these stands for the text of that group of the line.
    """

    paths: tuple[str, ...] = ()
    lines: tuple[re.Pattern[str], ...] = ()
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    unless_added: tuple[str, ...] = ()
    when_added: tuple[str, ...] = ()
    when_missing: tuple[str, ...] = ()
    unless_missing: tuple[str, ...] = ()
    sides: tuple[Side, ...] = tuple(Side)


P = TypeVar("P", bound=SettingPattern)


def matches(
    patterns: Iterable[P],
    differences: Iterable[Difference],
    intended: DeviceModel,
    configured: DeviceModel | None = None,
) -> Iterator[tuple[P, Difference]]:
    """Every pattern that matches one of these differences, with the difference.

    intended, configured: the models of the intent and of the configuration. Without the latter, the conditions about
    it do not hold.
    """
    index, differences = PatternIndex(patterns), tuple(differences)
    added: dict[str, list[str]] = {}
    lines, missing = (
        [difference.path for difference in differences if difference.side is side]
        for side in (Side.ADDED, Side.MISSING)
    )
    for section, line in map(_parted, lines):
        added.setdefault(section, []).append(line)
    for difference in differences:
        for pattern, groups in index.at(difference):
            holds = partial(_holds, difference=difference, groups=groups, intended=intended, configured=configured)
            if (
                difference.side in pattern.sides
                and all(map(holds, pattern.when))
                and not any(map(holds, pattern.unless))
                and not (difference.side is Side.MISSING and _is_replaced(pattern, difference, groups, added))
                and (not pattern.when_added or _has_line(pattern.when_added, groups, lines))
                and (not pattern.when_missing or _has_line(pattern.when_missing, groups, missing))
                and not _has_line(pattern.unless_missing, groups, missing)
            ):
                yield pattern, difference


def _parted(path: str) -> tuple[str, str]:
    """The sections of a line, and the line."""
    section, _, line = path.rpartition(": ")
    return section, line


def _is_replaced(
    pattern: SettingPattern, difference: Difference, groups: Mapping[str, str], added: Mapping[str, Sequence[str]]
) -> bool:
    """Whether a line that excuses it is added to the same section. added: lines by section."""
    return _has_line(pattern.unless_added, groups, added.get(_parted(difference.path)[0], ()))


def _has_line(patterns: Iterable[str], groups: Mapping[str, str], lines: Sequence[str]) -> bool:
    """Whether a line matches one of the patterns, in which the names of groups stand for their text."""
    for text in patterns:
        for name, value in groups.items():
            text = text.replace(f"{{{name}}}", re.escape(value or ""))
        if any(re.fullmatch(text, line) for line in lines):
            return True
    return False


class PatternIndex(Generic[P]):
    """Patterns by place."""

    def __init__(self, patterns: Iterable[P]) -> None:
        self._exact: dict[str, list[P]] = {}
        self._below: dict[str, list[P]] = {}
        self._lines: list[tuple[re.Pattern[str], re.Pattern[str], P]] = []
        for pattern in patterns:
            for path in pattern.paths:
                places = self._below if path.endswith(BELOW_IT) else self._exact
                places.setdefault(path.removesuffix(BELOW_IT), []).append(pattern)
            self._lines.extend((line, _without_optional_no(line), pattern) for line in pattern.lines)

    def at(self, difference: Difference) -> Iterator[tuple[P, Mapping[str, str]]]:
        """Patterns of the place of a difference, each once, with the named groups of its pattern."""
        candidates = [*self._exact.get(difference.path, ())]
        if self._below:
            steps = difference.path.split("/")
            for length in range(2, len(steps) + 1):
                candidates += self._below.get("/".join(steps[:length]), ())
        yield from ((pattern, {}) for pattern in {id(pattern): pattern for pattern in candidates}.values())
        is_idle = is_idle_negation(difference)
        for line, without, pattern in self._lines:
            if match := (without if is_idle else line).fullmatch(difference.path):
                yield pattern, match.groupdict()


def is_idle_negation(difference: Difference) -> bool:
    """Whether a line is the negation of one that the intent does not have."""
    is_negation = difference.side is Side.ADDED and _parted(difference.path)[1].startswith(NEGATION)
    return is_negation and not difference.value(TAKES_BACK)


@cache
def _without_optional_no(line: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern of lines of which `no` may take back none: `no X` where the intent has no X changes nothing, unless
    a pattern names it."""
    return re.compile(line.pattern.replace(OPTIONAL_NO, "")) if OPTIONAL_NO in line.pattern else line


def _holds(
    condition: Condition,
    difference: Difference,
    groups: Mapping[str, str],
    intended: DeviceModel,
    configured: DeviceModel | None,
) -> bool:
    def value(name: str) -> Any:
        return groups[name] if name in groups else difference.value(name)

    def resolved(text: Any) -> Any:
        named = FACT.fullmatch(text) if isinstance(text, str) else None
        if named is None:
            return text
        argument = value(named["of"]) if named["of"] else None
        if named["fact"] == VALUE:
            return argument
        name = None if argument is None else str(argument)
        if named["fact"] in FACTS:
            return FACTS[named["fact"]](intended, name)
        return None if configured is None else CONFIGURED_FACTS[named["fact"]](configured, name)

    actual = resolved(condition.name) if condition.name.startswith("$") else value(condition.name)
    operand = resolved(condition.operand)
    return operand is not None and OPERATIONS[condition.test](ABSENT if actual is None else actual, operand)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(operand: object) -> set[str]:
    elements = (
        operand if isinstance(operand, Sequence | set | frozenset) and not isinstance(operand, str) else [operand]
    )
    return {_word(element) for element in elements}


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[object, object], bool]:
    """A comparison of two numbers; a value that is none fails it."""

    def compared(actual: object, operand: object) -> bool:
        left, right = _number(actual), _number(operand)
        return left is not None and right is not None and compare(left, right)

    return compared


def _overlaps(actual: object, operand: object) -> bool:
    """Whether a prefix, with a length or a mask, or one of several with commas between, overlaps any of others."""
    prefixes = [prefix for prefix in map(_prefix, str(actual).replace(" ", "/").split(",")) if prefix is not None]
    others = [candidate for candidate in map(_prefix, _words(operand)) if candidate is not None]
    return any(
        prefix.version == candidate.version and prefix.overlaps(candidate)
        for prefix in prefixes
        for candidate in others
    )


def _prefix(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


OPERATIONS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.IS: lambda actual, operand: _word(actual) == _word(operand),
    Operator.IS_NOT: lambda actual, operand: _word(actual) != _word(operand),
    Operator.IN: lambda actual, operand: bool(_words(actual) & _words(operand)),
    Operator.NOT_IN: lambda actual, operand: not _words(actual) & _words(operand),
    Operator.BELOW: _ordered(lambda actual, operand: actual < operand),
    Operator.AT_LEAST: _ordered(lambda actual, operand: actual >= operand),
    Operator.ABOVE: _ordered(lambda actual, operand: actual > operand),
    Operator.MATCHES: lambda actual, operand: re.fullmatch(operand, _word(actual)) is not None,
    Operator.OVERLAPS: _overlaps,
}

VALUE = "value"
FACT = re.compile(r"\$(?P<fact>\w+)(?:\((?P<of>[\w./-]+)\))?")


def place_of(fields: dict[str, Any]) -> dict[str, Any]:
    """Take the fields of SettingPattern out of an entry of a YAML file. Raises ValueError and re.error."""
    paths, lines = (_listed(fields.pop(name, ())) for name in ("path", "line"))
    when, unless = (conditions(fields.pop(name, {})) for name in ("when", "unless"))
    place: dict[str, Any] = {
        "paths": paths,
        "lines": tuple(map(re.compile, lines)),
        "when": when,
        "unless": unless,
        **{name: _listed(fields.pop(name, ())) for name in LINES_BESIDE},
        "sides": tuple(map(Side, _listed(fields.pop("sides", list(Side))))),
    }
    _check(SettingPattern(**place))
    return place


def _check(pattern: SettingPattern) -> None:
    if bool(pattern.paths) is bool(pattern.lines):
        raise ValueError("needs either `path` or `line`")
    for condition in pattern.when:
        facts = [text for text in (condition.name, condition.operand) if isinstance(text, str) and text[:1] == "$"]
        for text in facts:
            named = FACT.fullmatch(text)
            if named is None or named["fact"] not in (VALUE, *FACTS, *CONFIGURED_FACTS):
                raise ValueError(f"no fact {text}")
        groups = [line.groupindex for line in pattern.lines]
        if condition.name not in facts and not all(condition.name in names for names in groups):
            raise ValueError(f"a pattern has no group {condition.name}")


def conditions(said: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Conditions by name, as `when` and `unless` have them."""
    return tuple(_condition(name, test) for name, test in said.items())


def _condition(name: str, said: Any) -> Condition:
    """`{above: 0}`; a value by itself is `{is: VALUE}`, a list `{in: LIST}`."""
    if isinstance(said, Mapping):
        ((test, operand),) = said.items()
        return Condition(name=name, test=Operator(test), operand=operand)
    return Condition(name=name, test=Operator.IN if isinstance(said, list) else Operator.IS, operand=said)


def _listed(said: Any) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said)
