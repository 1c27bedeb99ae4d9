"""Mistakes that were invented after the list was tried on a platform, written in its own lines: `held_out.yml`.

Nothing was made to fit them: each was tried once, and the page of its platform says what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import yaml
from tests.faults.mistakes import FOLDER, LOADER, SWITCHES, Mistake
from tests.faults.translation import rack

SOURCE = "held-out"


@cache
def held_out(served: str) -> tuple[Mistake, ...]:
    """Those of a platform, in the order of the file.

    In the file, `changes` has switch, section, what is written there, and what is written instead.
    """
    documents = yaml.load((FOLDER / "held_out.yml").read_text(), LOADER) or {}
    return tuple(_mistake(document, served) for document in documents.get(served, ()))


def _mistake(document: Mapping[str, Any], served: str) -> Mistake:
    texts = dict(rack(served).configurations())
    for letter, *change in document["changes"]:
        texts[SWITCHES[letter]] = changed(texts[SWITCHES[letter]], *change)
    written = {SWITCHES[letter]: texts[SWITCHES[letter]] for letter, *_ in document["changes"]}
    stated = {field.name: document[field.name] for field in fields(Mistake) if field.name in document}
    also = tuple(document.get("also", ()))
    return Mistake(**{**stated, "also": also}, edits={}, slow_hosts={}, texts=written, source=SOURCE)


def changed(text: str, section: str, before: str, after: str) -> str:
    """A configuration with other words in a section, once. Raises ValueError for what it does not have."""
    head, section, rest = text.partition(section)
    if before not in rest:
        raise ValueError(f"the configuration has no {before!r} there")
    return head + section + rest.replace(before, after, 1)
