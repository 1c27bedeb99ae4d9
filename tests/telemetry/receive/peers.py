"""The other ends of a receiver under test: scripted HTTP/2 servers, recordings, and grpcio's servers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi import messages
from railfab.gnmi.messages import SubscribeRequest, SubscribeResponse
from railfab.telemetry.receive import frames
from railfab.telemetry.receive.contract import Batch, Receiver, RpcEnded
from railfab.telemetry.receive.frames import frame
from railfab.telemetry.receive.http2 import Connection, ProtocolViolation

NAME = "leaf1"
ADMIN = Credentials("admin", "a secret")
REQUEST = SubscribeRequest(subscribe=messages.SubscriptionList(mode=messages.SubscriptionList.STREAM))
ANSWER = frames.header_block(((":status", "200"), ("content-type", "application/grpc")))
HELLO = frames.settings({}) + frame(frames.SETTINGS, frames.ACK, 0)


def endpoint(port: int, **others: Any) -> Endpoint:
    return Endpoint(name=NAME, platform="box", gnmi_port=port, **{"plaintext": True, "host": "127.0.0.1", **others})


def response(number: int, size: int = 0) -> bytes:
    """A SubscribeResponse with this time stamp, and padding of this size."""
    found = SubscribeResponse()
    found.update.timestamp = number
    if size:
        found.update.update.add().val.bytes_val = bytes(size)
    return found.SerializeToString()


def answer(stream: int, *parts: bytes) -> bytes:
    """HEADERS of an answer, and messages in DATA frames."""
    return frame(frames.HEADERS, frames.END_HEADERS, stream, ANSWER) + b"".join(data(stream, part) for part in parts)


def data(stream: int, content: bytes) -> bytes:
    """A message in DATA frames of the largest size."""
    whole = frames.message(content)
    return b"".join(frame(frames.DATA, 0, stream, whole[at : at + 16_384]) for at in range(0, len(whole), 16_384))


def trailers(stream: int, code: int, words: str = "", *before: tuple[str, str]) -> bytes:
    block = frames.header_block((*before, ("grpc-status", str(code)), ("grpc-message", words)))
    return frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, stream, block)


def read_to_its_end(connection: Connection) -> str:
    """Read a recorded connection; why it is refused, else empty. Every message must lie in its buffer, in order."""
    try:
        while True:
            connection.read()
            for batch in connection.batches():
                flat = batch.bounds.reshape(-1)
                assert (np.diff(flat) >= 0).all()
                assert 0 <= flat[0] <= flat[-1] <= len(batch.buffer)
            connection.ended()
            connection.grant()
    except EOFError:
        return ""
    except ProtocolViolation as violation:
        return str(violation)


class Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes


class Peer:
    """A server's end of one connection. seen: the frames of the client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer
        self.seen: list[Frame] = []

    def send(self, *parts: bytes) -> None:
        self.writer.write(b"".join(parts))

    async def frame(self) -> Frame:
        head = await self._reader.readexactly(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        self.seen.append(Frame(kind, flags, int.from_bytes(head[5:], "big"), await self._reader.readexactly(length)))
        return self.seen[-1]

    async def until(self, kind: int, count: int = 1) -> Frame:
        """Read up to the n-th frame of this type."""
        while True:
            found = await self.frame()
            count -= found.kind == kind
            if not count:
                return found

    async def greet(self, streams: int = 1) -> None:
        """Say hello and wait for the requests."""
        await self._reader.readexactly(len(frames.PREFACE))
        self.send(HELLO)
        await self.until(frames.DATA, streams)


@asynccontextmanager
async def serving(script: Callable[[Peer], Awaitable[None]], *, held: bool = True, **ssl: Any) -> AsyncIterator[int]:
    """The port of a server that plays this script to each client. held: it keeps the connection open afterwards."""
    failures: list[BaseException] = []
    clients: set[asyncio.Task[None] | None] = set()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        clients.add(asyncio.current_task())
        try:
            await script(Peer(reader, writer))
            if held:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except Exception as error:  # noqa: BLE001
            failures.append(error)
        finally:
            writer.close()

    server = await asyncio.start_server(play, "127.0.0.1", 0, **ssl)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients)
    if failures:
        raise failures[0]


async def received(
    receiver: Receiver, target: Endpoint, count: int, *, login: Credentials = ADMIN, rpcs: int = 1
) -> list[tuple[int, bytes] | RpcEnded]:
    """What the receiver yields, up to this many messages or ends: RPC and bytes of each message."""
    found: list[tuple[int, bytes] | RpcEnded] = []
    async with asyncio.timeout(20), aclosing(receiver.stream(target, login, [REQUEST] * rpcs)) as stream:
        async for event in stream:
            found.extend(contents(event) if isinstance(event, Batch) else [event])
            if len(found) >= count:
                return found
    raise AssertionError("a receiver never just returns")


def contents(batch: Batch) -> Iterator[tuple[int, bytes]]:
    for begin, end in batch.bounds:
        yield batch.rpc, batch.buffer[begin:end].tobytes()


async def error_of(receiver: Receiver, target: Endpoint, *, login: Credentials = ADMIN, rpcs: int = 1) -> Exception:
    """The error that ends the stream."""
    with suppress(StopAsyncIteration):
        try:
            await received(receiver, target, 1 << 30, login=login, rpcs=rpcs)
        except AssertionError:
            raise
        except Exception as error:  # noqa: BLE001
            return error
    raise AssertionError("a receiver never just returns")


class Recorded:
    """A wire that plays a recording in reads of these sizes, over and over.

    written: bytes that were sent. granted: the sum of WINDOW_UPDATE frames by stream; 0 is the connection.
    """

    def holds_back(self, window: int) -> bool:
        return False

    def __init__(self, recording: bytes, sizes: Sequence[int] = (1 << 18,)) -> None:
        self._recording, self._sizes, self._at, self._turn = recording, sizes, 0, 0
        self.written = 0
        self.granted: Counter[int] = Counter()

    def read(self, into: memoryview) -> int:
        if self._at >= len(self._recording):
            raise EOFError
        size = self._sizes[self._turn % len(self._sizes)]
        part = self._recording[self._at : self._at + min(size, len(into))]
        self._turn, self._at = self._turn + 1, self._at + len(part)
        into[: len(part)] = part
        return len(part)

    def write(self, content: bytes) -> None:
        self.written += len(content)
        if content[3] == frames.WINDOW_UPDATE:
            self.granted[int.from_bytes(content[5:9], "big")] += int.from_bytes(content[9:13], "big")

    def close(self) -> None: ...
