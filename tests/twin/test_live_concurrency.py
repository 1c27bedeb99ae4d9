"""Who waits for whom on a running fabric: changes for their convergence, readers for nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.forwarding.fabrics import LEAF, MS, SPINE, deployed, lasting_ring, made, model, planned, totals
from tests.forwarding.test_incremental_convergence import at_once, fabric, seen
from tests.laws import examples
from tests.twin.twins import until

from railfab.errors import TopologyError
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, begin, converge
from railfab.intent import Job
from railfab.sim import Engine
from railfab.twin import change_queue, live
from railfab.twin.change_queue import ChangeQueue, merged
from railfab.twin.clock import STEP_NS, Clock
from railfab.twin.fair_lock import FairLock
from railfab.twin.job_flows import JobFlows
from railfab.twin.live import LiveFabric

SOON_S = 120.0
TRANSMITTED = "fabric_interface_transmit_bytes_total"
DISCARDED = "fabric_interface_transmit_discards_total"


def incast() -> Job:
    """Traffic from the first moment on."""
    return made(phases=[{"traffic": {"pattern": "incast", "senders": 4, "receivers": 1, "bytes": "100MB"}}])


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event, list[FabricChange]]]:
    """Convergence that waits: when it has begun, when it may go on, and the changes that it was given."""
    begun, may_go_on, changes = threading.Event(), threading.Event(), list[FabricChange]()

    def slowly(state: ForwardingState, change: FabricChange) -> ForwardingState:
        changes.append(change)
        begun.set()
        assert may_go_on.wait(SOON_S)
        return converge(state, change)

    monkeypatch.setattr(live, "converge", slowly)
    try:
        yield begun, may_go_on, changes
    finally:
        may_go_on.set()


def test_changes_that_arrive_while_another_converges_converge_together(monkeypatch: pytest.MonkeyPatch) -> None:
    running = deployed()
    names = list(planned()[1])
    with held_up(monkeypatch) as (begun, may_go_on, changes), ThreadPoolExecutor(len(names)) as pool:
        first = pool.submit(running.configure, names[0], None)
        assert begun.wait(SOON_S)
        others = [pool.submit(running.configure, name, None) for name in names[1:]]
        while len(running._changes._requests) < len(others):
            assert not any(other.done() for other in others)
        may_go_on.set()
        for done in (first, *others):
            done.result(SOON_S)
    assert [set(change.models) for change in changes] == [{names[0]}, set(names[1:])]
    assert not any(session for name in names for session in running.sessions(name))


class Converging:
    """A change queue, and the switches of each of its convergences."""

    def __init__(self) -> None:
        self.names: list[set[str]] = []
        self.changes = ChangeQueue("made", lambda change: self.names.append(set(change.models)))

    def apply(self, name: str) -> None:
        self.changes.apply(FabricChange({name: None}))

    def apply_announced(self, name: str, announced: threading.Event, parsed: threading.Event) -> None:
        with self.changes.announced():
            announced.set()
            assert parsed.wait(SOON_S)
            self.apply(name)

    def is_waiting(self, *names: str) -> bool:
        return [set(request.change.models) for request in self.changes._requests] == [{name} for name in names]


@pytest.fixture
def converging(monkeypatch: pytest.MonkeyPatch) -> Converging:
    """A change queue whose last convergence took so long that changes wait for announced ones as long as it takes."""
    monkeypatch.setattr(change_queue, "MOST_WAIT_S", SOON_S)
    converging = Converging()
    converging.changes._took_s = SOON_S
    return converging


def test_a_change_converges_together_with_those_that_are_announced(converging: Converging) -> None:
    events = {name: (threading.Event(), threading.Event()) for name in ("a", "b")}
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(converging.apply_announced, name, *held) for name, held in events.items()]
        for announced, _ in events.values():
            assert announced.wait(SOON_S)
        events["a"][1].set()
        until(lambda: converging.is_waiting("a"))
        events["b"][1].set()
        for call in calls:
            call.result(SOON_S)
    assert converging.names == [{"a", "b"}]


def test_a_change_that_comes_alone_waits_for_nothing(converging: Converging) -> None:
    held = threading.Event(), threading.Event()
    held[1].set()
    converging.apply_announced("a", *held)
    converging.apply("b")
    assert converging.names == [{"a"}, {"b"}]


def test_a_change_that_was_not_announced_waits_for_nothing_nor_does_what_waits(converging: Converging) -> None:
    """As that of a link: simulated time stands still while it waits."""
    events = {name: (threading.Event(), threading.Event()) for name in ("a", "refused")}
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(converging.apply_announced, name, *held) for name, held in events.items()]
        for announced, _ in events.values():
            assert announced.wait(SOON_S)
        events["a"][1].set()
        until(lambda: converging.is_waiting("a"))
        converging.apply("link")
        calls[0].result(SOON_S)
        assert converging.names == [{"a", "link"}]
        events["refused"][1].set()


def test_a_change_that_is_refused_keeps_no_other_one_waiting(converging: Converging) -> None:
    announced, parsed = threading.Event(), threading.Event()

    def refused() -> None:
        with converging.changes.announced():
            announced.set()
            assert parsed.wait(SOON_S)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(refused)
        assert announced.wait(SOON_S)
        change = pool.submit(converging.apply_announced, "a", threading.Event(), announced)
        until(lambda: converging.is_waiting("a"))
        parsed.set()
        change.result(SOON_S)
    assert converging.names == [{"a"}]


def test_a_change_waits_for_announced_ones_no_longer_than_ten_convergences() -> None:
    converging, announced, parsed = Converging(), threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(converging.apply_announced, "slow", announced, parsed)
        assert announced.wait(SOON_S)
        with converging.changes.announced():
            converging.apply("a")
        assert converging.names == [{"a"}]
        parsed.set()
        call.result(SOON_S)


def test_a_reader_waits_for_no_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    running = deployed()
    running.start(incast())
    with held_up(monkeypatch) as (begun, may_go_on, _), ThreadPoolExecutor(1) as pool:
        change = pool.submit(running.configure, SPINE, None)
        assert begun.wait(SOON_S)
        before = totals(running)[TRANSMITTED]
        running.advance(100 * MS)
        assert totals(running)[TRANSMITTED] > before, "the simulation goes on"
        assert all(session.established for session in running.sessions(SPINE)), "with the state that was published"
        assert running.job_status().job == "made"
        may_go_on.set()
        change.result(SOON_S)
    assert running.sessions(SPINE) == ()


def test_a_reader_waits_for_no_simulation() -> None:
    """While a step is computed, what was published last is read; then everything up to the step."""
    running = deployed()
    running.start(incast())
    running.advance(10 * MS)
    before = totals(running)[TRANSMITTED]
    computing, may_go_on, step = threading.Event(), threading.Event(), running._engine.run

    def slow_step(until_ns: float, *, stop_when_done: bool = True) -> bool:
        computing.set()
        assert may_go_on.wait(SOON_S)
        return step(until_ns, stop_when_done=stop_when_done)

    running._engine.run = slow_step  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as pool:
        passing = pool.submit(running.advance, 10 * MS)
        assert computing.wait(SOON_S)
        assert totals(running)[TRANSMITTED] == before
        assert running.job_status().job == "made"
        may_go_on.set()
        passing.result(SOON_S)
    assert totals(running)[TRANSMITTED] > before


def test_after_a_change_every_flow_has_the_path_that_the_new_state_gives_it() -> None:
    """Also one whose notifications alone pass what has changed: as on an engine that knows the new state only."""
    running = deployed()
    running.start(made(phases=[{"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "1GB"}}]))
    running.advance(MS)
    assert running.job_status().active_flows == 31
    for name in planned()[1]:
        for found in (None, model(name)):
            running.configure(name, found)
            state, fresh = running.state(), JobFlows(LinkTable(planned()[0]))
            engine = Engine(state.network, state.routing)
            engine.add(fresh.begin(tuple(running._flows.transfers.values()), 0, engine.add_transport))
            engine.run(1, stop_when_done=False)
            expected, seen_now = engine.flow_paths(), running._engine.flow_paths()
            np.testing.assert_array_equal(seen_now.stalled, expected.stalled)
            np.testing.assert_array_equal(seen_now.links, expected.links)
            np.testing.assert_array_equal(seen_now.back, expected.back)
    assert running.job_status().stalled == ()


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_merged_changes_are_the_changes_one_after_the_other(data: st.DataObject) -> None:
    _, links, models = fabric("pod64")
    ends = st.frozensets(st.sampled_from(links.keys[-6:]), max_size=3)
    configurations = st.dictionaries(
        st.sampled_from(sorted(models)[:3]), st.sampled_from([None, *list(models.values())[:1]]), max_size=2
    ).map(lambda held: {name: found and models[name] for name, found in held.items()})
    cables = ends.map(lambda keys: keys | {links.far_key(links.egress[key]) for key in keys})
    rates = st.dictionaries(st.sampled_from(links.keys[-6:]), st.sampled_from([10.0, 50.0, np.inf]), max_size=2)
    made = st.builds(FabricChange, configurations, cut=cables, restored=cables, reduced=rates)
    changes = data.draw(st.lists(made, max_size=5))
    changes = [replace(change, cut=change.cut - change.restored) for change in changes]
    state = one_by_one = at_once(links, models, frozenset())
    for change in changes:
        one_by_one = converge(one_by_one, change)
    together = converge(state, merged(changes))
    assert seen(together) == seen(one_by_one)
    assert together.reduced == one_by_one.reduced


def test_the_rate_of_one_end_counts_for_the_cable_although_both_had_one_before() -> None:
    _, links, models = fabric("pod64")
    near = links.keys[-1]
    far = links.far_key(links.egress[near])
    changes = [FabricChange({}, reduced={near: 10.0, far: 10.0}), FabricChange({}, reduced={near: 50.0})]
    state = converge(at_once(links, models, frozenset()), merged(changes))
    assert state.reduced == {near: 50.0, far: 50.0}


def test_a_cable_that_is_restored_at_one_end_and_then_cut_at_the_other_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    running = deployed()
    link = running.state().links.links_of[LEAF][-1]
    near, far = running.state().links.keys[link], running.state().links.far_key(link)
    with held_up(monkeypatch) as (begun, may_go_on, _), ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(running.configure, SPINE, model(SPINE))]
        assert begun.wait(SOON_S)
        calls.append(pool.submit(running.set_link, *near, True))
        until(lambda: len(running._changes._requests) == 1)
        calls.append(pool.submit(running.set_link, *far, False))
        until(lambda: len(running._changes._requests) == 2)
        may_go_on.set()
        for call in calls:
            call.result(SOON_S)
    assert not running.state().port(near).oper_up


def test_a_configuration_of_no_switch_leaves_those_that_came_with_it() -> None:
    running = LiveFabric(planned()[0])
    with pytest.raises(TopologyError, match="has no switch 'nobody'"):
        running.configure_all({SPINE: model(SPINE), "nobody": model(LEAF)})
    assert running.state().configs == {}
    running.configure_all({SPINE: model(SPINE), LEAF: model(LEAF)})
    assert any(session.established for session in running.sessions(SPINE))


def test_a_change_that_cannot_converge_is_reported_and_the_next_one_converges(monkeypatch: pytest.MonkeyPatch) -> None:
    running = deployed()

    def fails(state: ForwardingState, change: FabricChange) -> ForwardingState:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(live, "converge", fails)
    with pytest.raises(ZeroDivisionError):
        running.configure(SPINE, None)
    monkeypatch.undo()
    assert all(session.established for session in running.sessions(SPINE)), "the state before stays"
    running.configure(LEAF, None)
    assert running.sessions(LEAF) == ()


def broken_engine(*_: object, **__: object) -> None:
    raise FloatingPointError("overflow")


def test_an_engine_that_fails_stops_the_job_and_keeps_the_counters() -> None:
    running = deployed()
    running.start(incast())
    clock = Clock(running.advance, running.recover)
    for _ in range(3):
        assert clock._step()
    counted = totals(running)[TRANSMITTED]
    running._engine.run = broken_engine  # type: ignore[method-assign, assignment]
    assert clock._step()
    assert clock.failure == "FloatingPointError: overflow"
    assert running.job_status().job is None
    assert totals(running)[TRANSMITTED] == counted > 0
    running.start(incast())
    for _ in range(4):
        assert clock._step()
    assert totals(running)[TRANSMITTED] > counted, "a new job runs"


@pytest.mark.parametrize("defect", ["reroute", "counters"])
def test_an_engine_that_fails_fails_no_set_and_no_reader(defect: str) -> None:
    """The job stops at the next step of time, which raises; the state of the fabric is published all the same."""
    running = deployed()
    running.start(incast())
    running.advance(10 * MS)
    setattr(running._engine, defect, broken_engine)
    running.configure(SPINE, None)
    assert running.sessions(SPINE) == ()
    assert totals(running, LEAF)[TRANSMITTED] >= 0
    clock = Clock(running.advance, running.recover)
    assert clock._step()
    assert clock.failure == "FloatingPointError: overflow"
    assert running.job_status().job is None
    running.start(incast())
    before = totals(running)[TRANSMITTED]
    assert clock._step()
    assert totals(running)[TRANSMITTED] > before


def test_an_engine_that_fails_while_flows_get_a_path_fails_no_set() -> None:
    running = deployed()
    running.start(made(phases=[{"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "100MB"}}]))
    running.advance(MS)
    receiver = "ethernet-1/1/1"
    running.set_link(LEAF, receiver, up=False)
    assert running.job_status().stalled
    running._engine.reroute = broken_engine  # type: ignore[method-assign, assignment]
    running.set_link(LEAF, receiver, up=True)
    assert running.state().port((LEAF, receiver)).oper_up, "the state is published"
    with pytest.raises(FloatingPointError):
        running.advance(MS)


def test_a_job_that_is_started_before_a_failure_is_recovered_from_goes_on() -> None:
    running = deployed()
    running.start(incast())
    running._engine.run = broken_engine  # type: ignore[method-assign, assignment]
    with pytest.raises(FloatingPointError):
        running.advance(MS)
    running.start(incast())
    running.recover()
    running.advance(10 * MS)
    assert running.job_status().job == "made"
    assert running.job_status().active_flows == 4


def test_a_switch_that_boots_after_the_engine_failed_counts_from_zero() -> None:
    running = deployed()
    running.start(made(phases=[{"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "100MB"}}]))
    running.advance(10 * MS)
    others = [name for name in planned()[1] if name != LEAF]
    before = totals(running, *others)[TRANSMITTED]
    assert min(before, totals(running, LEAF)[TRANSMITTED]) > 0
    running._engine.run = broken_engine  # type: ignore[method-assign, assignment]
    with pytest.raises(FloatingPointError):
        running.advance(MS)
    running.power_off(LEAF)
    running.power_on(LEAF, model(LEAF))
    for _ in range(2):  # before and after another engine has begun
        counted = {name: value for name, value in totals(running, LEAF).items() if name.endswith("_bytes_total")}
        assert counted == dict.fromkeys(counted, 0.0)
        assert totals(running, *others)[TRANSMITTED] == before
        running.recover()


def test_simulated_time_stops_when_the_simulation_cannot_recover() -> None:
    def broken(*_: object) -> None:
        raise FloatingPointError("overflow")

    clock = Clock(broken, broken)
    assert not clock._step()
    assert clock.stopped


def test_a_job_can_be_started_on_an_engine_that_failed_since_the_last_step() -> None:
    running = deployed()
    running.start(incast())
    running.advance(10 * MS)
    running._engine.reroute = broken_engine  # type: ignore[method-assign, assignment]
    running.configure(SPINE, None)
    running.start(incast())
    running.advance(10 * MS)
    assert running.job_status().active_flows == 4


def test_simulated_time_stops_when_the_simulation_fails_twice_in_a_row() -> None:
    running = deployed()

    def broken(dt_ns: int) -> None:
        raise FloatingPointError("overflow")

    clock = Clock(broken, running.recover)
    assert clock._step()
    assert not clock._step()
    clock = Clock(broken, running.recover)
    clock.start()
    clock._thread.join(SOON_S)
    assert clock.stopped
    assert clock.simulated_ns == STEP_NS
    clock.stop()


def test_a_waiting_thread_gets_the_lock_before_a_loop_that_takes_it_again() -> None:
    lock = FairLock()
    for _ in range(20):
        order: list[str] = []

        def wait(order: list[str] = order) -> None:
            with lock.held():
                order.append("waited")

        thread = threading.Thread(target=wait)
        with lock.held():
            thread.start()
            until(lock._queue.locked)
        with lock.held():
            order.append("again")
        thread.join()
        assert order == ["waited", "again"]


def test_holding_a_lock_if_it_is_free_never_waits() -> None:
    lock = FairLock()
    with lock.held(), lock.held_if_free() as free:
        assert not free
    with lock.held_if_free() as free:
        assert free
        with lock.held_if_free() as again:
            assert not again
    with lock.held():
        pass


def test_packets_to_a_cut_port_are_dropped_however_long_the_cut_takes_to_converge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine the hardware would have its next hops before the cut is in effect, which then cost nothing."""
    topology, models = planned()
    running = LiveFabric(topology)
    running.configure_all(models)
    running.start(lasting_ring())
    running.advance(20 * MS)
    uplinks = [link.a.name for link in topology.links if link.a.node == LEAF]
    busiest = max(uplinks, key=lambda port: totals(running, LEAF, interface=port)[TRANSMITTED])

    def slowly(state: ForwardingState, change: FabricChange, now_ns: int) -> ForwardingState:
        after = begin(state, change, now_ns)
        running.advance(200 * MS)
        return after

    monkeypatch.setattr(live, "begin", slowly)
    running.set_link(LEAF, busiest, up=False)
    assert totals(running, LEAF, interface=busiest)[DISCARDED] == 0
    running.advance(5 * MS)
    assert totals(running, LEAF, interface=busiest)[DISCARDED] > 0
