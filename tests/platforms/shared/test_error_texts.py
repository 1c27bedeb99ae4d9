"""Error texts at the begin of a line, or anywhere in one."""

from __future__ import annotations

import pytest

from railfab.platforms.shared.error_texts import ErrorTexts

TEXTS = ErrorTexts(("^% ", "^(a|b) is down$", " is ambiguous"))


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("% Invalid input", "% "),
        ("hostname leaf1\n% Invalid input\nb is down", "% "),
        ("leaf1\na is down\n% Invalid", "a is down"),
        ("'sh' is ambiguous.\n% Invalid", " is ambiguous"),
    ],
)
def test_the_first_error_text_is_found(output: str, text: str) -> None:
    span = TEXTS.first_in(output)
    assert span is not None
    assert output[slice(*span)] == text


@pytest.mark.parametrize("output", ["", "100 % of it", "a is down again", "\n\nhostname leaf1\n"])
def test_another_text_has_none(output: str) -> None:
    assert TEXTS.first_in(output) is None
    assert ErrorTexts(()).first_in(output) is None
