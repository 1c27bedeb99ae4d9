"""Values of a composed document: by the strict rules of an intent, by those of PyYAML (YAML 1.1), or texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

import yaml

from railfab.text.display import MAX_CHARACTERS, display
from railfab.yaml_reader.composer import CORE, YamlFault, YamlFaultKind
from railfab.yaml_reader.tree import NULLS, Keyed, Listed, Scalar, Tree

WORDS = {
    **dict.fromkeys(NULLS, None),
    **dict.fromkeys((case(word) for word in ("yes", "true", "on") for case in (str, str.title, str.upper)), True),
    **dict.fromkeys((case(word) for word in ("no", "false", "off") for case in (str, str.title, str.upper)), False),
}
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+")
FLOAT = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9_]*)?\.[0-9]+|(?:0|[1-9][0-9_]*)\.?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
NUMBER_STARTS = frozenset("0123456789+-.")
SPECIAL_STARTS = NUMBER_STARTS | {word[0] for word in WORDS if word}
"""First characters of the texts that are values of another type, where they are not in quotes."""
COLLECTION_TAGS = frozenset((f"{CORE}map", f"{CORE}seq"))
CORE_TAGS = COLLECTION_TAGS | {f"{CORE}{kind}" for kind in ("bool", "float", "int", "null", "str", "timestamp")}
"""Tags that `core_values` takes."""


def strict_values(tree: Tree) -> tuple[Any, list[YamlFault]]:
    """Values where no number is read differently by YAML 1.1 and 1.2 (`010`, `1:30` are texts), and their faults.

    A key is an integer, or a text as it is written.
    """
    faults: list[YamlFault] = []
    return _strict(tree, faults), faults


def _strict(tree: Tree, faults: list[YamlFault]) -> Any:
    if type(tree) is Scalar:
        text = tree.text
        if not tree.plain or (text and text[0] not in SPECIAL_STARTS):
            return text
        return _strict_scalar(tree, faults)
    if type(tree) is Listed:
        return [_strict(entry, faults) for entry in tree.entries]
    assert isinstance(tree, Keyed)
    content: dict[int | str, Any] = {}
    for text, value in tree.entries.items():
        key: int | str = text
        if text[:1] in NUMBER_STARTS and text not in tree.quoted and INTEGER.fullmatch(text):
            key = _strict_scalar(Scalar(text, tree.lines[text]), faults)
        if key in content:
            faults.append(YamlFault(tree.lines[text], f"key {display(text)} is duplicate", "Keep one of them"))
        content[key] = _strict(value, faults)
    return content


def _strict_scalar(scalar: Scalar, faults: list[YamlFault]) -> Any:
    """An unquoted value may be a number, yes, no or empty."""
    text = scalar.text
    if text in WORDS:
        return WORDS[text]
    if len(text) <= MAX_CHARACTERS:
        return _number(text)
    if text.lstrip("-+").replace("_", "").isdecimal():
        faults.append(YamlFault(scalar.line, f"a number has {len(text)} digits", "Use a smaller number"))
    return text


def _number(text: str) -> int | float | str:
    """A number in YAML 1.2 notation, with underscores allowed between digits; else the text itself."""
    digits = text.replace("_", "")
    if INTEGER.fullmatch(text):
        return int(digits, 16 if digits.startswith("0x") else 10)
    if FLOAT.fullmatch(text):
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def core_values(tree: Tree, text_levels: int = 0) -> tuple[Any, list[YamlFault]]:
    """Values as PyYAML's safe loader reads them, and their faults.

    text_levels: upper levels of mappings whose keys are texts as they are written, such as names.
    """
    reader = _CoreValues()
    return reader.value(tree, text_levels), reader.faults


class _CoreValues:
    """Reads a tree; what has several aliases is one value."""

    def __init__(self) -> None:
        self.faults: list[YamlFault] = []
        self._known: dict[tuple[int, int], Any] = {}

    def value(self, tree: Tree, text_levels: int) -> Any:
        if isinstance(tree, Scalar):
            return self._scalar(tree)
        place = id(tree), text_levels
        if place not in self._known:
            self._known[place] = self._collection(tree, text_levels)
        return self._known[place]

    def _collection(self, tree: Listed | Keyed, text_levels: int) -> Any:
        if isinstance(tree, Listed):
            return [self.value(entry, 0) for entry in tree.entries]
        content = {}
        for text, entry in tree.entries.items():
            is_text = text_levels or text in tree.quoted
            key = text if is_text else self._scalar(Scalar(text, tree.lines[text]))
            content[key] = self.value(entry, max(0, text_levels - 1))
        return content

    def _scalar(self, scalar: Scalar) -> Any:
        if scalar.tag is None and not scalar.plain:
            return scalar.text
        try:
            return _core_scalar(scalar.text, scalar.tag)
        except (ValueError, KeyError, AttributeError):
            problem = f"{display(scalar.text)} is not a valid number or date"
            self.faults.append(YamlFault(scalar.line, problem, "Put it in quotes", YamlFaultKind.VALUE))
            return None


_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_CONSTRUCTOR: Any = yaml.constructor.SafeConstructor()
_Construct = Callable[[Any, yaml.ScalarNode], Any]


@lru_cache(maxsize=4096)
def _core_scalar(text: str, tag: str | None) -> Any:
    stated = tag if tag is not None else _implicit_tag(text)
    if stated is None:
        return text
    if stated in COLLECTION_TAGS:
        raise ValueError
    construct: _Construct = _CONSTRUCTOR.yaml_constructors[stated]
    return construct(_CONSTRUCTOR, yaml.ScalarNode(stated, text))


def _implicit_tag(text: str) -> str | None:
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if tag in CORE_TAGS and pattern.match(text):
            return str(tag)
    return None


def texts(tree: Tree) -> Any:
    """Values of which each scalar is a text as it is written."""
    if isinstance(tree, Scalar):
        return tree.text
    if isinstance(tree, Listed):
        return [texts(entry) for entry in tree.entries]
    return {key: texts(value) for key, value in tree.entries.items()}


def first_of(*faults: Collection[YamlFault]) -> YamlFault | None:
    """The fault of the first line, if there is one."""
    return min((fault for group in faults for fault in group), key=lambda fault: fault.line, default=None)
