"""Commands of a CLI as data: words, parameters, abbreviations, and what is wrong with a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.platforms.shared.command_table import Command, CommandTable, Mismatch, NoCommand

TABLE = CommandTable(
    [
        {"in": "exec", "line": "terminal width {columns}", "says": "Width set to {columns} columns."},
        {"in": "exec", "line": "terminal length {lines}", "says": "Pagination disabled."},
        {"in": "any", "line": "show running-config", "does": "running"},
        {"in": "any", "line": "show running-config interface {name}", "does": "interface"},
        {"in": "any", "line": "show version", "does": "version"},
        {"in": "exec", "line": "configure", "does": "configure"},
        {"in": "exec", "line": "configure terminal", "does": "configure"},
        {"in": "exec", "line": "configure session {name}", "does": "session"},
        {"in": "exec", "line": "configure session {name} commit", "does": "commit"},
        {"in": "config", "line": "commit comment {text...}", "does": "comment"},
    ]
)


def action(mode: str, line: str) -> tuple[str | None, dict[str, str]]:
    command = TABLE.command(mode, line)
    assert isinstance(command, Command), command
    return command.entry.does or command.entry.says, dict(command.values)


@pytest.mark.parametrize(
    ("line", "does", "values"),
    [
        ("show running-config", "running", {}),
        ("sh run", "running", {}),
        ("show  run  interface Ethernet1/1", "interface", {"name": "Ethernet1/1"}),
        ("conf t", "configure", {}),
        ("configure", "configure", {}),
        ("configure session terminal", "session", {"name": "terminal"}),
        ("configure session a commit", "commit", {"name": "a"}),
        ("term wid 511", "Width set to {columns} columns.", {"columns": "511"}),
    ],
)
def test_a_line_is_the_command_of_its_words(line: str, does: str, values: dict[str, str]) -> None:
    assert action("exec", line) == (does, values)


def test_the_rest_of_a_line_is_one_value() -> None:
    assert action("config", "commit comment two words, and more") == ("comment", {"text": "two words, and more"})


@pytest.mark.parametrize(
    ("mode", "line", "why", "column"),
    [
        ("exec", "shwo version", Mismatch.UNKNOWN, 0),
        ("exec", "show nonsense", Mismatch.UNKNOWN, 5),
        ("exec", "show version all", Mismatch.UNKNOWN, 13),
        ("exec", "terminal", Mismatch.INCOMPLETE, 8),
        ("exec", "terminal width", Mismatch.INCOMPLETE, 14),
        ("config", "conf", Mismatch.UNKNOWN, 0),
        ("config", "configure terminal", Mismatch.UNKNOWN, 0),
    ],
)
def test_what_is_wrong_with_a_line(mode: str, line: str, why: Mismatch, column: int) -> None:
    assert TABLE.command(mode, line) == NoCommand(why, column)


def test_a_shortened_word_of_several_commands_is_ambiguous() -> None:
    table = CommandTable([{"in": "any", "line": word, "does": word} for word in ("show", "shutdown")])
    assert table.command("exec", "sh") == NoCommand(Mismatch.AMBIGUOUS, 0)
    assert isinstance(table.command("exec", "sho"), Command)


@given(st.data())
def test_a_command_is_known_by_every_unique_beginning_of_its_words(drawn: st.DataObject) -> None:
    entry = drawn.draw(st.sampled_from(TABLE.entries))
    mode = "exec" if "any" in entry.modes else next(iter(entry.modes))
    typed = []
    for place, word in enumerate(entry.words):
        rivals = {
            other.words[place]
            for other in TABLE.entries
            if (mode in other.modes or "any" in other.modes)
            and other.words[:place] == entry.words[:place]
            and len(other.words) > place
        }
        unique = [
            length
            for length in range(1, len(word) + 1)
            if length == len(word) or sum(rival.startswith(word[:length]) for rival in rivals) == 1
        ]
        typed.append("value" if word.startswith("{") else word[: drawn.draw(st.sampled_from(unique))])
    command = TABLE.command(mode, " ".join(typed))
    assert isinstance(command, Command)
    assert command.entry == entry


def test_an_entry_without_an_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="command 'show clock' needs one of says and does"):
        CommandTable([{"in": "any", "line": "show clock"}])
