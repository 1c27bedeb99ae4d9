"""Animated SVG of a terminal recording, which plays in any page without a script. The terminal is emulated by pyte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

import pyte
from pyte.screens import Char

from railfab.draw.svg import Box, document, element, rectangle, text_line

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18.0, 14
PADDING, BAR_HEIGHT = 16.0, 34.0
HOLD_S = 3.0
"""Time for which the last frame is shown before the animation starts again."""

FOREGROUND, BACKGROUND = "#e6edf3", "#0d1117"
COLOURS = {
    **{"black": "#484f58", "red": "#ff7b72", "green": "#3fb950", "brown": "#d29922"},
    **{"blue": "#58a6ff", "magenta": "#bc8cff", "cyan": "#39c5cf", "white": "#b1bac4"},
    **{"brightblack": "#6e7681", "brightred": "#ffa198", "brightgreen": "#56d364", "brightbrown": "#e3b341"},
    **{"brightblue": "#79c0ff", "brightmagenta": "#d2a8ff", "brightcyan": "#56d4dd", "brightwhite": "#ffffff"},
}
"""The 16 colours by the names of pyte; all others are hexadecimal."""
WORDS = re.compile(r"\S+(?: \S+)*")


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent cells of one style. column: of the first cell, from 0. style: a cell without its character."""

    column: int
    text: str
    style: Char


Row = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """Content of the screen from this time on [s]."""

    at_s: float
    rows: tuple[Row, ...]


def screen_rows(screen: pyte.Screen) -> tuple[Row, ...]:
    """The rows of a screen; blank cells are left out unless their style is visible."""
    return tuple(
        _runs([screen.buffer[line][column] for column in range(screen.columns)]) for line in range(screen.lines)
    )


def recording_svg(frames: Sequence[Frame], *, columns: int, name: str) -> str:
    """The frames in sequence, each for the time that it was visible, in a loop. Rows that repeat are stored once.

    With reduced motion, or without animation, the last frame is shown.
    """
    height = max(_used_rows(frame) for frame in frames) * CELL_HEIGHT
    window = Box(0, 0, columns * CELL_WIDTH + 2 * PADDING, height + BAR_HEIGHT + PADDING)
    distinct = dict.fromkeys(row for frame in frames for row in frame.rows if row)
    numbers = {row: number for number, row in enumerate(distinct)}
    last = _shift(len(frames) - 1, window.width)
    body = (
        rectangle(window, "", radius=8, fill=BACKGROUND),
        text_line(window.middle, 22, name, "bar"),
        *(element("circle", cx=20 + 18 * place, cy=17, r=5.5, fill="#484f58") for place in range(3)),
        element("defs", *(_row(number, row) for row, number in numbers.items())),
        element(
            "svg",
            element("g", *_frames(frames, numbers, window.width), class_="film", transform=f"translate({last:g} 0)"),
            x=PADDING,
            y=BAR_HEIGHT,
            width=window.width - PADDING,
            height=height,
        ),
    )
    return document(window, name, _style(frames, window.width), body)


def _runs(cells: Sequence[Char]) -> Row:
    runs, column = [], 0
    for style, group in groupby(cells, key=lambda cell: cell._replace(data="")):
        text = "".join(cell.data for cell in group)
        if text.strip() or style.bg != "default" or style.reverse or style.underscore:
            runs.append(Run(column, text, style))
        column += len(text)
    return tuple(runs)


def _used_rows(frame: Frame) -> int:
    """Number of rows up to the last one that is not blank."""
    return max((number for number, row in enumerate(frame.rows, start=1) if row), default=1)


def _shift(frame: int, width: float) -> float:
    """Horizontal offset of all frames at which one frame is visible."""
    return -frame * width


def _frames(frames: Sequence[Frame], numbers: dict[Row, int], width: float) -> Iterator[str]:
    """The frames side by side."""
    for place, frame in enumerate(frames):
        rows = ((line, numbers[row]) for line, row in enumerate(frame.rows) if row)
        lines = (element("use", href=f"#r{number}", y=line * CELL_HEIGHT) for line, number in rows)
        yield element("g", *lines, transform=f"translate({place * width:g} 0)")


def _style(frames: Sequence[Frame], width: float) -> str:
    """Style sheet with an animation that shows each frame for its time."""
    begin_s, length_s = frames[0].at_s, frames[-1].at_s - frames[0].at_s + HOLD_S
    stops = "".join(
        f"{(frame.at_s - begin_s) / length_s:.4%}{{transform:translateX({_shift(place, width):g}px)}}"
        for place, frame in enumerate(frames)
    )
    last = f"transform:translateX({_shift(len(frames) - 1, width):g}px)"
    return (
        f"text{{font:{FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"white-space:pre}}.bar{{font:12px system-ui,sans-serif;fill:#8b949e;text-anchor:middle}}"
        f"@keyframes play{{{stops}100%{{{last}}}}}"
        f".film{{animation:play {length_s:.2f}s step-end infinite}}"
        f"@media(prefers-reduced-motion:reduce){{.film{{animation:none;{last}}}}}"
    )


def _row(number: int, row: Row) -> str:
    return element("g", *(part for run in row for part in _run(run)), id=f"r{number}")


def _run(run: Run) -> Iterator[str]:
    """The background, if it has a colour, and the words, each group stretched to its cells in any font."""
    foreground, background = _colour(run.style.fg, FOREGROUND), _colour(run.style.bg, "")
    if run.style.reverse:
        foreground, background = background or BACKGROUND, foreground
    if background:
        yield rectangle(_cells(run.column, run.text), "", radius=0, fill=background)
    for group in WORDS.finditer(run.text):
        cells = _cells(run.column + group.start(), group[0])
        text = escape(group[0].replace(" ", "\N{NO-BREAK SPACE}"))
        attributes = {"lengthAdjust": "spacingAndGlyphs", "fill": foreground, **_attributes(run.style)}
        yield element("text", text, x=cells.x, y=CELL_HEIGHT - 5, textLength=cells.width, **attributes)


def _cells(column: int, text: str) -> Box:
    return Box(column * CELL_WIDTH, 0, len(text) * CELL_WIDTH, CELL_HEIGHT)


def _colour(name: str, default: str) -> str:
    return default if name == "default" else COLOURS.get(name, f"#{name}")


def _attributes(style: Char) -> dict[str, str]:
    attributes = {
        "font_weight": "bold" if style.bold else "",
        "font_style": "italic" if style.italics else "",
        "text_decoration": "underline" if style.underscore else "",
    }
    return {name: value for name, value in attributes.items() if value}
