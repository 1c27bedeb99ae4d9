"""A terminal's screen, from what a program writes to it: as much of ECMA-48 as full-screen views and tables use."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

TOKEN = re.compile(
    r"\x1b\[(?P<private>[?>=]?)(?P<numbers>[0-9;:]*)(?P<command>[@-~])"  # control sequence
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # operating system command: titles, links
    r"|\x1b[()][A-Za-z0-9]|\x1b[=>78cMDE]"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    r"|(?P<text>[^\x00-\x1f\x7f]+)"
)
TAB = 8
FACES = {1: ("bold", True), 2: ("dim", True), 3: ("italic", True), 4: ("underline", True), 7: ("reverse", True)}
FACES |= {23: ("italic", False), 24: ("underline", False), 27: ("reverse", False)}


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell looks. Colours are an index of the 256, `#rrggbb`, or None for the terminal's own."""

    fore: int | str | None = None
    back: int | str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells of one look. column: of the first, from 0."""

    column: int
    text: str
    style: Style


Row = tuple[Run, ...]


class Screen:
    """What stands on a screen of so many columns and rows; every character is one cell wide."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.height = columns, rows
        self._cells = [self._blank() for _ in range(rows)]
        self._x = self._y = 0
        self._style = PLAIN
        self._rest = ""
        self._commands: dict[str, Callable[[list[int]], None]] = {
            "A": lambda n: self._go(self._x, self._y - _first(n, 1)),
            "B": lambda n: self._go(self._x, self._y + _first(n, 1)),
            "C": lambda n: self._go(self._x + _first(n, 1), self._y),
            "D": lambda n: self._go(self._x - _first(n, 1), self._y),
            "E": lambda n: self._go(0, self._y + _first(n, 1)),
            "F": lambda n: self._go(0, self._y - _first(n, 1)),
            "G": lambda n: self._go(_first(n, 1) - 1, self._y),
            "H": lambda n: self._go(_first(n[1:], 1) - 1, _first(n, 1) - 1),
            "f": lambda n: self._go(_first(n[1:], 1) - 1, _first(n, 1) - 1),
            "J": lambda n: self._erase_screen(n[0] if n else 0),
            "K": lambda n: self._erase_line(n[0] if n else 0),
            "m": self._look,
        }

    def feed(self, written: str) -> None:
        """Take in what the program wrote; a sequence that is cut off waits for its end."""
        text, self._rest, place = self._rest + written, "", 0
        while place < len(text):
            token = TOKEN.match(text, place)
            if token is None:
                if len(text) - place < 64:
                    self._rest = text[place:]
                    return
                place += 1  # an escape that is none of ours
                continue
            place = token.end()
            self._act(token)

    def rows(self) -> tuple[Row, ...]:
        """The screen now; blanks at a row's end are left out unless they are coloured."""
        return tuple(_runs(row) for row in self._cells)

    def _act(self, token: re.Match[str]) -> None:
        if (text := token["text"]) is not None:
            for character in text:
                self._put(character)
        elif (control := token["control"]) is not None:
            self._control(control)
        elif token["command"] is not None and not token["private"]:
            numbers = [int(number or 0) for number in re.split("[;:]", token["numbers"])] if token["numbers"] else []
            if (command := self._commands.get(token["command"])) is not None:
                command(numbers)
        elif token["command"] == "h" and token["numbers"] == "1049":
            self._erase_screen(2)
            self._go(0, 0)

    def _put(self, character: str) -> None:
        if self._x >= self.columns:
            self._x = 0
            self._down()
        self._cells[self._y][self._x] = (character, self._style)
        self._x += 1

    def _control(self, control: str) -> None:
        match control:
            case "\n":
                self._down()
            case "\r":
                self._x = 0
            case "\b":
                self._x = max(self._x - 1, 0)
            case "\t":
                self._x = min((self._x // TAB + 1) * TAB, self.columns - 1)

    def _down(self) -> None:
        """To the next row; the screen scrolls at its end."""
        if self._y == self.height - 1:
            self._cells = [*self._cells[1:], self._blank()]
        else:
            self._y += 1

    def _go(self, x: int, y: int) -> None:
        self._x, self._y = min(max(x, 0), self.columns - 1), min(max(y, 0), self.height - 1)

    def _erase_line(self, part: int) -> None:
        """0: from the cursor on, 1: up to it, 2: all."""
        begin, end = {0: (self._x, self.columns), 1: (0, self._x + 1)}.get(part, (0, self.columns))
        self._cells[self._y][begin:end] = self._blank()[begin:end]

    def _erase_screen(self, part: int) -> None:
        rows = {0: range(self._y + 1, self.height), 1: range(self._y)}.get(part, range(self.height))
        for row in rows:
            self._cells[row] = self._blank()
        if part in (0, 1):
            self._erase_line(part)

    def _blank(self) -> list[tuple[str, Style]]:
        return [(" ", PLAIN)] * self.columns

    def _look(self, numbers: list[int]) -> None:
        """Select Graphic Rendition."""
        waiting = list(numbers or [0])
        while waiting:
            self._style = _changed(self._style, waiting.pop(0), waiting)


def _changed(style: Style, number: int, more: list[int]) -> Style:
    """One step of a rendition; takes what belongs to it from `more`."""
    if number == 0:
        return PLAIN
    if number in FACES:
        name, on = FACES[number]
        return _with(style, name, on)
    if number == 22:
        return replace(style, bold=False, dim=False)
    ground = "fore" if number // 10 in (3, 9) else "back"
    if number in (38, 48):
        return _with(style, ground, _colour(more))
    if number in (39, 49):
        return _with(style, ground, None)
    if number // 10 in (3, 4, 9, 10) and number % 10 < 8:
        return _with(style, ground, number % 10 + (8 if number >= 90 else 0))
    return style


def _with(style: Style, name: str, value: int | str | bool | None) -> Style:
    changes: dict[str, Any] = {name: value}
    return replace(style, **changes)


def _colour(more: list[int]) -> int | str | None:
    """The rest of 38 or 48: `5;index` or `2;red;green;blue`."""
    kind = more.pop(0) if more else 0
    if kind == 5 and more:
        return more.pop(0)
    if kind == 2 and len(more) >= 3:
        red, green, blue = (min(more.pop(0), 255) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    return None


def _first(numbers: list[int], default: int) -> int:
    """The first number of a sequence; absent and 0 mean the default."""
    return (numbers[0] if numbers else 0) or default


def _runs(cells: list[tuple[str, Style]]) -> Row:
    end = max((place + 1 for place, (text, look) in enumerate(cells) if text != " " or _shows(look)), default=0)
    runs, column = [], 0
    for style, group in groupby(cells[:end], key=lambda cell: cell[1]):
        text = "".join(character for character, _ in group)
        if text.strip() or _shows(style):
            runs.append(Run(column, text, style))
        column += len(text)
    return tuple(runs)


def _shows(style: Style) -> bool:
    """Whether a blank of this look can be seen."""
    return style.back is not None or style.reverse or style.underline
