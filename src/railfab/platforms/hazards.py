"""The face `hazards.yml` of a platform: configuration that a switch accepts and that breaks or slows RoCE.

A hazard is data: a place, conditions on the values there, and the consequence. It is looked for in the differences
between a configuration and the rendered intent, because what the intent itself says is not a hazard but a design.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from railfab.device import DeviceModel
from railfab.findings import HazardCode, Severity
from railfab.platforms.differences import Difference, Side
from railfab.platforms.hazard_facts import CONFIGURED_FACTS, FACTS
from railfab.platforms.hazard_kinds import HazardKind, hazard_kinds

ABSENT = "absent"
"""The value of a leaf that is not set and has no default."""
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
class Hazard:
    """Pattern of a kind on one platform.

    paths: places without keys; lines: patterns of whole lines after their sections; one of them is set.
    consequence, severity, remedy: those of the kind, unless the platform has its own. source: document and section
    that says so. sides: differences to which it applies. unless: conditions any of which excuses it.
    """

    kind: HazardCode
    consequence: str
    severity: Severity
    remedy: str
    source: str
    paths: tuple[str, ...] = ()
    lines: tuple[re.Pattern[str], ...] = ()
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    sides: tuple[Side, ...] = tuple(Side)


def harms(
    hazards: Iterable[Hazard],
    differences: Iterable[Difference],
    intended: DeviceModel,
    configured: DeviceModel | None = None,
) -> Iterator[tuple[Hazard, Difference]]:
    """Every hazard among these differences, with the difference that it is.

    intended, configured: the models of the intent and of the configuration. Without the latter, the conditions about
    it do not hold.
    """
    index = HazardIndex(hazards)
    for difference in differences:
        for hazard, groups in index.at(difference):
            holds = partial(_holds, difference=difference, groups=groups, intended=intended, configured=configured)
            if difference.side in hazard.sides and all(map(holds, hazard.when)) and not any(map(holds, hazard.unless)):
                yield hazard, difference


class HazardIndex:
    """Hazards by place."""

    def __init__(self, hazards: Iterable[Hazard]) -> None:
        self._exact: dict[str, list[Hazard]] = {}
        self._below: dict[str, list[Hazard]] = {}
        self._lines: list[tuple[re.Pattern[str], Hazard]] = []
        for hazard in hazards:
            for path in hazard.paths:
                places = self._below if path.endswith(BELOW_IT) else self._exact
                places.setdefault(path.removesuffix(BELOW_IT), []).append(hazard)
            self._lines.extend((pattern, hazard) for pattern in hazard.lines)

    def at(self, difference: Difference) -> Iterator[tuple[Hazard, Mapping[str, str]]]:
        """Hazards of the place of a difference, each once, with the named groups of its pattern."""
        candidates = [*self._exact.get(difference.path, ())]
        if self._below:
            steps = difference.path.split("/")
            for length in range(2, len(steps) + 1):
                candidates += self._below.get("/".join(steps[:length]), ())
        yield from ((hazard, {}) for hazard in {id(hazard): hazard for hazard in candidates}.values())
        for pattern, hazard in self._lines:
            if match := pattern.fullmatch(difference.path):
                yield hazard, match.groupdict()


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
    """Whether a prefix, with a length or a mask, overlaps any of some prefixes."""
    prefix = _prefix(str(actual).replace(" ", "/"))
    others = map(_prefix, _words(operand))
    return prefix is not None and any(
        candidate is not None and prefix.version == candidate.version and prefix.overlaps(candidate)
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


def hazard_of(entry: Mapping[str, Any]) -> Hazard:
    """The hazard of an entry of `hazards.yml`. Raises ValueError, naming its kind, for one that is not valid."""
    try:
        fields = dict(entry)
        kind = _kind(fields.pop("kind", None))
        paths, lines = (_listed(fields.pop(name, ())) for name in ("path", "line"))
        when, unless = (_conditions(fields.pop(name, {})) for name in ("when", "unless"))
        hazard = Hazard(
            kind=kind.code,
            consequence=fields.pop("consequence", kind.consequence),
            severity=Severity(fields.pop("severity", kind.severity)),
            remedy=fields.pop("remedy", kind.remedy),
            paths=paths,
            lines=tuple(map(re.compile, lines)),
            when=when,
            unless=unless,
            sides=tuple(map(Side, _listed(fields.pop("sides", list(Side))))),
            **fields,
        )
        _check(hazard)
    except (ValueError, TypeError, KeyError, re.error) as error:
        raise ValueError(f"hazard {entry.get('kind', entry)}: {error}") from None
    return hazard


def _kind(code: str | None) -> HazardKind:
    if code is None or code not in hazard_kinds():
        raise ValueError("needs a `kind` of hazard_kinds.yml")
    return hazard_kinds()[code]


def _check(hazard: Hazard) -> None:
    if bool(hazard.paths) is bool(hazard.lines):
        raise ValueError("needs either `path` or `line`")
    if hazard.severity is Severity.NOTE:
        raise ValueError("`severity` is error or warning")
    if not (hazard.consequence and hazard.source) or hazard.consequence.endswith("."):
        raise ValueError("needs a source, and a consequence without a full stop")
    for condition in hazard.when:
        facts = [text for text in (condition.name, condition.operand) if isinstance(text, str) and text[:1] == "$"]
        for text in facts:
            named = FACT.fullmatch(text)
            if named is None or named["fact"] not in (VALUE, *FACTS, *CONFIGURED_FACTS):
                raise ValueError(f"no fact {text}")
        groups = [pattern.groupindex for pattern in hazard.lines]
        if condition.name not in facts and not all(condition.name in names for names in groups):
            raise ValueError(f"a pattern has no group {condition.name}")


def _conditions(said: Mapping[str, Any]) -> tuple[Condition, ...]:
    return tuple(_condition(name, test) for name, test in said.items())


def _condition(name: str, said: Any) -> Condition:
    """`{above: 0}`; a value by itself is `{is: VALUE}`, a list `{in: LIST}`."""
    if isinstance(said, Mapping):
        ((test, operand),) = said.items()
        return Condition(name=name, test=Operator(test), operand=operand)
    return Condition(name=name, test=Operator.IN if isinstance(said, list) else Operator.IS, operand=said)


def _listed(said: Any) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said)
