"""A connection of bytes, with TLS or without: what has arrived is read into a buffer of the caller at once."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from contextlib import suppress
from fcntl import ioctl
from termios import FIONREAD
from typing import Any

from railfab.telemetry.receive.ticks import Ticks

READ = 1 << 18
"""What is read at once [bytes]."""
MAX_UNSENT = 1 << 20
"""Limit of what waits to be sent [bytes]: a peer that asks and does not read is given up."""
SO_MEMINFO = 55
"""Option of a socket with the memory that it uses (Linux, `include/uapi/asm-generic/socket.h`)."""
FULL = 7 / 8
"""Part of the receive buffer of a socket from which on TCP has closed its window, or is about to."""
_MEMORY, _UNREAD = struct.Struct("=2I"), struct.Struct("=i")
_Loop = asyncio.AbstractEventLoop


class Wire:
    """A connected socket that never blocks. read() and write() may be called at any time, readable() is waited for.

    cipher: READ bytes for what is to be decrypted, which connections of one loop share. ticks: the moments of reading;
    None for whenever something has arrived.
    """

    def __init__(self, connected: socket.socket, cipher: memoryview, ticks: Ticks | None) -> None:
        self._loop: _Loop = asyncio.get_running_loop()
        self._socket, self._cipher, self._ticks = connected, cipher, ticks
        self._descriptor = connected.fileno()
        if ticks:
            ticks.add(self._descriptor)
        self._tls: ssl.SSLObject | None = None
        self._from_peer, self._to_peer = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._unsent = bytearray()
        self._undecrypted = False
        self._waiting: asyncio.Future[None] | None = None
        self._failure: OSError | None = None

    async def start_tls(self, context: ssl.SSLContext, name: str) -> None:
        """Make the TLS handshake. Raises OSError, of which ssl.SSLError is one."""
        self._tls = context.wrap_bio(self._from_peer, self._to_peer, server_hostname=name)
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._send(self._to_peer.read())
                received = await self._loop.sock_recv(self._socket, READ)
                if not received:
                    raise ConnectionResetError from None
                self._from_peer.write(received)
            except ssl.SSLError:
                self._send(self._to_peer.read())
                raise
            else:
                self._undecrypted = self._from_peer.pending > 0
                return self._send(self._to_peer.read())

    def read(self, into: memoryview) -> int:
        """Read what has arrived; 0 when nothing has. Raises OSError; EOFError at the end."""
        if self._failure:
            raise self._failure
        received = 0
        with suppress(BlockingIOError):
            received = self._socket.recv_into(self._cipher[: len(into)] if self._tls else into)
            if not received and not self._undecrypted:
                raise EOFError
        return self._decrypt(received, into) if self._tls and (received or self._undecrypted) else received

    def _decrypt(self, received: int, into: memoryview) -> int:
        assert self._tls
        self._from_peer.write(self._cipher[:received])
        filled = 0
        with suppress(ssl.SSLWantReadError):
            while filled < len(into):
                count: Any = self._tls.read(len(into) - filled, into[filled:])
                if not count and not filled:
                    raise EOFError
                filled += count
                if not count or not self._from_peer.pending:
                    break
        self._undecrypted = filled == len(into)
        if self._to_peer.pending:
            self._send(self._to_peer.read())
        return filled

    def write(self, content: bytes) -> None:
        """Send, now or as soon as the peer takes it. A connection that has failed is told by read()."""
        if self._tls:
            with suppress(ssl.SSLError):
                self._tls.write(content)
            content = self._to_peer.read()
        self._send(content)

    def _send(self, content: bytes) -> None:
        if len(self._unsent) > MAX_UNSENT:
            return self.fail(ConnectionAbortedError("it does not read what it is sent"))
        waiting = bool(self._unsent)
        self._unsent += content
        if not waiting and self._unsent:
            self._flush()
            if self._unsent:
                self._loop.add_writer(self._descriptor, self._flush)
        return None

    def _flush(self) -> None:
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            return
        except OSError:  # what the peer sent before it closed is read still
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._descriptor)

    def holds_back(self, window: int) -> bool:
        """Whether the peer has sent what it may: this many bytes are not read, or there is no space for more.

        False where it cannot be known. Source: Linux, `sk_get_meminfo` and `__tcp_select_window`: the first two words
        are the memory in use, which is no less than what is unread, and its limit.
        """
        with suppress(OSError):
            used, limit = _MEMORY.unpack(self._socket.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, _MEMORY.size))
            return used >= FULL * limit or (used >= window and self._unread() >= window)
        return False

    def _unread(self) -> int:
        (count,) = _UNREAD.unpack(ioctl(self._descriptor, FIONREAD, bytes(_UNREAD.size)))
        return int(count)

    async def readable(self) -> None:
        """Wait until there is something to read at one of the ticks, or the connection has failed."""
        if self._failure:
            return
        self._waiting = self._loop.create_future()
        if self._ticks:
            self._ticks.wait(self._descriptor, self._wake)
        else:
            self._loop.add_reader(self._descriptor, self._wake)
        try:
            await self._waiting
        finally:
            self._waiting = None
            if self._ticks:
                self._ticks.forget(self._descriptor)
            else:
                self._loop.remove_reader(self._descriptor)

    def _wake(self) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    @property
    def is_waiting(self) -> bool:
        """Whether somebody waits for the peer, in vain so far."""
        return self._waiting is not None and not self._waiting.done()

    def fail(self, error: OSError) -> None:
        """Have the next read raise this error."""
        self._failure = error
        self._wake()

    def close(self) -> None:
        if self._ticks:
            self._ticks.remove(self._descriptor)
        self._loop.remove_writer(self._descriptor)
        self._socket.close()


async def connect(host: str, port: int) -> socket.socket:
    """Connect to the first address of the host that answers. Raises OSError, of the last address."""
    loop = asyncio.get_running_loop()
    failed: OSError = ConnectionRefusedError()
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        connecting = socket.socket(family, kind, protocol)
        try:
            connecting.setblocking(False)
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(connecting, address)
        except OSError as error:
            connecting.close()
            failed = error
        except BaseException:
            connecting.close()
            raise
        else:
            return connecting
    raise failed
