"""Forms of the answers of a virtual Junos switch: trees of the names of its XML, their JSON, times and ages.

In `| display json` a value is `[{"data": ...}]`, a container a list with one object, and the attributes of an element
are beside its value (Juniper, Mapping Junos OS Command Output to JSON).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

Tree = Mapping[str, Any]
"""An element: values, NamedTexts, elements, and lists of them, by name."""

MINUTE_S, HOUR_S, DAY_S, WEEK_S = 60, 3_600, 86_400, 604_800


class NamedText(NamedTuple):
    """A value with an attribute: its form in text, or its number of seconds."""

    text: str
    attribute: str
    said: str


def shown_as(text: str, form: str) -> NamedText:
    """A value that the text of the command shows in another form."""
    return NamedText(text, "junos:format", form)


def lasting(text: str, seconds: float) -> NamedText:
    """A time or an age, with the age in seconds."""
    return NamedText(text, "junos:seconds", str(int(seconds)))


def json_text(root: str, tree: Tree) -> str:
    """The answer in `| display json`."""
    return json.dumps({root: [_element(tree)]}, indent=1)


def _element(tree: Tree) -> dict[str, Any]:
    return {name: _values(value) for name, value in tree.items()}


def _values(value: Any) -> list[Any]:
    return [_value(each) for each in (value if isinstance(value, list) else [value])]


def _value(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return _element(value)
    if isinstance(value, NamedText):
        return {"data": value.text, "attributes": {value.attribute: value.said}}
    return {"data": str(value)}


def date(unix_s: float) -> str:
    """A time as `2021-08-31 08:48:11 UTC`."""
    return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M:%S} UTC"


def age(seconds: float) -> str:
    """An age as in `(29w6d 18:56 ago)`; below a day with seconds."""
    days, rest = divmod(int(seconds), DAY_S)
    if not days:
        return _clock(rest)
    return f"{_weeks(days)} {rest // HOUR_S:02}:{rest % HOUR_S // MINUTE_S:02}"


def elapsed(seconds: float) -> str:
    """An age as the list of BGP sessions has it: `9w2d 5:23:37`, `3:07`, `12`."""
    days, rest = divmod(int(seconds), DAY_S)
    clock = _clock(rest).lstrip("0:") or "0"
    return f"{_weeks(days)} {rest // HOUR_S}{_clock(rest)[2:]}" if days else clock


def _clock(seconds: int) -> str:
    return f"{seconds // HOUR_S:02}:{seconds % HOUR_S // MINUTE_S:02}:{seconds % MINUTE_S:02}"


def _weeks(days: int) -> str:
    weeks, days = divmod(days, WEEK_S // DAY_S)
    return f"{weeks}w{days}d" if weeks else f"{days}d"
