"""A collector that is late says so, and blames no target for it."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack, eventually
from tests.telemetry.test_serve import got

from railfab.gnmi.listening import listening_timeout
from railfab.telemetry import MetricsServer, fabric_collector, loop_clock
from railfab.telemetry import collector as collector_module
from railfab.telemetry.loop_clock import COUNTED_S, LAG_OVER_S, LATE_S, ON_TIME_S, TICK_S, LoopClock
from railfab.telemetry.retry import SILENT_INTERVALS
from railfab.topology import Topology

LEAF = "pod1-seg1-leaf1"


class ManualTime:
    """A monotonic clock that goes on when the test says so."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def after(seconds: float, clock: LoopClock, manual: ManualTime) -> None:
    """Let time pass, then tick."""
    manual.now_s += seconds
    clock.tick()


def test_time_before_the_loop_runs_is_no_lateness() -> None:
    clock = LoopClock(manual := ManualTime())
    manual.now_s += 30

    async def run_for_a_moment() -> None:
        ticking = asyncio.create_task(clock.run())
        await asyncio.sleep(0)
        ticking.cancel()

    asyncio.run(run_for_a_moment())
    assert clock.lag_s() == 0


def test_time_is_counted_while_the_loop_is_on_time_and_not_while_it_is_late() -> None:
    clock = LoopClock(manual := ManualTime())
    for _ in range(10):
        after(TICK_S, clock, manual)
    assert clock.now_s() == pytest.approx(10 * TICK_S)
    assert clock.lag_s() == pytest.approx(0, abs=1e-9)
    after(7.0, clock, manual)
    assert clock.now_s() == pytest.approx(10 * TICK_S + COUNTED_S)
    assert clock.lag_s() == pytest.approx(7.0 - TICK_S)


def test_a_loop_that_is_blocked_now_is_late_before_its_next_tick() -> None:
    clock = LoopClock(manual := ManualTime())
    manual.now_s += 5.0
    assert clock.lag_s() == pytest.approx(5.0 - TICK_S)
    assert clock.now_s() == pytest.approx(COUNTED_S)


def test_a_loop_whose_ticks_are_all_a_little_late_counts_all_time() -> None:
    """As on a busy machine, where series of a dead target would stay for much longer than their grace else."""
    clock = LoopClock(manual := ManualTime())
    for _ in range(100):
        after(2 * TICK_S, clock, manual)
    assert clock.now_s() == pytest.approx(200 * TICK_S)
    assert clock.lag_s() == pytest.approx(TICK_S)


def test_the_lag_is_the_largest_of_the_last_half_minute() -> None:
    clock = LoopClock(manual := ManualTime())
    after(3.0 + TICK_S, clock, manual)
    for _ in range(round(LAG_OVER_S / TICK_S) - 1):
        after(TICK_S, clock, manual)
    assert clock.lag_s() == pytest.approx(3.0)
    after(2 * TICK_S, clock, manual)
    assert clock.lag_s() == pytest.approx(TICK_S)


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=30))
def test_the_clock_never_goes_back_and_never_faster_than_time(passed: list[tuple[float, bool]]) -> None:
    clock = LoopClock(manual := ManualTime())
    read_s = [clock.now_s()]
    for seconds, ticks in passed:
        manual.now_s += seconds
        if ticks:
            clock.tick()
        read_s.append(clock.now_s())
    assert read_s == sorted(read_s)
    assert read_s[-1] <= sum(seconds for seconds, _ in passed) + 1e-9


def test_a_late_loop_is_logged_once_until_it_has_been_on_time_for_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = LoopClock(manual := ManualTime())
    for _ in range(3):
        after(LATE_S + 0.5, clock, manual)
    assert [record.getMessage() for record in caplog.records] == [
        "the collector is 1.4 s late: it reads updates later than they arrive."
        " Collect from fewer switches, or sample less often."
    ]
    for _ in range(round(ON_TIME_S / TICK_S) + 1):
        after(TICK_S, clock, manual)
    after(LATE_S + 0.5, clock, manual)
    assert len(caplog.records) == 2


def test_a_loop_that_is_late_half_of_the_time_is_overloaded_until_it_keeps_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = LoopClock(manual := ManualTime())
    after(10.0, clock, manual)
    assert not clock.is_overloaded, "one stall of ten seconds"
    assert clock.overload() is None
    for _ in range(3):
        after(3.0, clock, manual)
    assert (overload := clock.overload()) is not None
    assert overload.since_s == pytest.approx(time.time() - 15.7, abs=1), "the time in which it was late"
    assert overload.lag_s == pytest.approx(10.0 - TICK_S)
    for _ in range(round(LAG_OVER_S / TICK_S)):
        after(TICK_S, clock, manual)
    assert not clock.is_overloaded
    said = [record.getMessage() for record in caplog.records if "overloaded" in record.getMessage()]
    assert len(said) == 1
    assert said[0].endswith("give it more cores with --processes, or sample less often with --interval.")
    assert caplog.records[-1].getMessage() == "the collector keeps up again."


def test_a_loop_that_does_not_run_is_overloaded() -> None:
    clock = LoopClock(manual := ManualTime())
    manual.now_s += LAG_OVER_S
    assert (overload := clock.overload()) is not None
    assert overload.since_s == pytest.approx(time.time() - LAG_OVER_S, abs=1)
    assert overload.lag_s == pytest.approx(LAG_OVER_S - TICK_S)


def test_a_collector_that_is_overloaded_is_healthy_and_ready_and_says_since_when_it_is_late(
    topology: Topology, rack: Rack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that fails would have it started again, or scraped no more, where it needs time."""
    collector = fabric_collector(topology, rack.endpoints())
    clock = LoopClock(manual := ManualTime())
    monkeypatch.setattr(collector, "_clock", clock)
    with collector, MetricsServer(collector.exposition, collector, port=0) as server:
        assert json.loads(got(f"{server.url}/healthz")[2]) == {"collecting": True}
        assert b"overloaded" not in got(server.url)[2]
        for _ in range(3):
            after(9.0, clock, manual)
        for page in ("healthz", "readyz"):
            status, _, body = got(f"{server.url}/{page}")
            overload = json.loads(body)["overloaded"]
            assert (status, overload["lag_s"]) == (200, 8.9)
            assert time.time() - datetime.fromisoformat(overload["since"]).timestamp() == pytest.approx(17.8, abs=5)
        assert f"<p>overloaded since {overload['since']}, up to 8.9 s late</p>".encode() in got(server.url)[2]


@pytest.mark.asyncio
async def test_no_session_begins_while_the_loop_is_overloaded() -> None:
    clock = LoopClock(manual := ManualTime())
    for _ in range(6):
        after(3.0, clock, manual)
    waiting = asyncio.create_task(clock.not_overloaded())
    await asyncio.sleep(0)
    assert not waiting.done()
    for _ in range(round(LAG_OVER_S / TICK_S)):
        after(TICK_S, clock, manual)
    await waiting


@pytest.mark.asyncio
async def test_a_timeout_does_not_count_the_time_in_which_the_loop_was_late() -> None:
    """What arrived meanwhile is taken, although the time has passed by the clock of the wall."""
    answer = asyncio.get_running_loop().create_future()
    async with listening_timeout(0.3, every_s=0.1):
        await asyncio.sleep(0)
        answer.get_loop().call_later(0.31, answer.set_result, "late")  # ready beside the timer, and after it
        time.sleep(1.0)
        assert await answer == "late"


@pytest.mark.asyncio
async def test_a_timeout_ends_where_the_loop_is_on_time() -> None:
    with pytest.raises(TimeoutError):
        async with listening_timeout(0.1):
            await asyncio.Event().wait()


@pytest.mark.asyncio
async def test_waiting_to_be_on_time_outlasts_a_loop_that_is_blocked() -> None:
    clock = LoopClock()
    waiting = asyncio.create_task(clock.on_time())
    await asyncio.sleep(0)
    time.sleep(3 * TICK_S)
    await asyncio.sleep(0)
    assert not waiting.done()
    await waiting


def test_a_blocked_event_loop_stalls_no_target_and_drops_no_series(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy loop in the collector's thread, longer than any silence that is allowed; the targets go on sending.

    The collector is not healthy meanwhile.
    """
    monkeypatch.setattr(collector_module, "BLOCKED_S", SILENT_INTERVALS * INTERVAL_S)
    healthy = set()
    blocked_s = 2 * SILENT_INTERVALS * INTERVAL_S

    def block() -> None:
        until_s = time.monotonic() + blocked_s
        while time.monotonic() < until_s:
            sum(range(1000))

    with (
        caplog.at_level(logging.WARNING, "railfab.telemetry"),
        fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK) as collector,
    ):
        assert collector.wait_until_up(10)
        kept = collector.value("fabric_collector_series")
        assert collector.healthy() == {"collecting": True}
        assert collector._loop is not None
        collector._loop.call_soon_threadsafe(block)
        until_s = time.monotonic() + blocked_s + 2 * INTERVAL_S
        while time.monotonic() < until_s:
            now = collector.snapshot()
            assert now.value("fabric_collector_errors_total") == 0
            assert now.value("fabric_collector_session_up") == 2
            assert now.value("fabric_collector_series") == kept
            healthy.add(collector.healthy()["collecting"])
            time.sleep(0.1)
        assert healthy == {True, False}
        assert collector.healthy() == {"collecting": True}
        assert collector.value("fabric_collector_reconnects_total") == 0
        assert collector.value("fabric_collector_lag_seconds") > SILENT_INTERVALS * INTERVAL_S
    assert caplog.text.count("s late: it reads updates later than they arrive") == 1


def test_a_stream_that_is_closed_while_the_collector_is_late_blames_no_switch_unless_that_is_gone(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server of gRPC's C core closes a connection that nobody reads for 20 s."""
    errors, late_s = "fabric_collector_errors_total", 1.5
    monkeypatch.setattr(loop_clock, "UNREAD_S", late_s / 2)
    caplog.set_level(logging.WARNING, "railfab.telemetry")
    with fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK) as collector:
        assert collector.wait_until_up(10)
        loop = collector._loop
        assert loop is not None
        loop.call_soon_threadsafe(time.sleep, late_s)
        for name in rack.servers:
            rack.kill(name)
            rack.revive(name)
        eventually(collector, lambda now: now.value(errors, reason="unread") == len(rack.servers))
        assert collector.wait_until_up(10)
        assert collector.value(errors) == len(rack.servers)
        said = [record.getMessage() for record in caplog.records]
        assert sum(text.startswith("streams end while the collector is ") for text in said) == 1
        assert not any(name in text for text in said for name in rack.servers)
        loop.call_soon_threadsafe(time.sleep, late_s)
        rack.kill(LEAF)
        eventually(collector, lambda now: now.value(errors, reason="unreachable", device=LEAF))
        assert any(LEAF in record.getMessage() for record in caplog.records)
