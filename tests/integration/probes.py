"""UDP probes between switches of a lab: each pair sends a packet a millisecond, over all equal-cost paths in turn.

A machine that is busy sends fewer: a probe that is late by more than a millisecond is left out, and not made up for.
"""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Self

PORT = 4791
PATHS = 16
"""Source ports of each pair, used in turn: the hash of equal-cost paths reads them."""
INTERVAL_S = 0.001
LATE_S = 1.0
"""Time in which the last probes arrive [s]."""
BUFFER_BYTES = 32 << 20
CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33
"""Of Linux, socket(7): a buffer beyond the limit of the system, for root. Python has no name for it."""
PROBE = struct.Struct("!HHI")
"""Number of the sender and of the receiver, number of the probe."""


@contextmanager
def network_of(namespace: str) -> Iterator[None]:
    """Sockets of this thread are made in a network namespace; made ones stay in it."""
    libc = ctypes.CDLL(None, use_errno=True)
    with ExitStack() as stack:
        home, away = (stack.enter_context(path.open()) for path in (Path("/proc/thread-self/ns/net"), Path(namespace)))
        if libc.setns(away.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)
        try:
            yield
        finally:
            libc.setns(home.fileno(), CLONE_NEWNET)


@dataclass
class Probes:
    """Probes between all pairs of these switches until the end of the context; then `sent` and `lost` are final.

    addresses: by the path of the network namespace of each switch, its loopback.
    sent, arrived: probes of each pair, by the places of sender and receiver; without a route a probe is lost.
    """

    addresses: Mapping[str, str]
    sent: dict[tuple[int, int], int] = field(default_factory=dict)
    arrived: dict[tuple[int, int], int] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack, init=False)
    _stop: threading.Event = field(default_factory=threading.Event, init=False)
    _senders: list[list[socket.socket]] = field(default_factory=list, init=False)
    _receivers: list[socket.socket] = field(default_factory=list, init=False)
    _threads: list[threading.Thread] = field(default_factory=list, init=False)

    def __enter__(self) -> Self:
        for namespace, address in self.addresses.items():
            with network_of(namespace):
                self._receivers.append(self._socket(address, PORT))
                self._senders.append([self._socket(address, PORT + 1 + path) for path in range(PATHS)])
        pairs = list(permutations(range(len(self._receivers)), 2))
        self.sent, self.arrived = dict.fromkeys(pairs, 0), dict.fromkeys(pairs, 0)
        self._threads = [threading.Thread(target=work) for work in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._stack.close()

    @property
    def lost(self) -> int:
        return sum(self.sent.values()) - sum(self.arrived.values())

    def _socket(self, address: str, port: int) -> socket.socket:
        made = self._stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        made.setblocking(False)
        made.bind((address, port))
        return made

    def _send(self) -> None:
        targets = [(address, PORT) for address in self.addresses.values()]
        due_s, number = time.monotonic(), 0
        while not self._stop.is_set():
            for sender, receiver in self.sent:
                with suppress(OSError):  # without a route
                    sending = self._senders[sender][number % PATHS]
                    sending.sendto(PROBE.pack(sender, receiver, number), targets[receiver])
                self.sent[sender, receiver] += 1
            number += 1
            due_s = max(due_s + INTERVAL_S, time.monotonic() - INTERVAL_S)
            time.sleep(max(0.0, due_s - time.monotonic()))

    def _receive(self) -> None:
        end_s = float("inf")
        while time.monotonic() < end_s:
            if self._stop.is_set() and end_s == float("inf"):
                end_s = time.monotonic() + LATE_S
            ready, _, _ = select.select(self._receivers, (), (), 0.1)
            for receiver in ready:
                self._take(receiver)

    def _take(self, receiver: socket.socket) -> None:
        while True:
            try:
                probe = receiver.recv(PROBE.size)
            except BlockingIOError:
                return
            sender, target, _ = PROBE.unpack(probe)
            self.arrived[sender, target] += 1
