"""The receiver of our own: HTTP/2 on a socket, of which one compiled call takes all messages of a read."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, LoginRefused
from railfab.gnmi import messages
from railfab.gnmi.first_contact import ClosedPorts, first_contact, refuse_other_protocol
from railfab.gnmi.listening import listening_timeout
from railfab.gnmi.login import login_metadata, login_name
from railfab.gnmi.statuses import Callee, Refused, Status
from railfab.gnmi.tls import address_of, context_of, reason, server_name, unanswered, unconnected, unverified
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.receive import frames
from railfab.telemetry.receive.contract import ENDS_ONE, POLL, Ask, Batch, RpcEnded, ignored, is_once
from railfab.telemetry.receive.errors import ProtocolError
from railfab.telemetry.receive.http2 import Connection, GoneAway, ProtocolViolation
from railfab.telemetry.receive.inflow import Shared
from railfab.telemetry.receive.keepalive import Keepalive
from railfab.telemetry.receive.ticks import Ticks
from railfab.telemetry.receive.wire import Wire, connect

logger = logging.getLogger(__name__)

DIAL_TIMEOUT_S = 10.0
WINDOW = 1 << 20
"""Bytes of a stream that the target may send before they are consumed."""
GRANTED_S = 0.002
"""Time in which a target that was granted more sends it [s]: else its rate would be one window a `COALESCE_S`."""
COALESCE_S = 0.1
"""Time between two reads of a connection that has sent less than can be read at once [s]."""
KEEPALIVE_S = 30.0
KEEPALIVE_TIMEOUT_S = 20.0


class FastReceiver:
    """Receives the targets of one event loop, as `contract.Receiver` says; also raises ProtocolError.

    coalesce_s: a target that sends a little all the time is read that often; 0: whenever it has sent something.
    keepalive_s: silence before a ping, doubled for a target each time that it finds its pings too many.
    """

    needs_login = True

    def __init__(
        self,
        *,
        dial_timeout_s: float = DIAL_TIMEOUT_S,
        window: int = WINDOW,
        coalesce_s: float = COALESCE_S,
        keepalive_s: float = KEEPALIVE_S,
        keepalive_timeout_s: float = KEEPALIVE_TIMEOUT_S,
    ) -> None:
        self._dial_timeout_s, self._window = dial_timeout_s, window
        self._ticks = Ticks(coalesce_s) if coalesce_s else None
        self._keepalive_s, self._keepalive_timeout_s = keepalive_s, keepalive_timeout_s
        self._doublings: dict[str, int] = {}
        self._warnings = RepeatedWarnings(logger)
        self._closed = ClosedPorts()
        self._shared = Shared.new()

    def name_of(self, _: Endpoint) -> str:
        """The name of this receiver."""
        return "fast"

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, as the contract says."""
        callee = Callee(endpoint.name, address_of(endpoint), login_name(credentials))
        headers = _headers(endpoint, callee, credentials)
        wire, connection = await self._open(endpoint, callee, len(requests))
        keepalive = self._keepalive(callee, connection, wire)
        started, over = False, set[int]()
        try:
            _check_limit(callee, connection, len(requests))
            connection.request(headers, [request.SerializeToString() for request in requests])
            connected(partial(_ask, connection, headers, requests, over))
            while True:
                connection.read()
                for batch in connection.batches():
                    started = True
                    yield batch
                for rpc, answered, status in connection.ended():
                    if answered and status.code == "OK" and is_once(requests[rpc]):
                        yield RpcEnded(rpc, None)
                        continue
                    over.add(rpc)
                    error = _error(callee, answered, status)
                    if len(over) == len(requests) or not isinstance(error, ENDS_ONE):
                        raise error
                    yield RpcEnded(rpc, error)
                if connection.goaway:
                    raise self._gone_away(callee, connection.goaway, started)
                granted = connection.grant()
                await _pause(wire, connection.is_full, granted)
        except ProtocolViolation as violation:
            raise _violated(callee, violation) from None
        except EOFError:
            raise _lost(callee, started, "the target closed the connection") from None
        except OSError as error:
            raise _lost(callee, started, reason(error)) from None
        finally:
            keepalive.stop()
            connection.close()

    async def _open(self, endpoint: Endpoint, callee: Callee, streams: int) -> tuple[Wire, Connection]:
        """Connect, with TLS unless the endpoint says plaintext, up to the first frame of the target.

        No credentials are sent before it. Where it does not come, what has come tells what the port speaks instead.
        """
        context = None if endpoint.plaintext else await asyncio.to_thread(context_of, endpoint)
        wire = connection = None
        try:
            async with listening_timeout(self._dial_timeout_s):
                wire = Wire(await connect(endpoint.host, endpoint.gnmi_port or 0), self._shared.cipher, self._ticks)
                if context:
                    await wire.start_tls(context, server_name(endpoint))
                connection = Connection(wire, self._shared, streams, self._window)
                while not connection.settled:
                    await wire.readable()
                    connection.read()
        except ProtocolViolation as violation:
            _close(wire)
            refuse_other_protocol(endpoint, callee.address, connection.greeting if connection else b"")
            raise _violated(callee, violation) from None
        except (EOFError, ConnectionResetError):
            _close(wire)
            raise await self._closed_early(endpoint, callee, context, connection) from None
        except OSError as error:
            _close(wire)
            raise unconnected(endpoint, callee.address, error, self._dial_timeout_s) from None
        except BaseException:
            _close(wire)
            raise
        self._warn(endpoint)
        return wire, connection

    async def _closed_early(
        self, endpoint: Endpoint, callee: Callee, context: ssl.SSLContext | None, connection: Connection | None
    ) -> DeviceError:
        """The error for a connection that the target closed before its first frame.

        Further connections are made only where the first one cannot tell: whether a port that is silent speaks TLS, or
        does not, and whether one that closes after a handshake does it again, since it refuses our certificate.
        """
        if connection is None or (context is None and not connection.greeting):
            await self._closed.refuse_other_port(endpoint, callee.address, self._dial_timeout_s)
            return unanswered(callee.name, callee.address, "it closed the connection")
        refuse_other_protocol(endpoint, callee.address, connection.greeting)
        if not connection.greeting:
            await first_contact(endpoint, callee.address, context, self._dial_timeout_s, self._closed)
        return callee.lost("the target closed the connection before its first frame")

    def _warn(self, endpoint: Endpoint) -> None:
        """Log that a connection is not verified, but not at each dial of targets that come back together."""
        if text := unverified(endpoint):
            self._warnings.warning(text, reason=text)

    def _keepalive(self, callee: Callee, connection: Connection, wire: Wire) -> Keepalive:
        every_s = self._keepalive_s * 2 ** self._doublings.get(callee.address, 0)
        return Keepalive(connection, wire, every_s, self._keepalive_timeout_s)

    def _gone_away(self, callee: Callee, said: GoneAway, started: bool) -> DeviceError:
        if said.code == frames.ENHANCE_YOUR_CALM:
            self._doublings[callee.address] = self._doublings.get(callee.address, 0) + 1
        return _lost(callee, started, f"the target ends the connection, {said.reason}")


def _ask(
    connection: Connection, headers: bytes, requests: Sequence[messages.SubscribeRequest], over: set[int], rpc: int
) -> None:
    """See `contract.Ask`. over: the RPCs that have ended with an error."""
    if is_once(requests[rpc]) or rpc in over:
        over.discard(rpc)
        connection.renew(rpc, headers, requests[rpc].SerializeToString())
    else:
        connection.send(rpc, POLL)


def _close(wire: Wire | None) -> None:
    if wire:
        wire.close()


async def _pause(wire: Wire, is_full: bool, granted: bool) -> None:
    """Let others run, and return when there is something to read; soon where the target waited for its window."""
    if granted:
        await asyncio.sleep(GRANTED_S)
    elif is_full:
        await asyncio.sleep(0)
    else:
        await wire.readable()


def _headers(endpoint: Endpoint, callee: Callee, credentials: Credentials) -> bytes:
    """The block of headers of a Subscribe. Raises LoginRefused for credentials that metadata cannot carry."""
    login = login_metadata(credentials)
    if not all(frames.is_metadata(text) for _, text in login):
        problem = "the user name, password or token has a character that gRPC does not send"
        raise LoginRefused(endpoint.name, problem, "Use printable ASCII only")
    return frames.header_block(
        (
            (":method", "POST"),
            (":scheme", "http" if endpoint.plaintext else "https"),
            (":path", messages.METHODS["Subscribe"]),
            (":authority", callee.address),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("user-agent", "railfab"),
            ("grpc-accept-encoding", "identity"),
            *login,
        )
    )


def _check_limit(callee: Callee, connection: Connection, streams: int) -> None:
    if streams > connection.max_streams:
        problem = f"allows {connection.max_streams:,} RPCs on a connection, and {streams:,} are needed"
        raise Refused(callee.name, problem, "Raise its limit")


def _error(callee: Callee, answered: bool, status: Status) -> DeviceError:
    """The error for an RPC that ended."""
    if status.code == "OK":
        return callee.ended()
    return callee.broken(status) if answered else callee.refusal(status, "Subscribe")


def _lost(callee: Callee, started: bool, said: str) -> DeviceError:
    """The error for a connection that broke."""
    return callee.broken(Status("UNAVAILABLE", said)) if started else callee.lost(said)


def _violated(callee: Callee, violation: ProtocolViolation) -> ProtocolError:
    problem = f"does not follow HTTP/2 or gRPC as the fast receiver knows them ({violation})"
    return ProtocolError(callee.name, problem, "Receive it with grpc instead")
