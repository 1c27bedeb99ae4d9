"""Cables of a picture: one curve for each pair of boxes, and a strand a rail from hosts to their rail switches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log2

from railfab.draw.palette import plane_colour, rail_colour
from railfab.draw.svg import Box, element, title, words
from railfab.draw.tally import Joint, Pair

STRAND_GAP, STRANDS_WIDTH = 5.0, 140.0
MOST_STRANDS = 16
"""Between a card and a switch; more rails are one strand."""
FEW_LINES = 48
ROOM_FOR_WORDS = 80.0
Point = tuple[float, float]


@dataclass(frozen=True)
class Cabling:
    """The cables between boxes. By key of the cell: names: who it is; planes: of switches, where there are several."""

    boxes: Mapping[int, Box]
    joints: Mapping[Pair, Joint]
    names: Mapping[int, str]
    planes: Mapping[int, int]

    def lines(self) -> Iterator[str]:
        """Those between switches first, so that rails are above them."""
        for pair in sorted(self.joints, key=lambda pair: (self._has_rails(self.joints[pair]), pair)):
            joint = self.joints[pair]
            low, high = (self.boxes[key] for key in pair)
            if low.y == high.y:
                yield from self._peers(pair, joint)
            elif self.planes and pair[0] not in self.planes:
                yield self._lead(pair, joint)
            elif self._has_rails(joint) and len(joint.rails) <= MOST_STRANDS:
                yield from self._strands(pair, joint)
            else:
                yield self._curve(pair, joint)

    @staticmethod
    def _has_rails(joint: Joint) -> bool:
        return bool(joint.rails.keys() - {0})

    def _note(self, pair: Pair, joint: Joint) -> str:
        rates = ", ".join(f"{count:,} × {rate}G" for rate, count in sorted(joint.rates.items()))
        return f"{self.names[pair[0]]} to {self.names[pair[1]]}: {rates}"

    def _curve(self, pair: Pair, joint: Joint) -> str:
        low, high = (self.boxes[key] for key in pair)
        look = {"class_": "cable"}
        if pair[1] in self.planes:
            look = {"class_": "strand", "stroke": plane_colour(self.planes[pair[1]])}
        width, note = self._thickness(joint.cables), self._note(pair, joint)
        return curve((low.middle, low.y), (high.middle, high.bottom), width=width, note=note, **look)

    def _thickness(self, cables: int) -> float:
        """Of a line that stands for so many cables; thinner where there are many lines."""
        width = 0.75 + 0.5 * cables if cables < 4 else min(1.75 + 0.35 * log2(cables), 4.5)
        return width if len(self.joints) <= FEW_LINES else max(width / 2, 0.75)

    def _peers(self, pair: Pair, joint: Joint) -> Iterator[str]:
        """Across the gap between neighbours, else in an arc above the row; none inside a box of many."""
        if pair[0] == pair[1]:
            return
        left, right = sorted((self.boxes[key] for key in pair), key=lambda box: box.x)
        start, end, y = left.x + left.width, right.x, left.y + min(left.height / 2, 29)
        note, colour = self._note(pair, joint), self._colour(pair[1])
        if any(start < box.x < end and box.y == left.y for box in self.boxes.values()):
            arc = f"C{left.middle:g} {left.y - 36:g} {right.middle:g} {left.y - 36:g} {right.middle:g} {left.y:g}"
            path = f"M{left.middle:g} {left.y:g}{arc}"
            yield element("path", title(note), d=path, class_="cable", stroke_width=2.0, **colour)
            return
        for shift in (-2.5, 2.5):
            path = f"M{start:g} {y + shift:g}H{end:g}"
            yield element("path", title(note), d=path, class_="cable", stroke_width=2.0, **colour)
        if end - start >= ROOM_FOR_WORDS:
            rates = [f"{count} × {rate}G" for rate, count in joint.rates.items()]
            yield words((start + end) / 2, y - 8, rates[0] if len(rates) == 1 else f"{joint.cables} cables", "note")
            yield words((start + end) / 2, y + 16, "peer link", "note")

    def _colour(self, key: int) -> dict[str, str]:
        return {"style": f"stroke:{plane_colour(self.planes[key])}"} if key in self.planes else {}

    def _strands(self, pair: Pair, joint: Joint) -> Iterator[str]:
        """From a card to a switch, one strand a rail in the rail's colour: straight up where the card is below the
        switch, else bent to it."""
        card, switch = (self.boxes[key] for key in pair)
        rails = sorted(joint.rails)
        gap = min(STRAND_GAP, min(STRANDS_WIDTH, switch.width - 16) / len(rails))
        for place, rail in enumerate(rails):
            end = switch.middle + (place - (len(rails) - 1) / 2) * gap
            start = min(max(end, card.x + 24), card.x + card.width - 24)
            note = f"{self.names[pair[1]]}, {f'rail {rail}' if rail else 'no rail'}: {joint.rails[rail]:,} cables"
            look = {"class_": "strand", "stroke": rail_colour(rail)} if rail else {"class_": "cable"}
            yield curve((start, card.y), (end, switch.bottom), width=1.75, note=note, **look)

    def _lead(self, pair: Pair, joint: Joint) -> str:
        """From a card to a switch of one of several planes, in the plane's colour; the leads of a card are spread over
        it in the order of the switches' places."""
        card, switch = (self.boxes[key] for key in pair)
        reached = self._reached[pair[0]]
        start = card.x + card.width * (reached.index(pair[1]) + 1) / (len(reached) + 1)
        width, note = min(1.25 + 0.35 * log2(joint.cables), 4), self._note(pair, joint)
        colour = plane_colour(self.planes.get(pair[1], 1))
        return curve(
            (start, card.y), (switch.middle, switch.bottom), width=width, note=note, class_="strand", stroke=colour
        )

    @cached_property
    def _reached(self) -> Mapping[int, list[int]]:
        """Who the cables of each lower cell reach, from left to right."""
        found: dict[int, list[int]] = defaultdict(list)
        for low, high in self.joints:
            found[low].append(high)
        return {low: sorted(keys, key=lambda key: self.boxes[key].x) for low, keys in found.items()}


def curve(start: Point, end: Point, *, class_: str, width: float, note: str, **attributes: str) -> str:
    """From a point upwards to another, leaving and arriving upright."""
    (x, y), (to_x, to_y) = start, end
    half = (y + to_y) / 2
    path = f"M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
    return element("path", title(note), d=path, class_=class_, stroke_width=width, **attributes)
