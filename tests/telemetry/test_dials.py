"""Dials: so many at one time, and so many begun in a second."""

from __future__ import annotations

import asyncio

from railfab.telemetry.dials import BURST_S, Dials


def begun_s(dials: Dials, count: int, lasts_s: float) -> tuple[list[float], int]:
    """When each of several dials began since the first was wanted, and how many were in the making at most."""
    begun: list[float] = []
    making = most = 0
    wanted_s = 0.0

    async def dial() -> None:
        nonlocal making, most
        async with dials:
            begun.append(asyncio.get_running_loop().time())
            making += 1
            most = max(most, making)
            await asyncio.sleep(lasts_s)
            making -= 1

    async def run() -> None:
        nonlocal wanted_s
        wanted_s = asyncio.get_running_loop().time()
        await asyncio.gather(*(dial() for _ in range(count)))

    asyncio.run(run())
    return [one - wanted_s for one in begun], most


def test_no_more_are_in_the_making_than_allowed() -> None:
    assert begun_s(Dials(3), 10, 0.01)[1] == 3


def test_none_begins_before_it_is_allowed() -> None:
    async def run() -> None:
        allowed = asyncio.Event()

        async def wait() -> None:
            await allowed.wait()

        dial = asyncio.create_task(Dials(1, allowed=wait).__aenter__())
        await asyncio.sleep(0)
        assert not dial.done()
        allowed.set()
        await dial

    asyncio.run(run())


def test_after_a_burst_they_begin_one_after_the_other() -> None:
    per_s, count = 100.0, 80
    begun, _ = begun_s(Dials(1000, per_s), count, 0.0)
    burst = int(BURST_S * per_s) + 1
    assert all(at_s >= (place - burst) / per_s - 0.001 for place, at_s in enumerate(begun))
    assert begun[burst - 2] < begun[-1]


def test_a_pause_is_no_credit_for_more_than_the_burst() -> None:
    dials = Dials(1000, 100.0)
    begun_s(dials, 1, 0.7)
    begun, _ = begun_s(dials, 80, 0.0)
    assert begun[-1] >= (79 - BURST_S * 100 - 1) / 100 - 0.001


def test_one_that_is_cancelled_while_it_waits_leaves_its_place() -> None:
    async def run() -> None:
        dials = Dials(1, 0.5)
        async with dials:
            pass
        waiting = asyncio.create_task(dials.__aenter__())
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert waiting.cancelled()
        assert not dials._places.locked()

    asyncio.run(run())
