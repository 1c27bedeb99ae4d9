"""Legend of the lines of a picture: how many cables a line of some width stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.cables import RAIL_WIDTH, CableCurves, LineWidths
from railfab.draw.palette import rail_colour
from railfab.draw.svg import element, text_line
from railfab.draw.text_width import width_of
from railfab.text.counted import counted

TEXT_SIZE = 11
SAMPLE, SAMPLE_GAP, ENTRY_GAP = 28.0, 8.0, 24.0
"""Length of a sample of a line, and the gaps before its text and before the next one [px]."""
LINE = 18.0
TITLE = "One line:"


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A sample of a line with its meaning. colour: empty for that of cables."""

    width: float
    text: str
    colour: str = ""

    @property
    def length(self) -> float:
        """Space that the entry takes [px]."""
        return SAMPLE + SAMPLE_GAP + width_of(self.text, TEXT_SIZE)


@dataclass(frozen=True)
class Legend:
    """Legend of all networks of a picture. room: width that it may take [px]."""

    cablings: Sequence[CableCurves]
    widths: LineWidths
    room: float

    @cached_property
    def entries(self) -> tuple[LegendEntry, ...]:
        """The thinnest, the middle and the thickest line, and the line of one rail."""
        counts_of: dict[float, list[int]] = {}
        for count in sorted(frozenset[int]().union(*(cabling.bundles for cabling in self.cablings))):
            counts_of.setdefault(self.widths.of(count), []).append(count)
        widths = [*counts_of]
        shown = sorted({widths[0], widths[len(widths) // 2], widths[-1]}) if widths else []
        entries = [LegendEntry(width, _cables(counts_of[width])) for width in shown]
        if any(cabling.has_rails for cabling in self.cablings):
            entries.append(LegendEntry(RAIL_WIDTH, "all cables of one rail", rail_colour(1)))
        return tuple(entries)

    @property
    def height(self) -> float:
        """Height of the legend, with the space below it [px]."""
        return LINE * len(self._rows) + LINE / 2 if self.entries else 0.0

    @cached_property
    def _rows(self) -> list[list[LegendEntry]]:
        rows: list[list[LegendEntry]] = [[]]
        for entry in self.entries:
            if rows[-1] and self._start + _length([*rows[-1], entry]) > self.room:
                rows.append([])
            rows[-1].append(entry)
        return rows

    @property
    def _start(self) -> float:
        return width_of(TITLE, TEXT_SIZE) + ENTRY_GAP / 2

    def svg(self, left: float, top: float) -> Iterator[str]:
        """SVG elements."""
        if not self.entries:
            return
        yield text_line(left, top + LINE - 6, TITLE, "side")
        for number, row in enumerate(self._rows, start=1):
            x, y = left + self._start, top + LINE * number - 6
            for entry in row:
                attributes = {"class_": "strand", "stroke": entry.colour} if entry.colour else {"class_": "cable"}
                yield element("path", d=f"M{x:g} {y - 4:g}h{SAMPLE:g}", stroke_width=entry.width, **attributes)
                yield text_line(x + SAMPLE + SAMPLE_GAP, y, entry.text, "side")
                x += entry.length + ENTRY_GAP


def _cables(counts: Sequence[int]) -> str:
    """The number of cables of a line; of the widest lines the least number."""
    return counted(counts[0], "cable") if len(counts) == 1 else f"{counts[0]:,} or more cables"


def _length(row: Sequence[LegendEntry]) -> float:
    return sum(entry.length for entry in row) + ENTRY_GAP * (len(row) - 1)
