"""Types of leaves in `schema.json`: whether a JSON value fits one, and its values in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from railfab.platforms.shared.json_tree import leaf_text

NAMED = 8
"""Values that a message lists before it cuts the list."""

CATEGORIES = {r"\p{L}": "a-zA-Z", r"\p{N}": "0-9", r"\P{C}": r"[^\x00-\x1f\x7f-\x9f]"}
"""Letters and digits, which stand in brackets in Nokia's patterns, and all but control characters, which do not."""

SHOWN = 60
"""Characters of a pattern that a message shows."""


def fits(value: Any, kind: Mapping[str, Any]) -> bool:
    """Whether a JSON value is one of a type."""
    name = kind["type"]
    if name == "union":
        return any(fits(value, member) for member in kind["members"])
    if name == "empty":
        return value in ([None], None, "", True) or value == {}
    if value is None or isinstance(value, (dict, list)):
        return False
    if name == "boolean":
        return leaf_text(value) in ("true", "false")
    if "range" in kind:
        text = str(value)
        number = int(text) if text.removeprefix("-").isdecimal() and not isinstance(value, bool) else None
        return number is not None and any(low <= number <= high for low, high in kind["range"])
    if names := kind.get("names"):
        return leaf_text(value) in names
    return _fits_text(leaf_text(value), kind)


def _fits_text(text: str, kind: Mapping[str, Any]) -> bool:
    """Whether a text has the length of a type and matches its patterns, which are those of XML Schema."""
    if "length" in kind and not any(low <= len(text) <= high for low, high in kind["length"]):
        return False
    return all(_pattern(pattern).fullmatch(text) for pattern in kind.get("pattern", ())) and not any(
        _pattern(pattern).fullmatch(text) for pattern in kind.get("not", ())
    )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """A pattern of XML Schema, with its categories of characters in Python's words."""
    for category, characters in CATEGORIES.items():
        text = text.replace(category, characters)
    return re.compile(text)


def meaning(kind: Mapping[str, Any]) -> str:
    """The values of a type in words: `1 to 255`, `one of enable, disable`."""
    if kind["type"] == "union":
        return " or ".join(meaning(member) for member in kind["members"])
    if "range" in kind:
        return " or ".join(str(low) if low == high else f"{low} to {high}" for low, high in kind["range"])
    if names := kind.get("names"):
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"one of {', '.join(names[:NAMED])}{more}"
    if kind["type"] == "string":
        return _meaning_of_text(kind)
    return {"boolean": "true or false"}.get(kind["type"], f"of type {kind['type']}")


def _meaning_of_text(kind: Mapping[str, Any]) -> str:
    """A text by the name of its type, by its length, or by a short pattern."""
    if alias := kind.get("alias"):
        return f"{'an' if alias[0] in 'aeiou' else 'a'} {alias}"
    limits = " or ".join(f"of {low} to {high} characters" for low, high in kind.get("length", ()))
    patterns = [f"that matches {pattern}" for pattern in kind.get("pattern", ()) if len(pattern) <= SHOWN]
    return " ".join(filter(None, ("a text", limits, *patterns)))
