"""NATS through nats-py: one message for each device and push, on a subject of the device.

Each flight of messages ends with a PING, whose PONG says that the server has taken them. One that fails is sent again,
so a message may come twice. A JetStream stream on the subjects keeps them.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Sequence
from typing import Any

from nats.aio.client import Client
from nats.errors import ConnectionReconnectingError
from nats.errors import Error as NatsError

from railfab.endpoints.secrets import SecretSource
from railfab.errors import EndpointError
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.sinks.outbox import Outbox, Parcel
from railfab.telemetry.sinks.queued import QUEUE_BYTES, QueuedSink
from railfab.telemetry.sinks.records import MOST_BYTES, RecordEncoder

logger = logging.getLogger(__name__)

FLIGHT_BYTES = 1024 * 1024
FLUSH_S = 10
DIAL_S = 10.0
IDLE_S = 1.0
POLL_S = 0.1
RETRIES = RetryPolicy(first_s=1.0, most_s=30.0)
NO_TOKEN = re.compile(r"[\s.*>]")
"""Characters that the token of a subject may not have. Source: NATS documentation, "Subject-Based Messaging"."""


class TlsClient(Client):
    """A client that sends a login and samples over TLS only.

    The library treats TLS as optional: it connects without it where the server does not require it.
    """

    def _connect_command(self) -> bytes:
        if not self._server_info.get("tls_required"):
            raise NatsError("the server has no TLS, and its URL says tls://")
        return super()._connect_command()


class NatsTransport:
    """Publishes parcels in flights.

    servers: URLs of one cluster, without secrets; `tls://` verifies certificate and name.
    subject: the first tokens of the subjects; the last is the device, with `_` for what a token may not have.
    """

    def __init__(
        self, servers: Sequence[str], subject: str, source: SecretSource, *, retries: RetryPolicy = RETRIES
    ) -> None:
        self._servers, self._subject, self._source = list(servers), subject, source
        self._warnings = RepeatedWarnings(logger, prefix=f"{servers[0]}: ")
        self._retries = retries
        self._draw = random.Random()
        self._denied = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def _is_secure(self) -> bool:
        return self._servers[0].startswith("tls:")

    def run(self, outbox: Outbox) -> None:
        asyncio.run(self._run(outbox))

    def abort(self) -> None:
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    async def _run(self, outbox: Outbox) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._serve(outbox))
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    async def _serve(self, outbox: Outbox) -> None:
        """Connect, and publish until the outbox is done; connect anew where the library has given up."""
        failures = 0
        while not outbox.done():
            client = TlsClient() if self._is_secure else Client()
            try:
                await asyncio.wait_for(client.connect(**self._options()), DIAL_S)
                client.options["allow_reconnect"] = True  # from now on: until then secrets are read for each attempt
                failures = 0
                while not outbox.done() and not client.is_closed:
                    await self._flight(client, outbox)
            except (EndpointError, NatsError, OSError) as error:
                failures += 1
                self._say(error)
                await self._pause(outbox, failures)
            finally:
                await client.close()

    def _options(self) -> dict[str, Any]:
        secrets = self._source.read()
        login = {"user": secrets.username, "password": secrets.password} if secrets.username else {}
        return {
            "servers": self._servers,
            "name": "railfab",
            "allow_reconnect": False,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": self._retries.first_s,
            "error_cb": self._error,
            **login,
            **({"token": secrets.token} if secrets.token else {}),
            **({"tls": self._source.tls()} if self._is_secure else {}),
        }

    async def _flight(self, client: Client, outbox: Outbox) -> None:
        """Publish what is queued, up to FLIGHT_BYTES, and wait until the server has it. Raises NatsError, OSError."""
        if not client.is_connected:
            await asyncio.sleep(POLL_S)
            return
        parcels = await asyncio.to_thread(_flight_of, outbox, client.max_payload)
        if not parcels:
            return
        try:
            await self._publish(client, parcels)
        except (NatsError, OSError):
            for parcel in reversed(parcels):
                outbox.give_back(parcel)
            raise  # for another client: this one has messages that it has not written, and waits for PONGs
        self._warnings.end("unreachable", "takes samples again")
        for parcel in parcels:
            denied = f'"{self._subject_of(parcel).lower()}"' in self._denied
            outbox.settle(parcel, "permissions_violation" if denied else "")

    async def _publish(self, client: Client, parcels: Sequence[Parcel]) -> None:
        """Publish parcels and wait for the PONG that comes after them; raises where the connection was another by then.

        The library writes the PING of a flush before messages that wait in its own buffer, so the first flush empties
        that, and only the second one comes after the messages.
        """
        self._denied = ""
        reconnects = client.stats["reconnects"]
        for parcel in parcels:
            await client.publish(self._subject_of(parcel), parcel.body)
        for _ in range(2):
            await client.flush(FLUSH_S)
        if client.stats["reconnects"] != reconnects:
            raise ConnectionReconnectingError

    def _subject_of(self, parcel: Parcel) -> str:
        return f"{self._subject}.{NO_TOKEN.sub('_', parcel.device) or '_'}"

    async def _error(self, error: Exception) -> None:
        """An error that the library reports: a message that is not allowed, or a connection that it makes again."""
        if "permissions violation" in str(error).lower():
            self._denied += str(error).lower()
            self._warnings.warning(f"{error}. Samples for it are lost", reason="permissions_violation")
        else:
            self._say(error)

    def _say(self, error: Exception) -> None:
        text = str(error).removeprefix("nats: ").rstrip(".") or type(error).__name__
        self._warnings.warning(f"{text}. Samples are queued until it is reached again", reason="unreachable")

    async def _pause(self, outbox: Outbox, failures: int) -> None:
        wait_s = self._retries.delay_s(failures, refused=False, draw=self._draw)
        await asyncio.to_thread(outbox.pause, wait_s)


def _flight_of(outbox: Outbox, most_payload: int) -> list[Parcel]:
    """The oldest parcels, up to FLIGHT_BYTES; those larger than the server takes are counted as failed."""
    found: list[Parcel] = []
    size = 0
    while size < FLIGHT_BYTES and (parcel := outbox.take(0 if found else IDLE_S)) is not None:
        if len(parcel.body) > most_payload:
            outbox.settle(parcel, "max_payload")
            continue
        found.append(parcel)
        size += len(parcel.body)
    return found


def nats_sink(
    servers: Sequence[str],
    subject: str,
    source: SecretSource,
    *,
    queue_bytes: int = QUEUE_BYTES,
    most_bytes: int = MOST_BYTES,
    retries: RetryPolicy = RETRIES,
) -> QueuedSink:
    """A sink that publishes JSON lines (records.py) on `<subject>.<device>`."""
    transport = NatsTransport(servers, subject, source, retries=retries)
    return QueuedSink("nats", RecordEncoder(most_bytes), transport, queue_bytes=queue_bytes)
