"""Asking of the RPCs in modes POLL and ONCE, each at its interval."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from railfab.gnmi import messages
from railfab.telemetry.receive.contract import Ask
from railfab.telemetry.subscriptions import SubscribeRpc

BUSY_S = 5.0
"""Time after which a target is asked again for an RPC for which it was too busy; at most the interval [s]."""
UNASKED_S = 1.0
"""Time for a target to answer a request of mode POLL by itself, as some do, before it is asked [s]."""
COMPLETE_AFTER_S = 1.0
"""An answer in mode POLL of a target that has sent no sync_response so far is complete after so long a pause [s]."""


@dataclass(slots=True)
class _Asked:
    """One RPC. asked_s: when it was asked, by the event loop's clock. timer: of the next time.

    began_s: when the first message of its answer arrived; None before. arrived_s: the last one, by the event loop's
    clock. again: whether it was asked more than once. owed: answers whose end has not come. syncs: whether it has sent
    a sync_response.
    """

    rpc: SubscribeRpc
    asked_s: float
    timer: asyncio.TimerHandle | None = None
    began_s: float | None = None
    arrived_s: float = 0.0
    again: bool = False
    owed: int = 1
    syncs: bool = False

    @property
    def is_polled(self) -> bool:
        return bool(self.rpc.subscription.mode == messages.SubscriptionList.POLL)

    @property
    def due_s(self) -> float:
        return self.asked_s + (self.rpc.asked_every_s or 0.0)

    def cancel(self) -> None:
        if self.timer:
            self.timer.cancel()
            self.timer = None


class Polls:
    """When each RPC of a session is asked again: at its interval, and not before its last answer is complete.

    The end of an answer is its sync_response (gNMI specification, Subscribe). Of a target that sends none
    in mode POLL it is a pause: such a target would be asked nothing more, and be called silent.

    A context manager, after which nothing is asked. connected: set once the session has a connection. interval_s: of
    the collector.
    """

    def __init__(self, rpcs: Sequence[SubscribeRpc], interval_s: float) -> None:
        self.connected = asyncio.Event()
        self._rpcs = rpcs
        self._unasked_s, self._pause_s = min(UNASKED_S, interval_s), min(COMPLETE_AFTER_S, interval_s)
        self._busy_s = min(BUSY_S, interval_s)
        self._later: dict[int, asyncio.TimerHandle] = {}
        self._asked: dict[int, _Asked] = {}
        self._ask: Ask

    def begin(self, ask: Ask) -> None:
        """The requests are sent. That of mode ONCE asks for an answer itself."""
        self._ask = ask
        loop = asyncio.get_running_loop()
        for place, rpc in enumerate(self._rpcs):
            if rpc.asked_every_s is not None:
                asked = self._asked[place] = _Asked(rpc, loop.time())
                if asked.is_polled:
                    asked.timer = loop.call_later(self._unasked_s, self._first_poll, place)
        self.connected.set()

    def refused_for_now(self, place: int) -> None:
        """The target was too busy for an RPC: ask for it again soon."""
        if (asked := self._asked.get(place)) is not None:
            asked.cancel()
        after_s = self._busy_s * random.uniform(0.5, 1.5)  # so that several are not made at once again
        self._later[place] = asyncio.get_running_loop().call_later(after_s, self._make_again, place)

    def _make_again(self, place: int) -> None:
        self._ask(place)
        asked = self._asked.get(place)
        if asked is not None and asked.is_polled:
            asked.timer = asyncio.get_running_loop().call_later(self._unasked_s, self._first_poll, place)

    def _first_poll(self, place: int) -> None:
        self._asked[place].timer = None
        self._ask(place)

    def arrived(self, place: int, now_s: float) -> None:
        """A message of an RPC has arrived. now_s: of the clock of arrivals."""
        asked = self._asked.get(place)
        if asked is None:
            return
        asked.arrived_s = asyncio.get_running_loop().time()
        if asked.began_s is None:
            asked.began_s = now_s
            asked.cancel()
            if asked.is_polled and not asked.syncs:
                self._ask_without_sync(place)

    def _ask_without_sync(self, place: int) -> None:
        """Ask again when it is due, once nothing has arrived for a pause."""
        asked, loop = self._asked[place], asyncio.get_running_loop()
        at_s = max(asked.due_s, asked.arrived_s + self._pause_s)
        if at_s <= loop.time():
            self._again(place)
        else:
            asked.timer = loop.call_at(at_s, self._ask_without_sync, place)

    def answered(self, place: int) -> float | None:
        """An answer is complete: when it began; None of the first ones, of which a target may send two, and of one
        behind which others are owed."""
        asked = self._asked.get(place)
        if asked is None:
            return None
        asked.cancel()
        asked.syncs, asked.owed = True, max(0, asked.owed - 1)
        return asked.began_s if asked.again and not asked.owed else None

    def ask_later(self, place: int) -> None:
        """Ask again when it is due; nothing for a stream, and while an answer is owed."""
        asked = self._asked.get(place)
        if asked and asked.timer is None and not asked.owed:
            asked.timer = asyncio.get_running_loop().call_at(asked.due_s, self._again, place)

    def _again(self, place: int) -> None:
        asked = self._asked[place]
        asked.timer, asked.asked_s = None, asyncio.get_running_loop().time()
        asked.began_s, asked.again = None, True
        asked.owed += 1
        self._ask(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ask no more."""
        for asked in self._asked.values():
            asked.cancel()
        for timer in self._later.values():
            timer.cancel()
