"""Errors: one line each, which a terminal can be given."""

from __future__ import annotations

import pickle

from railfab.errors import ConfigError, IntentError, Problems
from railfab.text.printable import printable
from railfab.text.remedies import remedy, values


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


def test_an_error_that_another_process_has_raised_is_the_same() -> None:
    """A worker of a sweep raises it, and the user reads it."""
    first = IntentError("job.yml:3: hosts", "12 is out of range", remedy(*values("hosts", [8])), key="hosts")
    for error in (first, Problems([first, IntentError("job.yml", "it is empty", "Write a job")])):
        copied = pickle.loads(pickle.dumps(error))
        assert (type(copied), str(copied), copied.keys) == (type(error), str(error), error.keys)
