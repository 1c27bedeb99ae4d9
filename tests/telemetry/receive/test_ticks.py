"""When connections are read: together, at moments that are far enough apart."""

from __future__ import annotations

import asyncio
import socket
from contextlib import aclosing

from tests.telemetry.receive.peers import ADMIN, REQUEST, Peer, answer, contents, data, endpoint, response, serving

from railfab.telemetry.receive.fast import FastReceiver
from railfab.telemetry.receive.ticks import Ticks


def test_all_who_wait_are_woken_at_one_moment_and_nobody_without_news() -> None:
    async def run() -> list[tuple[str, float]]:
        loop, ticks, woken = asyncio.get_running_loop(), Ticks(0.02), []
        pairs = {name: socket.socketpair() for name in ("early", "late", "silent")}
        for name, (near, _) in pairs.items():
            ticks.add(near.fileno())
            ticks.wait(near.fileno(), lambda name=name: woken.append((name, loop.time())))
        pairs["early"][1].send(b"x")
        pairs["late"][1].send(b"x")
        await asyncio.sleep(0.05)
        for near, far in pairs.values():
            ticks.remove(near.fileno())
            near.close()
            far.close()
        return woken

    woken = asyncio.run(run())
    assert sorted(name for name, _ in woken) == ["early", "late"]
    assert abs(woken[0][1] - woken[1][1]) < 0.001


def test_nothing_runs_while_nothing_arrives_and_the_next_arrival_is_read_at_once() -> None:
    async def run() -> int:
        loop, ticks, woken = asyncio.get_running_loop(), Ticks(0.001), asyncio.Event()
        near, far = socket.socketpair()
        ticks.add(near.fileno())
        ticks.wait(near.fileno(), woken.set)
        await asyncio.sleep(0.1)
        timers = len([handle for handle in loop._scheduled if not handle.cancelled()])  # type: ignore[attr-defined]
        far.send(b"x")
        await asyncio.wait_for(woken.wait(), 5)
        ticks.remove(near.fileno())
        near.close()
        far.close()
        return timers

    assert asyncio.run(run()) == 0


def test_a_target_that_sends_single_messages_is_read_some_times_a_second() -> None:
    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1))
        for number in range(100):
            peer.send(data(1, response(number)))
            await asyncio.sleep(0.001)

    async def run() -> tuple[int, int]:
        messages = batches = 0
        async with (
            serving(script) as port,
            aclosing(FastReceiver(coalesce_s=0.05).stream(endpoint(port), ADMIN, [REQUEST])) as stream,
        ):
            async for batch in stream:
                batches += 1
                messages += len(list(contents(batch)))
                if messages == 100:
                    break
        return messages, batches

    messages, batches = asyncio.run(asyncio.wait_for(run(), 20))
    assert (messages, batches < 20) == (100, True)
