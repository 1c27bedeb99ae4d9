"""Terms of a parsed XPath expression: one function for each operator, step and function, made of its operands.

Nokia's engine differs from the standard in two ways here, which Nokia's expressions count on: a comparison with
`true()` or `false()` is one of values, and a leaf that is not set differs from every literal and is false.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from railfab.platforms.srlinux.place import NodePlace

Value = list[NodePlace] | str | float | bool


class Context(NamedTuple):
    """Node where an expression is evaluated. current: the node that has the constraint."""

    place: NodePlace
    current: NodePlace


Term = Callable[[Context], Value]


class Expression(NamedTuple):
    """A compiled expression.

    is_path: nodes. child: of a path to a child, its name. is_boolean: a literal of this type. entry: of the condition
    that a child is equal to something that does not depend on the entry, both.
    """

    term: Term
    is_path: bool = False
    child: str = ""
    is_boolean: bool = False
    entry: tuple[str, Term] | None = None


def truth(value: Value) -> bool:
    """A value as a boolean."""
    return any(place.is_set for place in value) if isinstance(value, list) else bool(value)


def text_of(value: Value) -> str:
    if isinstance(value, list):
        return value[0].text if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else value


def number_of(value: Value) -> float:
    if isinstance(value, bool):
        return float(value)
    try:
        return value if isinstance(value, float) else float(text_of(value))
    except ValueError:
        return float("nan")


def constant(value: Value) -> Term:
    return lambda _: value


def either(left: Term, right: Term) -> Term:
    return lambda context: truth(left(context)) or truth(right(context))


def both(left: Term, right: Term) -> Term:
    return lambda context: truth(left(context)) and truth(right(context))


def calculated(left: Term, sign: str, right: Term) -> Term:
    calculate = CALCULATIONS[sign]
    return lambda context: calculate(number_of(left(context)), number_of(right(context)))


def here(context: Context) -> Value:
    return [context.place]


def current(context: Context) -> Value:
    return [context.current]


def root(context: Context) -> Value:
    place = context.place
    while place.above is not None:
        place = place.above
    return [place]


def _nodes(value: Value) -> list[NodePlace]:
    return value if isinstance(value, list) else []


def parents(of: Term) -> Term:
    return lambda context: [place.above for place in _nodes(of(context)) if place.above is not None]


def children(of: Term, name: str) -> Term:
    return lambda context: [child for place in _nodes(of(context)) for child in place.below(name)]


def entries(of: Term, name: str, key: str, wanted: Term) -> Term:
    """The entries of a list with this key, found by an index."""
    return lambda context: [
        entry
        for place in _nodes(of(context))
        for text in dict.fromkeys(_texts(wanted(context)))
        for entry in place.entries(name, key, text)
    ]


def filtered(of: Term, condition: Term) -> Term:
    return lambda context: [place for place in _nodes(of(context)) if truth(condition(Context(place, context.current)))]


def called(function: Callable[..., Value], arguments: tuple[Term, ...]) -> Term:
    return lambda context: function(context, *[argument(context) for argument in arguments])


def compared(left: Expression, sign: str, right: Expression, *, nokia: bool) -> Term:
    """An equality; in Nokia's way where a path is compared with a boolean, or differs from something."""
    if nokia and left.is_path and right.is_boolean:
        return _has_value(left.term, right.term, negated=sign == "!=")
    if sign == "=":
        return _equal(left.term, right.term)
    if nokia and left.is_path:
        return _differs(left.term, right.term)
    return lambda context: text_of(left.term(context)) != text_of(right.term(context))


def _has_value(path: Term, wanted: Term, *, negated: bool) -> Term:
    """Whether a boolean leaf has a value; one that is not set is false."""
    return lambda context: ((text_of(path(context)) == "true") == wanted(context)) != negated


def _equal(left: Term, right: Term) -> Term:
    def term(context: Context) -> Value:
        left_value, right_value = left(context), right(context)
        values = _numbers if isinstance(left_value, float) or isinstance(right_value, float) else _texts
        return not {*values(left_value)}.isdisjoint(values(right_value))

    return term


def _differs(path: Term, right: Term) -> Term:
    """Whether a leaf has another value or is not set.

    It is not set in an entry that does not exist, either: a rule of `vxlan-interface` looks for the network instance by
    the name of the interface, where it finds none, and holds on every switch with EVPN.
    """
    same = _equal(path, right)
    return lambda context: not same(context)


def ordered(left: Term, sign: str, right: Term) -> Term:
    compare = ORDERS[sign]

    def term(context: Context) -> Value:
        others = _numbers(right(context))
        return any(
            compare(left_number, right_number) for left_number in _numbers(left(context)) for right_number in others
        )

    return term


def _numbers(value: Value) -> list[Any]:
    return [number_of([place]) for place in value] if isinstance(value, list) else [number_of(value)]


def _texts(value: Value) -> list[Any]:
    return [place.text for place in value] if isinstance(value, list) else [text_of(value)]


ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

CALCULATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "mod": operator.mod,
}

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "not": lambda _, value: not truth(value),
    "boolean": lambda _, value: truth(value),
    "number": lambda context, value=None: number_of([context.place] if value is None else value),
    "string": lambda context, value=None: text_of([context.place] if value is None else value),
    "concat": lambda _, *values: "".join(map(text_of, values)),
    "contains": lambda _, value, part: text_of(part) in text_of(value),
    "starts-with": lambda _, value, part: text_of(value).startswith(text_of(part)),
    "substring-before": lambda _, value, part: (
        text_of(value).partition(text_of(part))[0] if text_of(part) in text_of(value) else ""
    ),
    "substring-after": lambda _, value, part: text_of(value).partition(text_of(part))[2],
    "re-match": lambda _, value, pattern: re.fullmatch(text_of(pattern), text_of(value)) is not None,
}
