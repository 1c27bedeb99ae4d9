"""Configurations in lines: `TABLE|key field value ...`, a list as `[a,b]`; `no TABLE|key` and `no TABLE|key field`."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from railfab.platforms.sonic.tables import Tables

FOLDER = Path(__file__).parent


@cache
def every_field() -> Tables:
    """A valid configuration with each field of each row that railfab renders for any role, design or feature."""
    return changed({}, (FOLDER / "every_field.txt").read_text().splitlines())


@cache
def broken_rules() -> tuple[tuple[str, Tables], ...]:
    """Lines by which that configuration breaks a rule, each with the configuration."""
    blocks = (FOLDER / "broken_rules.txt").read_text().strip().split("\n\n")
    return tuple((lines, changed(every_field(), lines.splitlines())) for lines in blocks)


def changed(tree: Tables, lines: Iterable[str]) -> Tables:
    """A copy of a configuration with changes."""
    copy = deepcopy(tree)
    for line in lines:
        words = line.removeprefix("no ").split()
        table, _, row = words[0].partition("|")
        if line.startswith("no "):
            (copy[table][row] if words[1:] else copy[table]).pop(words[-1] if words[1:] else row)
        else:
            values = map(_value, words[2::2])
            copy.setdefault(table, {}).setdefault(row, {}).update(zip(words[1::2], values, strict=True))
    return copy


def _value(word: str) -> Any:
    return word[1:-1].split(",") if word.startswith("[") else word
