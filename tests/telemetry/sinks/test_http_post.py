"""What a receiver asks for and says, however it is written."""

from __future__ import annotations

import time
from email.utils import formatdate
from urllib.parse import urlsplit

import pytest
from tests.telemetry.sinks.samples import receiving

from railfab.endpoints.secrets import SecretSource
from railfab.telemetry.sinks.http_post import MOST_RETRY_AFTER_S, HttpPost, retry_after_s


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        (None, 0),
        ("7", 7),
        ("1000000", MOST_RETRY_AFTER_S),
        ("-3", 0),
        ("soon", 0),
        ("", 0),
        ("\u00b2", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
    ],
)
def test_a_wait_is_in_seconds_and_bounded(value: str | None, wait_s: float) -> None:
    assert retry_after_s(value) == wait_s


def test_a_wait_until_a_date() -> None:
    assert retry_after_s(formatdate(time.time() + 60, usegmt=True)) == pytest.approx(60, abs=3)


def test_what_a_receiver_says_is_one_line_that_can_be_logged() -> None:
    with receiving(400) as (receiver, url):
        receiver.text = b"\x1b[31mred\x07" + b"x" * 300_000 + b"\nmore"
        post = HttpPost(urlsplit(url), SecretSource("NONE", {}))
        for _ in range(2):  # the rest of a long answer is not taken for the next one
            answer = post.post(b"", {})
            assert (answer.status, answer.text) == (400, "?[31mred?" + "x" * 191)
        post.close()
