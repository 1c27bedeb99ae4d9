"""Cables of a picture: one curve for each pair of boxes, and a strand a rail from hosts to their rail switches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log2

from railfab.draw.cells import Cell
from railfab.draw.layout import Layout
from railfab.draw.palette import plane_colour, rail_colour
from railfab.draw.svg import Box, element, title, words
from railfab.draw.tally import Joint, Pair
from railfab.topology import Role

STRAND_GAP, STRANDS_WIDTH = 5.0, 140.0
MOST_STRANDS = 16
"""Between a card and a switch; more rails are one strand."""
FEW_LINES = 48
Point = tuple[float, float]


@dataclass(frozen=True)
class Cabling:
    """The cables of a layout. By key of the cell: planes: of switches, where there are several;
    names: what tells who it is."""

    layout: Layout
    joints: Mapping[Pair, Joint]
    cells: Mapping[int, Cell]
    planes: Mapping[int, int]
    names: Mapping[int, str]

    def lines(self) -> Iterator[str]:
        for (low, high), joint in self.joints.items():
            if self.cells[low].role is Role.HOST:
                continue
            if self.cells[low].role is self.cells[high].role:
                yield from self._peers(low, high, joint)
            else:
                yield self._curve(low, high, joint)
        yield from self._host_strands()

    def _look(self, *keys: int) -> str:
        return " many" if any(self.cells[key].name for key in keys) else ""

    def _colour(self, key: int) -> dict[str, str]:
        return {"stroke": plane_colour(self.planes[key])} if key in self.planes else {}

    def _called(self, key: int) -> str:
        return self.names[key]

    def _note(self, low: int, high: int, joint: Joint) -> str:
        rates = ", ".join(f"{count:,} × {rate}G" for rate, count in sorted(joint.rates.items()))
        return f"{self._called(low)} to {self._called(high)}: {rates}"

    def _curve(self, low: int, high: int, joint: Joint) -> str:
        below, above = self.layout.boxes[low], self.layout.boxes[high]
        return curve(
            (below.middle, below.y),
            (above.middle, above.bottom),
            class_=("strand" if self.planes else "cable") + self._look(low, high),
            width=self._thickness(joint.cables),
            note=self._note(low, high, joint),
            **self._colour(high),
        )

    def _thickness(self, cables: int) -> float:
        """Of a line that stands for so many cables; thinner where there are many lines."""
        width = 0.75 + 0.5 * cables if cables < 4 else min(1.75 + 0.5 * log2(cables), 6)
        return width if len(self.joints) <= FEW_LINES else max(width / 2, 0.75)

    def _peers(self, low: int, high: int, joint: Joint) -> Iterator[str]:
        """Across the gap between neighbours, else in an arc above the row; none inside a box of many."""
        if low == high:
            return
        left, right = sorted((self.layout.boxes[low], self.layout.boxes[high]), key=lambda box: box.x)
        y = left.y + 29
        start, end = left.x + left.width, right.x
        note, colour = self._note(low, high, joint), self._colour(high)
        if any(start < box.x < end and box.y == left.y for box in self.layout.boxes.values()):
            ends = f"{left.middle:g} {y - 60:g} {right.middle:g} {y - 60:g} {right.middle:g} {left.y:g}"
            path = f"M{left.middle:g} {left.y:g}C{ends}"
            yield element("path", title(note), d=path, class_="cable", stroke_width=2.0, **colour)
            return
        for shift in (-2.5, 2.5):
            path = f"M{start:g} {y + shift:g}H{end:g}"
            yield element("path", title(note), d=path, class_="cable", stroke_width=2.0, **colour)
        if end - start > 60:
            rates = next(iter(joint.rates.items())) if len(joint.rates) == 1 else None
            text = f"{rates[1]} × {rates[0]}G" if rates else f"{joint.cables} cables"
            yield words((start + end) / 2, y - 8, text, "note")
            yield words((start + end) / 2, y + 16, "peer link", "note")

    def _host_strands(self) -> Iterator[str]:
        """From each card to each of its switches, one strand a rail in the rail's colour; with planes, one in the
        plane's."""
        for (low, high), joint in self.joints.items():
            if self.cells[low].role is not Role.HOST:
                continue
            look = self._look(low, high)
            if self.planes or len(joint.rails) > MOST_STRANDS or self.cells[high].role is not Role.LEAF:
                width = min(1.75 + 0.5 * log2(joint.cables), 6)
                colour = plane_colour(self.planes.get(high, 1)) if self.planes else rail_colour(min(joint.rails) or 1)
                yield self._strand(low, high, 0, look, self._note(low, high, joint), colour, width)
                continue
            rails = sorted(joint.rails)
            for place, rail in enumerate(rails):
                shift = (place - (len(rails) - 1) / 2) * min(STRAND_GAP, self._strands_width(high) / len(rails))
                note = f"{self._called(high)}, rail {rail or 1}: {joint.rails[rail]:,} cables"
                yield self._strand(low, high, shift, look, note, rail_colour(rail or 1), 1.75)

    def _strands_width(self, key: int) -> float:
        return min(STRANDS_WIDTH, self.layout.boxes[key].width - 16)

    def _strand(self, low: int, high: int, shift: float, look: str, note: str, colour: str, width: float) -> str:
        """Straight up where the card is below the switch, else bent to it. shift: from the switch's middle [px]."""
        card, switch = self.layout.boxes[low], self.layout.boxes[high]
        end = switch.middle + shift
        start = self._start(card, end, high)
        return curve(
            (start, card.y), (end, switch.bottom), class_="strand" + look, width=width, note=note, stroke=colour
        )

    def _start(self, card: Box, end: float, high: int) -> float:
        """Where on the card a strand begins; with planes, spread over it in the order of the switches' places."""
        if not self.planes:
            return min(max(end, card.x + 24), card.x + card.width - 24)
        reach = self._reached[card.x, card.y]
        place = reach.index(high)
        return card.x + card.width * (place + 1) / (len(reach) + 1)

    @cached_property
    def _reached(self) -> Mapping[Point, list[int]]:
        found: dict[Point, list[int]] = defaultdict(list)
        for low, high in self.joints:
            if self.cells[low].role is Role.HOST:
                box = self.layout.boxes[low]
                found[box.x, box.y].append(high)
        return {at: sorted(keys, key=lambda key: self.layout.boxes[key].x) for at, keys in found.items()}


def curve(start: Point, end: Point, *, class_: str, width: float, note: str, **attributes: str) -> str:
    """From a point upwards to another, leaving and arriving upright."""
    (x, y), (to_x, to_y) = start, end
    half = (y + to_y) / 2
    path = f"M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
    return element("path", title(note), d=path, class_=class_, stroke_width=width, **attributes)
