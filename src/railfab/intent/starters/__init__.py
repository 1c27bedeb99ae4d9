"""Starter intents: one for each design, commented. `inventory/fabrics` of the repository holds the same files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml

from railfab.errors import IntentError

SCHEMA = re.compile(r"(?<=\$schema=)\S+")
FABRIC = re.compile(r"^fabric: (\S+)(?P<space> *)", re.MULTILINE)


@cache
def designs() -> Mapping[str, str]:
    """Every design by name, with when to choose it."""
    found: dict[str, str] = yaml.safe_load(_read("designs.yml"))
    return found


def starter(design: str, *, fabric: str | None = None, schema: str | None = None) -> str:
    """The intent of a design as text. fabric: its name, by default the design's. schema: where editors find its schema.

    Raises IntentError for a design that is not known.
    """
    if design not in designs():
        raise IntentError(f"design {design!r}", "is not known", _remedy(design))
    text = _read(f"{design}.yml")
    if schema is not None:
        text = SCHEMA.sub(lambda _: schema, text, count=1)
    return text if fabric is None else FABRIC.sub(lambda found: _named(found, fabric), text, count=1)


def _remedy(design: str) -> str:
    close = difflib.get_close_matches(design, designs(), n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    return f"{hint}`railfab new` lists all"


def _named(found: re.Match[str], fabric: str) -> str:
    """The line with another name, quoted where YAML would read a number or a word of its own; what stands behind it
    stays in its column as far as it can."""
    plain = fabric[0].isalpha() and isinstance(yaml.safe_load(fabric), str)
    line = f"fabric: {fabric}" if plain else f'fabric: "{fabric}"'
    return line.ljust(max(len(found[0]), len(line) + 1)) if found["space"] else line


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
