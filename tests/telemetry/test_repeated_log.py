"""What repeats is logged once, after a change, and again after some minutes with its count."""

from __future__ import annotations

import logging

import pytest

from railfab.telemetry.repeated_log import AGAIN_AFTER_S, RepeatedLog


def test_a_reason_that_lasts_is_logged_again_after_some_minutes(caplog: pytest.LogCaptureFixture) -> None:
    now_s = [0.0]
    log = RepeatedLog(logging.getLogger("railfab.test"), "leaf1", lambda: now_s[0])
    with caplog.at_level(logging.WARNING):
        for second, text in ((0, "a"), (10, "a"), (20, "a"), (AGAIN_AFTER_S, "a"), (AGAIN_AFTER_S + 1, "b")):
            now_s[0] = second
            log.warning(text)
        log.warning("b", again=True)
    assert {record.__dict__["device"] for record in caplog.records} == {"leaf1"}
    assert caplog.messages == ["a", "a (3 times since this was last logged)", "b", "b"]
