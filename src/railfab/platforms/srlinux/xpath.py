"""XPath 1.0 as Nokia's YANG uses it, over a configuration without module prefixes.

Nokia's engine differs from the standard in three ways, which these expressions count on: a comparison with `true()` or
`false()` is one of values, a leaf that is not set differs from every literal and is false, and identities compare
without their prefix. Nodes that the schema does not have, or that are state, raise UnknownNode: nothing can be said.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from railfab.platforms.shared.json_tree import leaf_text
from railfab.platforms.srlinux.schema import MARK, Node, schema

TOKEN = re.compile(r"""\s*(\.\.|!=|<=|>=|"[^"]*"|'[^']*'|\d+(?:\.\d+)?|[A-Za-z_][\w.-]*|[-./\[\](),=<>|+])""")
IDENTITY = re.compile(r"^srl[\w-]*:(?=[A-Za-z])")
ABSENT: Any = object()


class UnknownNode(Exception):
    """An expression names a node that is no known configuration."""


class Place:
    """A node of a configuration, or one that is not set: a leaf with its default, or a container. node: its schema."""

    __slots__ = ("above", "indexes", "is_set", "name", "node", "value")

    def __init__(self, value: Any, node: Node, above: Place | None, name: str = "", *, is_set: bool = True) -> None:
        self.value = value
        self.node = node
        self.above = above
        self.name = name
        self.is_set = is_set
        self.indexes: dict[tuple[int, str], dict[str, list[Any]]] = {} if above is None else above.indexes

    @property
    def text(self) -> str:
        return "" if isinstance(self.value, dict) else leaf_text(self.value)

    def below(self, name: str) -> Iterator[Place]:
        """The children of this name. Raises UnknownNode."""
        node = self.node.get(name, "") if isinstance(self.node, dict) else ""
        if node is None or node == "" or name == MARK:
            raise UnknownNode(name)
        value = self.value.get(name, ABSENT) if isinstance(self.value, dict) else ABSENT
        if value is ABSENT:
            yield from self._unset(name, node)
        else:
            for entry in value if isinstance(value, list) else (value,):
                yield Place(entry, node, self, name)

    def entries(self, name: str, key: str, text: str) -> Iterator[Place]:
        """The entries of a list in which a leaf has this text. Raises UnknownNode."""
        values = self.value.get(name) if isinstance(self.value, dict) else None
        if not isinstance(values, list):
            yield from (place for place in self.below(name) if text in [leaf.text for leaf in place.below(key)])
            return
        index = self.indexes.get((id(values), key))
        if index is None:
            index = self.indexes[id(values), key] = {}
            for place in self.below(name):
                for leaf in place.below(key):
                    index.setdefault(leaf.text, []).append(place.value)
        yield from (Place(value, self.node[name], self, name) for value in index.get(text, ()))

    def _unset(self, name: str, node: Node) -> Iterator[Place]:
        if isinstance(node, dict):
            if MARK not in node:
                yield Place({}, node, self, name, is_set=False)
        elif isinstance(node, int) and (default := schema().types[node].get("default")) is not None:
            yield Place(default, node, self, name)


Value = list[Place] | str | float | bool


class Context(NamedTuple):
    """Where an expression is evaluated. current: the node that has the constraint."""

    place: Place
    current: Place


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


@cache
def compiled(expression: str) -> Term:
    """An expression to evaluate."""
    parser = _Parser(TOKEN.findall(expression))
    found = parser.alternatives()
    if parser.tokens:
        raise ValueError(f"{expression!r} has more than an expression: {parser.tokens}")
    return found.term


def holds_at(expression: str, place: Place) -> bool:
    """Whether a constraint holds at a node; true where it names nodes of which nothing is known."""
    try:
        return truth(compiled(expression)(Context(place, place)))
    except UnknownNode:
        return True


def places_at(path: str, place: Place) -> list[Place] | None:
    """The nodes of a path, seen from a node; None where nothing is known of them."""
    try:
        found = compiled(path)(Context(place, place))
    except UnknownNode:
        return None
    return found if isinstance(found, list) else None


class _Parser:
    """A recursive descent over tokens. depth: of predicates, in which comparisons are those of the standard.

    depends: whether what was parsed depends on the node at which it is evaluated.
    """

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]
        self.depth = 0
        self.depends = False

    def _next(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def _takes(self, *wanted: str) -> str:
        return self.tokens.pop() if self._next() in wanted else ""

    def _expect(self, wanted: str) -> None:
        if not self._takes(wanted):
            raise ValueError(f"{wanted!r} expected, not {self._next()!r}")

    def alternatives(self) -> Expression:
        found = self._all_of()
        while self._takes("or"):
            left, right = found.term, self._all_of().term
            found = Expression(_either(left, right))
        return found

    def _all_of(self) -> Expression:
        found = self._equality()
        while self._takes("and"):
            left, right = found.term, self._equality().term
            found = Expression(_both(left, right))
        return found

    def _equality(self) -> Expression:
        found = self._relation()
        while sign := self._takes("=", "!="):
            self.depends = False
            right = self._relation()
            entry = (found.child, right.term) if sign == "=" and found.child and not self.depends else None
            found = Expression(_compared(found, sign, right, nokia=not self.depth), entry=entry)
            self.depends = True
        return found

    def _relation(self) -> Expression:
        found = self._calculation()
        while sign := self._takes("<", "<=", ">", ">="):
            found = Expression(_ordered(found.term, sign, self._calculation().term))
        return found

    def _calculation(self) -> Expression:
        found = self._path()
        while sign := self._takes("mod", "+"):
            left, right = found.term, self._path().term
            found = Expression(_calculated(left, sign, right))
        return found

    def _path(self) -> Expression:
        token = self._next()
        if token[:1] in ("'", '"'):
            return Expression(_constant(IDENTITY.sub("", self.tokens.pop()[1:-1])))
        if token[:1].isdigit():
            return Expression(_constant(float(self.tokens.pop())))
        if self._takes("("):
            found = self.alternatives()
            self._expect(")")
        elif self.tokens[-2:-1] == ["("]:
            found = self._call()
        else:
            return self._steps(_root if self._takes("/") else _here)
        return self._steps(found.term) if self._takes("/") else found

    def _steps(self, start: Term) -> Expression:
        """The steps of a path, after its start."""
        self.depends = self.depends or start is _here
        found = above = start
        first = True
        while True:
            name, above = self.tokens.pop(), found
            found = found if name == "." else _parents(found) if name == ".." else _children(found, name)
            child = name if first and start is _here and name not in (".", "..") else ""
            plain = found
            while self._takes("["):
                depends, self.depth = self.depends, self.depth + 1
                condition = self.alternatives()
                self.depends, self.depth = depends, self.depth - 1
                self._expect("]")
                if condition.entry is not None and found is plain:
                    found = _entries(above, name, *condition.entry)
                else:
                    found = _filtered(found, condition.term)
                child = ""
            if not self._takes("/"):
                return Expression(found, is_path=True, child=child)
            first = False

    def _call(self) -> Expression:
        name = self.tokens.pop()
        self._expect("(")
        arguments: list[Term] = []
        while not self._takes(")"):
            arguments.append(self.alternatives().term)
            self._takes(",")
        if name in ("true", "false"):
            return Expression(_constant(name == "true"), is_boolean=True)
        if name == "current":
            return Expression(_current, is_path=True)
        return Expression(_called(FUNCTIONS[name], tuple(arguments)))


def _constant(value: Value) -> Term:
    return lambda _: value


def _either(left: Term, right: Term) -> Term:
    return lambda context: truth(left(context)) or truth(right(context))


def _both(left: Term, right: Term) -> Term:
    return lambda context: truth(left(context)) and truth(right(context))


def _calculated(left: Term, sign: str, right: Term) -> Term:
    calculate = CALCULATIONS[sign]
    return lambda context: calculate(number_of(left(context)), number_of(right(context)))


def _here(context: Context) -> Value:
    return [context.place]


def _current(context: Context) -> Value:
    return [context.current]


def _root(context: Context) -> Value:
    place = context.place
    while place.above is not None:
        place = place.above
    return [place]


def _nodes(value: Value) -> list[Place]:
    return value if isinstance(value, list) else []


def _parents(of: Term) -> Term:
    return lambda context: [place.above for place in _nodes(of(context)) if place.above is not None]


def _children(of: Term, name: str) -> Term:
    return lambda context: [child for place in _nodes(of(context)) for child in place.below(name)]


def _entries(of: Term, name: str, key: str, wanted: Term) -> Term:
    """The entries of a list with this key, found by an index."""
    return lambda context: [
        entry
        for place in _nodes(of(context))
        for text in dict.fromkeys(_texts(wanted(context)))
        for entry in place.entries(name, key, text)
    ]


def _filtered(of: Term, condition: Term) -> Term:
    return lambda context: [place for place in _nodes(of(context)) if truth(condition(Context(place, context.current)))]


def _called(function: Callable[..., Value], arguments: tuple[Term, ...]) -> Term:
    return lambda context: function(context, *[argument(context) for argument in arguments])


def _compared(left: Expression, sign: str, right: Expression, *, nokia: bool) -> Term:
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
        one, other = left(context), right(context)
        values = _numbers if isinstance(one, float) or isinstance(other, float) else _texts
        return not {*values(one)}.isdisjoint(values(other))

    return term


def _differs(path: Term, other: Term) -> Term:
    """Whether a leaf has another value or is not set.

    It is not set in an entry that does not exist, either: a rule of `vxlan-interface` looks for the network instance by
    the name of the interface, where it finds none, and holds on every switch with EVPN.
    """
    equal = _equal(path, other)
    return lambda context: not equal(context)


def _ordered(left: Term, sign: str, right: Term) -> Term:
    compare = ORDERS[sign]

    def term(context: Context) -> Value:
        others = _numbers(right(context))
        return any(compare(one, other) for one in _numbers(left(context)) for other in others)

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

CALCULATIONS: dict[str, Callable[[float, float], float]] = {"mod": operator.mod, "+": operator.add}

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
