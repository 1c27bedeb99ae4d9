"""Common moments of reading: at one wake-up of the loop, all connections that have something are read.

A target that sends single messages all the time would otherwise wake the loop for each, which costs more than reading.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from functools import partial

IDLE_TICKS = 10
"""After so many moments at which nothing had arrived, the next arrival is waited for."""


class Ticks:
    """Moments every_s apart, at which those who wait for a socket are woken if it has something to read.

    One epoll holds the sockets of all, so that the ones without news cost nothing. While none has any, nothing runs.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s, self._idle = every_s, 0
        self._epoll = select.epoll()
        self._added: set[int] = set()
        self._waiting: dict[int, Callable[[], None]] = {}
        self._stop: Callable[[], object] | None = None

    def add(self, descriptor: int) -> None:
        self._epoll.register(descriptor, select.EPOLLIN | select.EPOLLRDHUP)
        self._added.add(descriptor)

    def remove(self, descriptor: int) -> None:
        self.forget(descriptor)
        self._epoll.unregister(descriptor)
        self._added.remove(descriptor)
        if not self._added and self._stop:
            self._stop()
            self._stop = None

    def wait(self, descriptor: int, wake: Callable[[], None]) -> None:
        """Have `wake` called once, at the first moment at which this socket has something to read."""
        self._waiting[descriptor] = wake
        if not self._stop:
            self._start()

    def forget(self, descriptor: int) -> None:
        self._waiting.pop(descriptor, None)

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._idle < IDLE_TICKS:
            self._stop = loop.call_at((loop.time() // self._every_s + 1) * self._every_s, self._tick).cancel
        else:
            loop.add_reader(self._epoll.fileno(), self._tick)
            self._stop = partial(loop.remove_reader, self._epoll.fileno())

    def _tick(self) -> None:
        if self._stop:
            self._stop()
            self._stop = None
        self._idle += 1
        for descriptor, _ in self._epoll.poll(0):
            self._idle = 0
            if wake := self._waiting.pop(descriptor, None):
                wake()
        if self._waiting:
            self._start()
