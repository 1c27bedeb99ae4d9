"""The boxes of a picture with what is in them: switches, cards of hosts, frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railfab.draw.captions import LINE
from railfab.draw.cells import Cell
from railfab.draw.layout import Frame
from railfab.draw.palette import ink_on, plane_colour, rail_colour
from railfab.draw.svg import Box, element, rectangle, title, words
from railfab.topology import TIERS

CHIP, CHIP_GAP = 20.0, 4.0
BAR_HEIGHT = 18.0


def switch_tile(box: Box, cell: Cell, lines: Sequence[str], *, tooltip: str, rails: set[int], height: float) -> str:
    """A switch, or many: its name and notes in the upper part of the box, and a band if it serves one rail.

    tooltip: what a reader sees on pointing at it; height: of the part with words [px].
    """
    name, *notes = lines
    top = box.y + (height - LINE * len(notes)) / 2 + 4
    parts = [words(box.middle, top, name, "name")]
    parts += (words(box.middle, top + LINE * place, note, "note") for place, note in enumerate(notes, start=1))
    if len(rails) == 1:
        parts.append(rectangle(Box(box.x + 8, box.bottom - 5, box.width - 16, 3), "", fill=rail_colour(min(rails))))
    return element("g", title(tooltip), *_sheets(box, cell), rectangle(box, look(cell)), *parts)


def card_height(notes: int, *, chips: bool, scale_up: bool) -> float:
    """Of a card of hosts with so many lines below its name [px]."""
    return 36 + LINE * notes + (CHIP + 12 if chips else 0) + (BAR_HEIGHT + 6 if scale_up else 0)


def card_tile(box: Box, cell: Cell, lines: Sequence[str], *, tooltip: str, rails: Sequence[int], scale_up: str) -> str:
    """Hosts by name, their rails as coloured chips, and what joins their GPUs."""
    name, *notes = lines
    top = box.y + (box.height - card_height(len(notes), chips=bool(rails), scale_up=bool(scale_up))) / 2
    parts = [words(box.middle, top + 24, name, "name")]
    parts += (words(box.middle, top + 25 + LINE * place, note, "note") for place, note in enumerate(notes, start=1))
    below = top + 38 + LINE * len(notes)
    if rails:
        parts += _chips(rails, box, below)
        below += CHIP + 6
    if scale_up:
        bar = Box(box.x + 12, below, box.width - 24, BAR_HEIGHT)
        parts += (rectangle(bar, "bare", radius=9), words(bar.middle, bar.y + 13, scale_up, "bar"))
    return element("g", title(tooltip), *_sheets(box, cell), rectangle(box, look(cell)), *parts)


def look(cell: Cell) -> str:
    return cell.role.value if TIERS[cell.role] else "hosts"


def _sheets(box: Box, cell: Cell) -> Iterator[str]:
    """The edges of more sheets behind a box that stands for many."""
    if cell.name and len(cell.places) > 1:
        for shift in (6, 3):
            yield rectangle(Box(box.x + shift, box.y - shift, box.width, box.height), look(cell))


def frame_tile(frame: Frame) -> Iterator[str]:
    """What holds a plane, a pod or a group together, with its name; a plane in its colour."""
    box, name = frame.box, frame.name[:1].upper() + frame.name[1:]
    if not frame.plane:
        yield rectangle(box, "frame", radius=10)
        yield words(box.x + 12, box.y + 19, name, "title")
        return
    colour = plane_colour(frame.plane)
    yield rectangle(box, "frame", radius=10, style=f"stroke:{colour}")
    label = Box(box.x + 12, box.y - 10, 24 + 8 * len(name), 20)
    yield rectangle(label, "", radius=10, fill=colour)
    yield inked(label.middle, box.y + 4, name, colour)


def inked(x: float, y: float, text: str, ground: str) -> str:
    """Words on a colour."""
    return element("text", text, x=x, y=y, class_="chip", style=f"fill:{ink_on(ground)}")


def _chips(rails: Sequence[int], box: Box, y: float) -> Iterator[str]:
    """One chip a rail, numbered where there is room; none where there is hardly any."""
    size = min(CHIP, (box.width - 24 + CHIP_GAP) / len(rails) - CHIP_GAP)
    left = box.middle - (len(rails) * (size + CHIP_GAP) - CHIP_GAP) / 2
    for place, rail in enumerate(rails if size >= 5 else ()):
        x, colour = left + place * (size + CHIP_GAP), rail_colour(rail)
        yield rectangle(Box(x, y, size, size), "", title(f"rail {rail}"), radius=4, fill=colour)
        if size >= CHIP - 2:
            yield inked(x + size / 2, y + size - 6, str(rail), colour)
