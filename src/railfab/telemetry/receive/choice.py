"""Receivers by name, and the choice among them for each target."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial

from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi import messages
from railfab.gnmi.statuses import StreamClosed
from railfab.telemetry.receive.contract import Batch, Receiver, RpcEnded, nobody
from railfab.telemetry.receive.errors import ProtocolError
from railfab.telemetry.receive.fast import DIAL_TIMEOUT_S, FastReceiver

logger = logging.getLogger(__name__)


def receiver(name: str, *, dial_timeout_s: float = DIAL_TIMEOUT_S, dials: asyncio.Semaphore | None = None) -> Receiver:
    """The receiver of this name, one of RECEIVERS, for the targets of one event loop. Raises KeyError.

    dials: how many may connect at one time; None for any number.
    """
    return RECEIVERS[name](dial_timeout_s=dial_timeout_s, dials=dials)


def _grpc(*, dial_timeout_s: float, dials: asyncio.Semaphore | None) -> Receiver:
    from railfab.telemetry.receive.grpcio import GrpcReceiver  # takes 30 MB that the fast receiver does not need

    return GrpcReceiver(dial_timeout_s=dial_timeout_s, dials=dials)


class AutoReceiver:
    """Receives with the fast receiver, and with grpcio a target that does what the fast one does not know.

    fallbacks: addresses of these targets, each of which is logged once.
    """

    def __init__(self, *, dial_timeout_s: float = DIAL_TIMEOUT_S, dials: asyncio.Semaphore | None = None) -> None:
        self._fast = FastReceiver(dial_timeout_s=dial_timeout_s, dials=dials)
        self._grpc = partial(_grpc, dial_timeout_s=dial_timeout_s, dials=dials)
        self.fallbacks: set[tuple[str, int | None]] = set()

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[], object] = nobody,
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, as the contract says."""
        address = endpoint.host, endpoint.gnmi_port
        started = False
        if address not in self.fallbacks:
            try:
                async with aclosing(self._fast.stream(endpoint, credentials, requests, connected)) as stream:
                    async for event in stream:
                        started = True
                        yield event
            except ProtocolError as error:
                self.fallbacks.add(address)
                logger.warning("%s: %s. It is received with grpc from now on.", endpoint.name, error.problem)
                if started:
                    raise StreamClosed(endpoint.name, error.problem, "It is opened again") from None
        async with aclosing(self._grpc().stream(endpoint, credentials, requests, connected)) as stream:
            async for event in stream:
                yield event


RECEIVERS: dict[str, Callable[..., Receiver]] = {
    "auto": AutoReceiver,
    "fast": FastReceiver,
    "grpc": _grpc,
}
"""How each receiver is made, by name. auto is the default of a collector."""
