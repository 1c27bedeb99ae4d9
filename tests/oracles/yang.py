"""A reader of YANG 1.1 modules (RFC 7950): statements, and the schema tree of data nodes that they define.

Groupings, augments, deviations, typedefs, leafrefs, identities and features are resolved. Constraints (`must`,
`unique`, `mandatory`) stay in the statements, `when` is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|\'[^\']*\'|[{};]|[^\s{};"\']+', re.DOTALL)
INTEGERS = {
    f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits if sign else bits - 1) - 1)
    for sign in ("u", "")
    for bits in (8, 16, 32, 64)
}
ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
"""Characters after a backslash in a text in double quotes (RFC 7950, section 6.1.3)."""
DATA = ("container", "list", "leaf", "leaf-list")
TRANSPARENT = ("choice", "case")


@dataclass(slots=True)
class Statement:
    """One statement with the statements below it.

    module: the module that it belongs to. part: that module, or the submodule whose text has it, with prefixes of its
    own.
    """

    keyword: str
    argument: str
    module: str
    part: str
    below: list[Statement] = field(default_factory=list)
    above: Statement | None = None

    def all(self, *keywords: str) -> Iterator[Statement]:
        return (found for found in self.below if found.keyword in keywords)

    def first(self, keyword: str) -> str | None:
        return next((found.argument for found in self.all(keyword)), None)


def parsed(text: str) -> Statement:
    """The module of a text."""
    tokens = [token for token in TOKEN.findall(text) if not token.startswith(("//", "/*"))]
    root = Statement("", "", "", "")
    stack, index, name, part = [root], 0, "", ""
    while index < len(tokens):
        if tokens[index] == "}":
            stack.pop()
            index += 1
            continue
        keyword, parts = tokens[index], []
        index += 1
        while tokens[index] not in "{;":
            if tokens[index] != "+":
                parts.append(_unquoted(tokens[index]))
            index += 1
        if keyword in ("module", "submodule"):
            part = parts[0]
        if keyword in ("module", "belongs-to"):
            name = parts[0]
        found = Statement(keyword, "".join(parts), name, part, above=stack[-1])
        stack[-1].below.append(found)
        if tokens[index] == "{":
            stack.append(found)
        index += 1
    return root.below[0]


def _prefixes(part: Statement) -> Iterator[tuple[str, str]]:
    """The prefixes in the text of a module or submodule, each with its module."""
    for own in (part, *part.all("belongs-to")):
        yield own.first("prefix") or "", part.first("belongs-to") or part.argument
    for imported in part.all("import"):
        yield imported.first("prefix") or "", imported.argument


def _unquoted(token: str) -> str:
    if token[0] == "'":
        return token[1:-1]
    return re.sub(r"\\(.)", lambda found: ESCAPED.get(found[1], found[0]), token[1:-1]) if token[0] == '"' else token


Case = tuple[str, str]
"""The name of a choice and of one of its cases."""


@dataclass(slots=True)
class SchemaNode:
    """A data node. type: of a leaf. keys: of a list. state: not configuration. presence: a container that means
    something when it is empty. module: of its namespace, that of the module which uses a grouping.

    cases: between it and its parent node, the outermost first. needed: the mandatory choices below it, each with the
    cases around it. unsupported: names of nodes below it that a deviation takes away, each with the deviation's module.
    """

    name: str
    kind: str
    statement: Statement
    state: bool
    module: str = ""
    keys: tuple[str, ...] = ()
    presence: bool = False
    children: dict[str, SchemaNode] = field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    needed: set[tuple[tuple[Case, ...], str]] = field(default_factory=set)
    unsupported: dict[str, str] = field(default_factory=dict)


class Modules:
    """Modules by name, and the schema tree that some of them define together.

    has_feature: whether the device has a feature. is_own: whether the data nodes of a module belong to the tree; of
    the others it has types and groupings alone.
    """

    def __init__(self, texts: Iterable[str], has_feature: Callable[[str], bool], is_own: Callable[[str], bool]) -> None:
        self._has_feature = has_feature
        self._is_own = is_own
        found = list(map(parsed, texts))
        self._prefixes = {part.argument: dict(_prefixes(part)) for part in found}
        self._modules = {module.argument: module for module in found if module.keyword == "module"}
        for part in (one for one in found if one.keyword == "submodule"):
            module = self._modules[part.first("belongs-to") or ""]
            for statement in part.below:
                statement.above = module
                module.below.append(statement)

    @cached_property
    def _identities(self) -> Mapping[tuple[str, str], list[tuple[str, str]]]:
        """Identities by the one that they are directly derived from."""
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for name, module in self._modules.items():
            for identity in module.all("identity"):
                for base in identity.all("base"):
                    found.setdefault(self._named(base), []).append((name, identity.argument))
        return found

    def derived(self, base: Statement) -> list[tuple[str, str]]:
        """Names of all identities that are derived from a base, sorted, each with its module."""
        names: set[tuple[str, str]] = set()
        open_bases = [self._named(base)]
        while open_bases:
            for identity in self._identities.get(open_bases.pop(), ()):
                names.add((identity[1], identity[0]))
                open_bases.append(identity)
        return sorted(names)

    def _named(self, reference: Statement) -> tuple[str, str]:
        """Module and name of a reference with or without a prefix, the argument of a statement."""
        prefix, colon, name = reference.argument.rpartition(":")
        return (self._prefixes[reference.part].get(prefix, prefix) if colon else reference.module), name

    @cached_property
    def tree(self) -> SchemaNode:
        """The schema of all modules, with augments, and without what deviations take away."""
        root = SchemaNode("", "container", Statement("", "", "", ""), state=False)
        own = [module for name, module in self._modules.items() if self._is_own(name)]
        for module in own:
            for statement in module.below:
                self._grow(root, statement, module.argument)
        augments = [found for module in own for found in module.all("augment")]
        while augments:
            left = [augment for augment in augments if not self._augmented(root, augment)]
            if len(left) == len(augments):
                break
            augments = left
        for module in own:
            for deviation in module.all("deviation"):
                self._deviate(root, deviation)
        return root

    def _deviate(self, root: SchemaNode, deviation: Statement) -> None:
        """Take away the node that a device does not support, or replace its properties."""
        above, _, step = deviation.argument.rpartition("/")
        parent, _ = self._place(root, above)
        prefix, _, name = step.rpartition(":")
        node = parent.children.get(name) if parent else None
        if parent is None or node is None or node.module != self._prefixes[deviation.part].get(prefix):
            return
        for deviate in deviation.all("deviate"):
            if deviate.argument == "not-supported":
                del parent.children[name]
                parent.unsupported[name] = deviation.module
            elif deviate.argument == "replace":
                _replace(node, deviate)

    def _augmented(self, root: SchemaNode, augment: Statement) -> bool:
        """Whether the target of an augment exists; it is extended then."""
        target, between = self._place(root, augment.argument)
        if target is not None and self._is_on(augment):
            self._extend(target, between, augment)
        return target is not None

    def _place(self, root: SchemaNode, path: str) -> tuple[SchemaNode | None, list[str]]:
        """The data node at a path, and the names of the choices and cases at its end, in turn."""
        target: SchemaNode | None = root
        between: list[str] = []
        for step in filter(None, path.split("/")):
            name = step.rpartition(":")[2]
            if target is not None and name not in target.children and name in self._choices:
                between.append(name)
            else:
                target, between = None if target is None else target.children.get(name), []
        return target, between

    def _extend(self, target: SchemaNode, between: Sequence[str], augment: Statement) -> None:
        """Grow what an augment defines. between: names of the choices and cases, in turn, from the target to it."""
        cases = tuple(zip(between[::2], between[1::2], strict=False))
        for statement in augment.below:
            if len(between) % 2:
                self._grow_case(target, statement, augment.module, cases, between[-1])
            else:
                self._grow(target, statement, augment.module, cases)

    @cached_property
    def _choices(self) -> frozenset[str]:
        """Names of choices and cases, which are no data nodes."""
        found: set[str] = set()
        open_statements = list(self._modules.values())
        while open_statements:
            statement = open_statements.pop()
            if statement.keyword in TRANSPARENT:
                found.add(statement.argument)
            open_statements += statement.below
        return frozenset(found)

    def _is_on(self, statement: Statement) -> bool:
        return all(holds(found.argument, self._has_feature) for found in statement.all("if-feature"))

    def _grow(self, parent: SchemaNode, statement: Statement, module: str, cases: tuple[Case, ...] = ()) -> None:
        """Add what a statement defines below a node. module: of its namespace. cases: of choices that it is in."""
        if statement.keyword in (*DATA, *TRANSPARENT, "uses") and not self._is_on(statement):
            return
        if statement.keyword == "choice":
            if statement.first("mandatory") == "true":
                parent.needed.add((cases, statement.argument))
            for below in statement.below:
                self._grow_case(parent, below, module, cases, statement.argument)
        elif statement.keyword == "uses":
            self._use(parent, statement, module, cases)
        elif statement.keyword in DATA:
            node = self._node(parent, statement, module, cases)
            known = parent.children.setdefault(statement.argument, node)
            for below in statement.below:
                self._grow(known, below, module)

    def _grow_case(
        self, parent: SchemaNode, statement: Statement, module: str, cases: tuple[Case, ...], choice: str
    ) -> None:
        """Add a case of a choice, or a node that is a case by itself (RFC 7950, section 7.9.2)."""
        if not self._is_on(statement):
            return
        inside = (*cases, (choice, statement.argument))
        for one in statement.below if statement.keyword == "case" else (statement,):
            self._grow(parent, one, module, inside)

    @staticmethod
    def _node(parent: SchemaNode, statement: Statement, module: str, cases: tuple[Case, ...]) -> SchemaNode:
        return SchemaNode(
            statement.argument,
            statement.keyword,
            statement,
            state=parent.state or statement.first("config") == "false",
            module=module,
            keys=tuple((statement.first("key") or "").split()),
            presence=statement.first("presence") is not None,
            cases=cases,
        )

    def _use(self, parent: SchemaNode, uses: Statement, module: str, cases: tuple[Case, ...]) -> None:
        grouping = self._defined("grouping", uses)
        for below in grouping.below:
            self._grow(parent, below, module, cases)
        for augment in uses.all("augment"):
            target = parent
            for step in augment.argument.split("/"):
                target = target.children.get(step.rpartition(":")[2], target)
            for below in augment.below:
                self._grow(target, below, module)
        for refine in uses.all("refine"):
            self._refine(parent, refine)

    @staticmethod
    def _refine(parent: SchemaNode, refine: Statement) -> None:
        target: SchemaNode | None = parent
        for step in refine.argument.split("/"):
            target = target.children.get(step.rpartition(":")[2]) if target else None
        if target is not None:
            _replace(target, refine)

    def _defined(self, keyword: str, use: Statement) -> Statement:
        """The grouping or typedef that a statement names: of an enclosing statement, or at the top of its module."""
        module, name = self._named(use)
        scope: Statement | None = use
        while scope is not None and module == use.module:
            if found := next((one for one in scope.all(keyword) if one.argument == name), None):
                return found
            scope = scope.above
        return next(one for one in self._modules[module].all(keyword) if one.argument == name)

    def type_of(self, node: SchemaNode) -> Type:
        (statement,) = node.statement.all("type")
        return self._type(statement)

    def _type(self, statement: Statement) -> Type:
        name = statement.argument.rpartition(":")[2]
        ranges = statement.first("range")
        if name == "union":
            return Type("union", members=tuple(self._type(member) for member in statement.all("type")))
        if name == "enumeration":
            enums = (found.argument for found in statement.all("enum") if self._is_on(found))
            return Type("enumeration", names=tuple(enums))
        if name == "identityref":
            bases = [self.derived(base) for base in statement.all("base")]
            found = bases[0] if bases else []
            return Type("identityref", names=tuple(name for name, _ in found), identities=tuple(found))
        if name == "leafref":
            loose = statement.first("require-instance") == "false"
            return Type("leafref", path=statement.first("path") or "", loose=loose)
        if name in INTEGERS:
            return Type(name, ranges=_ranges(ranges, *INTEGERS[name]))
        patterns, lengths = self._restrictions(statement)
        if name in BUILTIN:
            return Type(name, patterns=patterns, lengths=lengths)
        defined = self._defined("typedef", statement)
        (inner,) = defined.all("type")
        base = self._type(inner)
        if ranges and base.ranges:
            base = Type(base.name, ranges=_ranges(ranges, base.ranges[0][0], base.ranges[-1][1]))
        narrowed = (*base.patterns, *patterns), lengths or base.lengths
        default = defined.first("default") or base.default
        return replace(base, default=default, patterns=narrowed[0], lengths=narrowed[1], alias=name)

    @staticmethod
    def _restrictions(statement: Statement) -> tuple[tuple[tuple[str, bool], ...], tuple[tuple[int, int], ...]]:
        """The patterns and the lengths of a text."""
        patterns = tuple(
            (found.argument, found.first("modifier") != "invert-match") for found in statement.all("pattern")
        )
        length = statement.first("length")
        return patterns, () if length is None else _ranges(length, 0, 2**64 - 1)


def _replace(node: SchemaNode, changed: Statement) -> None:
    """Replace the properties of a node that a `refine` or `deviate` states."""
    replaced = {found.keyword for found in changed.below}
    kept = [found for found in node.statement.below if found.keyword not in replaced]
    node.statement = replace(node.statement, below=kept + changed.below)


BUILTIN = frozenset(("string", "boolean", "empty", "binary", "bits", "decimal64", "instance-identifier"))


@dataclass(frozen=True, slots=True)
class Type:
    """A type with what restricts its values. default: of a typedef.

    patterns: of a text, each with whether it has to match. loose: a leafref whose target need not exist. alias: the
    typedef by which a leaf has it. identities: the names of an identityref, each with its module.
    """

    name: str
    ranges: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()
    path: str = ""
    members: tuple[Type, ...] = ()
    default: str | None = None
    patterns: tuple[tuple[str, bool], ...] = ()
    lengths: tuple[tuple[int, int], ...] = ()
    loose: bool = False
    alias: str = ""
    identities: tuple[tuple[str, str], ...] = ()


def _ranges(argument: str | None, low: int, high: int) -> tuple[tuple[int, int], ...]:
    """The parts of a range, with `min` and `max` as numbers."""
    if argument is None:
        return ((low, high),)
    found = []
    for part in argument.split("|"):
        ends = [end.strip() for end in part.split("..")]
        numbers = [low if end == "min" else high if end == "max" else int(end, 0) for end in ends]
        found.append((numbers[0], numbers[-1]))
    return tuple(found)


def holds(expression: str, has_feature: Callable[[str], bool]) -> bool:
    """Whether an if-feature expression holds: names, `not`, `and`, `or` and brackets (RFC 7950, section 7.20.2)."""
    words = re.findall(r"\(|\)|[^\s()]+", expression)

    def disjunction() -> bool:
        value = conjunction()
        while words and words[0] == "or":
            words.pop(0)
            value = conjunction() or value
        return value

    def conjunction() -> bool:
        value = factor()
        while words and words[0] == "and":
            words.pop(0)
            value = factor() and value
        return value

    def factor() -> bool:
        word = words.pop(0)
        if word == "not":
            return not factor()
        if word != "(":
            return has_feature(word.rpartition(":")[2])
        value = disjunction()
        words.pop(0)
        return value

    return disjunction()
