"""What repeats is logged once, after a change, and again after some minutes with its count."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from railfab.endpoints import Endpoint
from railfab.errors import LabError
from railfab.gnmi import trust
from railfab.lab.agent import target
from railfab.lab.agent.linux_metrics import Measurement
from railfab.repeated_warnings import AGAIN_AFTER_S, RepeatedWarnings
from railfab.telemetry.receive import fast
from railfab.telemetry.receive.fast import FastReceiver


def test_a_reason_that_lasts_is_logged_again_after_some_minutes(caplog: pytest.LogCaptureFixture) -> None:
    now_s = [0.0]
    log = RepeatedWarnings(logging.getLogger("railfab.test"), "leaf1", now_s=lambda: now_s[0])
    with caplog.at_level(logging.WARNING):
        for second, text in ((0, "a"), (10, "a"), (20, "a"), (AGAIN_AFTER_S, "a"), (AGAIN_AFTER_S + 1, "b")):
            now_s[0] = second
            log.warning(text)
        log.warning("b", again=True)
    assert {record.__dict__["device"] for record in caplog.records} == {"leaf1"}
    assert caplog.messages == ["a", "a (3 times since this was last logged)", "b", "b"]


def test_of_a_reason_whose_texts_differ_one_is_logged_within_some_minutes(caplog: pytest.LogCaptureFixture) -> None:
    now_s = [0.0]
    warnings = RepeatedWarnings(logging.getLogger("railfab.test"), prefix="10.0.0.1%2F: ", now_s=lambda: now_s[0])
    with caplog.at_level(logging.INFO):
        for second, count in ((0, 7), (10, 8), (AGAIN_AFTER_S, 9)):
            now_s[0] = second
            warnings.warning(f"{count} lost", reason="http_400")
            warnings.warning("no answer", reason="unreachable")
        warnings.end("unreachable", "answers again")
        warnings.end("unreachable", "answers again")
        warnings.warning("no answer", reason="unreachable")
    assert [text.removeprefix("10.0.0.1%2F: ") for text in caplog.messages] == [
        "7 lost",
        "no answer",
        "9 lost (2 times since this was last logged)",
        "no answer (2 times since this was last logged)",
        "answers again",
        "no answer",
    ]


def test_a_daemon_of_the_lab_that_does_not_answer_is_logged_once_until_it_answers(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = Measurement("fabric_daemon_up", {"daemon": "bgpd"}, 1)
    answers = iter([LabError("bgpd", "does not answer", "Wait")] * 3 + [up] + [LabError("bgpd", "ended", "Wait")])
    monkeypatch.setattr(target, "ROUTING_AGE_S", 0.0)
    monkeypatch.setattr(target, "RETRY_S", 0.0)

    def read() -> list[Measurement]:
        answer = next(answers)
        if isinstance(answer, LabError):
            raise answer
        return [answer]

    measurements = target.CachedMeasurements(read)
    assert [len(measurements.current()) for _ in range(5)] == [0, 0, 0, 1, 0]
    assert caplog.messages == ["LabError: bgpd: does not answer. Wait.", "LabError: bgpd: ended. Wait."]


def test_the_two_ways_to_connect_say_the_same_of_an_endpoint_that_is_not_verified(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The text is at one place; targets that come back together are logged once in some minutes, each by its name."""
    receiver = FastReceiver()
    with caplog.at_level(logging.WARNING):
        for name, settings in (("leaf1", {"plaintext": True}), ("leaf2", {"skip_verify": True}), ("leaf3", {})):
            for _ in range(3):
                receiver._warn(Endpoint(name=name, platform="frr", host="192.0.2.1", **settings))
    assert caplog.messages == [
        "leaf1: connected without TLS, as the endpoint asks (plaintext)",
        "leaf2: certificate not verified, as the endpoint asks (skip_verify)",
    ]
    for path in (trust.__file__, fast.__file__):
        assert "as the endpoint asks" not in Path(path).read_text()
