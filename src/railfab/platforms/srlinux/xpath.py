"""XPath 1.0 as Nokia's YANG uses it, over a configuration without module prefixes: parsing, and constraints at a node.

Identities compare without their prefix. Nodes that the schema does not have, or that are state, raise UnknownNode:
nothing can be said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from railfab.platforms.srlinux import xpath_terms as terms
from railfab.platforms.srlinux.place import NodePlace, UnknownNode
from railfab.platforms.srlinux.xpath_terms import Context, Expression, Term, truth

TOKEN = re.compile(r"""\s*(\.\.|!=|<=|>=|"[^"]*"|'[^']*'|\d+(?:\.\d+)?|[A-Za-z_][\w.-]*|[-./\[\](),=<>|+*])""")
IDENTITY = re.compile(r"^srl[\w-]*:(?=[A-Za-z])")


class CompiledExpression(NamedTuple):
    """An expression to evaluate. reach: levels above its node that it reads at most; infinite for an absolute path."""

    term: Term
    reach: float


@cache
def compiled(expression: str) -> CompiledExpression:
    parser = _XpathParser(TOKEN.findall(expression))
    parsed = parser.alternatives()
    if parser.tokens:
        raise ValueError(f"{expression!r} has more than an expression: {parser.tokens}")
    return CompiledExpression(parsed.term, parser.reach)


def holds_at(expression: str, place: NodePlace) -> bool:
    """Whether a constraint holds at a node; true where it names nodes of which nothing is known."""
    try:
        return truth(compiled(expression).term(Context(place, place)))
    except UnknownNode:
        return True


def places_at(path: str, place: NodePlace) -> list[NodePlace] | None:
    """The nodes of a path, seen from a node; None where nothing is known of them."""
    try:
        value = compiled(path).term(Context(place, place))
    except UnknownNode:
        return None
    return value if isinstance(value, list) else None


class _XpathParser:
    """A recursive descent over tokens. depth: of predicates, in which comparisons are those of the standard.

    depends: whether what was parsed depends on the node at which it is evaluated. reach: levels above that node which
    what was parsed reads at most. level: of the node at which a condition is evaluated.
    """

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]
        self.depth = 0
        self.depends = False
        self.reach = 0.0
        self.level = 0.0

    def _next(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def _takes(self, *wanted: str) -> str:
        return self.tokens.pop() if self._next() in wanted else ""

    def _expect(self, wanted: str) -> None:
        if not self._takes(wanted):
            raise ValueError(f"{wanted!r} expected, not {self._next()!r}")

    def alternatives(self) -> Expression:
        return self._chain(self._all_of, lambda left, _, right: terms.either(left, right), "or")

    def _all_of(self) -> Expression:
        return self._chain(self._equality, lambda left, _, right: terms.both(left, right), "and")

    def _chain(
        self, operand: Callable[[], Expression], join: Callable[[Term, str, Term], Term], *signs: str
    ) -> Expression:
        """Operands with one of these signs between them, from the left."""
        chain = operand()
        while sign := self._takes(*signs):
            chain = Expression(join(chain.term, sign, operand().term))
        return chain

    def _equality(self) -> Expression:
        left = self._relation()
        while sign := self._takes("=", "!="):
            self.depends = False
            right = self._relation()
            entry = (left.child, right.term) if sign == "=" and left.child and not self.depends else None
            left = Expression(terms.compared(left, sign, right, nokia=not self.depth), entry=entry)
            self.depends = True
        return left

    def _relation(self) -> Expression:
        return self._chain(self._calculation, terms.ordered, "<", "<=", ">", ">=")

    def _calculation(self) -> Expression:
        return self._chain(self._product, terms.calculated, "+", "-")

    def _product(self) -> Expression:
        return self._chain(self._path, terms.calculated, "*", "mod")

    def _path(self) -> Expression:
        token = self._next()
        if token[:1] in ("'", '"'):
            return Expression(terms.constant(IDENTITY.sub("", self.tokens.pop()[1:-1])))
        if token[:1].isdigit():
            return Expression(terms.constant(float(self.tokens.pop())))
        if self._takes("("):
            inner = self.alternatives()
            self._expect(")")
        elif self.tokens[-2:-1] == ["("]:
            inner = self._call()
        else:
            return self._steps(terms.root if self._takes("/") else terms.here)
        return self._steps(inner.term) if self._takes("/") else inner

    def _steps(self, start: Term) -> Expression:
        """The steps of a path, after its start."""
        self.depends = self.depends or start is terms.here
        term = above = start
        first = True
        level = self._level_of(start)
        while True:
            name, above = self.tokens.pop(), term
            level += {"..": 1, ".": 0}.get(name, -1)
            self.reach = max(self.reach, level)
            term = term if name == "." else terms.parents(term) if name == ".." else terms.children(term, name)
            child = name if first and start is terms.here and name not in (".", "..") else ""
            plain = term
            while self._takes("["):
                outside = self.depends, self.depth, self.level
                self.depth, self.level = self.depth + 1, level
                condition = self.alternatives()
                self.depends, self.depth, self.level = outside
                self._expect("]")
                if condition.entry is not None and term is plain:
                    term = terms.entries(above, name, *condition.entry)
                else:
                    term = terms.filtered(term, condition.term)
                child = ""
            if not self._takes("/"):
                return Expression(term, is_path=True, child=child)
            first = False

    def _level_of(self, start: Term) -> float:
        """Levels of the start of a path above the node of the expression; at most those of what is in parentheses."""
        if start is terms.root:
            return math.inf
        return self.level if start is terms.here else 0.0 if start is terms.current else self.reach

    def _call(self) -> Expression:
        name = self.tokens.pop()
        self._expect("(")
        arguments: list[Term] = []
        while not self._takes(")"):
            arguments.append(self.alternatives().term)
            self._takes(",")
        if name in ("true", "false"):
            return Expression(terms.constant(name == "true"), is_boolean=True)
        if name == "current":
            return Expression(terms.current, is_path=True)
        return Expression(terms.called(terms.FUNCTIONS[name], tuple(arguments)))
