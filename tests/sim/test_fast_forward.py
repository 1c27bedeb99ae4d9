"""Fast-forward gives what the engine gives: exactly where it leaves nothing out, within the stated bounds elsewhere."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from tests.sim import fabrics
from tests.sim.fabrics import lossless, marking
from tests.sim.fast_forward_networks import pair_flows, pairs, star, star_flows

from railfab.sim import Engine, Flow, Network, Routing
from railfab.sim.fast_forward import NEVER, FastForward, FastForwardPolicy

QUICK = FastForwardPolicy(settled_ns=200_000.0, recorded_frames=100)
"""Leaves out what it can after 0.2 ms, and replays short phases."""


def engine(scene: tuple[Network, Routing], seed: int = 1) -> Engine:
    return Engine(*scene, seed=seed)


def again(flows: list[Flow], now_ns: float, first: int) -> list[Flow]:
    return [replace(flow, id=first + number, start_ns=int(now_ns)) for number, flow in enumerate(flows)]


def test_a_policy_that_leaves_nothing_out_changes_nothing() -> None:
    plain, forward = engine(star(8)), FastForward(engine(star(8)), NEVER)
    for each in (plain, forward):
        each.add(star_flows(8, 2_000_000))
        each.run(1e9)
    assert plain.fingerprint() == forward.fingerprint()


def test_parked_ports_end_when_simulated_ones_do_and_count_the_same() -> None:
    plain, forward = engine(pairs(4)), FastForward(engine(pairs(4)), QUICK)
    for each in (plain, forward):
        each.add(pair_flows(4, 40_000_000))
        assert each.run(1e9)
    assert forward.flows().finish_ns == pytest.approx(plain.flows().finish_ns, rel=1e-3)
    for name in ("sent_bytes", "sent_packets", "taken_bytes", "marked_packets", "ack_packets"):
        assert (getattr(forward.counters(), name) == getattr(plain.counters(), name)).all(), name


def test_a_port_whose_flows_begin_late_is_parked_at_the_rate_that_it_has_then() -> None:
    """The time before is no part of its rate."""
    ends = []
    for policy in (NEVER, QUICK):
        forward = FastForward(engine(pairs(4)), policy)
        forward.add([replace(flow, start_ns=6_000) for flow in pair_flows(4, 40_000_000)])
        assert forward.run(1e9)
        ends.append(forward.flows().finish_ns)
    assert ends[1] == pytest.approx(ends[0], rel=1e-3)


def test_parked_ports_need_no_packets() -> None:
    forward = FastForward(engine(pairs(4)), QUICK)
    forward.add(pair_flows(4, 400_000_000))
    forward.run(20e6)
    assert (forward.engine.state.packets.kind >= 0).sum() == 0
    received = forward.flows().received_packets.sum()
    forward.run(21e6)
    assert forward.flows().received_packets.sum() - received == pytest.approx(4 * 1e6 * 100 / 8 / 4178, rel=0.01)


@pytest.mark.parametrize("down_ns", [5_000, 1_000_000], ids=["asked for again", "timeout"])
def test_a_port_that_is_parked_after_a_loss_sends_each_packet_to_its_end(down_ns: int) -> None:
    """The retransmission timer that a loss has started runs out while the port is parked."""
    network, routing = pairs(1)
    broken = replace(network, up=np.arange(network.links) != 3)
    ends, counts = [], []
    for policy in (NEVER, replace(QUICK, trains=False)):
        forward = FastForward(engine((network, routing)), policy)
        forward.add(pair_flows(1, 2_500_000_000))
        forward.run(1e6)
        forward.reroute(broken, routing)
        forward.run(1e6 + down_ns)
        forward.reroute(network, routing)
        assert forward.run(1e9)
        flows = forward.flows()
        assert flows.dropped_packets.sum() > 0
        ends.append(flows.finish_ns)
        counts.append((flows.timeouts.sum(), (flows.received_packets - flows.out_of_order_packets).sum()))
    assert ends[1] == pytest.approx(ends[0], rel=1e-3)
    assert counts[1] == counts[0]


def test_bytes_are_accounted_for_at_any_moment() -> None:
    forward = FastForward(engine(pairs(4)), QUICK)
    forward.add(pair_flows(4, 40_000_000))
    for at_ns in range(100_000, 3_400_000, 330_000):
        forward.run(at_ns)
        counters, flows = forward.counters(), forward.flows()
        assert (counters.taken_bytes - counters.sent_bytes == counters.depth_bytes).all()
        data = forward.engine.state.packets
        assert flows.sent_packets.sum() - flows.received_packets.sum() == (data.kind == 0).sum()


def deep(scene: tuple[Network, Routing]) -> tuple[Network, Routing]:
    """Marks at a queue that holds many trains."""
    network, routing = scene
    return replace(network, kmin_bytes=4 * network.kmin_bytes, kmax_bytes=4 * network.kmax_bytes), routing


def test_trains_keep_octets_exact_and_completion_within_two_percent() -> None:
    ends, marks = np.zeros((2, 3)), np.zeros((2, 3))
    for seed in range(3):
        plain = engine(deep(star(4)), seed + 1)
        forward = FastForward(engine(deep(star(4)), seed + 1), FastForwardPolicy(repeats=False))
        both: tuple[Any, Any] = (plain, forward)
        for row, each in enumerate(both):
            each.add(star_flows(4, 60_000_000))
            assert each.run(1e9)
            ends[row, seed], marks[row, seed] = each.flows().finish_ns.mean(), each.counters().marked_packets.sum()
        assert (forward.engine.state.flows.train > 1).any()
        assert (plain.counters().sent_bytes == forward.counters().sent_bytes).all()
        assert (plain.counters().sent_packets == forward.counters().sent_packets).all()
    assert ends[1].mean() == pytest.approx(ends[0].mean(), rel=0.02)
    assert marks[1].mean() == pytest.approx(marks[0].mean(), rel=0.25)


def replayed() -> tuple[FastForward, float]:
    """A fast-forward in the middle of a replay, and when it began."""
    forward = FastForward(engine(star(4)), QUICK)
    flows = star_flows(4, 4_000_000)
    forward.add(again(flows, 0, 0))
    assert forward.run(1e9)
    forward.run(forward.now_ns + 1e6, stop_when_done=False)
    began = forward.now_ns
    forward.add(again(flows, began, 100))
    return forward, began


def test_an_equal_phase_is_replayed_with_the_same_outcome() -> None:
    forward, began = replayed()
    before = forward.counters()
    assert forward.run(1e9)
    first, second = forward.flows().finish_ns[:4], forward.flows().finish_ns[4:]
    assert second - began == pytest.approx(first, rel=1e-6)
    after = forward.counters()
    for name in ("sent_bytes", "sent_packets", "marked_packets", "xoff_sent", "ack_packets", "cnp_packets"):
        twice = getattr(after, name)
        assert twice == pytest.approx(2 * getattr(before, name), abs=1), name


def test_a_recording_holds_little_more_than_what_a_replay_reads() -> None:
    """A twin keeps several, and makes another: of whole records and counters, a step of pod64 took 25 MB."""
    forward = FastForward(engine(star(8)), QUICK)
    forward.add(star_flows(8, 2_000_000))
    forward.run(300_000)
    recorder = forward._recorder
    assert recorder is not None
    assert len(recorder.counts) > 1
    assert all(flows.itemsize < forward.engine.state.flows.itemsize / 2 for _, flows in recorder.flows)
    assert all(len(columns) < len(recorder.base) / 4 for columns, _ in recorder.counts)


def steps(forward: FastForward, first: int) -> list[Flow]:
    """Four flows after a computation of 100 us, four after those and one of 300 us; numbers from `first` on."""
    now = int(forward.now_ns)
    flows = [Flow(id=first, source=0, target=0, payload_bytes=0, start_ns=now + 100_000)]
    for turn, waits in enumerate(((first,), tuple(range(first + 1, first + 5)))):
        flows += [
            replace(flow, id=first + 1 + 4 * turn + flow.id, after=waits, gap_ns=300_000 * turn)
            for flow in star_flows(4, 3_000_000)
        ]
    return flows


def replayed_steps() -> tuple[FastForward, float]:
    """A fast-forward at the begin of a replay of flows that wait for others, and when it began."""
    forward = FastForward(engine(star(4)), QUICK)
    forward.add(steps(forward, 0))
    assert forward.run(1e9)
    forward.run(forward.now_ns + 1e6, stop_when_done=False)
    began = forward.now_ns
    forward.add(steps(forward, 100))
    return forward, began


def test_flows_that_wait_for_others_are_replayed_with_the_same_times_and_counts() -> None:
    forward, began = replayed_steps()
    before = forward.counters()
    assert forward.run(1e9)
    assert (forward.engine.state.packets.kind >= 0).sum() == 0
    flows, after = forward.flows(), forward.counters()
    assert flows.finish_ns[9:] - began == pytest.approx(flows.finish_ns[:9], abs=1)
    assert flows.start_ns[9:] - began == pytest.approx(flows.start_ns[:9], abs=1)
    for name in ("sent_bytes", "sent_packets", "marked_packets", "ack_packets"):
        assert getattr(after, name) == pytest.approx(2 * getattr(before, name), abs=1), name


@pytest.mark.parametrize("at_ns", [50_000, 600_000, 1_200_000, 1_700_000])
def test_a_replay_that_is_disturbed_goes_on_with_what_flows_waited_for(at_ns: float) -> None:
    """In the first computation, the first flows, the second computation and the second flows."""
    forward, began = replayed_steps()
    forward.run(began + at_ns)
    forward.reroute(forward.network, forward.routing)
    assert forward.run(began + 1e9)
    flows = forward.flows()
    assert flows.received_packets[9:].tolist() == flows.received_packets[:9].tolist()
    assert flows.finish_ns[9:] - began == pytest.approx(flows.finish_ns[:9], rel=0.3)
    second = flows.start_ns[14:] - flows.finish_ns[10:14].max()
    assert second == pytest.approx([300_000] * 4, abs=2_000)


def test_a_replay_of_parked_ports_counts_what_they_sent() -> None:
    forward = FastForward(engine(pairs(2)), QUICK)
    forward.add(pair_flows(2, 20_000_000))
    forward.run(1e6)
    assert (forward.engine.state.flows.parked == 1).all()
    assert forward.run(1e9)
    once = forward.counters()
    forward.run(forward.now_ns + 1e6, stop_when_done=False)
    forward.add(again(pair_flows(2, 20_000_000), forward.now_ns, 100))
    assert forward.run(forward.now_ns + 1e9)
    assert (forward.engine.state.packets.kind >= 0).sum() == 0
    twice = forward.counters()
    assert (twice.sent_bytes == 2 * once.sent_bytes).all()
    assert (twice.sent_packets == 2 * once.sent_packets).all()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("scene", "flows"),
    [
        (pairs(4), [replace(flow, payload_bytes=20_000_000 + 999_983 * flow.id) for flow in pair_flows(4, 0)]),
        (star(4), star_flows(4, 4_000_000)),
    ],
    ids=["parked", "replayed"],
)
def test_a_month_later_every_phase_takes_as_long(scene: tuple[Network, Routing], flows: list[Flow]) -> None:
    """Times of a month have no picoseconds as floats. The month is a multiple of the windows of the engine."""

    def durations_ps(begin_ns: int) -> list[int]:
        forward, taken = FastForward(engine(scene), QUICK), []
        for turn in range(6):
            forward.run(begin_ns + turn * 10_000_000, stop_when_done=False)
            forward.forget_finished()
            forward.add(again(flows, begin_ns + turn * 10_000_000, 100 * turn))
            assert forward.run(begin_ns + turn * 10_000_000 + 9_000_000)
            taken += (forward.engine.state.flows.finish - forward.engine.state.flows.start).tolist()
        return taken

    assert durations_ps(30 * 86_400 * 10**9) == durations_ps(10_000_000)


def test_counters_rise_during_a_replay_and_none_falls() -> None:
    forward, began = replayed()
    names = [field.name for field in fields(forward.counters())]
    rising = [name for name in names if name not in ("depth_bytes", "held_bytes", "headroom_bytes", "paused")]
    rising = [name for name in rising if name != "xoff_margin_bytes"]
    last = forward.counters()
    for step in range(1, 12):
        forward.run(began + step * 100_000)
        now = forward.counters()
        assert all((getattr(now, name) >= getattr(last, name)).all() for name in rising)
        assert now.sent_bytes.sum() > last.sent_bytes.sum()
        last = now


def test_a_replay_that_is_disturbed_continues_in_packets_and_delivers_all() -> None:
    forward, began = replayed()
    forward.run(began + 400_000)
    assert forward.active() == (100, 101, 102, 103)
    forward.reroute(forward.network, forward.routing)
    assert forward.run(1e9)
    sent = forward.counters().sent_packets.sum(axis=1)
    assert sent.sum() == 2 * 4 * 2 * -(-4_000_000 // 4096)
    assert (forward.flows().finish_ns[4:] - began < 1.3 * forward.flows().finish_ns[:4].max()).all()


@pytest.mark.parametrize("at_ns", [300_000, 900_000])
def test_a_restored_run_continues_to_the_bit(at_ns: int) -> None:
    forward, began = replayed()
    forward.run(began + at_ns)
    snapshot = forward.snapshot()
    forward.run(1e9)
    wanted = forward.fingerprint()
    forward.restore(snapshot)
    forward.run(1e9)
    assert forward.fingerprint() == wanted


def test_equal_seeds_give_equal_runs() -> None:
    digests = set()
    for _ in range(2):
        forward = FastForward(engine(star(4)), QUICK)
        forward.add(star_flows(4, 20_000_000))
        forward.run(1e9)
        digests.add(forward.fingerprint())
    assert len(digests) == 1


def test_flows_that_may_lose_packets_are_simulated_frame_by_frame() -> None:
    network, routing = star(4)
    lossy = replace(network, limit_bytes=np.full_like(network.limit_bytes, 300_000.0))
    forward = FastForward(engine((lossy, routing)), QUICK)
    forward.add(star_flows(4, 20_000_000))
    forward.run(1e6)
    assert (forward.engine.state.flows.train == 1).all()


def test_trains_fit_the_headroom_of_the_first_switch() -> None:
    """It is enough for packets; a train that begins before a pause arrives is sent in full."""
    network = marking(lossless(fabrics.star(9), xoff_bytes=150_000), 600_000, 1_800_000, 0.1)
    for policy in (NEVER, replace(QUICK, parking=False, repeats=False)):
        forward = FastForward(Engine(network, fabrics.routes(network)), policy)
        forward.add(fabrics.incast(8, 40_000_000))
        assert forward.run(1e9)
        counters = forward.counters()
        assert counters.xoff_sent.sum() > 0
        assert counters.refused_packets.sum() == 0
