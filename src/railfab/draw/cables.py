"""Cables of a picture: one curve for each pair of boxes; from hosts to rail switches, one curve for each rail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log2

from railfab.draw.counts import CableTotals, Pair
from railfab.draw.palette import plane_colour, rail_colour
from railfab.draw.svg import Box, element, text_line, title

STRAND_GAP, STRANDS_WIDTH = 5.0, 140.0
MOST_STRANDS = 16
"""Rails between a box of hosts and a switch that get a curve each; more rails share one."""
FEW_LINES = 48
RAIL_WIDTH = 1.75
"""Stroke width of the cables of one rail [px]."""
LEAST_TEXT_WIDTH = 80.0
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LineWidths:
    """Stroke widths of a picture. thin: the picture has many lines."""

    thin: bool = False

    def of(self, cables: int) -> float:
        """Stroke width of a line for a number of cables [px]."""
        width = 0.75 + 0.5 * cables if cables < 4 else min(1.75 + 0.35 * log2(cables), 4.5)
        return max(width / 2, 0.75) if self.thin else width


@dataclass(frozen=True)
class CableCurves:
    """Curves for the cables between boxes. By key of the cell: names; planes: of switches, if there are several."""

    boxes: Mapping[int, Box]
    cable_totals: Mapping[Pair, CableTotals]
    names: Mapping[int, str]
    planes: Mapping[int, int]

    @property
    def many_lines(self) -> bool:
        return len(self.cable_totals) > FEW_LINES

    @cached_property
    def bundles(self) -> frozenset[int]:
        """The numbers of cables that a line stands for, of lines whose width says it."""
        pairs = self.cable_totals.items()
        return frozenset(
            totals.cables for pair, totals in pairs if not self._is_peer(pair) and not self._is_rails(pair)
        )

    @cached_property
    def has_rails(self) -> bool:
        """Whether there are lines for the cables of one rail."""
        return any(map(self._is_rails, self.cable_totals))

    def lines(self, widths: LineWidths) -> Iterator[str]:
        """SVG elements; cables between switches first, so that rails are drawn on top."""
        for pair in sorted(self.cable_totals, key=lambda pair: (self._with_rails(self.cable_totals[pair]), pair)):
            totals = self.cable_totals[pair]
            if self._is_peer(pair):
                yield from self._peers(pair, totals)
            elif self._is_of_plane(pair):
                yield self._plane_curve(pair, totals, widths)
            elif self._is_rails(pair):
                yield from self._strands(pair, totals)
            else:
                yield self._curve(pair, totals, widths)

    def _is_peer(self, pair: Pair) -> bool:
        return self.boxes[pair[0]].y == self.boxes[pair[1]].y

    def _is_of_plane(self, pair: Pair) -> bool:
        """Whether the cables are those of hosts to one of several planes."""
        return bool(self.planes) and pair[0] not in self.planes

    def _is_rails(self, pair: Pair) -> bool:
        """Whether each rail has a line of its own."""
        totals = self.cable_totals[pair]
        separate = self._with_rails(totals) and len(totals.rails) <= MOST_STRANDS
        return separate and not self._is_peer(pair) and not self._is_of_plane(pair)

    @staticmethod
    def _with_rails(totals: CableTotals) -> bool:
        return bool(totals.rails.keys() - {0})

    def _note(self, pair: Pair, totals: CableTotals) -> str:
        rates = ", ".join(f"{count:,} × {rate}G" for rate, count in sorted(totals.rates.items()))
        return f"{self.names[pair[0]]} to {self.names[pair[1]]}: {rates}"

    def _curve(self, pair: Pair, totals: CableTotals, widths: LineWidths) -> str:
        low, high = (self.boxes[key] for key in pair)
        attributes = {"class_": "cable"}
        if pair[1] in self.planes:
            attributes = {"class_": "strand", "stroke": plane_colour(self.planes[pair[1]])}
        width, note = widths.of(totals.cables), self._note(pair, totals)
        return curve((low.middle, low.y), (high.middle, high.bottom), width=width, note=note, **attributes)

    def _peers(self, pair: Pair, totals: CableTotals) -> Iterator[str]:
        """Peer links: across the gap between neighbours, else an arc above the row; none within one box."""
        if pair[0] == pair[1]:
            return
        left, right = sorted((self.boxes[key] for key in pair), key=lambda box: box.x)
        start, end, y = left.x + left.width, right.x, left.y + min(left.height / 2, 29)
        note, colour = self._note(pair, totals), self._colour(pair[1])
        if any(start < box.x < end and box.y == left.y for box in self.boxes.values()):
            arc = f"C{left.middle:g} {left.y - 36:g} {right.middle:g} {left.y - 36:g} {right.middle:g} {left.y:g}"
            path = f"M{left.middle:g} {left.y:g}{arc}"
            yield element("path", title(note), d=path, class_="cable", stroke_width=2.0, **colour)
            return
        for shift in (-2.5, 2.5):
            path = f"M{start:g} {y + shift:g}H{end:g}"
            yield element("path", title(note), d=path, class_="cable", stroke_width=2.0, **colour)
        if end - start >= LEAST_TEXT_WIDTH:
            rates = [f"{count} × {rate}G" for rate, count in totals.rates.items()]
            yield text_line(
                (start + end) / 2, y - 8, rates[0] if len(rates) == 1 else f"{totals.cables} cables", "note"
            )
            yield text_line((start + end) / 2, y + 16, "peer link", "note")

    def _colour(self, key: int) -> dict[str, str]:
        return {"style": f"stroke:{plane_colour(self.planes[key])}"} if key in self.planes else {}

    def _strands(self, pair: Pair, totals: CableTotals) -> Iterator[str]:
        """From a box of hosts to a switch, one curve for each rail, in the colour of the rail."""
        card, switch = (self.boxes[key] for key in pair)
        rails = sorted(totals.rails)
        gap = min(STRAND_GAP, min(STRANDS_WIDTH, switch.width - 16) / len(rails))
        for index, rail in enumerate(rails):
            end = switch.middle + (index - (len(rails) - 1) / 2) * gap
            start = min(max(end, card.x + 24), card.x + card.width - 24)
            note = f"{self.names[pair[1]]}, {f'rail {rail}' if rail else 'no rail'}: {totals.rails[rail]:,} cables"
            attributes = {"class_": "strand", "stroke": rail_colour(rail)} if rail else {"class_": "cable"}
            yield curve((start, card.y), (end, switch.bottom), width=RAIL_WIDTH, note=note, **attributes)

    def _plane_curve(self, pair: Pair, totals: CableTotals, widths: LineWidths) -> str:
        """From a box of hosts to a switch of one of several planes, in the colour of the plane.

        The curves of a box start side by side, in the order of their switches.
        """
        card, switch = (self.boxes[key] for key in pair)
        ends = self._upper_cells[pair[0]]
        start = card.x + card.width * (ends.index(pair[1]) + 1) / (len(ends) + 1)
        width, note = widths.of(totals.cables), self._note(pair, totals)
        colour = plane_colour(self.planes.get(pair[1], 1))
        return curve(
            (start, card.y), (switch.middle, switch.bottom), width=width, note=note, class_="strand", stroke=colour
        )

    @cached_property
    def _upper_cells(self) -> Mapping[int, list[int]]:
        """Keys of the cells at the upper end of the cables of each lower cell, from left to right."""
        found: dict[int, list[int]] = defaultdict(list)
        for low, high in self.cable_totals:
            found[low].append(high)
        return {low: sorted(keys, key=lambda key: self.boxes[key].x) for low, keys in found.items()}


def curve(start: Point, end: Point, *, class_: str, width: float, note: str, **attributes: str) -> str:
    """A curve upwards from a point to another, vertical at both ends."""
    (x, y), (to_x, to_y) = start, end
    half = (y + to_y) / 2
    path = f"M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
    return element("path", title(note), d=path, class_=class_, stroke_width=width, **attributes)
