"""When a stream sends, on a clock of the test: heartbeats once an interval, and one sample after a delay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from railfab.gnmi import messages
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.paths import to_proto
from railfab.gnmi.reader import ViewReader
from railfab.gnmi.streams import Group, groups, subscriptions
from railfab.gnmi.target import Edit, TargetView, YangModel
from railfab.gnmi.values import JSON_IETF
from railfab.units import NS_PER_S

STATE = "/interface[name=e1]/oper-state"


class Port:
    """A target with one leaf."""

    name = "box"
    change_age_s = 1.0

    def __init__(self) -> None:
        self._leaves = Leaves(self.name)
        self._leaves.put(STATE, "up", on_change=True)

    def models(self) -> Sequence[YangModel]:
        return ()

    def view(self, max_age_s: float) -> TargetView | None:
        return self._leaves.view(max_age_s)

    def refresh(self) -> TargetView:
        return self._leaves.publish()

    def set(self, edits: Sequence[Edit]) -> None:
        raise NotImplementedError


@pytest.fixture
def reader() -> Iterator[ViewReader]:
    with ThreadPoolExecutor(1) as workers:
        yield ViewReader(Port(), workers)


def group(
    reader: ViewReader, mode: str, *, interval_s: float = 0, heartbeat_s: float = 0, suppress: bool = False
) -> Group:
    """A stream of one subscription, which began at 0."""
    entry = messages.Subscription(
        path=to_proto(STATE),
        mode=messages.SubscriptionMode.Value(mode),
        sample_interval=round(interval_s * NS_PER_S),
        heartbeat_interval=round(heartbeat_s * NS_PER_S),
        suppress_redundant=suppress,
    )
    wish = messages.SubscriptionList(subscription=[entry], encoding=JSON_IETF)
    (found,) = groups(reader, subscriptions(Port(), wish), 0)
    return found


async def sent(stream: Group, until_s: float) -> list[float]:
    """Times at which a stream that is never late sends, after what it sends first [s]."""
    async for _ in stream.everything():
        pass
    times = []
    while (now_ns := stream.due_ns) <= until_s * NS_PER_S:
        async for _ in stream.turn(now_ns):
            times.append(now_ns / NS_PER_S)
    return times


def test_a_heartbeat_repeats_an_unchanged_leaf_once_an_interval(reader: ViewReader) -> None:
    assert asyncio.run(sent(group(reader, "ON_CHANGE", heartbeat_s=1.0), 3.5)) == [1.0, 2.0, 3.0]
    assert asyncio.run(sent(group(reader, "ON_CHANGE"), 3.5)) == []


def test_samples_are_due_at_multiples_of_their_interval(reader: ViewReader) -> None:
    assert asyncio.run(sent(group(reader, "SAMPLE", interval_s=0.5), 2.2)) == [0.5, 1.0, 1.5, 2.0]


def test_a_stream_that_was_late_sends_one_sample_and_keeps_its_times(reader: ViewReader) -> None:
    async def late() -> tuple[int, float]:
        stream = group(reader, "SAMPLE", interval_s=1.0)
        responses = [response async for response in stream.turn(round(5.5 * NS_PER_S))]
        return len(responses), stream.due_ns / NS_PER_S

    assert asyncio.run(late()) == (1, 6.0)


def test_a_heartbeat_comes_though_samples_are_suppressed_and_further_apart(reader: ViewReader) -> None:
    """gNMI specification, 3.5.1.5.2: once per heartbeat interval, whether or not the value has changed."""
    stream = group(reader, "SAMPLE", interval_s=10, heartbeat_s=3, suppress=True)
    assert asyncio.run(sent(stream, 12)) == [3, 6, 9, 12]


def test_heartbeats_that_were_missed_are_not_made_up_for(reader: ViewReader) -> None:
    stream = group(reader, "ON_CHANGE", heartbeat_s=1)

    async def late() -> int:
        async for _ in stream.everything():
            pass
        return len([found for now_s in (50, 50.1, 50.2) async for found in stream.turn(round(now_s * NS_PER_S))])

    assert asyncio.run(late()) == 1
