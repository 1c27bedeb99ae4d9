"""A recording of a terminal as an SVG that plays by itself, in any page, without a script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from railfab.draw.svg import Box, document, element, rectangle, words
from railfab.draw.terminal import Row, Run, Style

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18.0, 14
PADDING, BAR_HEIGHT = 16.0, 34.0
HOLD_S = 3.0
"""How long the last frame stays before it begins again."""

FORE, BACK = "#e6edf3", "#0d1117"
ANSI = (
    *("#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"),
    *("#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"),
)
WORDS = re.compile(r"\S+(?: \S+)*")
STEPS = (0, 95, 135, 175, 215, 255)


@dataclass(frozen=True, slots=True)
class Frame:
    """What the screen showed from this moment on [s]."""

    at_s: float
    rows: tuple[Row, ...]


def recording_svg(frames: Sequence[Frame], *, columns: int, name: str) -> str:
    """The frames one after the other, as long as each was seen, for ever. Rows that repeat are stored once.

    A reader who wants no motion, or whose viewer knows none, sees the last frame.
    """
    height = max(_used(frame) for frame in frames) * CELL_HEIGHT
    window = Box(0, 0, columns * CELL_WIDTH + 2 * PADDING, height + BAR_HEIGHT + PADDING)
    numbers = {
        row: place for place, row in enumerate(dict.fromkeys(row for frame in frames for row in frame.rows)) if row
    }
    body = (
        rectangle(window, "", radius=8, fill=BACK),
        words(window.middle, 22, name, "bar"),
        *(element("circle", cx=20 + 18 * place, cy=17, r=5.5, fill="#484f58") for place in range(3)),
        element("defs", *(_row(number, row) for row, number in numbers.items())),
        element(
            "svg",
            element("g", *_film(frames, numbers, window.width), class_="film", transform=_still(frames, window.width)),
            x=PADDING,
            y=BAR_HEIGHT,
            width=window.width - PADDING,
            height=height,
        ),
    )
    return document(window, name, _style(frames, window.width), body)


def _used(frame: Frame) -> int:
    """Rows down to the last that is not blank."""
    return max((place for place, row in enumerate(frame.rows, start=1) if row), default=1)


def _still(frames: Sequence[Frame], width: float) -> str:
    """Where the film stands in front of its last frame."""
    return f"translate({-(len(frames) - 1) * width:g} 0)"


def _film(frames: Sequence[Frame], numbers: dict[Row, int], width: float) -> Iterator[str]:
    """The frames side by side."""
    for place, frame in enumerate(frames):
        shown = ((line, numbers[row]) for line, row in enumerate(frame.rows) if row)
        lines = (element("use", href=f"#r{number}", y=line * CELL_HEIGHT) for line, number in shown)
        yield element("g", *lines, transform=f"translate({place * width:g} 0)")


def _style(frames: Sequence[Frame], width: float) -> str:
    """The film stands still in front of each frame for its time, then jumps to the next."""
    begin_s, length_s = frames[0].at_s, frames[-1].at_s - frames[0].at_s + HOLD_S
    stops = "".join(
        f"{(frame.at_s - begin_s) / length_s:.4%}{{transform:translateX({-place * width:g}px)}}"
        for place, frame in enumerate(frames)
    )
    last = f"transform:translateX({-(len(frames) - 1) * width:g}px)"
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
    """The ground, if it has a colour, and the words, each group stretched to its cells whatever the font."""
    fore, back = _colours(run.style)
    if back is not None:
        yield rectangle(_cells(run.column, run.text), "", radius=0, fill=back)
    for group in WORDS.finditer(run.text):
        place = _cells(run.column + group.start(), group[0])
        shown = escape(group[0].replace(" ", "\N{NO-BREAK SPACE}"))
        looks = {"lengthAdjust": "spacingAndGlyphs", "fill": fore, **_looks(run.style)}
        yield element("text", shown, x=place.x, y=CELL_HEIGHT - 5, textLength=place.width, **looks)


def _cells(column: int, text: str) -> Box:
    return Box(column * CELL_WIDTH, 0, len(text) * CELL_WIDTH, CELL_HEIGHT)


def _colours(style: Style) -> tuple[str, str | None]:
    fore = FORE if style.fore is None else _rgb(style.fore)
    back = None if style.back is None else _rgb(style.back)
    return (back or BACK, fore) if style.reverse else (fore, back)


def _looks(style: Style) -> dict[str, str]:
    looks = {
        "font_weight": "bold" if style.bold else "",
        "font_style": "italic" if style.italic else "",
        "text_decoration": "underline" if style.underline else "",
        "opacity": "0.6" if style.dim else "",
    }
    return {name: value for name, value in looks.items() if value}


def _rgb(colour: int | str) -> str:
    """One of the 256 colours: 16 of the theme, a cube of 6 x 6 x 6, 24 greys."""
    if isinstance(colour, str):
        return colour
    if colour < 16:
        return ANSI[colour]
    if colour < 232:
        cube = colour - 16
        return f"#{STEPS[cube // 36]:02x}{STEPS[cube // 6 % 6]:02x}{STEPS[cube % 6]:02x}"
    grey = min(8 + 10 * (colour - 232), 255)
    return f"#{grey:02x}{grey:02x}{grey:02x}"
