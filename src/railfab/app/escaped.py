"""A styled text of rich with its characters escaped, styles kept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from rich.text import Span, Text


def escaped(text: Text, escape: Callable[[str], str]) -> Text:
    """The text with `escape` of each character, in the style of the character."""
    letters = [escape(letter) for letter in text.plain]
    ends = [0, *accumulate(map(len, letters))]
    result = text.blank_copy("".join(letters))
    result.spans = [Span(ends[span.start], ends[min(span.end, len(letters))], span.style) for span in text.spans]
    return result
