"""Line grammars: rules that store the values of configuration lines in a draft of a device model.

A rule is a pattern, a function that stores its match, and the rules of the lines below it. A line that no rule matches
is an error, because a model without it would not describe what the switch runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from railfab.errors import ConfigError, RailfabError
from railfab.platforms.shared.line_tree import Line


@dataclass(slots=True)
class LineDraft:
    """A configuration being parsed; a platform adds what its lines say.

    errors: the problems so far. number: number of the current line. owner: first group in the header of the current
    section (an interface's name).
    """

    errors: list[RailfabError] = field(default_factory=list)
    number: int | None = None
    owner: str = ""


Draft = TypeVar("Draft", bound=LineDraft, contravariant=True)


@dataclass(frozen=True, slots=True)
class Rule(Generic[Draft]):
    """store: takes the match of a line. Raises ValueError for a bad value."""

    pattern: re.Pattern[str]
    store: Callable[[Draft, re.Match[str]], None]
    below: tuple[Rule[Draft], ...] = ()


def rule(pattern: str, store: Callable[[Draft, re.Match[str]], None], *below: Rule[Draft]) -> Rule[Draft]:
    """A rule for lines that match the whole pattern."""
    return Rule(re.compile(pattern), store, below)


def read(
    draft: Draft, lines: tuple[Line, ...], rules: tuple[Rule[Draft], ...], *, section: str = "", owner: str = ""
) -> None:
    """Parse lines into the draft; an unknown line or a bad value becomes an error."""
    for line in lines:
        where = f"line {line.number}" + (f", in {section}" if section else "")
        found = next(((rule, match) for rule in rules if (match := rule.pattern.fullmatch(line.text))), None)
        if found is None:
            draft.errors.append(ConfigError(where, f"{line.text!r} is not supported", "Correct it, or remove it"))
            continue
        matched, match = found
        draft.number, draft.owner = line.number, owner
        try:
            matched.store(draft, match)
        except ValueError as error:
            draft.errors.append(ConfigError(where, f"{line.text!r} has a bad value ({error})", "Correct the value"))
            continue
        read(draft, line.children, matched.below, section=line.text, owner=match[1] if match.re.groups else "")


def ignored(_draft: LineDraft, _match: re.Match[str]) -> None:
    """Store nothing: the line does not concern the model."""


def within(text: str, low: int, high: int) -> int:
    """The number in a text. Raises ValueError outside its range."""
    number = int(text)
    if not low <= number <= high:
        raise ValueError(f"{number} is not within {low} to {high}")
    return number
