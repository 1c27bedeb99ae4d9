"""Asking of the RPCs in modes POLL and ONCE, each at its interval."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from railfab.gnmi import messages
from railfab.telemetry.receive.contract import Ask
from railfab.telemetry.subscriptions import SubscribeRpc

UNASKED_S = 1.0
"""Time for a target to answer a request of mode POLL by itself, as some do, before it is asked [s]."""


@dataclass(slots=True)
class _Asked:
    """One RPC. asked_s: when it was asked, by the event loop's clock. timer: of the next time.

    began_s: when the first message of its answer arrived; None before. again: whether it was asked more than once.
    """

    rpc: SubscribeRpc
    asked_s: float
    timer: asyncio.TimerHandle | None = None
    began_s: float | None = None
    again: bool = False


class Polls:
    """When each RPC of a session is asked again: at its interval, and not before its last answer is complete.

    A context manager, after which nothing is asked. connected: set once the session has a connection. interval_s: of
    the collector.
    """

    def __init__(self, rpcs: Sequence[SubscribeRpc], interval_s: float) -> None:
        self.connected = asyncio.Event()
        self._rpcs = rpcs
        self._unasked_s = min(UNASKED_S, interval_s)
        self._asked: dict[int, _Asked] = {}
        self._ask: Ask

    def begin(self, ask: Ask) -> None:
        """The requests are sent. That of mode ONCE asks for an answer itself."""
        self._ask = ask
        loop = asyncio.get_running_loop()
        for place, rpc in enumerate(self._rpcs):
            if rpc.asked_every_s is not None:
                asked = self._asked[place] = _Asked(rpc, loop.time())
                if rpc.subscription.mode == messages.SubscriptionList.POLL:
                    asked.timer = loop.call_later(self._unasked_s, self._first_poll, place)
        self.connected.set()

    def _first_poll(self, place: int) -> None:
        self._asked[place].timer = None
        self._ask(place)

    def arrived(self, place: int, now_s: float) -> None:
        """A message of an RPC has arrived. now_s: of the clock of arrivals."""
        asked = self._asked.get(place)
        if asked and asked.began_s is None:
            asked.began_s = now_s
            if asked.timer:
                asked.timer.cancel()
                asked.timer = None

    def answered(self, place: int) -> float | None:
        """When the answer began that is complete now; None of the first ones, of which a target may send two."""
        asked = self._asked.get(place)
        return asked.began_s if asked and asked.again else None

    def ask_later(self, place: int) -> None:
        """Ask again when it is due; nothing for a stream."""
        asked = self._asked.get(place)
        if asked and asked.timer is None:
            due_s = asked.asked_s + (asked.rpc.asked_every_s or 0.0)
            asked.timer = asyncio.get_running_loop().call_at(due_s, self._again, place)

    def _again(self, place: int) -> None:
        asked = self._asked[place]
        asked.timer, asked.asked_s = None, asyncio.get_running_loop().time()
        asked.began_s, asked.again = None, True
        self._ask(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ask no more."""
        for asked in self._asked.values():
            if asked.timer:
                asked.timer.cancel()
