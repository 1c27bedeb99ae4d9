"""Error texts of a dialect in what a switch answers, which may be a whole configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence


class ErrorTexts:
    """Regular expressions of error texts; `^` at the begin of one is the begin of a line.

    Those are looked for behind a line feed, to which Python skips ten times as fast as it tries each place.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        lines = "|".join(f"(?:{pattern[1:]})" for pattern in patterns if pattern.startswith("^"))
        self._lines = re.compile(rf"\n(?:{lines})", re.MULTILINE) if lines else None
        self._others = [re.compile(pattern, re.MULTILINE) for pattern in patterns if not pattern.startswith("^")]

    def first_in(self, output: str) -> tuple[int, int] | None:
        """Begin and end of the first error text in an output; None where there is none."""
        spans = [match.span() for pattern in self._others if (match := pattern.search(output))]
        if self._lines is not None and (match := self._lines.search(f"\n{output}")):
            spans.append((match.start(), match.end() - 1))
        return min(spans, default=None)
