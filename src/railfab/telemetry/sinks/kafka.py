"""Kafka through librdkafka: one message for each device and push, with the device as its key, which keeps their order.

Source: librdkafka, CONFIGURATION.md.
"""

from __future__ import annotations

import logging
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from railfab.endpoints.secrets import Secrets, SecretSource
from railfab.errors import EndpointError
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.sinks.outbox import Outbox, Parcel
from railfab.telemetry.sinks.queued import QUEUE_BYTES, QueuedSink
from railfab.telemetry.sinks.records import MOST_BYTES, RecordEncoder

logger = logging.getLogger(__name__)

IN_FLIGHT_KB = 4_096
"""Of messages in librdkafka's own queue, which never drops one; all others wait in ours."""
SYSLOG_CRITICAL = 2
"""The library logs nothing less: it reports each error by its callback too, which is logged here."""
POLL_S = 0.1
IDLE_S = 1.0


class KafkaTransport:
    """Produces one message for each parcel and counts it when the broker has written it.

    servers: host:port, several with commas. tls: verify certificate and name of the brokers; without it the connection
    is in plain text. The client library connects again by itself, and sends again, without a second copy.
    """

    def __init__(self, servers: str, topic: str, source: SecretSource, *, tls: bool) -> None:
        self._servers, self._topic, self._tls = servers, topic, tls
        self._source = source
        self._warnings = RepeatedWarnings(logger, prefix=f"kafka {servers}: ")
        self._rejected = False
        self._producer = self._connect(source.read())

    def run(self, outbox: Outbox) -> None:
        while not (outbox.done() and not len(self._producer)) and not outbox.abandoned:
            parcel = outbox.take(POLL_S if len(self._producer) else IDLE_S)
            if parcel is not None:
                self._produce(outbox, parcel)
            self._producer.poll(POLL_S if outbox.done() else 0)
            if self._rejected:
                self._log_in_again()
        self._producer.purge()

    def abort(self) -> None:
        """Nothing: no call of the thread lasts longer than POLL_S."""

    def _produce(self, outbox: Outbox, parcel: Parcel) -> None:
        while not outbox.abandoned:
            try:
                key = parcel.device or None
                self._producer.produce(
                    self._topic, parcel.body, key, on_delivery=partial(self._delivered, outbox, parcel)
                )
                return
            except BufferError:  # librdkafka's queue is full
                self._producer.poll(POLL_S)
            except KafkaException as error:
                self._refused(outbox, parcel, error.args[0])
                return

    def _delivered(self, outbox: Outbox, parcel: Parcel, error: KafkaError | None, _message: Message) -> None:
        if error is None:
            self._warnings.end("unreachable", "takes samples again")
            outbox.settle(parcel)
        else:
            self._refused(outbox, parcel, error)

    def _refused(self, outbox: Outbox, parcel: Parcel, error: KafkaError) -> None:
        reason = error.name().strip("_").lower()
        self._warnings.warning(
            f"refuses {parcel.samples:,} samples ({error.str()}). They are not sent again", reason=reason
        )
        outbox.settle(parcel, reason)

    def _error(self, error: KafkaError) -> None:
        """An error that is not of one message; the library tries again by itself.

        A login is renewed after the poll: a call of the producer from a callback ends the process.
        """
        self._warnings.warning(f"{error.str()}. Samples are queued until it is reached again", reason="unreachable")
        self._rejected = self._rejected or error.code() == KafkaError._AUTHENTICATION

    def _log_in_again(self) -> None:
        self._rejected = False
        try:
            secrets = self._source.read()
        except EndpointError as error:
            self._warnings.warning(str(error), reason="credentials")
        else:
            self._producer.set_sasl_credentials(secrets.username, secrets.password)

    def _connect(self, secrets: Secrets) -> Producer:
        login = {
            "sasl.mechanism": self._source.environment.get(f"{self._source.prefix}_MECHANISM", "PLAIN"),
            "sasl.username": secrets.username,
            "sasl.password": secrets.password,
        }
        protocol = ("SASL_" if secrets.username else "") + ("SSL" if self._tls else "PLAINTEXT")
        return Producer(
            {
                "bootstrap.servers": self._servers,
                "security.protocol": protocol.lower(),
                **({"ssl.ca.location": self._source.ca} if self._tls and self._source.ca else {}),
                **(login if secrets.username else {}),
                "client.id": "railfab",
                "enable.idempotence": True,
                "compression.type": "lz4",
                "linger.ms": 20,
                "message.timeout.ms": 0,
                "queue.buffering.max.kbytes": IN_FLIGHT_KB,
                "error_cb": self._error,
                "log_level": SYSLOG_CRITICAL,
            },
            logger=logger,
        )


def kafka_sink(
    servers: str,
    topic: str,
    source: SecretSource,
    *,
    tls: bool = True,
    queue_bytes: int = QUEUE_BYTES,
    most_bytes: int = MOST_BYTES,
) -> QueuedSink:
    """A sink that writes JSON lines (records.py) to a topic. Raises EndpointError for what librdkafka refuses."""
    try:
        transport = KafkaTransport(servers, topic, source, tls=tls)
    except KafkaException as error:
        problem = str(error.args[0].str()).rstrip(".")
        raise EndpointError(f"kafka {servers}", problem, f"Check the variables {source.prefix}_*") from None
    return QueuedSink("kafka", RecordEncoder(most_bytes), transport, queue_bytes=queue_bytes)
