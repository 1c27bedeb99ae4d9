"""Animated SVG of a terminal recording, which plays in any page without a script. The terminal is emulated by pyte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

import pyte
from pyte.screens import Char

from railfab.draw.svg import Box, document, element, rectangle, text_line
from railfab.draw.text_width import truncated

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 16.0, 14
"""A row is as high as a line of most fonts, so that frames drawn with characters have no gaps."""
PADDING, BAR_HEIGHT = 16.0, 34.0
FULL = 0.8
"""A screen with this share of the rows of the fullest one is full."""
TITLE_SIZE, BUTTONS_WIDTH = 12, 72.0
"""Font of the title, and space of the three buttons beside it [px]."""
HOLD_S = 3.0
"""Time for which the last frame is shown before the animation starts again."""

DARK_COLOURS = {
    **{"black": "#484f58", "red": "#ff7b72", "green": "#3fb950", "brown": "#d29922"},
    **{"blue": "#58a6ff", "magenta": "#bc8cff", "cyan": "#39c5cf", "white": "#b1bac4"},
    **{"brightblack": "#6e7681", "brightred": "#ffa198", "brightgreen": "#56d364", "brightbrown": "#e3b341"},
    **{"brightblue": "#79c0ff", "brightmagenta": "#d2a8ff", "brightcyan": "#56d4dd", "brightwhite": "#ffffff"},
}
LIGHT_COLOURS = {
    **{"black": "#24292f", "red": "#cf222e", "green": "#1a7f37", "brown": "#8a5a00"},
    **{"blue": "#0969da", "magenta": "#8250df", "cyan": "#1b7c83", "white": "#57606a"},
    **{"brightblack": "#57606a", "brightred": "#a40e26", "brightgreen": "#116329", "brightbrown": "#633c01"},
    **{"brightblue": "#0550ae", "brightmagenta": "#6639ba", "brightcyan": "#15606a", "brightwhite": "#24292f"},
}
"""The 16 colours by the names of pyte; all others are hexadecimal."""
WORDS = re.compile(r"\S+(?: \S+)*")
TOKEN = re.compile(r"(?<=token=)[\w-]+")


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a terminal. edge: of its window and buttons; title: of the text in its bar."""

    foreground: str
    background: str
    edge: str
    title: str
    colours: Mapping[str, str]

    def colour(self, name: str, default: str) -> str:
        return default if name == "default" else self.colours.get(name, f"#{name}")


DARK = Theme("#e6edf3", "#0d1117", "#484f58", "#8b949e", DARK_COLOURS)
LIGHT = Theme("#24292f", "#ffffff", "#d0d7de", "#57606a", LIGHT_COLOURS)


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
    """The rows of a screen; blank cells are left out unless their style is visible, and tokens are hidden."""
    return tuple(
        _runs([screen.buffer[line][column] for column in range(screen.columns)]) for line in range(screen.lines)
    )


def from_first_full(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The frames from the first full screen on."""
    return frames[_full(frames)[0] :]


def from_moment(frames: Sequence[Frame], wanted: str) -> tuple[Sequence[Frame], int]:
    """The frames from the first one of which a row matches the pattern, and the place of the last full one that does.

    Raises SystemExit when no full screen does.
    """
    full = [place for place in _full(frames) if any(re.search(wanted, _text(row)) for row in frames[place].rows)]
    if not full:
        raise SystemExit(f"no screen matches {wanted!r}: record for longer, or on a less busy machine")
    return frames[full[0] :], full[-1] - full[0]


def recording_svg(
    frames: Sequence[Frame], *, columns: int, name: str, theme: Theme = DARK, still: int | None = None
) -> str:
    """The frames in sequence, each for the time that it was visible, in a loop. Rows that repeat are stored once.

    still: the place of the frame that is shown with reduced motion, or without animation; None is the last full screen.
    """
    height = max(_used_rows(frame) for frame in frames) * CELL_HEIGHT
    window = Box(0, 0, columns * CELL_WIDTH + 2 * PADDING, height + BAR_HEIGHT + PADDING)
    distinct = dict.fromkeys(row for frame in frames for row in frame.rows if row)
    numbers = {row: number for number, row in enumerate(distinct)}
    shift = _shift(_full(frames)[-1] if still is None else still, window.width)
    edge = Box(0.5, 0.5, window.width - 1, window.height - 1)
    title_room = window.width - 2 * BUTTONS_WIDTH
    body = (
        rectangle(edge, "", radius=8, fill=theme.background, stroke=theme.edge),
        text_line(window.middle, 22, truncated(name, title_room, TITLE_SIZE), "bar"),
        *(element("circle", cx=20 + 18 * place, cy=17, r=5.5, fill=theme.edge) for place in range(3)),
        element("defs", *(_row(number, row, theme) for row, number in numbers.items())),
        element(
            "svg",
            element("g", *_frames(frames, numbers, window.width), class_="film", transform=f"translate({shift:g} 0)"),
            x=PADDING,
            y=BAR_HEIGHT,
            width=window.width - PADDING,
            height=height,
        ),
    )
    return document(window, name, _style(frames, window.width, theme, shift), body)


def _runs(cells: Sequence[Char]) -> Row:
    runs, column = [], 0
    for style, group in groupby(cells, key=lambda cell: cell._replace(data="")):
        text = "".join(cell.data for cell in group)
        if text.strip() or style.bg != "default" or style.reverse or style.underscore:
            runs.append(Run(column, TOKEN.sub(lambda token: "*" * len(token[0]), text), style))
        column += len(text)
    return tuple(runs)


def _used_rows(frame: Frame) -> int:
    """Number of rows up to the last one that is not blank."""
    return max((number for number, row in enumerate(frame.rows, start=1) if row), default=1)


def _full(frames: Sequence[Frame]) -> list[int]:
    """The places of the full screens."""
    most = max(map(_used_rows, frames))
    return [place for place, frame in enumerate(frames) if _used_rows(frame) >= FULL * most]


def _text(row: Row) -> str:
    """The characters of a row, with blanks for what is between its runs."""
    text = ""
    for run in row:
        text = text.ljust(run.column) + run.text
    return text


def _shift(frame: int, width: float) -> float:
    """Horizontal offset of all frames at which one frame is visible."""
    return -frame * width


def _frames(frames: Sequence[Frame], numbers: dict[Row, int], width: float) -> Iterator[str]:
    """The frames side by side."""
    for place, frame in enumerate(frames):
        rows = ((line, numbers[row]) for line, row in enumerate(frame.rows) if row)
        lines = (element("use", href=f"#r{number}", y=line * CELL_HEIGHT) for line, number in rows)
        yield element("g", *lines, transform=f"translate({place * width:g} 0)")


def _style(frames: Sequence[Frame], width: float, theme: Theme, still: float) -> str:
    """Style sheet with an animation that shows each frame for its time."""
    begin_s, length_s = frames[0].at_s, frames[-1].at_s - frames[0].at_s + HOLD_S
    stops = "".join(
        f"{(frame.at_s - begin_s) / length_s:.4%}{{transform:translateX({_shift(place, width):g}px)}}"
        for place, frame in enumerate(frames)
    )
    last = f"transform:translateX({_shift(len(frames) - 1, width):g}px)"
    return (
        f"text{{font:{FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"white-space:pre}}.bar{{font:{TITLE_SIZE}px system-ui,sans-serif;fill:{theme.title};text-anchor:middle}}"
        f"@keyframes play{{{stops}100%{{{last}}}}}"
        f".film{{animation:play {length_s:.2f}s step-end infinite}}"
        f"@media(prefers-reduced-motion:reduce){{.film{{animation:none;transform:translateX({still:g}px)}}}}"
    )


def _row(number: int, row: Row, theme: Theme) -> str:
    return element("g", *(part for run in row for part in _run(run, theme)), id=f"r{number}")


def _run(run: Run, theme: Theme) -> Iterator[str]:
    """The background, if it has a colour, and the words, each group stretched to its cells in any font."""
    foreground, background = theme.colour(run.style.fg, theme.foreground), theme.colour(run.style.bg, "")
    if run.style.reverse:
        foreground, background = background or theme.background, foreground
    if background:
        yield rectangle(_cells(run.column, run.text), "", radius=0, fill=background)
    for group in WORDS.finditer(run.text):
        cells = _cells(run.column + group.start(), group[0])
        text = escape(group[0].replace(" ", "\N{NO-BREAK SPACE}"))
        attributes = {"lengthAdjust": "spacingAndGlyphs", "fill": foreground, **_attributes(run.style)}
        yield element("text", text, x=cells.x, y=CELL_HEIGHT - 4, textLength=cells.width, **attributes)


def _cells(column: int, text: str) -> Box:
    return Box(column * CELL_WIDTH, 0, len(text) * CELL_WIDTH, CELL_HEIGHT)


def _attributes(style: Char) -> dict[str, str]:
    attributes = {
        "font_weight": "bold" if style.bold else "",
        "font_style": "italic" if style.italics else "",
        "text_decoration": "underline" if style.underscore else "",
    }
    return {name: value for name, value in attributes.items() if value}
