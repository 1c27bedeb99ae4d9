"""Targets come and go while the others stream."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import urllib.request
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.telemetry.conftest import QUICK
from tests.telemetry.rack import INTERVAL_S, Rack, eventually
from tests.telemetry.test_loop_clock import ManualTime, after

from railfab.endpoints import Endpoint, Endpoints, save_endpoints
from railfab.telemetry import Collector, MetricsServer, SessionState, Snapshot, fabric_collector
from railfab.telemetry.fleet import Fleet
from railfab.telemetry.loop_clock import LAG_OVER_S, TICK_S, LoopClock
from railfab.telemetry.receive.contract import Ask, Batch
from railfab.telemetry.status import as_html, target_statuses
from railfab.telemetry.targets import Loader, Shard, Share
from railfab.telemetry.targets.config import source_of
from railfab.topology import Topology

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
OCTETS = "fabric_interface_receive_bytes_total"


@pytest.fixture
def listed(rack: Rack, tmp_path: Path) -> Path:
    path = tmp_path / "targets.json"
    save_endpoints(path, rack.endpoints())
    return path


def only(path: Path, rack: Rack, *names: str) -> None:
    nodes = tuple(node for node in rack.endpoints().nodes if node.name in names)
    save_endpoints(path, Endpoints(fabric="pod64", backend="twin", nodes=nodes))


def loader_of(path: Path) -> Loader:
    source = source_of(str(path))
    source.interval_s = 0.2
    loader = Loader(source)
    loader.load()
    return loader


def test_a_list_is_followed_and_targets_that_have_not_changed_stay_connected(listed: Path, rack: Rack) -> None:
    loader = loader_of(listed)
    with Collector((), loaders=[loader], interval_s=INTERVAL_S, policy=QUICK) as collector:
        assert collector.wait_until_up(20)
        assert collector.ready() == {"collecting": True, str(listed): True}
        only(listed, rack, LEAF)
        now = eventually(collector, lambda now: not now.select(OCTETS, device=SPINE))
        assert set(collector.states()) == {LEAF}
        assert not now.select("fabric_collector_session_up", device=SPINE)
        assert [found for found, _ in now.select("fabric_target_info")] == [
            {"device": LEAF, "fabric": "pod64", "platform": "srlinux"}
        ]
        only(listed, rack, LEAF, SPINE)
        now = eventually(collector, lambda now: now.select(OCTETS, device=SPINE))
        assert now.value("fabric_collector_reconnects_total", device=LEAF) == 0
        assert collector.states()[LEAF] is SessionState.UP


def test_a_shard_streams_from_its_targets_alone(listed: Path) -> None:
    shards = [Shard(index, 2) for index in range(2)]
    owned = [set(Collector((), loaders=[loader_of(listed)], share=Share(shard)).states()) for shard in shards]
    assert owned[0] | owned[1] == {LEAF, SPINE}
    assert not owned[0] & owned[1]


@pytest.mark.parametrize("count", [2, 3])
def test_a_set_of_collectors_exposes_each_switch_once_as_joins_of_rules_need(
    count: int, topology: Topology, rack: Rack
) -> None:
    """So a second set, of any number, is a replica for a Prometheus of its own."""
    shards = [Shard(index, count) for index in range(count)]
    owned = [fabric_collector(topology, rack.endpoints(), share=Share(shard)).snapshot() for shard in shards]
    for name in ("fabric_device_info", "fabric_interface_info"):
        shown = [labels["device"] for now in owned for labels in unique(now, name)]
        assert sorted(shown) == sorted(switch.name for switch in topology.switches()), name


def unique(now: Snapshot, name: str) -> list[dict[str, str]]:
    """The labels of a metric, of each device the first."""
    return list({labels["device"]: labels for labels, _ in now.select(name)}.values())


def test_targets_are_shown_with_what_is_wrong_with_them_first(listed: Path, rack: Rack) -> None:
    nodes = rack.endpoints().nodes
    broken = dataclasses.replace(nodes[1], gnmi_port=1)
    save_endpoints(listed, Endpoints(fabric="pod64", backend="twin", nodes=(nodes[0], broken)))
    collector = Collector((), loaders=[loader_of(listed)], interval_s=INTERVAL_S, policy=QUICK)
    with MetricsServer(collector.exposition, collector, port=0) as server, collector:
        eventually(collector, lambda now: now.value("fabric_collector_session_up", device=nodes[0].name))
        eventually(collector, lambda now: now.value("fabric_collector_errors_total", device=broken.name))
        with urllib.request.urlopen(f"{server.url}/targets", timeout=10) as answer:
            first, second = json.load(answer)
    assert (first["name"], first["address"]) == (broken.name, f"{broken.host}:1")
    assert "no answer" in first["error"] or "refused" in first["error"]
    assert (second["name"], second["state"], second["error"]) == (nodes[0].name, "up", "")


class Stubborn:
    """A receiver that swallows the first cancel, as a task group of Python 3.11 may."""

    needs_login = True

    def __init__(self) -> None:
        self.ended = 0

    def name_of(self, _: Endpoint) -> str:
        return "stubborn"

    async def stream(self, *_arguments: object) -> AsyncGenerator[Batch]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            try:
                await asyncio.sleep(60)
            finally:
                self.ended += 1
        yield  # type: ignore[misc]


class Unanswering:
    """A receiver whose targets are connected when the test says so, and say nothing."""

    needs_login = False

    def __init__(self) -> None:
        self.making = self.most = 0
        self.answer = asyncio.Event()

    def name_of(self, _: Endpoint) -> str:
        return "unanswering"

    async def stream(
        self, _: Endpoint, __: object, ___: object, connected: Callable[[Ask], object]
    ) -> AsyncGenerator[Batch]:
        self.making += 1
        self.most = max(self.most, self.making)
        await self.answer.wait()
        self.making -= 1
        connected(lambda _: None)
        await asyncio.Event().wait()
        yield  # type: ignore[misc]


@pytest.mark.parametrize(("given", "most"), [(None, [1_000_000, 2_400_000, 1_000_000]), (500, [500, 500, 500])])
def test_there_is_room_for_the_series_of_all_targets_unless_a_bound_is_given(
    given: int | None, most: list[int], listed: Path
) -> None:
    policy = replace(QUICK, max_series=given)
    fleet = Fleet(Unanswering(), LoopClock(), interval_s=INTERVAL_S, policy=policy, speeds_gbps={})
    spec, bounds = loader_of(listed).specs[0], []
    for count in (1, 200, 2):
        fleet.apply(replace(spec, name=f"leaf{number}") for number in range(count))
        bounds.append(fleet._budget.most)
    assert bounds == most


def test_a_target_that_waits_for_its_dial_is_idle_and_those_that_are_connected_hold_up_none(listed: Path) -> None:
    async def run() -> None:
        receiver = Unanswering()
        policy = replace(QUICK, dials=1)
        fleet = Fleet(receiver, LoopClock(), interval_s=60.0, policy=policy, speeds_gbps={})
        fleet.apply(loader.specs)
        await fleet.start()
        await until(lambda: receiver.making == 1)
        assert states(fleet) == [SessionState.CONNECTING, SessionState.IDLE]
        assert [status.error for status in target_statuses(fleet.sessions)] == ["", "not dialed yet"]
        receiver.answer.set()
        await until(lambda: states(fleet) == [SessionState.CONNECTING] * 2)
        assert receiver.most == 1
        fleet.apply(())

    loader = loader_of(listed)
    asyncio.run(run())


def test_while_the_collector_is_overloaded_no_target_is_dialed_and_each_says_so(listed: Path) -> None:
    async def run() -> None:
        receiver, clock = Unanswering(), LoopClock(manual := ManualTime())
        fleet = Fleet(receiver, clock, interval_s=60.0, policy=QUICK, speeds_gbps={})
        fleet.apply(loader.specs)
        after(LAG_OVER_S, clock, manual)
        await fleet.start()
        await asyncio.sleep(0.05)
        statuses = target_statuses(fleet.sessions)
        assert [(status.state, status.overloaded) for status in statuses] == [("idle", True)] * 2
        assert "2 targets of a collector that is overloaded" in as_html(statuses)
        for _ in range(round(LAG_OVER_S / TICK_S) + 1):
            after(TICK_S, clock, manual)
        await until(lambda: receiver.making == 2)
        assert "overloaded" not in as_html(target_statuses(fleet.sessions))
        fleet.apply(())

    loader = loader_of(listed)
    asyncio.run(run())


def states(fleet: Fleet) -> list[SessionState]:
    return [session.health.state for session in fleet.sessions]


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.01)


def test_the_session_of_a_removed_target_ends_though_a_cancel_is_swallowed(listed: Path) -> None:
    async def run() -> None:
        receiver = Stubborn()
        fleet = Fleet(receiver, LoopClock(), interval_s=INTERVAL_S, policy=QUICK, speeds_gbps={})
        fleet.apply(loader.specs)
        await fleet.start()
        await asyncio.sleep(0.2)
        fleet.apply(())
        async with asyncio.timeout(20):
            while receiver.ended < 2 or asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.sleep(0.05)

    loader = loader_of(listed)
    asyncio.run(run())
