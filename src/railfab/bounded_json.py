"""JSON of a switch or a file, nested no deeper than recursive functions can follow."""

from __future__ import annotations

import json
from typing import Any

MOST_LEVELS = 100
"""Containers inside each other; the YANG models of the vendors have less than half."""
CONTAINERS = (dict, list)


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError for a text that is none, or nested deeper than MOST_LEVELS."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    level, depth = [value] if type(value) in CONTAINERS else [], 1
    while level := [
        child
        for node in level
        for child in (node.values() if type(node) is dict else node)
        if type(child) in CONTAINERS
    ]:
        depth += 1
        if depth > MOST_LEVELS:
            raise _too_deep()
    return value


def _too_deep() -> ValueError:
    return ValueError(f"nested deeper than {MOST_LEVELS} levels")
