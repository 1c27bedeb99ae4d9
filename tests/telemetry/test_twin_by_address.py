"""A virtual switch that is collected by its address: the collector asks each target once for its simulated time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from tests.telemetry.rack import INTERVAL_S, QUICK, Rack, eventually

from railfab.endpoints import Credentials, Endpoint, Endpoints
from railfab.errors import DeviceError
from railfab.gnmi.paths import to_text
from railfab.gnmi.statuses import Busy, Refused, StreamClosed
from railfab.gnmi.values import Uint64
from railfab.platforms import SIMULATED_TIME
from railfab.telemetry import Collector, fabric_collector
from railfab.telemetry.receive.choice import receiver
from railfab.telemetry.receive.contract import Ask, RpcEnded, ignored
from railfab.topology import Topology

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
TIME, UP = "fabric_twin_simulated_seconds_total", "fabric_collector_session_up"


class Noted:
    """A receiver that notes the paths of each stream. answer: what ends the question for the simulated time instead."""

    needs_login = True

    def __init__(self, answer: DeviceError | None = None) -> None:
        self._receiver, self._answer = receiver("fast"), answer
        self.streams: dict[str, list[list[tuple[str, ...]]]] = {LEAF: [], SPINE: []}

    def name_of(self, endpoint: Endpoint) -> str:
        return self._receiver.name_of(endpoint)

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[Any],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Any]:
        paths = [tuple(to_text(each.path) for each in request.subscribe.subscription) for request in requests]
        self.streams[endpoint.name].append(paths)
        question = paths.index((SIMULATED_TIME,)) if (SIMULATED_TIME,) in paths else None
        async with aclosing(self._receiver.stream(endpoint, credentials, requests, connected)) as stream:
            async for event in stream:
                replaced = self._answer is not None and event.rpc == question
                yield RpcEnded(event.rpc, self._answer) if replaced else event


def collector_of(topology: Topology, rack: Rack, noted: Noted) -> Collector:
    """A collector that does not know that its targets are virtual."""
    endpoints = Endpoints(fabric="pod64", backend="hosts", nodes=rack.endpoints().nodes)
    return fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=QUICK, receiver=noted)


def test_a_virtual_switch_is_found_by_its_simulated_time_which_comes_with_its_counters(
    topology: Topology, rack: Rack
) -> None:
    rack.switches[LEAF].leaves.put(SIMULATED_TIME, Uint64(7_000_000_000))
    noted = Noted()
    with collector_of(topology, rack, noted) as collector:
        found = eventually(collector, lambda now: now.value(TIME) and now.value(UP) == 2)
    assert [labels["device"] for labels, _ in found.select(TIME)] == [LEAF]
    assert found.value(TIME) == 7
    first, second = noted.streams[LEAF]
    assert first[-1] == (SIMULATED_TIME,)
    assert [paths for paths in second if SIMULATED_TIME in paths] == [(*first[0], SIMULATED_TIME)]
    assert len(noted.streams[SPINE]) == 1


def test_a_target_is_asked_once_for_a_simulated_time(topology: Topology, rack: Rack) -> None:
    noted = Noted()
    with collector_of(topology, rack, noted) as collector:
        assert collector.wait_until_up(10)
        rack.kill(SPINE)
        eventually(collector, lambda now: now.value(UP, device=SPINE) == 0)
        rack.revive(SPINE)
        eventually(collector, lambda now: now.value(UP, device=SPINE) == 1)
    first, *others = noted.streams[SPINE]
    assert first[-1] == (SIMULATED_TIME,)
    assert others
    assert all(SIMULATED_TIME not in paths for stream in others for paths in stream)


@pytest.mark.parametrize("kind", [Refused, Busy, StreamClosed])
def test_a_target_may_refuse_the_question(
    topology: Topology, rack: Rack, kind: type[DeviceError], caplog: pytest.LogCaptureFixture
) -> None:
    noted = Noted(kind("leaf", "has no such path", "Check the path"))
    with collector_of(topology, rack, noted) as collector:
        found = eventually(collector, lambda now: now.value(UP) == 2)
    assert found.value("fabric_collector_errors_total") == 0
    assert "no such path" not in caplog.text
    assert {name: len(streams) for name, streams in noted.streams.items()} == {LEAF: 1, SPINE: 1}
