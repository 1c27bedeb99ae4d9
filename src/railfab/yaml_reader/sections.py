"""Documents whose values are those of PyYAML's safe loader: endpoints, inventories, settings and credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from railfab.yaml_reader.composer import YamlFault, YamlFaultKind, YamlLimits, compose
from railfab.yaml_reader.tree import Keyed, Tree
from railfab.yaml_reader.values import CORE_TAGS, core_values, first_of

SETTINGS = YamlLimits(depth=60, expanded=1_000_000, merged_keys=1_000_000, unique_levels=0, tags=CORE_TAGS)
"""YamlLimits of a file of settings."""


class Faulty(Exception):
    """A text is no YAML within its limits; `str()` is what is wrong. fault: the first one."""

    def __init__(self, fault: YamlFault) -> None:
        super().__init__(fault.subject if fault.kind is YamlFaultKind.SYNTAX and fault.subject else fault.problem)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class YamlSection:
    """A mapping of a document, with the lines of its keys."""

    values: dict[Any, Any]
    tree: Keyed

    @property
    def line(self) -> int:
        return self.tree.line

    @property
    def lines(self) -> dict[Any, int]:
        """Line of each key; of one that is no text, that of the mapping."""
        return {key: self.tree.lines.get(key, self.tree.line) for key in self.values}

    def below(self, key: Any) -> YamlSection | None:
        """The mapping at a key; empty for null, None for any other value."""
        value = self.values[key]
        if value is None:
            return YamlSection({}, Keyed({}, {}, self.tree.lines[key]))
        tree = self.tree.entries[key]
        return YamlSection(value, tree) if isinstance(tree, Keyed) else None

    def empty(self) -> YamlSection:
        """A mapping without keys, in place of one that is missing here."""
        return YamlSection({}, Keyed({}, {}, self.tree.line))


def composed(text: str, limits: YamlLimits) -> Tree:
    """The tree of a text. Raises Faulty."""
    tree, faults = compose(text, limits)
    if faults:
        raise Faulty(faults[0])
    return tree


def values_in(text: str, limits: YamlLimits = SETTINGS, *, text_levels: int = 0) -> tuple[Any, Tree]:
    """The value of a text, and its tree. text_levels: see `core_values`. Raises Faulty."""
    tree = composed(text, limits)
    values, faults = core_values(tree, text_levels)
    if fault := first_of(faults):
        raise Faulty(fault)
    return values, tree
