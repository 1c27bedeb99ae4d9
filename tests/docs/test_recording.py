"""The recorder of docs/ records a command on a terminal, and its SVG shows every frame for its time."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pyte
import pytest
from rich.console import Console
from rich.live import Live
from rich.table import Table
from tests.signals import interruptible

from railfab.draw.palette import contrast
from railfab.draw.text_width import width_of

SVG = "{http://www.w3.org/2000/svg}"
RECORDINGS = ("up.svg", "up-light.svg")


@pytest.fixture(autouse=True)
def docs_on_path(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(repository / "docs"))


def screen(written: str, columns: int = 12, rows: int = 3) -> pyte.Screen:
    terminal = pyte.Screen(columns, rows)
    pyte.Stream(terminal).feed(written)
    return terminal


def picture(name: str = "x") -> str:
    """The SVG of three frames, at 2, 3.5 and 5 s."""
    from terminal_svg import Frame, recording_svg, screen_rows

    texts = (
        "\x1b[32mone\x1b[0m\r\nsame <&>",
        "\x1b[7mtwo\x1b[0m\r\nsame <&>",
        "end\r\n\x1b[48;5;196m  \x1b[0m\x1b[1;3;4;93mbold",
    )
    frames = [Frame(2.0 + 1.5 * place, screen_rows(screen(text))) for place, text in enumerate(texts)]
    return recording_svg(frames, columns=60, name=name)


def test_a_live_table_of_rich_leaves_its_last_state() -> None:
    from terminal_svg import screen_rows

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
    rows = screen_rows(screen(file.getvalue().replace("\n", "\r\n"), columns=40, rows=10))
    text = "\n".join("".join(run.text for run in row) for row in rows)
    assert "300" in text
    assert "301" in text
    assert "200" not in text
    assert text.count("rail") == 1


def test_a_recording_shows_no_token() -> None:
    from terminal_svg import Frame, recording_svg, screen_rows

    frame = Frame(0.0, screen_rows(screen("\x1b[4mhttp://127.0.0.1:9805/#token=D_4-x\x1b[0m and more", columns=60)))
    texts = [each.text for each in ElementTree.fromstring(recording_svg([frame], columns=60, name="up")).iter()]
    assert "http://127.0.0.1:9805/#token=*****" in texts


def test_a_recording_is_well_formed_and_stores_a_row_once() -> None:
    tree = ElementTree.fromstring(picture("railfab <up>"))
    texts = [element.text for element in tree.iter(f"{SVG}text")]
    assert texts.count("same\N{NO-BREAK SPACE}<&>") == 1
    assert texts[0] == "railfab <up>"
    rows = {element.get("id") for element in tree.iter(f"{SVG}g") if element.get("id")}
    used = [element.get("href") for element in tree.iter(f"{SVG}use")]
    assert {f"#{row}" for row in rows} == set(used)
    assert len(used) == 6


def test_every_frame_is_shown_for_its_time_and_the_last_one_is_held() -> None:
    """1.5 s, 1.5 s and 3 s of 6 s; with reduced motion the last frame is shown."""
    style = picture()
    stops = re.findall(r"([\d.]+)%\{transform:translateX\((-?[\d.]+)px\)\}", style.replace("-0px", "0px"))
    width = -float(stops[1][1])
    assert [(float(at), float(place)) for at, place in stops] == [
        (0, 0),
        (25, -width),
        (50, -2 * width),
        (100, -2 * width),
    ]
    assert "animation:play 6.00s step-end infinite" in style
    assert re.search(
        rf"prefers-reduced-motion:reduce\){{\.film{{animation:none;transform:translateX\(-{2 * width:g}px", style
    )


def test_a_recording_begins_with_a_full_screen_and_stands_still_on_one() -> None:
    from terminal_svg import Frame, from_first_full, recording_svg, screen_rows

    texts = ("", "1", "1\r\n2\r\n3", "one\r\ntwo\r\nthree", "end")
    frames = [Frame(float(second), screen_rows(screen(text))) for second, text in enumerate(texts)]
    shown = from_first_full(frames)
    assert [frame.at_s for frame in shown] == [2.0, 3.0, 4.0]
    made = recording_svg(shown, columns=12, name="x")
    width = float(ElementTree.fromstring(made).attrib["width"])
    assert f'class="film" transform="translate(-{width:g} 0)"' in made
    assert f"{{.film{{animation:none;transform:translateX(-{width:g}px)}}}}" in made


def test_a_recording_of_a_moment_begins_with_it_and_stands_still_on_its_last_screen() -> None:
    from terminal_svg import Frame, from_moment, screen_rows

    texts = ("0 Gb/s\r\nring", "7 Gb/s\r\nring", "9 Gb/s\r\nring", "0 Gb/s\r\nring")
    frames = [Frame(float(second), screen_rows(screen(text))) for second, text in enumerate(texts)]
    shown, still = from_moment(frames, "[1-9] Gb/s")
    assert [frame.at_s for frame in shown] == [1.0, 2.0, 3.0]
    assert shown[still].at_s == 2.0
    with pytest.raises(SystemExit, match=r"^no screen matches 'drops': record for longer, or on a less busy machine$"):
        from_moment(frames, "drops")


def test_the_recording_in_the_readme_is_of_the_present_view(repository: Path) -> None:
    """After a change of the view: `make record`."""
    from view_digest import view_digest

    assert (repository / "docs" / "up.digest").read_text().strip() == view_digest()


def test_comments_and_docstrings_do_not_make_a_recording_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import view_digest

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(view_digest, "MODULES", ("drawn",))
    module = tmp_path / "drawn.py"
    texts = ('WIDTH = 80\n"""Cells."""\n', "WIDTH = 80  # cells\n", "WIDTH = 81\n")
    digests = [module.write_text(text) and view_digest.view_digest() for text in texts]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("name", ["DARK", "LIGHT"])
def test_every_colour_can_be_read_on_its_background(name: str) -> None:
    import terminal_svg

    theme = getattr(terminal_svg, name)
    dim = {"black", "brightblack"} if name == "DARK" else set()
    for colour, value in {"text": theme.foreground, "title": theme.title, **theme.colours}.items():
        assert contrast(value, theme.background) >= (1.5 if colour in dim else 4.5), colour


def test_a_long_title_ends_before_the_buttons() -> None:
    from terminal_svg import BUTTONS_WIDTH, TITLE_SIZE

    tree = ElementTree.fromstring(picture("railfab up " * 9))
    title = next(element for element in tree.iter(f"{SVG}text") if element.get("class") == "bar")
    room = float(tree.attrib["width"]) - 2 * BUTTONS_WIDTH
    assert (title.text or "").endswith("…")
    assert width_of(title.text or "", TITLE_SIZE) <= room


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_recording_in_the_readme_begins_with_a_full_screen_of_80_by_24(name: str, repository: Path) -> None:
    tree = ElementTree.parse(repository / "docs" / name).getroot()
    film = next(element for element in tree.iter(f"{SVG}g") if element.get("class") == "film")
    rows = [len(frame.findall(f"{SVG}use")) for frame in film]
    assert rows[0] == max(rows) == 24
    still = -round(float(film.attrib["transform"].split()[0].removeprefix("translate(")) / float(tree.attrib["width"]))
    for frame in (film[0], film[still]):
        shown = {use.attrib["href"] for use in frame}
        words = [text.text or "" for group in tree.iter(f"{SVG}g") if f"#{group.get('id')}" in shown for text in group]
        rates = [text.replace("\N{NO-BREAK SPACE}", " ") for text in words]
        assert sum(bool(re.search(r"^[1-9][\d,]{2,} Gb/s", text)) for text in rates) == 8, rates
    assert (
        f'srcset="docs/{name}"' in (readme := (repository / "README.md").read_text()) or f'src="docs/{name}"' in readme
    )


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_text_of_the_recording_in_the_readme_touches_its_window(name: str, repository: Path) -> None:
    from terminal_svg import PADDING

    tree = ElementTree.parse(repository / "docs" / name).getroot()
    room = float(tree.attrib["width"]) - 2 * PADDING
    lengths = [
        float(text.attrib["x"]) + float(text.attrib["textLength"])
        for text in tree.iter(f"{SVG}text")
        if text.get("textLength")
    ]
    assert 0 < max(lengths) <= room + 0.1


@pytest.mark.parametrize(
    "attribute",
    [
        'fill="#3fb950"',
        'fill="#ff0000"',
        'fill="#e3b341"',
        'fill="#0d1117"',
        'font-weight="bold"',
        'font-style="italic"',
        'text-decoration="underline"',
    ],
)
def test_colours_and_styles_of_the_terminal_are_kept(attribute: str) -> None:
    assert attribute in picture()


def test_a_command_is_recorded_from_a_terminal(tmp_path: Path, repository: Path) -> None:
    code = (
        "import shutil, time; print('\\033[31m', shutil.get_terminal_size(), flush=True); time.sleep(.3); print('bye')"
    )
    command = [sys.executable, repository / "docs" / "record.py", "-o", tmp_path / "out.svg", "--every", "0.1"]
    subprocess.run(
        [*command, "--columns", "64", "--rows", "5", "--", sys.executable, "-c", code], check=True, timeout=60
    )
    recorded = (tmp_path / "out.svg").read_text()
    assert "columns=64,\N{NO-BREAK SPACE}lines=5" in recorded
    assert "bye" in recorded
    assert 'fill="#ff7b72"' in recorded


def test_a_command_that_does_not_end_is_interrupted(tmp_path: Path, repository: Path) -> None:
    code = (
        "import time\ntry:\n    print('on', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('interrupted')"
    )
    command = [sys.executable, repository / "docs" / "record.py", "-o", tmp_path / "out.svg", "--seconds", "0.7"]
    subprocess.run(interruptible([*command, "--", sys.executable, "-c", code]), check=True, timeout=60)
    assert "interrupted" in (tmp_path / "out.svg").read_text()
