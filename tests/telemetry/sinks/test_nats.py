"""A real nats-server takes what is published: by subject, in order, after a restart, and not what it forbids."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from tests.ports import free_port
from tests.telemetry.sinks.samples import NOW_MS, batch, eventually

from railfab.endpoints.secrets import SecretSource
from railfab.gnmi.certificates import Authority
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.sinks.nats import nats_sink
from railfab.telemetry.sinks.queued import QueuedSink

pytestmark = pytest.mark.nats

QUICK = RetryPolicy(first_s=0.05, most_s=0.1)
LOGIN = {"RAILFAB_NATS_USERNAME": "ann", "RAILFAB_NATS_PASSWORD": "secret"}
CONFIG = """
max_payload: 4096
authorization { users: [
  { user: ann, password: secret, permissions: { publish: { deny: "railfab.leaf2" }, subscribe: ">" } } ] }
"""


@contextmanager
def serving(folder: Path, port: int, config: str = CONFIG) -> Iterator[None]:
    """A server that listens."""
    (folder / "nats.conf").write_text(f"listen: 127.0.0.1:{port}\n{config}")
    command = ["nats-server", "-c", str(folder / "nats.conf")]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: listens(port))
        yield
    finally:
        server.terminate()
        server.wait(10)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def publishing(urls: str, environment: dict[str, str], **options: object) -> Iterator[QueuedSink]:
    sink = nats_sink(urls.split(","), "railfab", SecretSource("RAILFAB_NATS", environment), retries=QUICK, **options)
    try:
        yield sink
    finally:
        sink.close(0.0)


async def heard(port: int, emit: Callable[[], object], last_ms: int) -> list[tuple[str, bytes]]:
    """Subject and body of the messages up to one of a time, heard while a sink emits."""
    found: list[tuple[str, bytes]] = []
    client = Client()
    await client.connect(f"nats://127.0.0.1:{port}", user="ann", password="secret")

    async def take(message: Msg) -> None:
        found.append((message.subject, message.data))

    await client.subscribe("railfab.>", cb=take)
    await client.flush()
    await asyncio.to_thread(emit)
    until_s = time.monotonic() + 10
    while not any(f'"at_ms":{last_ms}' in body.decode() for _, body in found):
        assert time.monotonic() < until_s, found
        await asyncio.sleep(0.01)
    await client.close()
    return found


def test_messages_come_by_subject_and_what_the_server_forbids_or_is_too_large_counts_as_failed(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port), publishing(f"nats://127.0.0.1:{port}", LOGIN) as sink:

        def emit() -> None:
            sink.emit(batch(range(4)))  # leaf1: 0 and 2; leaf2: 1 and 3
            sink.emit(batch(range(100, 200, 2), now_ms=NOW_MS + 1))
            sink.emit(batch([0], now_ms=NOW_MS + 2))

        first, second = asyncio.run(heard(port, emit, NOW_MS + 2))
        eventually(lambda: sink.outbox.queue_bytes == 0)
        assert (first[0], second[0]) == ("railfab.leaf1", "railfab.leaf1")
        assert [json.loads(line)["value"] for line in first[1].splitlines()] == [0.0, 2.0]
        assert [json.loads(line)["at_ms"] for line in second[1].splitlines()] == [NOW_MS + 2]
        assert dict(sink.outbox.counts.failed) == {"permissions_violation": 2, "max_payload": 50}
        assert sink.outbox.counts.sent == 3


def test_no_message_counts_as_sent_before_the_server_has_seen_it(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port), publishing(f"nats://127.0.0.1:{port}", LOGIN) as sink:
        for step in range(1, 31):
            sink.emit(batch([1], now_ms=NOW_MS + step))  # of leaf2, which is refused with an error before the PONG
            eventually(lambda: sink.outbox.queue_bytes == 0)
        assert sink.outbox.counts.sent == 0
        assert dict(sink.outbox.counts.failed) == {"permissions_violation": 30}


def test_what_is_emitted_while_the_server_is_away_is_published_when_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    with publishing(f"nats://127.0.0.1:1,nats://127.0.0.1:{port}", LOGIN) as sink:
        sink.emit(batch([0]))
        with serving(tmp_path, port):
            eventually(lambda: sink.outbox.counts.sent == 1)
        sink.emit(batch([0], now_ms=NOW_MS + 1))
        sink.emit(batch([0], now_ms=NOW_MS + 2))
        with serving(tmp_path, port):
            asyncio.run(heard(port, lambda: sink.emit(batch([0], now_ms=NOW_MS + 3)), NOW_MS + 3))
            eventually(lambda: sink.outbox.counts.sent == 4)
        assert not sink.outbox.counts.failed
        assert not sink.outbox.counts.dropped


def test_a_wrong_password_is_said_and_a_corrected_one_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    file = tmp_path / "login.yml"
    file.write_text("{username: ann, password: wrong}")
    environment = {"RAILFAB_NATS_CREDENTIALS": str(file)}
    with serving(tmp_path, port), publishing(f"nats://127.0.0.1:{port}", environment) as sink:
        sink.emit(batch([0]))
        eventually(lambda: "uthorization" in caplog.text)
        file.write_text("{username: ann, password: secret}")
        eventually(lambda: sink.outbox.counts.sent == 1)
    assert "wrong" not in caplog.text


def test_a_certificate_is_verified(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority("tests")
    identity = authority.issue("nats")
    for name, content in (("ca", authority.certificate), ("cert", identity.certificate), ("key", identity.key)):
        (tmp_path / f"{name}.pem").write_bytes(content)
    config = f'tls {{ cert_file: "{tmp_path}/cert.pem", key_file: "{tmp_path}/key.pem" }}'
    port = free_port()
    with serving(tmp_path, port, config):
        with publishing(f"tls://127.0.0.1:{port}", {"RAILFAB_NATS_CA": str(tmp_path / "ca.pem")}) as sink:
            sink.emit(batch([0]))
            eventually(lambda: sink.outbox.counts.sent == 1)
        with publishing(f"tls://127.0.0.1:{port}", {}) as sink:
            sink.emit(batch([0]))
            eventually(lambda: "certificate verify failed" in caplog.text)
            assert sink.outbox.counts.sent == 0


def test_nothing_is_sent_to_a_server_without_tls_where_the_url_says_tls(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    with serving(tmp_path, port), publishing(f"tls://127.0.0.1:{port}", LOGIN) as sink:
        sink.emit(batch([0]))
        eventually(lambda: "the server has no TLS, and its URL says tls://" in caplog.text)
        assert sink.outbox.counts.sent == 0


def test_closing_gives_up_in_time() -> None:
    with publishing(f"nats://127.0.0.1:{free_port()}", {}) as sink:
        sink.emit(batch(range(3)))
        began_s = time.monotonic()
        sink.close(0.2)
        assert time.monotonic() - began_s < 2.0
        assert sink.outbox.counts.dropped == 3
