"""No character of a switch, a file or a user controls the terminal: all output is printable text and new lines."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Group
from rich.panel import Panel
from rich.text import Text
from tests.app.test_live_view import reading
from tests.laws import examples

from railfab.app.summary import JobSummary, RunSummary
from railfab.app.view import JobState, Scene, frame, line
from railfab.cli.change_report import View, print_changes, print_outcomes, print_previews
from railfab.cli.common import Output, print_findings, print_json, print_table, print_text, report, report_line
from railfab.cli.console import PrintableConsole
from railfab.cli.echo import echo, echo_line
from railfab.cli.logs import LINE, JsonLine, TextLine, announce
from railfab.cli.target_check import _print as print_checks
from railfab.cli.up import _print_summary
from railfab.deploy import Outcome, Preview
from railfab.draw.svg import Box, document, element, text_line, title
from railfab.endpoints import Endpoint
from railfab.errors import RailfabError, Unreachable
from railfab.fabric import design
from railfab.findings import Severity, warning
from railfab.platforms import platform
from railfab.telemetry.target_check import PathCheck, TargetCheck
from railfab.telemetry.targets import TargetSpec
from railfab.text.printable import json_text, printable, printable_lines

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\r\x08\x7f\x85\u2028\u200b\x00\t[red]bold[/red] [/] :smile:"
"""Sequences that set the title, erase the screen and colour text; overrides of direction; line breaks that are no new
line; markup of rich."""
FABRIC = design(Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml")
LEAF = FABRIC.topology.switches()[0].name

any_text = st.text(
    st.one_of(
        st.sampled_from(sorted(set(HOSTILE))),
        st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "Lu", "Mn")),
        st.sampled_from("[]/\\<&\"'\n"),
    ),
    max_size=20,
)


def write_everything(text: str) -> None:
    """Every printer of the command line with this text in every place that a switch, a file or a user can fill."""
    echo(text)
    echo_line(text, err=True)
    print_json({text: [text]})
    print_table(text, ("switch", text), [(text, text), (None, 1)])
    report(RailfabError(text, text, text))
    report(Unreachable(text, text, text))
    report_line(text)
    announce(text)
    for severity in Severity:
        print_findings([warning(severity, text, text, text)])  # type: ignore[arg-type]
    print_text(text, (text, "bold"))
    print_text((text, "bold"), whole=True)
    previews = [Preview(name=LEAF, text=text, candidate=text, diff=f"--- running\n+++ candidate\n-{text}\n+{text}")]
    for view in View:
        print_previews(FABRIC, previews, Output.TABLE, view)
        print_changes(FABRIC, previews, view)
    outcomes = [Outcome(name=text, changed=True, failed=True, diff=text, error=text)]
    print_outcomes(FABRIC, outcomes, previews, Output.TABLE)
    telemetry = platform("srlinux").telemetry
    target = TargetSpec(
        name=text,
        platform=text,
        endpoint=Endpoint(name="leaf", platform="srlinux", host="::1"),
        telemetry=telemetry,
    )
    paths = tuple(PathCheck(subscription, error=text) for subscription in telemetry.subscriptions[:2])
    print_checks([TargetCheck(target=target, paths=paths)], [(text, text)])
    _print_summary(
        RunSummary(
            fabric=text,
            interval_s=1.0,
            ready_s=None,
            sessions_up=0,
            sessions=1,
            targets_up=0,
            targets=1,
            pace=1.0,
            overloaded_s=0.0,
            series=1,
            jobs=(JobSummary(text),),
        ),
        Output.TABLE,
    )


def scene_of(text: str) -> Scene:
    return Scene(
        fabric=text,
        elapsed_s=1.0,
        job=JobState(job=text, steps=0, step_s=None, communication_s=None),
        jobs=(JobSummary(text),),
        reading=reading(),
        history=(reading(),),
        history_s=1.0,
        rail_capacity_gbps={1: 100.0, 2: 100.0},
        interval_s=1.0,
        pace=1.0,
        urls={text: text},
        failures=(text,),
    )


def shown(*renderables: object, width: int = 80) -> str:
    """What a terminal without colours gets."""
    console = PrintableConsole(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(*renderables)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


class Terminal(io.StringIO):
    """A text stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def assert_printable(text: str) -> None:
    assert {letter for letter in text if not letter.isprintable()} <= {"\n"}


def output_of(write: Callable[[], None]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        write()
    return out.getvalue() + err.getvalue()


@settings(max_examples=examples(120), deadline=None)
@given(any_text)
def test_all_that_a_command_prints_is_printable_text_and_new_lines(text: str) -> None:
    assert_printable(output_of(lambda: write_everything(text)))


@settings(max_examples=examples(120), deadline=None)
@given(any_text)
def test_the_live_view_is_printable_text_and_keeps_its_size(text: str) -> None:
    lines = shown(frame(scene_of(text)))
    assert_printable(lines)
    assert {len(row) for row in lines.splitlines()} == {80} or not text.isascii()
    assert len(lines.splitlines()) == len(shown(frame(scene_of("a"))).splitlines())
    assert output_of(lambda: echo_line(line(scene_of(text)))).rstrip("\n").isprintable()


@settings(max_examples=examples(120), deadline=None)
@given(any_text)
def test_a_picture_has_no_character_that_controls_a_terminal_or_reorders_text(text: str) -> None:
    box = Box(0, 0, 10, 10)
    assert_printable(document(box, text, "", [text_line(1, 1, text, "name"), title(text), element("g", class_=text)]))


@settings(max_examples=examples(120), deadline=None)
@given(any_text)
def test_a_record_of_the_log_is_one_printable_line_in_both_formats(text: str) -> None:
    record = logging.LogRecord("railfab", logging.INFO, "", 1, "%s: refused", (text,), None)
    for formatter in (JsonLine(), TextLine(LINE)):
        assert formatter.format(record).isprintable()
    assert json.loads(JsonLine().format(record))["message"] == json.loads(json.dumps(f"{text}: refused"))


@settings(max_examples=examples(120), deadline=None)
@given(any_text)
def test_json_says_every_character_in_printable_ascii(text: str) -> None:
    written = json_text({text: text})
    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written) == json.loads(json.dumps({text: text}))


def test_a_traceback_in_the_log_keeps_its_lines_and_is_escaped() -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        record = logging.LogRecord(
            "railfab", logging.ERROR, "", 1, "a\nb", (), (type(error), error, error.__traceback__)
        )
    first, *trace = TextLine(LINE).format(record).split("\n")
    assert first.endswith(r"a\nb")
    assert len(trace) > 2
    assert_printable("\n".join(trace))


def test_a_hostile_value_is_shown_escaped_and_never_obeyed_or_dropped() -> None:
    expected = (
        r"\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\r\x08\x7f\x85\u2028\u200b\x00\t[red]bold[/red] [/] :smile:"
    )
    assert printable(HOSTILE) == expected
    assert printable_lines(f"{HOSTILE}\n{HOSTILE}") == f"{expected}\n{expected}"
    preview = Preview(name=LEAF, text="", candidate="", diff=f"+{HOSTILE}")
    printed = output_of(lambda: print_changes(FABRIC, [preview], View.FULL)).split("\n")
    assert printed == [LEAF, f"+{expected}", ""]
    assert expected in output_of(lambda: print_findings([warning("mtu", LEAF, HOSTILE, "Correct it")]))  # type: ignore[arg-type]


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "[red]", "\r"])
def test_what_is_nested_in_a_panel_is_escaped_before_it_is_laid_out(hostile: str) -> None:
    lines = shown(Panel(Group(Text(f"a{hostile}b"), f"a{hostile}b")), width=30).splitlines()
    assert {len(row) for row in lines} == {30}
    assert f"a{printable(hostile)}b" in lines[2]


@settings(max_examples=examples(120), deadline=None)
@given(any_text)
def test_a_text_in_a_style_has_that_style_on_a_terminal_and_is_the_text_alone_elsewhere(text: str) -> None:
    with contextlib.redirect_stdout(Terminal()) as terminal, pytest.MonkeyPatch.context() as environment:
        environment.setenv("TERM", "xterm")
        environment.delenv("NO_COLOR", raising=False)
        print_text(("bold ", "bold"), text, whole=True)
    assert terminal.getvalue() == f"\x1b[1mbold \x1b[0m{printable_lines(text)}\n"
    assert output_of(lambda: print_text(("bold ", "bold"), text, whole=True)) == f"bold {printable_lines(text)}\n"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_text_is_wrapped_between_words_where_the_output_has_a_width_unless_it_is_whole(
    stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    text = "Power: 40.5 kW in 8 racks, at most 6 kW in one.\n"
    with contextlib.redirect_stdout(stream()) as wrapped:
        print_text(text)
    with contextlib.redirect_stdout(stream()) as whole:
        print_text(text, whole=True)
    lines = [line.rstrip() for line in wrapped.getvalue().split("\n")]
    assert lines == ["Power: 40.5 kW in 8", "racks, at most 6 kW", "in one.", "", ""]
    assert whole.getvalue() == f"{text}\n"


def test_styles_of_ours_stay_on_an_escaped_text() -> None:
    console = PrintableConsole(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(Text.assemble(("a\x1b[2J", "bold"), "b"))
    assert console.file.getvalue() == "\x1b[1ma\\x1b[2J\x1b[0mb\n"  # type: ignore[attr-defined]
