"""Signs of life: a ping where nothing arrives, and an end of the connection where it is not answered."""

from __future__ import annotations

import asyncio

from railfab.telemetry.receive.http2 import Connection
from railfab.telemetry.receive.wire import Wire


class Keepalive:
    """Pings after every_s without a byte, and fails the wire after another timeout_s. Time in which nobody reads, since
    the caller is late, is not the peer's."""

    def __init__(self, connection: Connection, wire: Wire, every_s: float, timeout_s: float) -> None:
        self._connection, self._wire = connection, wire
        self._every_s, self._timeout_s = every_s, timeout_s
        self._loop = asyncio.get_running_loop()
        self._start()

    def _start(self) -> None:
        self._seen = self._connection.received
        self._timer = self._loop.call_later(self._every_s, self._ask)

    def _is_silent(self) -> bool:
        return self._connection.received == self._seen and self._wire.is_waiting

    def _ask(self) -> None:
        if not self._is_silent():
            return self._start()
        self._connection.ping()
        self._timer = self._loop.call_later(self._timeout_s, self._judge)
        return None

    def _judge(self) -> None:
        if not self._is_silent():
            return self._start()
        return self._wire.fail(TimeoutError(f"no answer to a ping within {self._timeout_s:g} s"))

    def stop(self) -> None:
        self._timer.cancel()
