"""Line grammars: rules that store the values of configuration lines in a draft of a device model.

A rule is a pattern, a function that stores its match, and the rules of the lines below it. Parsing is total: a line
that no rule matches, and a line that the parsed model does not render as it stands, is unmodelled.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from railfab.errors import ConfigError, RailfabError
from railfab.platforms.differences import NEGATION, TAKES_BACK, Difference, Side
from railfab.platforms.shared.first_words import ByFirstWord
from railfab.platforms.shared.line_tree import Line


@dataclass(slots=True)
class LineDraft:
    """A configuration being parsed; a platform adds fields for its lines.

    errors: the problems so far. number: number of the current line. owner: first group in the header of the current
    section (an interface's name).
    """

    errors: list[RailfabError] = field(default_factory=list)
    number: int | None = None
    owner: str = ""


Draft = TypeVar("Draft", bound=LineDraft, contravariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class LineRule(Generic[Draft]):
    """store: takes the match of a line. Raises ValueError for a bad value."""

    pattern: re.Pattern[str]
    store: Callable[[Draft, re.Match[str]], None]
    below: tuple[LineRule[Draft], ...] = ()


def rule(pattern: str, store: Callable[[Draft, re.Match[str]], None], *below: LineRule[Draft]) -> LineRule[Draft]:
    """A rule for lines that match the whole pattern."""
    return LineRule(re.compile(pattern), store, below)


def read(
    draft: Draft, lines: tuple[Line, ...], rules: tuple[LineRule[Draft], ...], *, section: str = "", owner: str = ""
) -> None:
    """Parse lines into the draft; a bad value becomes an error, and a line that no rule matches is left out."""
    index = _index(rules)
    for line in lines:
        for matched in index.for_line(line.text):
            if match := matched.pattern.fullmatch(line.text):
                break
        else:
            continue
        draft.number, draft.owner = line.number, owner
        try:
            matched.store(draft, match)
        except ValueError as error:
            where = f"line {line.number}" + (f", in {section}" if section else "")
            draft.errors.append(ConfigError(where, f"{line.text!r} has a bad value ({error})", "Correct the value"))
            continue
        read(draft, line.children, matched.below, section=line.text, owner=match[1] if match.re.groups else "")


@cache
def _index(rules: tuple[LineRule[Any], ...]) -> ByFirstWord[LineRule[Any]]:
    return ByFirstWord(rules, lambda rule: rule.pattern.pattern)


def unmodelled(parsed: tuple[Line, ...], rendered: tuple[Line, ...]) -> tuple[str, ...]:
    """Lines in which a configuration differs from the one that its model renders, each after its sections, sorted.

    A line that the configuration lacks is given with `no`. Two configurations that differ in one line differ in their
    model or here: the lines of the text are those of the model, with and without these.
    """
    return tuple(difference.text for difference in line_differences(parsed, rendered))


def line_differences(parsed: tuple[Line, ...], wanted: tuple[Line, ...]) -> tuple[Difference, ...]:
    """Every line that one of two configurations has and the other lacks, sorted by its text after its sections."""
    lines, expected = Counter(_paths(parsed)), Counter(_paths(wanted))
    added = [_difference(Side.ADDED, path, _takes_back(path, expected)) for path in (lines - expected).elements()]
    missing = [_difference(Side.MISSING, (*above, _negated(line))) for *above, line in (expected - lines).elements()]
    return tuple(sorted((*added, *missing), key=lambda difference: difference.text))


def _difference(side: Side, path: tuple[str, ...], takes_back: bool = False) -> Difference:
    """The section of a line that is in none is its first word."""
    text = ": ".join(path)
    section = path[0] if len(path) > 1 else path[0].partition(" ")[0]
    return Difference(side=side, path=text, text=text, section=section, values={TAKES_BACK: True} if takes_back else {})


def _takes_back(path: tuple[str, ...], expected: Iterable[tuple[str, ...]]) -> bool:
    """Whether a line is the negation of an expected one, or of its first words."""
    *above, line = path
    if not line.startswith(NEGATION):
        return False
    positive = f"{line.removeprefix(NEGATION)} "
    return any(wanted[:-1] == tuple(above) and f"{wanted[-1]} ".startswith(positive) for wanted in expected)


def _paths(lines: tuple[Line, ...], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every line after the sections it is in."""
    for line in lines:
        path = (*above, line.text)
        yield path
        if line.children:
            yield from _paths(line.children, path)


def _negated(line: str) -> str:
    return line.removeprefix("no ") if line.startswith("no ") else f"no {line}"


def ignored(_draft: LineDraft, _match: re.Match[str]) -> None:
    """Store nothing: the line does not concern the model."""
