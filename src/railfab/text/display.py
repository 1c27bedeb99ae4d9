"""Text that a user wrote, as an error message shows it: on one line, short, and with YAML's words."""

from __future__ import annotations

from typing import Any

MAX_CHARACTERS = 40
"""Characters of a user's text that an error message shows."""


def display(value: Any) -> str:
    """A value as its author wrote it; a list or a mapping by its kind."""
    match value:
        case None:
            return "an empty value"
        case True | False:
            return str(value).lower()
        case list():
            return "a list"
        case dict():
            return "a mapping"
    return _shorten(repr(value[: MAX_CHARACTERS + 1] if isinstance(value, str) else value))


def display_key(key: int | str) -> str:
    """A key as part of a place: without quotes where it is readable, else as a quoted text."""
    text = str(key)
    plain = text.isprintable() and not text.isspace() and text and len(text) <= MAX_CHARACTERS
    return text if plain else display(text)


def one_line(text: str) -> str:
    """A message of another library, without line breaks."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 3] + "..."
