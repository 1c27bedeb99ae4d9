"""Receivers on gRPC's own servers, and on ports that are none."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

import grpc
import pytest
from tests.gnmi.test_ways_to_connect import client_files
from tests.telemetry.receive.peers import (
    ADMIN,
    HELLO,
    NAME,
    Peer,
    answer,
    contents,
    endpoint,
    error_of,
    frame,
    received,
    response,
    serving,
)
from tests.telemetry.receive.pygnmi_receiver import PygnmiReceiver

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import LoginRefused, Unreachable
from railfab.gnmi import first_contact, messages
from railfab.gnmi.certificates import Authority
from railfab.gnmi.statuses import StreamClosed, Unimplemented
from railfab.gnmi.tls import CertificateRefused, ClientCertificateRefused, OtherProtocol, PlaintextPort, TlsPort
from railfab.telemetry.receive import frames
from railfab.telemetry.receive.contract import Batch, Receiver, RpcEnded
from railfab.telemetry.receive.errors import ProtocolError
from railfab.telemetry.receive.fast import FastReceiver
from railfab.telemetry.receive.grpcio import GrpcReceiver

TLS_HANDSHAKE, TLS_ALERT = b"\x16", b"\x15\x03\x03\x00\x02\x02\x46"
"""The first byte of a ClientHello; the alert protocol_version (RFC 8446, 5.1 and 6)."""
SENT = [response(number, number * 300) for number in range(200)]


@pytest.fixture(params=[FastReceiver, GrpcReceiver, PygnmiReceiver])
def receiver(request: pytest.FixtureRequest) -> Receiver:
    return request.param(dial_timeout_s=2)


class Trusted:
    """A certificate and its key in files, and in the forms of both servers."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.authority = Authority("test")
        self.identity = self.authority.issue(NAME, *([names] if names else []))
        self.ca, self.pair = folder / "ca.pem", folder / "pair.pem"
        self.ca.write_bytes(self.authority.certificate)
        self.pair.write_bytes(self.identity.certificate + self.identity.key)
        self.grpc = grpc.ssl_server_credentials([(self.identity.key, self.identity.certificate)])

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pair)
        context.set_alpn_protocols(["h2"])
        return context


@pytest.fixture
def trusted(tmp_path: Path) -> Trusted:
    return Trusted(tmp_path)


class Handler(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """Subscribe of a target: the first RPC of a call with `reject` is refused, others get all messages, then OK."""

    def __init__(self, behave: Any) -> None:
        self._handler = grpc.stream_stream_rpc_method_handler(behave)

    def service(self, call: grpc.HandlerCallDetails) -> Any:
        self.metadata = dict(call.invocation_metadata)
        return self._handler if call.method == messages.METHODS["Subscribe"] else None


async def answered(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
    metadata = dict(context.invocation_metadata())
    if metadata["password"] != ADMIN.password:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong user or password")
    request = messages.SubscribeRequest.FromString(await anext(aiter(requests)))
    if request.subscribe.mode != messages.SubscriptionList.STREAM:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "STREAM only")
    for content in SENT:
        yield content


@asynccontextmanager
async def grpc_aio(trusted: Trusted | None = None) -> AsyncIterator[int]:
    server = grpc.aio.server(handlers=[Handler(answered)])
    port = server.add_secure_port("127.0.0.1:0", trusted.grpc) if trusted else server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield port
    await server.stop(0)


@pytest.mark.parametrize("secure", [True, False], ids=["tls", "plaintext"])
def test_all_messages_of_a_server_arrive_and_then_its_end(secure: bool, receiver: Receiver, trusted: Trusted) -> None:
    async def run() -> None:
        async with grpc_aio(trusted if secure else None) as port:
            target = endpoint(port, plaintext=not secure, ca=str(trusted.ca))
            found = await received(receiver, target, len(SENT))
            assert [content for _, content in found] == SENT
            end = await error_of(receiver, target)
            assert isinstance(end, StreamClosed)
            assert str(end) == f"{NAME}: the target ended the stream. It is opened again."
            refused = await error_of(receiver, target, login=Credentials("admin", "hunter2"))
            assert isinstance(refused, LoginRefused)
            said = f"{NAME}: rejects the login of admin (wrong user or password). Check the user name and password."
            assert str(refused) == said

    asyncio.run(run())


def test_rpcs_share_a_connection_and_end_one_by_one(receiver: Receiver) -> None:
    async def run() -> None:
        async with grpc_aio() as port:
            found = await received(receiver, endpoint(port), 3 * len(SENT) + 2, rpcs=3)
            for rpc in range(3):
                assert [part[1] for part in found if isinstance(part, tuple) and part[0] == rpc] == SENT
            ends = [part for part in found if isinstance(part, RpcEnded)]
            assert [type(end.error) for end in ends] == [StreamClosed] * 2

    asyncio.run(run())


def test_grpcs_server_on_threads(receiver: Receiver) -> None:
    def stream(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        next(requests)
        yield from SENT
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no more")

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Handler(stream)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    found = asyncio.run(received(receiver, endpoint(port), len(SENT)))
    assert [content for _, content in found] == SENT
    error = asyncio.run(error_of(receiver, endpoint(port)))
    assert str(error) == f"{NAME}: the stream broke (UNIMPLEMENTED: no more). It is opened again."
    server.stop(0)


def test_a_refused_subscribe_and_a_service_that_is_not_there(receiver: Receiver) -> None:
    async def run() -> None:
        empty = grpc.aio.server()
        port = empty.add_insecure_port("127.0.0.1:0")
        await empty.start()
        error = await error_of(receiver, endpoint(port))
        assert isinstance(error, Unimplemented)
        assert "refused a gNMI Subscribe (Method not found!)" in str(error)
        await empty.stop(0)

    asyncio.run(run())


def test_a_server_that_stops_breaks_the_stream(receiver: Receiver) -> None:
    sent = asyncio.Event()

    async def silent(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        yield SENT[1]
        sent.set()
        await asyncio.sleep(60)

    async def run() -> Exception:
        server = grpc.aio.server(handlers=[Handler(silent)])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()

        async def stop() -> None:
            await sent.wait()
            await asyncio.sleep(0.5)
            await server.stop(0)

        async with asyncio.TaskGroup() as tasks:  # once: two stops at a time ended the process in gRPC's C core
            tasks.create_task(stop())
            return await error_of(receiver, endpoint(port))

    error = asyncio.run(run())
    assert isinstance(error, StreamClosed)
    assert str(error).startswith(f"{NAME}: the stream broke (")


def told(receiver: Receiver, target: Endpoint) -> Exception:
    return asyncio.run(error_of(receiver, target))


def test_a_certificate_that_nobody_knows_or_of_another_name(receiver: Receiver, tmp_path: Path) -> None:
    other = Trusted(tmp_path, "192.0.2.1")

    async def run(ca: str | None) -> Exception:
        async with grpc_aio(other) as port:
            return await error_of(receiver, endpoint(port, plaintext=False, ca=ca))

    unknown, named = asyncio.run(run(None)), asyncio.run(run(str(other.ca)))
    assert isinstance(unknown, CertificateRefused)
    assert "is not trusted (" in str(unknown)
    assert isinstance(named, CertificateRefused)
    assert "is for another name (IP address mismatch" in str(named)


@pytest.mark.parametrize(
    ("said", "plaintext", "kind", "expected"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True, OtherProtocol, "speaks HTTP/1, not HTTP/2"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", True, OtherProtocol, "does not speak HTTP/2"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", False, PlaintextPort, "does not speak TLS ("),
        (b"", True, Unreachable, "no answer from 127.0.0.1:"),
    ],
)
def test_a_port_that_is_not_gnmi_is_named(
    said: bytes, plaintext: bool, kind: type[Exception], expected: str, receiver: Receiver
) -> None:
    async def script(peer: Peer) -> None:
        peer.send(said)

    async def run() -> Exception:
        async with serving(script, held=False) as port:
            return await error_of(receiver, endpoint(port, plaintext=plaintext))

    error = asyncio.run(run())
    assert isinstance(error, kind)
    assert expected in str(error)
    assert "\n" not in str(error)


class Port:
    """A port that counts its connections and ends each as it is said, the answer being what a server would say.

    tls: where it makes a handshake with a caller that begins one, and closes others. resets: whether it resets the
    connection of such a caller instead, by which what it has sent may be lost.
    """

    def __init__(self, answer: bytes, tls: ssl.SSLContext | None = None, *, resets: bool = False) -> None:
        self._answer, self._tls, self._resets, self.connections = answer, tls, resets, 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.number = self._listening.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                with self._listening.accept()[0] as caller:
                    self.connections += 1
                    self._end(caller)

    def _end(self, caller: socket.socket) -> None:
        with suppress(OSError):
            begins_tls = caller.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE
            if self._resets and begins_tls:
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif self._tls and begins_tls:
                self._tls.wrap_socket(caller, server_side=True).close()
            elif self._answer:
                caller.recv(1 << 16)
                caller.sendall(self._answer)


def port_that(said: bytes | str, trusted: Trusted) -> Port:
    if said == "closed unless TLS":
        return Port(b"", trusted.context())
    return Port(HELLO, resets=True) if isinstance(said, str) else Port(said)


@pytest.mark.parametrize("kind", [FastReceiver, GrpcReceiver])
@pytest.mark.parametrize(
    ("said", "plaintext", "error", "connections"),
    [
        (b"", True, Unreachable, [2, 3, 4]),
        ("closed unless TLS", True, TlsPort, [2, 4, 6]),
        (TLS_ALERT, True, TlsPort, [1, 2, 3]),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True, OtherProtocol, [1, 2, 3]),
        (HELLO, False, PlaintextPort, [1, 2, 3]),
        (b"", False, Unreachable, [2, 3, 4]),
        ("reset where TLS begins", False, PlaintextPort, [2, 4, 6]),
    ],
)
def test_a_dial_that_fails_makes_one_connection_and_asks_a_silent_port_once_what_it_speaks(
    kind: type[FastReceiver | GrpcReceiver],
    said: bytes | str,
    plaintext: bool,
    error: type[Exception],
    connections: list[int],
    trusted: Trusted,
) -> None:
    receiver, found = kind(dial_timeout_s=5), []

    async def run() -> None:
        target = endpoint(port.number, plaintext=plaintext, ca=str(trusted.ca))
        for _ in connections:
            assert type(await error_of(receiver, target)) is error
            found.append(port.connections)

    with port_that(said, trusted) as port:
        asyncio.run(run())
    assert found == connections


def test_a_silent_port_is_asked_again_after_five_minutes(monkeypatch: pytest.MonkeyPatch, trusted: Trusted) -> None:
    """It may have been upgraded meanwhile."""
    monkeypatch.setattr(first_contact, "ASKED_AGAIN_AFTER_S", 0.0)
    receiver = FastReceiver()
    with Port(b"", trusted.context()) as port:
        for _ in range(2):
            assert isinstance(asyncio.run(error_of(receiver, endpoint(port.number))), TlsPort)
        assert port.connections == 4


def test_a_silent_port_is_asked_anew_where_its_endpoint_is_corrected(trusted: Trusted) -> None:
    receiver, connections = FastReceiver(), []
    with Port(b"") as port:
        for plaintext in (True, True, False, False):
            target = endpoint(port.number, plaintext=plaintext, ca=str(trusted.ca))
            assert isinstance(asyncio.run(error_of(receiver, target)), Unreachable)
            connections.append(port.connections)
    assert connections == [2, 3, 5, 6]


def test_a_server_of_http_2_that_breaks_its_rules_at_once_is_left_to_grpcio() -> None:
    async def script(peer: Peer) -> None:
        peer.send(HELLO, frame(frames.PUSH_PROMISE, 0, 1, bytes(4)))
        await asyncio.sleep(1)

    async def run() -> None:
        async with serving(script) as port:
            error = await error_of(FastReceiver(), endpoint(port))
        assert isinstance(error, ProtocolError)

    asyncio.run(run())


def test_http1_behind_tls_and_tls_without_being_asked_for(receiver: Receiver, trusted: Trusted) -> None:
    async def script(peer: Peer) -> None:
        peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def run() -> tuple[Exception, Exception]:
        async with serving(script, held=False, ssl=trusted.context()) as port:
            behind = await error_of(receiver, endpoint(port, plaintext=False, ca=str(trusted.ca)))
            return behind, await error_of(receiver, endpoint(port))

    behind, unasked = asyncio.run(run())
    assert isinstance(behind, OtherProtocol)
    assert "speaks HTTP/1, not HTTP/2" in str(behind)
    assert isinstance(unasked, TlsPort)
    assert "speaks TLS, and the endpoint says plaintext" in str(unasked)


@pytest.mark.parametrize("kind", [FastReceiver, GrpcReceiver])
def test_a_target_that_asks_for_a_certificate_of_ours(
    kind: type[FastReceiver | GrpcReceiver], trusted: Trusted, tmp_path: Path
) -> None:
    receiver = kind(dial_timeout_s=2)
    context = trusted.context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(trusted.ca)
    mutual = {"plaintext": False, "ca": str(trusted.ca)}

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1, SENT[1]))

    async def run() -> Exception:
        async with serving(script, ssl=context) as port:
            pair = client_files(tmp_path, trusted.authority)
            assert await received(receiver, endpoint(port, **mutual, **pair), 1) == [(0, SENT[1])]
            return await error_of(receiver, endpoint(port, **mutual))

    error = asyncio.run(run())
    assert isinstance(error, ClientCertificateRefused)
    assert "requires a client certificate (" in str(error)


def test_no_answer_is_given_up(receiver: Receiver) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert f"no answer from 127.0.0.1:{port} (none within 2 s)" in str(told(receiver, endpoint(port)))
    assert f"no answer from 127.0.0.1:{port} (connection refused)" in str(told(receiver, endpoint(port)))


def test_an_ipv6_address(receiver: Receiver) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
    assert f"no answer from [::1]:{port} (connection refused)" in str(told(receiver, endpoint(port, host="::1")))


@pytest.mark.parametrize("mode", ["POLL", "ONCE"])
def test_answers_that_are_asked_for_again_and_again_on_one_connection(receiver: Receiver, mode: str) -> None:
    """Together more than the windows of the connection and of a stream."""
    lists = messages.SubscriptionList
    request = messages.SubscribeRequest(subscribe=lists(mode=lists.Mode.Value(mode)))
    large, end, rounds = response(1, 300_000), messages.SubscribeResponse(sync_response=True).SerializeToString(), 12
    connections = set()

    async def answers(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        connections.add(context.peer())
        async for asked in requests:
            polled = messages.SubscribeRequest.FromString(asked).HasField("poll")
            if polled or mode == "ONCE":
                yield large
                yield end
            if mode == "ONCE":
                return

    async def run() -> list[object]:
        asks: list[Any] = []
        server = grpc.aio.server(handlers=[Handler(answers)])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        found: list[object] = []
        stream = receiver.stream(endpoint(port), ADMIN, [request] * 2, asks.append)
        async with asyncio.timeout(20), aclosing(stream):
            async for event in _asked_first(stream, asks) if mode == "POLL" else stream:
                found.extend(contents(event) if isinstance(event, Batch) else [event])
                polled = isinstance(event, Batch) and mode == "POLL" and (event.rpc, end) in contents(event)
                ended = polled or isinstance(event, RpcEnded)
                if ended and found.count((event.rpc, large)) < rounds:
                    asks[0](event.rpc)
                if [found.count((place, large)) for place in (0, 1)] == [rounds] * 2:
                    break
        await server.stop(0)
        return found

    found = asyncio.run(run())
    assert [found.count((place, large)) for place in (0, 1)] == [rounds] * 2
    assert len(connections) == 1
    assert all(event.error is None for event in found if isinstance(event, RpcEnded))


async def _asked_first(events: Any, asks: list[Any]) -> AsyncIterator[Any]:
    """The events of a stream whose RPCs are asked as soon as there is a connection."""
    first = asyncio.ensure_future(anext(events))
    while not asks:
        await asyncio.sleep(0.01)
    for place in (0, 1):
        asks[0](place)
    yield await first
    async for event in events:
        yield event
