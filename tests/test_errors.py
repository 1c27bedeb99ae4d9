"""Errors: one line each, which a terminal can be given."""

from __future__ import annotations

from railfab.errors import ConfigError, Problems
from railfab.text.printable import printable


def test_what_a_file_or_a_device_wrote_is_escaped_in_each_part() -> None:
    error = ConfigError("leaf\x1b[2J", "says a\nb", "Remove \x07")
    assert str(error) == r"leaf\x1b[2J: says a\nb. Remove \x07."
    assert (error.where, error.problem, error.remedy) == (r"leaf\x1b[2J", r"says a\nb", r"Remove \x07")


def test_several_errors_are_a_line_each() -> None:
    errors = [ConfigError("a", "b\nc", "d"), ConfigError("e", "f", "g")]
    assert str(Problems(errors)).splitlines() == [str(error) for error in errors]


def test_a_printable_text_is_the_same_object() -> None:
    """A remedy may be of a class of its own."""
    text = "Größe 5 µs"
    assert printable(text) is text


def test_a_part_of_five_megabytes_is_cut() -> None:
    error = ConfigError("leaf1", "e" * 5_000_000, "Correct it")
    assert str(error) == f"leaf1: {'e' * 4000}... (5,000,000 characters). Correct it."
