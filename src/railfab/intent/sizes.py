"""Sizes with a unit, such as `64MB`."""

from __future__ import annotations

import re
from typing import Any

from railfab.intent.model import KeyFault, refusal
from railfab.text.display import display

_SCALES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(rf"([0-9]{{1,15}}(?:\.[0-9]{{0,15}})?) *({'|'.join(_SCALES)})")


def size_bytes(value: object) -> object:
    """A size such as `64MB` as a number of bytes."""
    if not isinstance(value, str):
        return value
    if match := _SIZE.fullmatch(value):
        return round(float(match[1]) * _SCALES[match[2]])
    problem = f"{display(value)} is not a size"
    raise refusal(KeyFault("", problem, f"Write a number of bytes, or a number with one of {', '.join(_SCALES)}"))


def or_size(schema: dict[str, Any]) -> None:
    """Add a text with a unit to the JSON Schema of a number."""
    number = {key: schema.pop(key) for key in ("type", "minimum", "maximum")}
    schema["anyOf"] = [number, {"type": "string", "pattern": f"^{_SIZE.pattern}$"}]
