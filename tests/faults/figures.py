"""The figures of every platform on docs/faults.md, which are those that the platform's page says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.matrix import DOCS, FIGURES, REFUSED

HEADING = "\n\n## "
SUM = re.compile(r"^(\d+) of (\d+) mistakes raise the right alert", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Figure:
    """The mistakes tried on a platform, those that are right, and those refused, which it cannot have or show."""

    platform: str
    page: str
    right: int
    tried: int
    refused: int

    def __str__(self) -> str:
        return f"| [{self.platform}]({self.page}) | {self.tried} | {self.right} | {self.refused} |"


def figure(path: Path) -> Figure:
    """What the page of a platform says. Raises ValueError for a page without its sum."""
    text = path.read_text()
    if (found := SUM.search(text)) is None:
        raise ValueError(f"{path.name} says of no mistakes that they raise the right alert")
    _, _, refused = text.partition(REFUSED)
    rows = sum(line.startswith("| ") for line in refused.splitlines()[1:])
    return Figure(path.stem.removeprefix("faults-"), path.name, int(found[1]), int(found[2]), max(0, rows - 1))


def figures(folder: Path = DOCS) -> Sequence[Figure]:
    """Of each platform that has a page, sorted."""
    return [figure(path) for path in sorted(folder.glob("faults-*.md"))]


def table(shown: Sequence[Figure]) -> Iterator[str]:
    """The figures, a line each."""
    yield "| platform | tried | right | cannot have or show |"
    yield "|---|---|---|---|"
    yield from map(str, shown)


def with_figures(text: str, shown: Sequence[Figure]) -> str:
    """docs/faults.md with these figures instead of those that it has."""
    before, _, rest = text.partition(FIGURES)
    _, heading, after = rest.partition(HEADING)
    return f"{before}{FIGURES}\n\n" + "\n".join(table(shown)) + heading + after
