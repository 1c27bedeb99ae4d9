"""A configuration as a switch shows it: without defaults, and sections in the order of NX-OS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from railfab.platforms.nxos.lines import FORMAT, effective, text
from railfab.platforms.shared.line_tree import Line
from railfab.yaml_reader.packaged import packaged

_NUMBER = re.compile(r"\d+")


@cache
def twin_grammar() -> Mapping[str, Any]:
    """`twin` of `dialect.yml`."""
    grammar: Mapping[str, Any] = packaged(__package__, "dialect.yml")["twin"]
    return grammar


def shown(configuration: str) -> str:
    """The text of a running configuration, so that equal configurations are equal texts."""
    lines = FORMAT.tree(configuration)
    versions = (line for line in lines if line.kind == "version")
    return in_order((*versions, *effective(lines)))


def in_order(lines: tuple[Line, ...]) -> str:
    """The text of lines in the order of a running configuration."""
    return text(tuple(sorted(lines, key=_place)))


def _place(line: Line) -> tuple[int, list[tuple[int, str]]]:
    """The place of a line in a running configuration: of its words, and then by its numbers and names."""
    if line.kind in _IN_ORDER:
        return _rank(line.text), []
    parts = _NUMBER.split(line.text)
    numbers = [int(digits) for digits in _NUMBER.findall(line.text)]
    return _rank(line.text), list(zip([*numbers, -1], parts, strict=True))


_IN_ORDER = frozenset({"class-map", "policy-map", "nv", "feature", "aaa", "tacacs-server", "radius-server"})
"""First words of lines that stay in the order in which they were entered."""


def _rank(statement: str) -> int:
    """The place of the longest beginning that `order` has; lines that it does not have are before the VLANs."""
    order = twin_grammar()["order"]
    ranks = {start: place for place, start in enumerate(order) if f"{statement} ".startswith((f"{start} ", start))}
    return ranks[max(ranks, key=len)] if ranks else order.index("vlan")
