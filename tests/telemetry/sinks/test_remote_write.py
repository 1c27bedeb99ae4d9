"""Remote write before a receiver that refuses, fails, hangs and closes: in order, without loss while there is room."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.telemetry.sinks.samples import BYTES, NOW_MS, batch, eventually, receiving

from railfab import __version__
from railfab.endpoints.secrets import SecretSource
from railfab.gnmi.certificates import Authority
from railfab.metrics import metric
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.sinks.queued import QueuedSink
from railfab.telemetry.sinks.remote_write import METADATA_MS, remote_write_sink

QUICK = RetryPolicy(first_s=0.02, most_s=0.05)
PREFIX = "RAILFAB_REMOTE_WRITE"


@contextmanager
def writing(url: str, environment: dict[str, str] | None = None, **options: object) -> Iterator[QueuedSink]:
    options = {"retries": QUICK, "timeout_s": 0.2, "most_samples": 2, **options}
    sink = remote_write_sink(urlsplit(url), SecretSource(PREFIX, environment or {}), **options)
    try:
        yield sink
    finally:
        sink.close(0.0)


def emit(sink: QueuedSink, *values: int) -> None:
    """One batch for each value, of one series."""
    for value in values:
        at_ms = NOW_MS + value
        sink.emit(batch({1: (float(value), at_ms)}, now_ms=at_ms))


def test_requests_are_bounded_and_have_the_headers_of_the_specification() -> None:
    with receiving() as (receiver, url), writing(url) as sink:
        sink.emit(batch(range(5)))
        sink.close()
    assert receiver.accepted[0] == (
        {"__name__": "fabric_interface_receive_bytes_total", "device": "leaf1", "interface": "ethernet-1/0"},
        0.0,
        NOW_MS,
    )
    assert receiver.values() == [0, 1, 2, 3, 4]
    assert len(receiver.headers) == 3
    assert (
        receiver.headers[0].items()
        >= {
            "Content-Encoding": "snappy",
            "Content-Type": "application/x-protobuf",
            "X-Prometheus-Remote-Write-Version": "0.1.0",
            "User-Agent": f"railfab/{__version__}",
        }.items()
    )
    counts = sink.outbox.counts
    assert (counts.sent, counts.dropped, counts.retries, sink.outbox.queue_bytes) == (5, 0, 0, 0)
    assert time.time() - counts.last_success_s < 10


def test_the_kinds_of_metrics_are_sent_with_the_first_samples_and_every_minute() -> None:
    other = metric("fabric_interface_oper_up")
    with receiving() as (receiver, url), writing(url) as sink:
        for now_ms in (NOW_MS, NOW_MS + 30_000, NOW_MS + 59_999):
            sink.emit(batch(range(5), now_ms=now_ms))
        eventually(lambda: sink.outbox.counts.sent == 15)
        assert receiver.metadata == [(1, BYTES.name, BYTES.help, "bytes")]
        sink.emit(batch([9], now_ms=NOW_MS + 59_999, describe=lambda _: (other, ())))
        eventually(lambda: sink.outbox.counts.sent == 16)
        assert receiver.metadata[1:] == [(1, BYTES.name, BYTES.help, "bytes"), (2, other.name, other.help, "")]
        sink.emit(batch([1], now_ms=NOW_MS + 59_999 + METADATA_MS))
        eventually(lambda: sink.outbox.counts.sent == 17)
        assert len(receiver.metadata) == 5


def test_what_fails_is_sent_again_in_order_and_nothing_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    answers = (429, 500, "close", 503, "hang", "close", 204)
    with receiving(*answers) as (receiver, url), writing(url) as sink:
        emit(sink, *range(6))
        eventually(lambda: sink.outbox.counts.sent == 6)
    assert receiver.values() == list(range(6))
    assert sink.outbox.counts.retries >= 5, "a kept connection that was closed is made again within an attempt"
    assert not sink.outbox.counts.failed
    assert not sink.outbox.counts.dropped
    assert [line.message.removeprefix(url) for line in caplog.records if line.levelno == logging.WARNING] == [
        ": answers 429 Too Many Requests (status 429). Samples are queued, and sent again with back-off"
    ]


def test_what_is_refused_is_not_sent_again_and_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with receiving(400, 400, 204) as (receiver, url), writing(url) as sink:
        emit(sink, 1, 2, 3)
        eventually(lambda: sink.outbox.counts.sent == 1)
    assert receiver.values() == [3]
    assert dict(sink.outbox.counts.failed) == {"http_400": 2}
    assert sink.outbox.counts.retries == 0
    (line,) = [line.message for line in caplog.records if line.levelno == logging.WARNING]
    assert line == f"{url}: answers 400 Bad Request (status 400), and 1 samples are lost. They are not sent again"


def test_a_connection_that_was_closed_while_idle_is_made_again_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with receiving("leave", 204) as (receiver, url), writing(url) as sink:
        for value in (1, 2):
            emit(sink, value)
            eventually(lambda sent=value: sink.outbox.counts.sent == sent)
            time.sleep(0.05)
    assert receiver.values() == [1, 2]
    assert sink.outbox.counts.retries == 0
    assert caplog.records == []


def test_retry_after_is_waited_for() -> None:
    with receiving((429, {"Retry-After": "1"}), 204) as (receiver, url), writing(url) as sink:
        emit(sink, 1)
        eventually(lambda: sink.outbox.counts.sent == 1)
    first_s, second_s = receiver.arrived_s
    assert second_s - first_s >= 1.0


def test_beyond_its_bound_the_queue_drops_the_oldest_and_counts_them() -> None:
    with receiving("hang") as (receiver, url), writing(url, queue_bytes=1_500, timeout_s=5.0) as sink:
        emit(sink, 0)
        eventually(lambda: receiver.headers)
        emit(sink, *range(1, 20))
        assert sink.outbox.queue_bytes <= 1_500
        dropped = sink.outbox.counts.dropped
        assert dropped > 10
        receiver.answers[:] = [204]
        receiver.over.set()
        eventually(lambda: sink.outbox.queue_bytes == 0)
        assert receiver.values() == [0, *range(1 + dropped, 20)]
        assert sink.outbox.counts.sent + dropped == 20


def test_closing_sends_what_is_queued_and_gives_up_in_time() -> None:
    with receiving(500, 204) as (receiver, url), writing(url, retries=RetryPolicy(first_s=60.0)) as sink:
        emit(sink, 1, 2)
        sink.close(5.0)
        assert receiver.values() == [1, 2]
    with receiving("hang") as (_, url), writing(url, timeout_s=30.0) as sink:
        emit(sink, 1, 2)
        began_s = time.monotonic()
        sink.close(0.2)
        assert time.monotonic() - began_s < 1.0
        assert sink.outbox.counts.dropped == 2
        assert sink.outbox.queue_bytes == 0


@pytest.mark.parametrize(
    ("environment", "header"),
    [
        ({f"{PREFIX}_USERNAME": "ann", f"{PREFIX}_PASSWORD": "secret"}, "Basic YW5uOnNlY3JldA=="),
        ({f"{PREFIX}_TOKEN": "abc"}, "Bearer abc"),
        ({}, None),
    ],
)
def test_a_login_is_sent(environment: dict[str, str], header: str | None) -> None:
    with receiving() as (receiver, url), writing(url, environment) as sink:
        emit(sink, 1)
        sink.close()
    assert receiver.headers[0].get("Authorization") == header


def test_a_new_password_is_read_after_a_refusal(tmp_path) -> None:
    file = tmp_path / "login.yml"
    file.write_text("{username: ann, password: old}")
    with receiving(401, 204) as (receiver, url), writing(url, {f"{PREFIX}_CREDENTIALS": str(file)}) as sink:
        emit(sink, 1)
        eventually(lambda: sink.outbox.counts.failed)
        file.write_text("{token: new}")
        emit(sink, 2)
        eventually(lambda: sink.outbox.counts.sent)
    assert receiver.headers[1]["Authorization"] == "Bearer new"


def test_a_file_without_a_login_is_said_and_waited_for(tmp_path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "login.yml"
    with receiving() as (_, url), writing(url, {f"{PREFIX}_CREDENTIALS": str(file)}) as sink:
        emit(sink, 1)
        eventually(lambda: sink.outbox.counts.retries)
        file.write_text("{token: new}")
        eventually(lambda: sink.outbox.counts.sent)
    assert f"{file}: the file contains no credentials" in caplog.text


def test_a_certificate_is_verified(tmp_path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority("tests")
    identity = authority.issue("prometheus")
    for name, content in (("ca", authority.certificate), ("server", identity.certificate + identity.key)):
        (tmp_path / f"{name}.pem").write_bytes(content)
    with receiving(tls=tmp_path / "server.pem") as (receiver, url):
        with writing(url, {f"{PREFIX}_CA": str(tmp_path / "ca.pem")}, timeout_s=5.0) as sink:
            emit(sink, 1)
            eventually(lambda: sink.outbox.counts.sent == 1)
        with writing(url, timeout_s=5.0) as sink:
            emit(sink, 2)
            eventually(lambda: sink.outbox.counts.retries)
        with writing(url.replace("127.0.0.1", "127.0.0.2"), {f"{PREFIX}_CA": str(tmp_path / "ca.pem")}) as sink:
            emit(sink, 3)
            eventually(lambda: sink.outbox.counts.retries)
    assert receiver.values() == [1]
    problems = [line.message.partition(": ")[2] for line in caplog.records if line.levelno == logging.WARNING]
    assert [problem.partition(". ")[0] for problem in problems] == [
        "no TLS session (unable to get local issuer certificate)",
        "no TLS session (ip address mismatch, certificate is not valid for '127.0.0.2')",
    ]
