"""Random Sets and link events on a twin, each of which every subscriber to changes has to receive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random

from tests.twin.subscribers import Subscriber, cabled

from railfab.endpoints import Endpoint, read_credentials
from railfab.fabric.design import Design
from railfab.gnmi.client import GnmiClient, SetChanges
from railfab.twin import Control

PAUSE_S = 2.0
"""Most time between two disturbances [s]."""
SEEN_WITHIN_S = 60.0
POLL_S = 0.02
PROFILES = ("100g-5m", "400g-40m")
SLOPE = (
    "/qos/buffer-management/queue-management-profile[name={}]"
    "/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]/{}"
)
VALUES = {
    "min-threshold": ("20000", "150000", "400000"),
    "max-threshold": ("450000", "900000", "2000000"),
    "max-drop-probability-percent": (1, 10, 100),
}


@dataclass(slots=True)
class Disturbances:
    """What was done, and how long it took to be seen. unseen: changes that a subscriber did not receive in time."""

    design: Design
    control: Control
    nodes: dict[str, Endpoint]
    subscribers: Sequence[Subscriber]
    random: Random
    sets: int = 0
    cuts: int = 0
    seen: int = 0
    longest_s: float = 0.0
    unseen: list[str] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    @property
    def complete(self) -> bool:
        """Whether changes of each kind were made and received."""
        return bool(self.sets and self.cuts and self.seen)

    async def run(self) -> None:
        """Disturb until this task is cancelled."""
        while True:
            await self.random.choice((self._describe, self._threshold, self._cut))()
            await asyncio.sleep(self.random.uniform(0, PAUSE_S))

    async def _describe(self) -> None:
        """Give a port a description that none had before."""
        switch = self.random.choice(list(self.nodes))
        port = self.random.choice(sorted(cabled(self.design, switch)))
        text = f"change {next(self._numbers)}"
        await self._set(switch, f"/interface[name={port}]/description", text)
        await self._is_seen(switch, port, "description", text)

    async def _threshold(self) -> None:
        """Set a number of an ECN ramp."""
        leaf = self.random.choice(list(VALUES))
        path = SLOPE.format(self.random.choice(PROFILES), leaf)
        await self._set(self.random.choice(list(self.nodes)), path, self.random.choice(VALUES[leaf]))

    async def _cut(self) -> None:
        """Cut a link, and restore it when both ends have shown it."""
        link = self.random.choice(self.design.topology.links)
        for up, shown in ((False, "down"), (True, "up")):
            await asyncio.to_thread(self.control.set_link, link.z.node, link.z.name, up=up)
            for end in (link.a, link.z):
                await self._is_seen(end.node, end.name, "oper-state", shown)
        self.cuts += 1

    async def _set(self, switch: str, path: str, value: object) -> None:
        endpoint = self.nodes[switch]
        async with GnmiClient(endpoint, read_credentials(endpoint)) as client:
            await client.set(SetChanges(update=((path, value),)))
        self.sets += 1

    async def _is_seen(self, switch: str, port: str, leaf: str, value: str) -> None:
        """Wait until all subscribers to changes of this switch have received one."""
        began_s = time.monotonic()
        waiting = [one for one in self.subscribers if one.wish.switch == switch and one.wish.follows_changes]
        while late := [one for one in waiting if one.seen.get((leaf, port)) != value]:
            if time.monotonic() - began_s > SEEN_WITHIN_S:
                self.unseen += [f"{switch} {port} {leaf} {value}: not received in {SEEN_WITHIN_S:g} s" for _ in late]
                return
            await asyncio.sleep(POLL_S)
        self.seen += len(waiting)
        self.longest_s = max(self.longest_s, time.monotonic() - began_s)
