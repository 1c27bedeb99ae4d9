"""Starter intents: one per design, with comments. `inventory/fabrics` of the repository contains the same files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from railfab.errors import IntentError
from railfab.yaml_reader.packaged import packaged
from railfab.yaml_reader.sections import values_in

SCHEMA = re.compile(r"(?<=\$schema=)\S+")
FABRIC = re.compile(r"^fabric: (\S+)(?P<space> *)", re.MULTILINE)


@cache
def designs() -> Mapping[str, str]:
    """Every design by name, with a sentence about when to choose it."""
    sentences: dict[str, str] = packaged(__package__, "designs.yml")
    return sentences


def starter(design: str, *, fabric: str | None = None, schema: str | None = None) -> str:
    """The intent of a design as text. fabric: name of the fabric, by default that of the design. schema: address of the
    JSON Schema for editors.

    Raises IntentError for an unknown design.
    """
    if design not in designs():
        raise IntentError(f"design {design!r}", "unknown design", _remedy(design))
    text = _read(f"{design}.yml")
    if schema is not None:
        text = SCHEMA.sub(lambda _: schema, text, count=1)
    return text if fabric is None else FABRIC.sub(lambda match: _with_name(match, fabric), text, count=1)


def _remedy(design: str) -> str:
    close = difflib.get_close_matches(design, designs(), n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    return f"{hint}`railfab new` lists all designs"


def _with_name(match: re.Match[str], fabric: str) -> str:
    """The line with another name, in quotes where YAML would not read it as a text. A comment after it stays in its
    column where there is room."""
    plain = fabric[0].isalpha() and isinstance(values_in(fabric)[0], str)
    line = f"fabric: {fabric}" if plain else f'fabric: "{fabric}"'
    return line.ljust(max(len(match[0]), len(line) + 1)) if match["space"] else line


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
