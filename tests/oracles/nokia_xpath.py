"""Nokia's YANG for one device, in the XPath that libyang knows.

Nokia's engine compares boolean leaves by value (`= true()`), takes an absent leaf as different from every literal,
compares identities without their prefix, and switches some `must` statements with an extension of its own,
`srl_nokia-ext:if-feature`. Plain XPath 1.0 does none of that, so the expressions are rewritten before yanglint reads
them: 459 of them, and 78 `must` statements dropped, in v25.3.1. An `if-feature` that the device satisfies is removed,
and of another the first feature is left: the result is for a device without features, since yanglint reads commands of
at most 4,095 bytes, and the names of the features have more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from tests.oracles.yang import holds

COMPARISON = re.compile(r"\s*(!=|=)\s*(true\(\)|false\(\)|'[^']*'|\"[^\"]*\"|\d+|(?:\.\./)+[\w:/-]+)")
CONSTRAINT = re.compile(r'\b(must|when)(\s+)("(?:[^"\\]|\\.)*"|\'[^\']*\')', re.DOTALL)
GATED_MUST = re.compile(r'\bmust\s+(?:"(?:[^"\\]|\\.)*"|\'[^\']*\')\s*\{(?P<body>[^{}]*)\}', re.DOTALL)
IF_FEATURE = re.compile(r"""(?<![:\w-])if-feature\s+(?:"([^"]*)"|'([^']*)'|([^\s;"']+))\s*;""")
FEATURE_NAME = re.compile(r"(?<![\w.:-])(?!(?:not|and|or)\b)[\w.-]+(?::[\w.-]+)?")
GATE = re.compile(r'srl_nokia-ext:if-feature\s+["\']([^"\']*)["\']')
PATH = re.compile(r"^(\.\.?(/|$)|/|[a-z_])")
IDENTITY_LEAF = re.compile(r"\bleaf\s+([\w.-]+)\s*\{(?:[^{}]|\{[^{}]*\}){0,400}?type\s+identityref")
IDENTITY = re.compile(r"\bidentity\s+([\w.-]+)")
MODULE = re.compile(r"\bmodule\s+([\w-]+)")
IMPORT = re.compile(r'import\s+([\w-]+)\s*\{\s*prefix\s+"?([\w-]+)"?')
OWN_PREFIX = re.compile(r'\bmodule\s+([\w-]+)\s*\{.*?\bprefix\s+"?([\w-]+)"?', re.DOTALL)
LITERAL_COMPARISON = re.compile(r"(?<![\w-])([\w:-]+)(\s*!?=\s*)(['\"])([\w.-]+)\3")
OWN_VALUE = re.compile(r"(?<![\w./-])\.(\s*=\s*)(['\"])([\w.-]+)\2")
STEP_ENDS = " \t\n(),|=<>!"


def plain(modules: Mapping[str, str], features: Collection[str]) -> dict[str, str]:
    """The texts of these modules (by file name) for a device with these features."""
    identities: dict[str, set[str]] = {}
    identity_leaves: set[str] = set()
    for text in modules.values():
        name = MODULE.search(text)
        for identity in IDENTITY.findall(text) if name else ():
            identities.setdefault(identity, set()).add(name[1])
        identity_leaves.update(IDENTITY_LEAF.findall(text))
    return {file: _module(text, frozenset(features), identities, identity_leaves) for file, text in modules.items()}


def _module(text: str, features: Collection[str], identities: Mapping[str, set[str]], leaves: set[str]) -> str:
    text = IF_FEATURE.sub(lambda found: _if_feature(found, features), text)
    text = GATED_MUST.sub(lambda found: _kept(found, features), text)
    prefixes = dict(IMPORT.findall(text)) | dict(OWN_PREFIX.findall(text)[:1])

    def identity(found: re.Match[str]) -> str:
        return _identity(found, prefixes, identities, leaves)

    def own_identity(found: re.Match[str]) -> str:
        equals, quote, literal = found.groups()
        prefix = _prefix_of(literal, prefixes, identities)
        return f"({found[0]} or .{equals}{quote}{prefix}:{literal}{quote})" if prefix else found[0]

    def with_identities(found: re.Match[str]) -> str:
        return found[1] + found[2] + OWN_VALUE.sub(own_identity, LITERAL_COMPARISON.sub(identity, found[3]))

    text = CONSTRAINT.sub(with_identities, text)
    return CONSTRAINT.sub(_constraint, text)


def _if_feature(statement: re.Match[str], features: Collection[str]) -> str:
    """A condition that is false without any feature, where the device does not satisfy this one; else nothing."""
    expression = next(filter(None, statement.groups()))
    name = FEATURE_NAME.search(expression)
    assert name is not None
    return "" if holds(expression, features.__contains__) else f"if-feature {name[0]};"


def _kept(must: re.Match[str], features: Collection[str]) -> str:
    """A `must` statement, unless it is for other features."""
    gate = GATE.search(must["body"])
    return "" if gate and not holds(gate[1], features.__contains__) else must[0]


def _identity(
    found: re.Match[str], prefixes: Mapping[str, str], identities: Mapping[str, set[str]], leaves: set[str]
) -> str:
    """A comparison with an identity, with the prefix of the module that defines it."""
    leaf, operator, quote, literal = found.groups()
    prefix = _prefix_of(literal, prefixes, identities)
    if leaf.rpartition(":")[2] not in leaves or prefix is None:
        return found[0]
    return f"{leaf}{operator}{quote}{prefix}:{literal}{quote}"


def _prefix_of(literal: str, prefixes: Mapping[str, str], identities: Mapping[str, set[str]]) -> str | None:
    """The prefix of the module that defines an identity; None where the module at hand has none for it."""
    defining = [prefix for module, prefix in prefixes.items() if module in identities.get(literal, ())]
    return min(defining, key=lambda prefix: ("comm" not in prefix, prefix), default=None)


def _constraint(found: re.Match[str]) -> str:
    keyword, space, quoted = found.groups()
    outer = quoted[0]
    inner = "'" if outer == '"' else '"'
    expression = _comparisons(quoted[1:-1], inner)
    expression = re.sub(r"\b(true|false)\(\)(?=\s*!?=\s*[./])", rf"{inner}\1{inner}", expression)
    return f"{keyword}{space}{outer}{expression}{outer}"


def _comparisons(expression: str, quote: str) -> str:
    """Every comparison in the expression as plain XPath: `a != true()` becomes `not(a = "true")`."""
    position = 0
    while found := COMPARISON.search(expression, position):
        operator, literal = found.groups()
        start = _operand_start(expression, found.start())
        operand = expression[start : found.start()]
        is_boolean = literal in ("true()", "false()")
        depth = expression[:start].count("[") - expression[:start].count("]")
        is_path = bool(operand) and bool(PATH.match(operand)) and not operand.endswith(")") and depth == 0
        if is_path and (operator == "!=" or is_boolean):
            value = f"{quote}true{quote}" if is_boolean else literal
            negated = (operator == "!=") != (literal == "false()")
            said = f"not({operand} = {value})" if negated else f"{operand} = {value}"
            expression = expression[:start] + said + expression[found.end() :]
            position = start + len(said)
        elif is_boolean:
            said = f"{quote}{literal[:-2]}{quote}"
            expression = expression[: found.start(2)] + said + expression[found.end() :]
            position = found.start(2) + len(said)
        else:
            position = found.end()
    return expression


def _operand_start(expression: str, end: int) -> int:
    """Where the path that ends here begins."""
    depth = 0
    for index in range(end - 1, -1, -1):
        char = expression[index]
        if char == "]":
            depth += 1
        elif char == "[":
            if depth == 0:
                return index + 1
            depth -= 1
        elif depth == 0 and char in STEP_ENDS:
            return index + 1
    return 0
