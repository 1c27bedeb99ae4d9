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
from railfab.telemetry.dials import Dials
from railfab.telemetry.health import Reason, SessionState
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.receive.contract import Ask, Batch
from railfab.telemetry.session import TargetSession
from railfab.telemetry.targets import TargetSpec

SYNC = "sync_response"
WHERE = Endpoint(name="leaf1", platform="srlinux", host="127.0.0.1", gnmi_port=1, credentials="none", plaintext=True)
POLLED = TelemetrySubscription(path="/interface[name=*]/statistics", mode=SubscriptionMode.POLL, interval_s=0.1)

SLOW_S, POLLS = 0.3, 6
"""More polls than the three intervals after which a target is stalled, at an interval that a busy machine keeps."""


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
    """A target that answers its request, and then each poll with the ports of the next answer.

    asked: polls that it has answered, or begins to. polls: those that it had got at the end of an answer.

    SYNC in an answer is a sync_response, a number a pause [s].
    """

    def __init__(self, clock: LoopClock, *answers: Sequence[str | float]) -> None:
        self._clock, self._answers = clock, answers
        self.asked, self.polls, self.done = 0, 0, asyncio.Event()

    needs_login = True

    def name_of(self, _: Endpoint) -> str:
        return "answers"

    async def stream(
        self, _: Endpoint, __: object, ___: object, connected: Callable[[Ask], object]
    ) -> AsyncGenerator[Batch, Any]:
        asked: asyncio.Queue[int] = asyncio.Queue()

        connected(asked.put_nowait)
        for ports in self._answers:
            for port in ports:  # one by one: an answer is not one message
                await asyncio.sleep(port if isinstance(port, float) else 0.02)
                if isinstance(port, str):
                    yield batch(sync=True) if port == SYNC else batch(port)
            self.polls = self.asked + asked.qsize()
            await asked.get()
            self.asked += 1
            self._clock.tick()
        self.done.set()
        await asyncio.Event().wait()


def of_answers(
    target: Answers, clock: LoopClock, interval_s: float, polled: TelemetrySubscription = POLLED
) -> TargetSession:
    telemetry = replace(platform("srlinux").telemetry, subscriptions=(polled,))
    spec = TargetSpec(name="leaf1", platform="srlinux", endpoint=WHERE, telemetry=telemetry)
    return TargetSession(spec, target, interval_s=interval_s, policy=QUICK, clock=clock, dials=Dials(1))


def ports_after(interval_s: float, *answers: Sequence[str | float]) -> tuple[list[str], int]:
    """The ports after these answers, and the polls up to the end of the last one.

    The clock of the collector hardly moves, so that nothing expires.
    """

    async def run() -> tuple[list[str], int]:
        clock = LoopClock()
        target = Answers(clock, *answers)
        session = of_answers(target, clock, interval_s)
        running = asyncio.create_task(session.run())
        await asyncio.wait_for(target.done.wait(), 20)
        running.cancel()
        assert target.asked == len(answers)
        return sorted(labels["interface"] for _, labels, _ in session.samples()), target.polls

    return asyncio.run(run())


def test_each_answer_is_all_that_there_is_and_ends_what_it_lacks() -> None:
    assert ports_after(60.0, ["e1", "e2", "e3", SYNC], ["e3", "e1", SYNC]) == (["e1", "e3"], 1)


def test_a_pause_in_an_answer_ends_nothing() -> None:
    """The target is asked again in the pause; the end of the first answer is not that of the second."""
    for answer in (["e1", 0.3, "e2", SYNC], ["e1", "e2", 0.3, SYNC]):
        assert ports_after(0.1, answer)[0] == ["e1", "e2"]
        assert ports_after(0.1, answer, ["e2", "e1", SYNC])[0] == ["e1", "e2"]


def test_a_target_that_is_known_to_end_its_answers_is_asked_nothing_before_the_end() -> None:
    assert ports_after(0.1, ["e1", SYNC], ["e1", 0.4, "e2", SYNC]) == (["e1", "e2"], 1)


def test_a_target_that_ends_no_answer_is_polled_at_its_interval_and_is_not_called_silent() -> None:
    """For more than three intervals, in which it would be stalled."""

    async def run() -> tuple[SessionState, float, float]:
        loop, clock = asyncio.get_running_loop(), LoopClock()
        target = Answers(clock, *[["e1", "e2"]] * POLLS)
        session = of_answers(target, clock, 0.1, replace(POLLED, interval_s=SLOW_S))
        running = [asyncio.create_task(clock.run()), asyncio.create_task(session.run())]
        began_s = loop.time()
        await asyncio.wait_for(target.done.wait(), 20)
        lasted_s, state, stalled = loop.time() - began_s, session.health.state, session.health.errors[Reason.STALLED]
        for task in running:
            task.cancel()
        return state, lasted_s, stalled

    state, lasted_s, stalled = asyncio.run(run())
    assert (state, stalled) == (SessionState.UP, 0)
    assert lasted_s >= POLLS * SLOW_S
