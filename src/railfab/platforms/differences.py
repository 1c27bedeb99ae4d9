"""The face `differences` of a platform: where a configuration differs from the one that is rendered from the intent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

NEGATION = "no "
"""Beginning of a line that takes back another."""
TAKES_BACK = "takes_back"


class Side(StrEnum):
    """ADDED: only the configuration has it. CHANGED: both do, with other values. MISSING: only the intent has it."""

    ADDED = "added"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One leaf or line in which a configuration differs from the rendered intent.

    path: of a leaf, its place without list keys (`/interface/ethernet/hold-time/up`); of a line, the line after its
        sections (`router bgp 65001: bgp dampening`), with `no` where it is missing.
    text: the setting as the platform's CLI has it, with what was done to it: `set /interface ethernet-1/1 mtu 1500`,
        `delete /interface ethernet-1/1 mtu`; of a line its path. Equal texts are equal settings.
    section: the part of the configuration that it belongs to, as a note names it.
    values: of a leaf, `value` (what is in effect, where the leaf is missing its default), `intended`, and the keys of
        the lists around it as `LIST.KEY`. of a line, whose values are in its path, `takes_back` where it is the
        negation of a line of the intent.
    entry: of a leaf, the innermost list entry that it is in, without module prefixes.
    """

    side: Side
    path: str
    text: str
    section: str
    values: Mapping[str, Any] = field(default_factory=dict)
    entry: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def value(self, name: str) -> Any:
        """A value by name: a key, `value`, `intended`, or a leaf of the list entry by its path; None without one."""
        if name in self.values:
            return self.values[name]
        node: Any = self.entry
        for step in name.split("/"):
            node = node.get(step) if isinstance(node, Mapping) else None
        return node
