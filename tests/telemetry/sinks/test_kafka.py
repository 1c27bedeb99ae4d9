"""A real Kafka broker takes what is produced, by device, in order and from before it was there; refusals count."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Message
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.ports import free_port
from tests.telemetry.sinks.samples import NOW_MS, batch, eventually

from railfab.endpoints.secrets import SecretSource
from railfab.gnmi.certificates import Authority
from railfab.telemetry.sinks.kafka import kafka_sink

pytestmark = pytest.mark.kafka

ANONYMOUS = SecretSource("RAILFAB_KAFKA", {})
CLUSTER = "railfabtestclusteridAA"
START_S = 60.0
JAVA = (
    "java",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
"""Compiled quickly rather than well: the broker runs for seconds."""


@contextmanager
def broker(folder: Path, port: int, secure: int, controller: int) -> Iterator[None]:
    """One node that is broker and controller, and makes no topic by itself. secure: port with TLS and a login."""
    authority = Authority("tests")
    identity = authority.issue("broker")
    (folder / "ca.pem").write_bytes(authority.certificate)
    (folder / "broker.pem").write_bytes(identity.key + identity.certificate)
    plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"OPEN://127.0.0.1:{port},SECURE://127.0.0.1:{secure},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "OPEN:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "OPEN",
        "controller.listener.names": "CONTROLLER",
        "listener.name.secure.ssl.keystore.type": "PEM",
        "listener.name.secure.ssl.keystore.location": folder / "broker.pem",
        "listener.name.secure.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secure.plain.sasl.jaas.config": f'{plain} required user_ann="secret";',
        "log.dirs": folder / "log",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "auto.create.topics.enable": "false",
    }
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    java = (*JAVA, "-cp", f"{os.environ['RAILFAB_KAFKA_JARS']}/*")
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", file], check=True, capture_output=True
    )
    with (folder / "broker.log").open("wb") as log:
        server = subprocess.Popen([*java, "kafka.Kafka", file], stdout=log, stderr=log)
    try:
        yield
    finally:
        server.kill()
        server.wait(10)


def answers(admin: AdminClient) -> bool:
    try:
        return bool(admin.list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def consumed(port: int, topic: str, messages: int) -> list[Message]:
    consumer = Consumer(
        {"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "tests", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    found: list[Message] = []
    until_s = time.monotonic() + START_S
    while len(found) < messages:
        assert time.monotonic() < until_s, found
        message = consumer.poll(1.0)
        found += [message] if message is not None and message.error() is None else []
    consumer.close()
    return found


@pytest.mark.timeout(180)
def test_a_broker_has_the_samples_of_each_device_in_order_and_refusals_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port, secure, controller = free_port(), free_port(), free_port()
    address = f"127.0.0.1:{port}"
    sink = kafka_sink(address, "fabric", ANONYMOUS, tls=False)
    sink.emit(batch(range(4)))  # the broker comes later
    with broker(tmp_path, port, secure, controller):
        admin = AdminClient({"bootstrap.servers": address, "log_level": 2})
        topic = NewTopic("fabric", num_partitions=2, replication_factor=1, config={"max.message.bytes": "8000"})
        eventually(lambda: answers(admin), START_S)
        admin.create_topics([topic])["fabric"].result(START_S)
        for step in range(1, 4):
            sink.emit(batch(range(4), now_ms=NOW_MS + step))
        eventually(lambda: sink.outbox.counts.sent == 16, START_S)
        sink.emit(batch({n: (n * 1e9 / 7, NOW_MS + 9) for n in range(1_000, 3_000, 2)}, now_ms=NOW_MS + 9))
        eventually(lambda: sink.outbox.counts.failed, START_S)
        assert dict(sink.outbox.counts.failed) == {"msg_size_too_large": 1_000}
        sink.emit(batch(range(4), now_ms=NOW_MS + 10))
        sink.close(10.0)
        assert (sink.outbox.counts.sent, sink.outbox.counts.dropped, sink.outbox.queue_bytes) == (20, 0, 0)
        found = consumed(port, "fabric", 10)
        check_login_and_certificate(tmp_path, f"127.0.0.1:{secure}", caplog)
    for device, ids in ((b"leaf1", (0, 2)), (b"leaf2", (1, 3))):
        lines = [json.loads(line) for one in found if one.key() == device for line in one.value().splitlines()]
        assert [line["at_ms"] for line in lines] == [NOW_MS + step for step in (0, 1, 2, 3, 10) for _ in ids]
        assert [line["value"] for line in lines] == [float(n) for n in ids] * 5
        assert {line["labels"]["device"].encode() for line in lines} == {device}
    warnings = [line.message for line in caplog.records if line.name == "railfab.telemetry.sinks.kafka"]
    assert any("refuses 1,000 samples" in line for line in warnings)


def check_login_and_certificate(folder: Path, address: str, caplog: pytest.LogCaptureFixture) -> None:
    """On the broker of the test above, since each one that is started costs seconds of CPU."""
    login, prefix = folder / "login.yml", "RAILFAB_KAFKA"
    login.write_text("{username: ann, password: wrong}")
    environment = {f"{prefix}_CREDENTIALS": str(login), f"{prefix}_CA": str(folder / "ca.pem")}
    sink = kafka_sink(address, "fabric", SecretSource(prefix, environment))
    sink.emit(batch([1]))
    eventually(lambda: "uthentication failed" in caplog.text, START_S)
    login.write_text("{username: ann, password: secret}")
    eventually(lambda: sink.outbox.counts.sent == 1, START_S)
    sink.close()
    assert "wrong" not in caplog.text
    sink = kafka_sink(address, "fabric", SecretSource(prefix, {f"{prefix}_CREDENTIALS": str(login)}))
    sink.emit(batch([1]))
    eventually(lambda: "certificate verify failed" in caplog.text, START_S)
    sink.close(0.0)
    assert sink.outbox.counts.sent == 0


def test_closing_without_a_broker_gives_up_in_time_and_counts_what_is_lost() -> None:
    port = free_port()
    sink = kafka_sink(f"127.0.0.1:{port}", "fabric", ANONYMOUS, tls=False)
    sink.emit(batch(range(4)))
    began_s = time.monotonic()
    sink.close(0.2)
    assert time.monotonic() - began_s < 3.0
    assert (sink.outbox.counts.sent, sink.outbox.counts.dropped) == (0, 4)
