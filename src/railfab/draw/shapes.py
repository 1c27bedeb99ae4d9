"""SVG of switches, boxes of hosts, and frames, with their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railfab.draw.captions import LINE
from railfab.draw.cells import Cell
from railfab.draw.layout import Frame
from railfab.draw.palette import plane_colour, rail_colour, readable_ink
from railfab.draw.svg import Box, element, rectangle, text_line, title
from railfab.topology import TIERS

CHIP, CHIP_GAP = 20.0, 4.0
BAR_HEIGHT = 18.0


def switch_shape(box: Box, cell: Cell, lines: Sequence[str], *, tooltip: str, rails: set[int], height: float) -> str:
    """One switch or several: name and notes in the upper part of the box, and a coloured bar if it serves one rail.

    height: of the part with text [px].
    """
    name, *notes = lines
    top = box.y + (height - LINE * len(notes)) / 2 + 4
    parts = [text_line(box.middle, top, name, "name")]
    parts += (text_line(box.middle, top + LINE * index, note, "note") for index, note in enumerate(notes, start=1))
    if len(rails) == 1:
        parts.append(rectangle(Box(box.x + 8, box.bottom - 5, box.width - 16, 3), "", fill=rail_colour(min(rails))))
    return element("g", title(tooltip), *_stacked_edges(box, cell), rectangle(box, css_class(cell)), *parts)


def card_height(notes: int, *, chips: bool, scale_up: bool) -> float:
    """Height of a box of hosts with a number of lines below its name [px]."""
    return 36 + LINE * notes + (CHIP + 12 if chips else 0) + (BAR_HEIGHT + 6 if scale_up else 0)


def host_card(box: Box, cell: Cell, lines: Sequence[str], *, tooltip: str, rails: Sequence[int], scale_up: str) -> str:
    """Hosts: names, rails as coloured squares, and the scale-up network."""
    name, *notes = lines
    top = box.y + (box.height - card_height(len(notes), chips=bool(rails), scale_up=bool(scale_up))) / 2
    parts = [text_line(box.middle, top + 24, name, "name")]
    parts += (text_line(box.middle, top + 25 + LINE * index, note, "note") for index, note in enumerate(notes, start=1))
    below = top + 38 + LINE * len(notes)
    if rails:
        parts += _chips(rails, box, below)
        below += CHIP + 6
    if scale_up:
        bar = Box(box.x + 12, below, box.width - 24, BAR_HEIGHT)
        parts += (rectangle(bar, "bare", radius=9), text_line(bar.middle, bar.y + 13, scale_up, "bar"))
    return element("g", title(tooltip), *_stacked_edges(box, cell), rectangle(box, css_class(cell)), *parts)


def css_class(cell: Cell) -> str:
    return cell.role.value if TIERS[cell.role] else "hosts"


def _stacked_edges(box: Box, cell: Cell) -> Iterator[str]:
    """Edges of further boxes behind a box of several nodes."""
    if cell.name and len(cell.node_indices) > 1:
        for shift in (6, 3):
            yield rectangle(Box(box.x + shift, box.y - shift, box.width, box.height), css_class(cell))


def frame_shape(frame: Frame) -> Iterator[str]:
    """Frame of a plane, a pod or a group, with its name; a plane in its colour."""
    box, name = frame.box, frame.name[:1].upper() + frame.name[1:]
    if not frame.plane:
        yield rectangle(box, "frame", radius=10)
        yield text_line(box.x + 12, box.y + 19, name, "title")
        return
    colour = plane_colour(frame.plane)
    yield rectangle(box, "frame", radius=10, style=f"stroke:{colour}")
    label = Box(box.x + 12, box.y - 10, 24 + 8 * len(name), 20)
    yield rectangle(label, "", radius=10, fill=colour)
    yield text_on_colour(label.middle, box.y + 4, name, colour)


def text_on_colour(x: float, y: float, text: str, background: str) -> str:
    """Text on a coloured backbackground, in the more readable ink."""
    return element("text", text, x=x, y=y, class_="chip", style=f"fill:{readable_ink(background)}")


def _chips(rails: Sequence[int], box: Box, y: float) -> Iterator[str]:
    """One square for each rail, with its number if there is space; none in a very narrow box."""
    size = min(CHIP, (box.width - 24 + CHIP_GAP) / len(rails) - CHIP_GAP)
    left = box.middle - (len(rails) * (size + CHIP_GAP) - CHIP_GAP) / 2
    for index, rail in enumerate(rails if size >= 5 else ()):
        x, colour = left + index * (size + CHIP_GAP), rail_colour(rail)
        yield rectangle(Box(x, y, size, size), "", title(f"rail {rail}"), radius=4, fill=colour)
        if size >= CHIP - 2:
            yield text_on_colour(x + size / 2, y + size - 6, str(rail), colour)
