"""What a user wrote, as an error line can show it: on one line, short, and in YAML's words."""

from __future__ import annotations

from typing import Any

LONGEST = 40
"""Characters of a user's own text that an error shows."""


def shown(value: Any) -> str:
    """A value as its author knows it; a list or a mapping by its kind."""
    match value:
        case None:
            return "nothing"
        case True | False:
            return str(value).lower()
        case list():
            return "a list"
        case dict():
            return "a mapping"
    return _short(repr(value[: LONGEST + 1] if isinstance(value, str) else value))


def key_shown(key: int | str) -> str:
    """A key as part of a place: plain where it can be read there, else as a quoted text."""
    text = str(key)
    plain = text.isprintable() and not text.isspace() and text and len(text) <= LONGEST
    return text if plain else shown(text)


def one_line(text: str) -> str:
    """A message of another library, which may hold line breaks."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
