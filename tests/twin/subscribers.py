"""Many gNMI subscribers of a twin: what the intent says that each receives, and what it has received."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import DeviceError
from railfab.fabric.design import Design
from railfab.gnmi.client import GnmiClient, Subscription
from railfab.gnmi.values import JSON_IETF, PROTO, decode

STATISTICS, OCTETS = "/interface[name=*]/statistics", "in-octets"
QUEUES = (
    "/qos/interfaces/interface[interface-id=*]/output/queues/queue[queue-name=*]/queue-statistics/aggregate-statistics"
)
PACKETS = "transmitted-packets"
STATES = ("/interface[name=*]/oper-state", "/interface[name=*]/description")
SLOW_S = 1.0
"""Pause of the slow reader after each response [s]: a switch sends it more than ten a second."""
AGAIN_S = 0.5
"""Pause of the subscriber that reconnects [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a subscriber asks a switch for.

    leaf: name of the leaf that is counted. keys: of every leaf of this name that the intent says each interval brings.
    pause_s: after each response [s]. reconnects: it ends each stream once it is synchronised.
    """

    switch: str
    kind: str
    subscription: Subscription
    leaf: str = OCTETS
    keys: frozenset[str] = frozenset()
    pause_s: float = 0.0
    reconnects: bool = False

    @property
    def follows_changes(self) -> bool:
        return self.subscription.interval_s is None


def wishes(design: Design, count: int) -> list[Wish]:
    """One slow subscriber, one that reconnects, and of the others on every switch in turn: the root each 5 s, changes,
    statistics of ports each second, and queues each 2 s, half of them in JSON."""
    switches = list(design.models)
    mixed = (_whole, _changes, _ports, _queues, _ports, _queues)
    made = [make(design, name) for make in mixed for name in switches]
    return [_slow(design, switches[0]), _reconnecting(switches[-1]), *islice(cycle(made), count - 2)]


def cabled(design: Design, switch: str) -> frozenset[str]:
    """The ports of a switch that have a cable by the intent."""
    return frozenset(port.name for port, _, _ in design.topology.ports_of(switch))


def _whole(design: Design, name: str) -> Wish:
    wanted = Subscription(paths=("/",), interval_s=5.0, encoding=PROTO)
    return Wish(switch=name, kind="root, 5 s", subscription=wanted, keys=cabled(design, name))


def _ports(design: Design, name: str) -> Wish:
    wanted = Subscription(paths=(STATISTICS,), interval_s=1.0, encoding=PROTO)
    return Wish(switch=name, kind="ports, 1 s", subscription=wanted, keys=cabled(design, name))


def _queues(design: Design, name: str) -> Wish:
    wanted = Subscription(paths=(QUEUES,), interval_s=2.0, encoding=JSON_IETF)
    qos = design.models[name].qos
    classes = [each.name for each in qos.classes] if qos else []
    keys = frozenset(f"{port} {queue}" for port in cabled(design, name) for queue in classes)
    return Wish(switch=name, kind="queues, 2 s", subscription=wanted, leaf=PACKETS, keys=keys)


def _changes(_: Design, name: str) -> Wish:
    wanted = Subscription(paths=STATES, interval_s=None, encoding=JSON_IETF)
    return Wish(switch=name, kind="changes", subscription=wanted)


def _slow(_: Design, name: str) -> Wish:
    wanted = Subscription(paths=("/",), interval_s=1.0, encoding=JSON_IETF)
    return Wish(switch=name, kind="slow reader", subscription=wanted, pause_s=SLOW_S)


def _reconnecting(name: str) -> Wish:
    wanted = Subscription(paths=("/",), interval_s=1.0, encoding=PROTO)
    return Wish(switch=name, kind="reconnecting", subscription=wanted, reconnects=True)


@dataclass(slots=True)
class Subscriber:
    """One client and what it has received.

    synced_s: when its first values were complete, monotonic. counts: by key, samples since. longest_s: longest time
    between two samples of a key. streams: synchronised ones. ended: why a stream ended that should not.
    """

    wish: Wish
    responses: int = 0
    synced_s: float = 0.0
    streams: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0
    seen: dict[tuple[str, str], Any] = field(default_factory=dict)
    ended: str = ""
    _last_s: dict[str, float] = field(default_factory=dict)

    async def run(self, endpoint: Endpoint) -> None:
        """Receive until this task is cancelled; any other end is noted."""
        try:
            await self._stream(endpoint)
            while self.wish.reconnects:
                gc.collect(1)  # a call of grpc.aio is in a cycle, and keeps its connection
                await asyncio.sleep(AGAIN_S)
                await self._stream(endpoint)
        except DeviceError as error:
            self.ended = str(error)

    async def _stream(self, endpoint: Endpoint) -> None:
        async with (
            GnmiClient(endpoint, read_credentials(endpoint)) as client,
            aclosing(client.subscribe(self.wish.subscription)) as responses,
        ):
            async for response in responses:
                self._take(response)
                if response.sync_response and self.wish.reconnects:
                    return
                if self.wish.pause_s:
                    await asyncio.sleep(self.wish.pause_s)

    def _take(self, response: Any) -> None:
        self.responses += 1
        now_s = time.monotonic()
        if response.sync_response:
            self.streams += 1
            self.synced_s = self.synced_s or now_s
        wish = self.wish
        if wish.follows_changes:
            self._take_changes(response)
        elif self.synced_s and wish.keys:
            for update in response.update.update:
                if update.path.elem[-1].name == wish.leaf:
                    self._count(_key(update.path), now_s)

    def _take_changes(self, response: Any) -> None:
        for update in response.update.update:
            leaf = update.path.elem[-1].name.rpartition(":")[2]
            self.seen[leaf, _key(update.path)] = decode(update.val)

    def _count(self, key: str, now_s: float) -> None:
        if key in self.wish.keys:
            self.counts[key] += 1
            self.longest_s = max(self.longest_s, now_s - self._last_s.get(key, self.synced_s))
            self._last_s[key] = now_s

    @property
    def complete(self) -> bool:
        """Whether a stream was synchronised, and all that each interval brings was received once."""
        return self.streams > 0 and self.wish.keys <= self.counts.keys()

    def due(self, now_s: float) -> int:
        """Intervals that have ended since the synchronisation."""
        interval_s = self.wish.subscription.interval_s
        return int((now_s - self.synced_s) / interval_s) if interval_s and self.synced_s else 0


def _key(path: Any) -> str:
    """The keys of a path, one after the other."""
    return " ".join(value for step in path.elem for value in step.key.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """Samples of all subscribers of a kind. due: by the intent, ports or queues times intervals."""

    kind: str
    subscribers: int
    due: int
    missed: int
    longest_s: float


def received(subscribers: list[Subscriber], now_s: float) -> Iterator[Received]:
    """What was due by the intent and what was missed, by kind."""
    kinds: dict[str, list[Subscriber]] = {}
    for one in subscribers:
        if one.wish.keys:
            kinds.setdefault(one.wish.kind, []).append(one)
    for kind, found in kinds.items():
        missed = sum(max(0, one.due(now_s) - one.counts[key]) for one in found for key in one.wish.keys)
        due = sum(one.due(now_s) * len(one.wish.keys) for one in found)
        longest_s = max(one.longest_s for one in found)
        yield Received(kind=kind, subscribers=len(found), due=due, missed=missed, longest_s=longest_s)
