"""What a session makes of the answers to polls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tests.telemetry.rack import QUICK, STATISTICS

from railfab.endpoints import Endpoint
from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import SubscriptionMode, TelemetrySubscription, platform
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.receive.contract import Ask, Batch
from railfab.telemetry.session import TargetSession
from railfab.telemetry.targets import TargetSpec

WHERE = Endpoint(name="leaf1", platform="srlinux", host="127.0.0.1", gnmi_port=1, credentials="none", plaintext=True)
POLLED = TelemetrySubscription(path="/interface[name=*]/statistics", mode=SubscriptionMode.POLL, interval_s=0.1)


def batch(*ports: str, sync: bool = False) -> Batch:
    """A notification with a counter of these ports, or a sync_response."""
    said = messages.SubscribeResponse(sync_response=True)
    if not sync:
        said = messages.SubscribeResponse()
        for port in ports:
            said.update.update.add(path=to_proto(STATISTICS.format(port) + "in-octets")).val.uint_val = 5
    content = said.SerializeToString()
    return Batch(0, np.frombuffer(bytearray(content), np.uint8), np.array([[0, len(content)]], np.int64))


class Answers:
    """A target that answers its request, and then each poll with the ports of the next answer. asked: polls so far."""

    def __init__(self, clock: LoopClock, *answers: Sequence[str]) -> None:
        self._clock, self._answers = clock, answers
        self.asked, self.done = 0, asyncio.Event()

    def name_of(self, _: Endpoint) -> str:
        return "answers"

    async def stream(
        self, _: Endpoint, __: object, ___: object, connected: Callable[[Ask], object]
    ) -> AsyncGenerator[Batch, Any]:
        asked: asyncio.Queue[int] = asyncio.Queue()
        connected(asked.put_nowait)
        for ports in self._answers:
            for port in ports:  # one by one: an answer is not one message
                await asyncio.sleep(0.02)
                yield batch(port)
            yield batch(sync=True)
            await asked.get()
            self.asked += 1
            self._clock.tick()
        self.done.set()
        await asyncio.Event().wait()


def test_each_answer_is_all_that_there_is_and_ends_what_it_lacks() -> None:
    """Not after three intervals: the clock of the collector hardly moves here, so that nothing expires."""

    async def run() -> list[str]:
        clock = LoopClock()
        target = Answers(clock, ["e1", "e2", "e3"], ["e3", "e1"])
        telemetry = replace(platform("srlinux").telemetry, subscriptions=(POLLED,))
        spec = TargetSpec(name="leaf1", platform="srlinux", endpoint=WHERE, telemetry=telemetry)
        session = TargetSession(spec, target, interval_s=60.0, policy=QUICK, clock=clock)
        running = asyncio.create_task(session.run())
        await asyncio.wait_for(target.done.wait(), 20)
        running.cancel()
        assert target.asked == 2
        return sorted(labels["interface"] for _, labels, _ in session.samples())

    assert asyncio.run(run()) == ["e1", "e3"]
