"""Text that a terminal shows and does not obey: what a switch, a file or a user says, with its control characters and
other characters that cannot be printed (escape sequences, bidirectional overrides, line separators) escaped."""

from __future__ import annotations

import json
from typing import Any

DELETE = "\x7f"
"""The only control character that JSON allows unescaped."""


def printable(text: str) -> str:
    """The text on one line, with each character that is not printable, such as a new line, escaped as in Python."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def printable_lines(text: str) -> str:
    """The text with each character that is neither printable nor a new line escaped as in Python."""
    return "\n".join(map(printable, text.split("\n")))


def json_text(value: Any, *, indent: int | None = None) -> str:
    """A JSON document of printable ASCII and new lines; what is no JSON value is written as its text."""
    return json.dumps(value, indent=indent, default=str).replace(DELETE, r"\u007f")
