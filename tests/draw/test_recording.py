"""A terminal's screen follows what is written to it, and its recording plays every frame for its time."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.live import Live
from rich.table import Table
from tests.signals import interruptible

from railfab.draw import Frame, Screen, recording_svg
from railfab.draw.terminal import Run, Style

SVG = "{http://www.w3.org/2000/svg}"
WRITTEN = "one\x1b[31mred\x1b[0m\r\n\x1b[2Atwo\x1b[K\x1b]0;title\x07\x1b[38;5;200mx\x1b[?25l\x1b[1;1Hé"


def _lines(screen: Screen) -> list[str]:
    return [_line(row) for row in screen.rows()]


def _line(row: tuple[Run, ...]) -> str:
    line = ""
    for run in row:
        line = line.ljust(run.column) + run.text
    return line.rstrip()


def _screen(written: str, columns: int = 10, rows: int = 3) -> Screen:
    screen = Screen(columns, rows)
    screen.feed(written)
    return screen


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("ab\r\ncd", ["ab", "cd", ""]),
        ("ab\rc", ["cb", "", ""]),
        ("a\tb", ["a       b", "", ""]),
        ("abc\b\bX", ["aXc", "", ""]),
        ("1\r\n2\r\n3\r\n4", ["2", "3", "4"]),
        ("0123456789ab", ["0123456789", "ab", ""]),
        ("abc\x1b[2DX\x1b[CY", ["aXcY", "", ""]),
        ("abc\r\ndef\x1b[1A\r\x1b[K", ["", "def", ""]),
        ("abc\x1b[2D\x1b[1K", ["  c", "", ""]),
        ("abc\r\ndef\x1b[2J", ["", "", ""]),
        ("abc\r\ndef\x1b[1;2H\x1b[J", ["a", "", ""]),
        ("abc\r\ndef\x1b[2;2H\x1b[1J", ["", "  f", ""]),
        ("\x1b[2;3Hx\x1b[1;1Hy\x1b[9Gz", ["y       z", "  x", ""]),
        ("\x1b[99;99Hx", ["", "", "         x"]),
        ("a\x1b]8;;http://x\x1b\\b\x1b]0;t\x07c\x1b(Bd", ["abcd", "", ""]),
        ("\x1b[?25la\x1b[?2026h\x1b[?1049hb", ["b", "", ""]),
    ],
)
def test_what_is_written_stands_where_it_belongs(written: str, lines: list[str]) -> None:
    assert _lines(_screen(written)) == lines


@pytest.mark.parametrize(
    ("written", "style"),
    [
        ("\x1b[1;31mx", Style(fore=1, bold=True)),
        ("\x1b[92;44mx", Style(fore=10, back=4)),
        ("\x1b[38;5;200;48;2;1;2;3mx", Style(fore=200, back="#010203")),
        ("\x1b[1;2;3;4;7mx", Style(bold=True, dim=True, italic=True, underline=True, reverse=True)),
        ("\x1b[1;2;3;4;7m\x1b[22;23;24;27mx", Style()),
        ("\x1b[31;41m\x1b[39;49mx", Style()),
        ("\x1b[31m\x1b[mx", Style()),
        ("\x1b[107mx", Style(back=15)),
    ],
)
def test_looks_are_understood(written: str, style: Style) -> None:
    assert _screen(written).rows()[0] == (Run(0, "x", style),)


@given(st.lists(st.integers(0, len(WRITTEN)), max_size=6))
def test_where_the_output_is_cut_does_not_matter(cuts: list[int]) -> None:
    screen, places = Screen(10, 3), sorted({0, *cuts, len(WRITTEN)})
    for begin, end in pairwise(places):
        screen.feed(WRITTEN[begin:end])
    assert screen.rows() == _screen(WRITTEN).rows()


@given(st.text(alphabet="ab\x1b[]0123456789;?mHJKA\x07\r\n\t\b", max_size=200))
def test_no_output_breaks_the_screen(written: str) -> None:
    screen = _screen(written)
    assert len(screen.rows()) == 3
    assert all(run.column + len(run.text) <= 10 for row in screen.rows() for run in row)


def test_a_live_table_of_rich_leaves_its_last_state() -> None:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, width=40, height=10, color_system="truecolor", legacy_windows=False
    )
    with Live(console=console, auto_refresh=False) as live:
        for step in range(4):
            table = Table("rail", "Gb/s")
            for rail in range(2):
                table.add_row(str(rail), f"[green]{step * 100 + rail}[/green]")
            live.update(table, refresh=True)
    screen = _screen(file.getvalue().replace("\n", "\r\n"), columns=40, rows=10)
    shown = "\n".join(_lines(screen))
    assert "300" in shown
    assert "301" in shown
    assert "200" not in shown
    assert shown.count("rail") == 1


def _frames() -> list[Frame]:
    texts = (
        "\x1b[32mone\x1b[0m\r\nsame <&>",
        "\x1b[7mtwo\x1b[0m\r\nsame <&>",
        "end\r\n\x1b[48;5;196m  \x1b[0m\x1b[2mdim",
    )
    return [Frame(2.0 + 1.5 * place, _screen(text, columns=12).rows()) for place, text in enumerate(texts)]


def test_a_recording_is_well_formed_and_stores_a_row_once() -> None:
    tree = ElementTree.fromstring(recording_svg(_frames(), columns=12, name="railfab <up>"))
    texts = [element.text for element in tree.iter(f"{SVG}text")]
    assert texts.count("same\N{NO-BREAK SPACE}<&>") == 1
    assert texts[0] == "railfab <up>"
    rows = {element.get("id") for element in tree.iter(f"{SVG}g") if element.get("id")}
    used = [element.get("href") for element in tree.iter(f"{SVG}use")]
    assert {f"#{row}" for row in rows} == set(used)
    assert len(used) == 6


def test_every_frame_is_shown_for_its_time_and_the_last_one_is_held() -> None:
    """1.5 s, 1.5 s and 3 s of 6 s; whoever wants no motion sees the last."""
    picture = recording_svg(_frames(), columns=12, name="x")
    stops = re.findall(r"([\d.]+)%\{transform:translateX\((-?[\d.]+)px\)\}", picture.replace("-0px", "0px"))
    width = -float(stops[1][1])
    assert [(float(at), float(place)) for at, place in stops] == [
        (0, 0),
        (25, -width),
        (50, -2 * width),
        (100, -2 * width),
    ]
    assert "animation:play 6.00s step-end infinite" in picture
    assert re.search(
        rf"prefers-reduced-motion:reduce\){{\.film{{animation:none;transform:translateX\(-{2 * width:g}px", picture
    )


def test_colours_are_those_of_the_terminal() -> None:
    picture = recording_svg(_frames(), columns=12, name="x")
    assert 'fill="#3fb950"' in picture
    assert 'fill="#ff0000"' in picture
    assert 'opacity="0.6"' in picture


def test_a_command_is_recorded_from_a_real_terminal(tmp_path: Path, repository: Path) -> None:
    shows = (
        "import shutil, time; print('\\033[31m', shutil.get_terminal_size(), flush=True); time.sleep(.3); print('bye')"
    )
    command = [sys.executable, repository / "docs" / "record.py", "-o", tmp_path / "out.svg", "--every", "0.1"]
    subprocess.run(
        [*command, "--columns", "64", "--rows", "5", "--", sys.executable, "-c", shows], check=True, timeout=60
    )
    picture = (tmp_path / "out.svg").read_text()
    assert "columns=64,\N{NO-BREAK SPACE}lines=5" in picture
    assert "bye" in picture
    assert 'fill="#ff7b72"' in picture


def test_a_command_that_does_not_end_is_told_to(tmp_path: Path, repository: Path) -> None:
    shows = (
        "import time\ntry:\n    print('on', flush=True); time.sleep(60)\nexcept KeyboardInterrupt:\n    print('told')"
    )
    command = [sys.executable, repository / "docs" / "record.py", "-o", tmp_path / "out.svg", "--seconds", "0.7"]
    subprocess.run(interruptible([*command, "--", sys.executable, "-c", shows]), check=True, timeout=60)
    assert "told" in (tmp_path / "out.svg").read_text()
