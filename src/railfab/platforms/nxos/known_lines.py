"""Lines of a configuration that NX-OS does not take, by the table of `known_lines.yml`.

Cisco publishes no schema of the CLI, so the table is railfab's: a section of it is complete or has only the lines that
railfab writes and their variants, and each line names its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from railfab.platforms.contract import Refusal
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.shared.line_tree import Line
from railfab.yaml_reader.packaged import packaged

TOP = "top"
_RANGE = re.compile(r"<(\d+)-(\d+)>")
_VERB = re.compile(r"[a-z][a-z\d-]*")
_WORDS = re.compile(r"[a-z][a-z\d-]*(?: [a-z][a-z\d-]*)*(?= |$)")


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A line that NX-OS takes. ranges: of its numbers, in their order. words: the keywords that it begins with.
    verb: the first of these, also of a line that may end with it.
    """

    text: str
    pattern: re.Pattern[str]
    ranges: tuple[tuple[int, int], ...]
    words: str
    verb: str
    source: str

    def takes(self, line: str) -> bool | None:
        """Whether it is the line, with each number in its range; None where it is another line."""
        if (match := self.pattern.fullmatch(line)) is None:
            return None
        numbers = (match[f"n{place}"] for place in range(len(self.ranges)))
        return all(
            low <= int(number) <= high
            for number, (low, high) in zip(numbers, self.ranges, strict=True)
            if number is not None
        )


@dataclass(frozen=True, slots=True)
class KnownSection:
    """opens: the section below a line, by its pattern. whole: whether its lines are all that NX-OS has there."""

    lines: tuple[KnownLine, ...]
    opens: tuple[tuple[KnownLine, str], ...]
    whole: bool

    def judged(self, line: str) -> str | None:
        """Fault of a line; None where it is right, or not in the table."""
        verdicts = {known.takes(line) for known in self.lines} - {None}
        if True in verdicts:
            return None
        if verdicts:
            return "has a number that NX-OS does not take"
        positive = line.removeprefix("no ")
        same = any(known.words and f"{positive} ".startswith(f"{known.words} ") for known in self.lines)
        if line.startswith("no ") and (same or any(known.verb == positive.split()[0] for known in self.lines)):
            return None
        return "is no line of NX-OS here" if self.whole or same else None

    def below(self, line: str) -> str | None:
        return next((name for known, name in self.opens if known.takes(line) is not None), None)


@cache
def sections() -> Mapping[str, KnownSection]:
    """The table, by the name of the section."""
    document = packaged(__package__, "known_lines.yml")
    return {name: _section(content) for name, content in document.items()}


def _section(content: Mapping[str, Mapping[str, str]]) -> KnownSection:
    return KnownSection(
        lines=tuple(_known(text, source) for text, source in content["lines"].items()),
        opens=tuple((_known(text, ""), below) for text, below in content.get("opens", {}).items()),
        whole=bool(content.get("whole", False)),
    )


def _known(text: str, source: str) -> KnownLine:
    ranges = tuple((int(low), int(high)) for low, high in _RANGE.findall(text))
    places = iter(range(len(ranges)))
    pattern = re.compile(_RANGE.sub(lambda _: rf"(?P<n{next(places)}>\d+)", text))
    plain = text.removeprefix("(?:no )?")
    start, verb = _WORDS.match(plain), _VERB.match(plain)
    return KnownLine(text, pattern, ranges, start[0] if start else "", verb[0] if verb else "", source)


def refusals(text: str) -> tuple[Refusal, ...]:
    """The lines of a configuration that NX-OS does not take, each after its sections."""
    return tuple(_refusals(FORMAT.tree(text), TOP, ()))


def _refusals(lines: Sequence[Line], section: str, above: tuple[str, ...]) -> Iterator[Refusal]:
    known = sections()[section]
    for line in lines:
        place = (*above, line.text)
        problem = known.judged(line.text)
        if problem is not None:
            yield Refusal(where=": ".join(place), problem=problem)
        if (below := known.below(line.text)) is not None:
            yield from _refusals(line.children, below, place)
