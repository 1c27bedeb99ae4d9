"""A configuration as a switch shows it: sections in the order of EOS, and names of interfaces in full."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from railfab.platforms.eos.lines import FORMAT, text
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
    return text(tuple(sorted(FORMAT.tree(configuration), key=_place)))


def _place(line: Line) -> tuple[int, list[tuple[str, int]]]:
    """The place of a line in a running configuration: of its words, and then by its numbers and names."""
    parts = _NUMBER.split(line.text)
    numbers = [int(digits) for digits in _NUMBER.findall(line.text)]
    return _rank(line.text), list(zip(parts, [*numbers, -1], strict=True))


def _rank(statement: str) -> int:
    """The place of the longest beginning that `order` has; lines that it does not have are before the interfaces."""
    order = twin_grammar()["order"]
    ranks = {start: place for place, start in enumerate(order) if f"{statement} ".startswith((f"{start} ", start))}
    return ranks[max(ranks, key=len)] if ranks else order.index("banner")
