"""What a fabric does that changes, fails or spreads its load."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.sim.accounts import assert_all_packets_are_accounted_for
from tests.sim.fabrics import (
    LOSSLESS,
    OCTETS,
    engine_of,
    flow,
    incast,
    leaf_spine,
    limited,
    lossless,
    marking,
    routes,
    star,
    without_cables,
)

from railfab.sim import QUEUES, Balancing, Engine, Flow, HashFields, Network, Recovery, Routing, Transport
from railfab.sim.network import LINK_AXES, NODE_AXES, part_of

FIXED = Transport(dcqcn=None)
QUICK = replace(FIXED, timeout_ns=50_000.0)


def balanced(network: Network, balancing: Balancing, gap_ns: float = 50_000.0) -> Network:
    nodes = network.nodes
    return replace(network, balancing=np.full(nodes, int(balancing)), flowlet_gap_ns=np.full(nodes, gap_ns))


# Links that are given


def test_given_links_are_taken_whatever_routes_say_and_acknowledgements_come_back_on_them() -> None:
    network = lossless(leaf_spine(2, 2, 2))
    for first in (8, 10):
        links = (0, first, first + 5, 5)
        engine = engine_of(network, [flow(0, 0, 2, 200_000, links=links), flow(1, 0, 2, 1, links=links, after=(0,))])
        assert engine.run(1e9)
        paths = engine.flow_paths()
        assert paths.links[:, :5].tolist() == [[*links, -1]] * 2
        assert paths.back[:, :5].tolist() == [[4, first + 4, first + 1, 1, -1]] * 2


def test_packets_of_a_balanced_flow_take_all_links_and_acknowledgements_those_that_are_given() -> None:
    network = balanced(lossless(leaf_spine(2, 2, 2)), Balancing.SPRAY)
    transport = replace(FIXED, recovery=Recovery.SELECTIVE, reorder_packets=100)
    given = flow(0, 0, 2, 2_000_000, links=(0, 8, 13, 5), balanced=True)
    engine = engine_of(network, [given], transports=[transport])
    assert engine.run(1e9)
    sent = engine.counters().sent_packets.sum(axis=1)
    assert abs(sent[8] - sent[10]) < 100
    assert sent[8] + sent[10] == sent[0]
    paths = engine.flow_paths()
    assert paths.dynamic.tolist() == [True]
    assert paths.back[0, :5].tolist() == [4, 12, 9, 1, -1]


def test_a_flow_whose_given_links_are_those_of_its_route_ends_when_it_does_by_route() -> None:
    network = lossless(star(2))
    ends = []
    for links in ((), (0, 3)):
        engine = engine_of(network, [flow(0, 0, 1, 1_000_000, links=links)])
        assert engine.run(1e9)
        ends.append(engine.flows().finish_ns)
    assert ends[0] == ends[1]


def test_a_flow_waits_where_a_link_that_is_given_is_down() -> None:
    network = leaf_spine(2, 2, 2)
    engine = engine_of(without_cables(network, [4]), [flow(0, 0, 2, 1000, links=(0, 8, 13, 5))])
    assert not engine.run(1e7)
    assert engine.stalled() == (0,)


def test_a_part_of_a_network_has_each_of_its_properties() -> None:
    """Ends apart: the flows of a part end when they do on the whole."""
    assert {*LINK_AXES, *NODE_AXES, "near", "far", "nic_queue"} == {field.name for field in fields(Network)}
    network = marking(lossless(leaf_spine(2, 4, 2)), 20_000, 80_000, 0.2)
    flows = [flow(n, n, 4, 100_000, links=(2 * n, 16, 21, 9)) for n in range(3)]
    whole = engine_of(network, flows)
    assert whole.run(1e9)
    links, nodes = np.array([*range(8), 8, 9, 16, 17, 20, 21]), np.array([0, 1, 2, 3, 4, 8, 9, 10])
    numbers = {link: number for number, link in enumerate(links.tolist())}
    places = {node: number for number, node in enumerate(nodes.tolist())}
    part = part_of(network, links, nodes)
    moved = [
        replace(each, source=places[each.source], target=places[4], links=tuple(numbers[link] for link in each.links))
        for each in flows
    ]
    engine = engine_of(part, moved)
    assert engine.run(1e9)
    assert engine.counters().sent_bytes.sum() == whole.counters().sent_bytes.sum()
    assert engine.flows().finish_ns == pytest.approx(whole.flows().finish_ns, rel=0.2)


# Load balancing


def _permutation_ns(balancing: Balancing, transport: Transport) -> float:
    """When the last flow of a permutation between leaves is done."""
    network = balanced(lossless(leaf_spine(4, 8, 8)), balancing)
    flows = [flow(n, n, (n + 8) % 32, 2_000_000) for n in range(32)]
    engine = engine_of(network, flows, framing=OCTETS, transports=[transport])
    assert engine.run(1e9)
    return float(engine.flows().finish_ns.max())


def test_spray_carries_a_permutation_at_line_rate_and_hashing_does_not() -> None:
    alone_ns = 2_000_000 / 12.5
    spray_ns = _permutation_ns(Balancing.SPRAY, replace(FIXED, recovery=Recovery.SELECTIVE, reorder_packets=200))
    assert spray_ns < 1.25 * alone_ns
    assert (
        _permutation_ns(Balancing.ADAPTIVE, replace(FIXED, recovery=Recovery.SELECTIVE, reorder_packets=200)) < spray_ns
    )
    assert _permutation_ns(Balancing.FLOW, FIXED) > 1.9 * alone_ns


def test_spray_makes_nics_that_go_back_send_most_packets_again() -> None:
    """Each packet that is overtaken counts as lost."""
    network = balanced(leaf_spine(2, 2, 4), Balancing.SPRAY)
    flows = [flow(0, 0, 2, 4_000_000), flow(1, 1, 3, 4_000_000)]
    took = {}
    for recovery, reorder in ((Recovery.GO_BACK_N, 0), (Recovery.SELECTIVE, 0), (Recovery.SELECTIVE, 100)):
        transport = replace(QUICK, recovery=recovery, reorder_packets=reorder)
        engine = engine_of(network, flows, framing=OCTETS, transports=[transport])
        engine.run(50e6)
        results = engine.flows()
        assert results.out_of_order_packets.min() > 100
        took[recovery, reorder] = results.retransmitted_packets.sum(), engine.now_ns
    assert took[Recovery.GO_BACK_N, 0][0] > 8_000
    assert took[Recovery.SELECTIVE, 0][0] > 100
    assert took[Recovery.SELECTIVE, 100][0] == 0
    assert took[Recovery.GO_BACK_N, 0][1] > 2 * took[Recovery.SELECTIVE, 100][1]


def _uplinks_used(engine: Engine, leaf: int) -> int:
    network = engine.network
    up = (network.near == leaf) & network.is_switch[network.far]
    return int((engine.counters().sent_packets[up].sum(axis=1) > 0).sum())


def test_the_port_by_which_a_packet_comes_in_may_be_hashed() -> None:
    """Flows of equal words from two hosts: they differ by the ingress port alone."""
    words = {"source_word": 1, "target_word": 2, "entropy": 3, "back_entropy": 4}
    flows = [flow(host, host, 12, 1_000, **words) for host in range(12)]
    fields = int(HashFields.SOURCE | HashFields.TARGET | HashFields.ENTROPY)
    for more, several in ((0, False), (int(HashFields.INGRESS), True)):
        network = leaf_spine(2, 12, 4)
        network = replace(network, hash_fields=np.full(network.nodes, fields | more))
        engine = engine_of(network, flows, transports=[FIXED])
        assert engine.run(1e9)
        assert (_uplinks_used(engine, 24) > 1) == several


def test_adaptive_routing_sees_bytes_that_wait_behind_a_pause() -> None:
    """A paused uplink sends nothing, and its transmitter is free: only the bytes in its queue show it."""
    network = balanced(lossless(leaf_spine(2, 2, 2)), Balancing.ADAPTIVE)
    first_spine = 6
    held = (network.far == first_spine)[:, None] & (np.arange(QUEUES) == LOSSLESS)
    network = replace(network, xoff_bytes=np.where(held, 1.0, network.xoff_bytes), rate_gbps=network.rate_gbps.copy())
    slow = (network.near == first_spine) & (network.far == 5)
    network.rate_gbps[slow] = 0.1
    transport = replace(QUICK, recovery=Recovery.SELECTIVE, reorder_packets=1000)
    flows = [flow(0, 0, 2, 500_000), flow(1, 1, 3, 500_000)]
    engine = engine_of(network, flows, framing=OCTETS, transports=[transport])
    engine.run(90_000.0)
    up = [int(link) for link in np.flatnonzero(network.near == 4) if network.far[link] >= first_spine]
    sent = engine.counters().sent_packets[up].sum(axis=1)
    assert sent[1] > 10 * sent[0]


def test_a_flowlet_moves_only_after_a_gap() -> None:
    """4096 bytes at 1 Gb/s are 33 us apart."""
    for gap_ns, used in ((50_000.0, 1), (20_000.0, 4)):
        network = balanced(leaf_spine(2, 1, 4), Balancing.FLOWLET, gap_ns)
        engine = engine_of(network, [flow(0, 0, 1, 400_000)], transports=[replace(FIXED, rate_gbps=1.0)])
        assert engine.run(1e9)
        assert _uplinks_used(engine, 2) == used
        assert engine.flows().out_of_order_packets[0] == 0


def test_adaptive_routing_keeps_two_full_flows_apart() -> None:
    network = balanced(leaf_spine(2, 2, 2), Balancing.ADAPTIVE)
    flows = [flow(0, 0, 2, 10_000_000), flow(1, 1, 3, 10_000_000)]
    transport = replace(QUICK, recovery=Recovery.SELECTIVE, reorder_packets=100)
    engine = engine_of(network, flows, framing=OCTETS, transports=[transport])
    assert engine.run(1e9)
    assert engine.flows().finish_ns.max() == pytest.approx(10_000_000 / 12.5 + 8_000, abs=1_500)
    assert engine.counters().peak_bytes.max() <= 2 * 8 * OCTETS.payload_bytes


def test_a_cable_may_be_as_long_as_any_number_of_windows() -> None:
    """A window is the shortest delay, 10 ns; packets on the long cable arrive 10,000 windows later."""
    short = star(2, delay_ns=10.0)
    long = replace(short, delay_ns=np.where(short.near == 0, 100_000.0, short.delay_ns))
    finish_ns = []
    for network in (short, long):
        engine = engine_of(network, [flow(0, 0, 1, 100_000)], framing=OCTETS, transports=[QUICK])
        engine.run(5_000.0)
        engine.run(50_005.0)
        assert (engine.flows().received_packets[0] == 0) == (network is long)
        assert_all_packets_are_accounted_for(engine)
        assert engine.run(1e9)
        finish_ns.append(float(engine.flows().finish_ns[0]))
    assert finish_ns[1] - finish_ns[0] == pytest.approx(100_000 - 10)


# Links that fail


def test_what_is_on_its_way_when_a_link_goes_down_is_lost_even_if_it_is_up_at_once() -> None:
    """10 us of cable hold 125 packets of 80 ns, and the one that is being sent."""
    network = star(2, delay_ns=10_000.0)
    transport = replace(QUICK, recovery=Recovery.SELECTIVE)
    engine = engine_of(network, [flow(0, 0, 1, 1_000_000)], framing=OCTETS, transports=[transport])
    engine.run(40_000.0)
    engine.reroute(without_cables(network, [0]), routes(without_cables(network, [0])))
    assert engine.stalled() == (0,)
    engine.run(41_000.0)
    engine.reroute(network, routes(network))
    assert engine.run(1e9)
    counters = engine.counters()
    assert abs(counters.lost_packets[0] - 125.5) <= 1.5
    assert engine.flows().dropped_packets[0] == counters.lost_packets[0]
    assert_all_packets_are_accounted_for(engine)


@pytest.mark.parametrize("down_ns", [500.0, 5_000.0, 300_000.0])
@pytest.mark.parametrize("at_ns", [30_000.0, 33_300.0, 36_900.0])
def test_a_pause_does_not_outlive_its_cable(down_ns: float, at_ns: float) -> None:
    """The far end forgets that it sent XOFF; an XOFF or XON on its way is lost, and all flows end."""
    network = lossless(star(3), xoff_bytes=20_000.0)
    engine = engine_of(network, incast(2, 2_000_000), framing=OCTETS, transports=[QUICK])
    engine.run(at_ns)
    for cables in ([1], [2]):
        broken = without_cables(network, cables)
        engine.reroute(broken, routes(broken))
        engine.run(engine.now_ns + down_ns)
        engine.reroute(network, routes(network))
    assert engine.run(20e6)
    engine.run(engine.now_ns + 100_000, stop_when_done=False)
    counters = engine.counters()
    assert counters.paused.sum() == 0
    assert counters.held_bytes.sum() == 0
    assert_all_packets_are_accounted_for(engine)


def test_pause_frames_are_lost_with_their_cable() -> None:
    lost = 0
    for at_ns in np.arange(17_000.0, 20_000.0, 250.0):
        network = lossless(star(3), xoff_bytes=100_000.0)
        engine = engine_of(network, incast(2, 2_000_000), framing=OCTETS, transports=[QUICK])
        engine.run(float(at_ns))
        broken = without_cables(network, [1])
        engine.reroute(broken, routes(broken))
        engine.run(engine.now_ns + 5_000.0)
        assert_all_packets_are_accounted_for(engine)
        lost += engine.counters().lost_pauses.sum()
    assert lost > 0


def test_packets_for_a_link_that_is_down_are_dropped_until_routes_lead_elsewhere() -> None:
    network = leaf_spine(2, 1, 2)
    engine = engine_of(network, [flow(0, 0, 1, 5_000_000)], framing=OCTETS, transports=[QUICK])
    engine.run(50_000.0)
    used = engine.paths()[0][1]
    broken = without_cables(network, [used // 2])
    engine.reroute(broken, engine.routing)
    engine.run(70_000.0)
    assert engine.stalled() == ()
    down = engine.counters().down_packets[used].sum()
    assert down == pytest.approx(20_000 / 80 - 13, abs=15)
    engine.reroute(broken, routes(broken))
    assert engine.run(1e9)
    assert engine.counters().down_packets.sum() == down
    assert_all_packets_are_accounted_for(engine)


def test_a_flow_whose_last_packets_are_lost_while_it_has_no_route_ends_when_it_has_one() -> None:
    network = star(2)
    engine = engine_of(network, [flow(0, 0, 1, 100_000)], framing=OCTETS, transports=[QUICK])
    engine.run(8_100.0)
    broken = without_cables(network, [1])
    engine.reroute(broken, routes(broken))
    engine.run(400_000.0)
    assert engine.stalled() == (0,)
    engine.reroute(network, routes(network))
    assert engine.run(1e7)
    assert engine.flows().received_packets[0] >= 100


def test_flows_follow_the_rate_of_their_link() -> None:
    network = star(2)
    engine = engine_of(network, [flow(0, 0, 1, 2_500_000)], framing=OCTETS, transports=[FIXED])
    engine.run(100_000.0)
    engine.reroute(replace(network, rate_gbps=network.rate_gbps / 10), engine.routing)
    engine.run(600_000.0)
    engine.reroute(network, engine.routing)
    assert engine.run(1e9)
    expected_ns = 600_000 + (2_500_000 - 1_250_000 - 625_000) / 12.5 + 4_080
    assert engine.flows().finish_ns[0] == pytest.approx(expected_ns, abs=2_000)


# Pauses that last


def _with_slow_host(network: Network, rx_gbps: float) -> Network:
    slow = (network.far == 0)[:, None] & (np.arange(QUEUES) == LOSSLESS)
    return replace(
        network,
        rx_gbps=np.where(np.arange(network.nodes) == 0, rx_gbps, np.inf),
        pfc_sent=network.pfc_sent | slow,
        xoff_bytes=np.where(slow, 30_000.0, network.xoff_bytes),
        xon_gap_bytes=np.where(slow, 5_000.0, network.xon_gap_bytes),
    )


def test_a_watchdog_drops_a_queue_that_stays_paused_and_restores_it() -> None:
    """A host that takes 1 Mb/s pauses its switch for 240 ms: after 100 us the switch drops for it, and after 200 us
    without a pause no more."""
    network = lossless(star(3), watchdog_detect_ns=np.full((6, QUEUES), 100_000.0))
    network = replace(network, watchdog_restore_ns=np.full((6, QUEUES), 200_000.0))
    transports = [replace(QUICK, timeout_ns=1_000_000.0)]
    engine = engine_of(_with_slow_host(network, 0.001), incast(2, 1_000_000), framing=OCTETS, transports=transports)
    engine.run(90_000.0)
    assert engine.counters().storms.sum() == 0
    engine.run(500_000.0)
    counters = engine.counters()
    assert counters.storms.sum() == counters.storms[1, LOSSLESS] == 1
    assert counters.storm_packets[1, LOSSLESS] > 100
    assert counters.depth_bytes.sum() == 0
    engine.reroute(network, engine.routing)
    engine.run(400e6, stop_when_done=False)
    assert engine.active() == ()
    assert engine.counters().storms.sum() == 1
    assert_all_packets_are_accounted_for(engine)


def test_a_watchdog_that_ignores_pauses_sends_for_a_time_and_obeys_again() -> None:
    """100 us until it is detected and 200 us of sending: four storms in 1.1 ms, and 50 frames of 80 ns in 4 us."""
    network = lossless(star(3), watchdog_detect_ns=np.full((6, QUEUES), 100_000.0))
    restore = np.full((6, QUEUES), 200_000.0)
    network = replace(network, watchdog_restore_ns=restore, watchdog_drops=np.zeros((6, QUEUES), bool))
    stuck = replace(_with_slow_host(network, 1e-6), rx_buffer_bytes=np.full(4, 100_000.0))
    transports = [Transport(dcqcn=None, recovery=Recovery.NONE)]
    engine = engine_of(stuck, incast(2, 50_000_000), framing=OCTETS, transports=transports)
    engine.run(90_000.0)
    assert engine.counters().storms.sum() == 0
    sent = engine.counters().sent_bytes[1, LOSSLESS]
    engine.run(350_000.0)
    counters = engine.counters()
    assert counters.storms.sum() == counters.storms[1, LOSSLESS] == 1
    assert counters.storm_packets.sum() == 0
    assert counters.sent_bytes[1, LOSSLESS] - sent == pytest.approx(200_000 * 12.5, rel=0.02)
    assert counters.rx_dropped_packets[0] > 2_000
    engine.run(1_150_000.0)
    assert engine.counters().storms[1, LOSSLESS] == 4
    assert_all_packets_are_accounted_for(engine)
    engine.reroute(network, engine.routing)
    assert engine.run(50e6), "it is stuck no longer"
    assert engine.counters().paused.sum() == 0


def test_endless_flows_keep_their_rate_and_nothing_waits_for_them() -> None:
    network = star(3, classes=2)
    engine = engine_of(network, [flow(0, 1, 0, 1_000_000)], framing=OCTETS, transports=[QUICK])
    transport = Transport(dcqcn=None, rate_gbps=20.0, recovery=Recovery.NONE)
    number = engine.add_transport(transport)
    assert engine.add_transport(transport) == number
    engine.add([flow(1, 2, 0, 0, traffic_class=1, transport=number, endless=True)])
    assert engine.run(1e9), "the flow with an end is done"
    engine.run(2_000_000.0, stop_when_done=False)
    results = engine.flows()
    assert results.received_packets[1] * 1000 == pytest.approx(2_000_000 * 2.5, rel=0.01)
    assert engine.active() == (1,)
    engine.state.flows.sent[1] += 1 << 30
    engine.state.flows.expected[1] += 1 << 30
    engine.run(3_000_000.0, stop_when_done=False)
    assert engine.flows().received_packets[1] * 1000 == pytest.approx(3_000_000 * 2.5, rel=0.01)
    assert engine.state.flows.sent[1] < 1 << 20
    engine.stop()
    engine.run(4_000_000.0, stop_when_done=False)
    assert engine.active() == ()
    assert_all_packets_are_accounted_for(engine)


def test_a_flow_without_payload_lets_time_pass_and_crosses_nothing() -> None:
    """Flow 2 begins 50 us after flow 1 and sends nothing, flow 3 70 us after it; a window is at most 1 us long."""
    flows = [flow(1, 1, 0, 100_000), replace(flow(2, 1, 1, 0), after=(1,), gap_ns=50_000)]
    flows.append(replace(flow(3, 2, 0, 100_000), after=(2,), gap_ns=70_000))
    engine = engine_of(star(3), flows, framing=OCTETS, transports=[QUICK])
    assert engine.run(1e9)
    first, rest, last = engine.flows().finish_ns
    assert rest - first == pytest.approx(50_000, abs=1_000)
    assert engine.flows().start_ns[2] - rest == pytest.approx(70_000, abs=1_000)
    assert engine.flows().sent_packets.tolist() == [100, 0, 100]
    assert last - engine.flows().start_ns[2] == pytest.approx(first - engine.flows().start_ns[0], abs=1)
    assert_all_packets_are_accounted_for(engine)


def test_a_host_that_is_slow_no_longer_ends_its_pause() -> None:
    """Its backlog would last for 24 ms."""
    network = lossless(star(2))
    engine = engine_of(_with_slow_host(network, 0.01), incast(1, 200_000), framing=OCTETS, transports=[FIXED])
    engine.run(100_000.0)
    assert engine.counters().paused[1, LOSSLESS] == 1
    engine.reroute(network, engine.routing)
    assert engine.run(30e6)
    assert engine.counters().paused.sum() == 0


def test_a_queue_that_stays_paused_waits_with_all_it_has() -> None:
    """Its first packet does not leave for 80 ms; what waits counts all the same, and once it is dropped as well."""
    network = lossless(star(3), watchdog_detect_ns=np.full((6, QUEUES), 1e6))
    engine = engine_of(_with_slow_host(network, 0.003), incast(2, 100_000), framing=OCTETS, transports=[FIXED])
    engine.run(200_000.0)
    before = engine.counters()
    assert before.depth_bytes[1, LOSSLESS] > 100_000
    engine.run(900_000.0)
    after = engine.counters()
    assert after.sent_packets[1, LOSSLESS] == before.sent_packets[1, LOSSLESS]
    waited = after.waiting_byte_ns - before.waiting_byte_ns
    np.testing.assert_allclose(waited, before.depth_bytes * 700_000.0)
    engine.run(1_500_000.0)
    dropped = engine.counters()
    assert dropped.storms[1, LOSSLESS] == 1
    assert (dropped.waiting_byte_ns >= after.waiting_byte_ns).all()


def test_a_short_pause_is_no_storm() -> None:
    network = lossless(star(3), xoff_bytes=20_000.0, watchdog_detect_ns=np.full((6, QUEUES), 100_000.0))
    engine = engine_of(network, incast(2, 5_000_000), framing=OCTETS, transports=[QUICK])
    assert engine.run(1e9)
    assert engine.counters().xoff_received.sum() > 50
    assert engine.counters().storms.sum() == 0
    assert engine.counters().storm_packets.sum() == 0


def test_pauses_are_refreshed_in_their_interval() -> None:
    network = lossless(star(3), pause_refresh_ns=np.full((6, QUEUES), 50_000.0))
    engine = engine_of(_with_slow_host(network, 0.1), incast(1, 100_000), framing=OCTETS, transports=[FIXED])
    engine.run(1_000_000.0)
    counters = engine.counters()
    assert counters.xoff_sent[1, LOSSLESS] == 1
    assert counters.refreshed[1, LOSSLESS] == pytest.approx(counters.paused_ns[1, LOSSLESS] // 50_000, abs=1)
    engine.run(20e6, stop_when_done=False)
    counters = engine.counters()
    refreshed, paused_ns = counters.refreshed[1, LOSSLESS], counters.paused_ns[1, LOSSLESS]
    assert counters.paused.sum() == 0
    assert 0 <= paused_ns / 50_000 - refreshed <= counters.xoff_sent[1, LOSSLESS]


def test_refreshes_stay_counted_when_their_interval_changes() -> None:
    network = lossless(star(3), pause_refresh_ns=np.full((6, QUEUES), 50_000.0))
    engine = engine_of(_with_slow_host(network, 1e-6), incast(1, 100_000), framing=OCTETS, transports=[FIXED])
    engine.run(1_000_000.0)
    before = engine.counters().refreshed[1, LOSSLESS]
    assert before > 15
    for interval_ns in (0.0, 200_000.0):
        changed = replace(engine.network, pause_refresh_ns=np.full((6, QUEUES), interval_ns))
        engine.reroute(changed, engine.routing)
        assert engine.counters().refreshed[1, LOSSLESS] == before
    engine.run(1_999_000.0)
    assert engine.counters().refreshed[1, LOSSLESS] - before in (4, 5)


def test_a_pause_stops_its_class_only() -> None:
    network = _with_slow_host(lossless(star(3, classes=2)), 1.0)
    flows = [flow(0, 1, 0, 10**7), flow(1, 1, 0, 1_000_000, traffic_class=1)]
    engine = engine_of(replace(network, rx_buffer_bytes=np.full(4, 1e9)), flows, framing=OCTETS, transports=[FIXED])
    engine.run(400_000.0)
    assert engine.flows().received_packets[1] == 1_000
    assert engine.counters().paused_ns[1, LOSSLESS] > 300_000


def test_lossy_traffic_cannot_take_the_buffer_of_lossless_traffic() -> None:
    """With a limited queue for the lossy class the lossless class loses nothing on the same chip."""
    network = lossless(star(5, classes=2), xoff_bytes=40_000.0, shared_bytes=np.full(6, 400_000.0))
    limit = network.limit_bytes.copy()
    limit[:, 1] = 100_000.0
    flows = [*incast(2, 2_000_000), *(flow(n + 2, n + 2, 0, 2_000_000, traffic_class=1) for n in (1, 2))]
    engine = engine_of(replace(network, limit_bytes=limit), flows, framing=OCTETS, transports=[QUICK])
    assert engine.run(1e9)
    counters = engine.counters()
    assert counters.dropped_packets[1, 1] > 100
    assert counters.dropped_packets[:, LOSSLESS].sum() + counters.refused_packets.sum() == 0


def test_a_drop_at_an_ingress_that_holds_nothing_sends_no_pause() -> None:
    """Lossy packets fill the chip, and without headroom the first lossless ones are dropped. A pause would never end,
    since it ends when a packet of its ingress leaves."""
    network = lossless(star(4, classes=2), headroom_bytes=0.0, shared_bytes=np.full(5, 20_000.0))
    network = replace(network, xoff_alpha=np.where(network.pfc_sent, 1.0, 0.0))
    lossy = [flow(n, n, 0, 400_000, traffic_class=1) for n in (1, 2)]
    engine = engine_of(network, [*lossy, flow(3, 3, 0, 20_000, start_ns=10_000)], framing=OCTETS, transports=[QUICK])
    assert engine.run(10e6)
    counters = engine.counters()
    assert counters.refused_packets[6, LOSSLESS] > 0
    assert counters.paused.sum() == 0


def test_a_pause_ends_with_the_last_byte_of_its_ingress_however_low_the_threshold_is() -> None:
    """The gap below the threshold is larger than the threshold."""
    network = lossless(star(3), xoff_bytes=3_000.0, xon_gap_bytes=10_000.0)
    engine = engine_of(network, incast(2, 200_000), framing=OCTETS, transports=[QUICK])
    assert engine.run(1e6)
    counters = engine.counters()
    assert counters.xoff_sent.sum() == counters.xon_sent.sum() > 10


def test_headroom_is_empty_before_a_pause_ends() -> None:
    """The dynamic threshold rises when the burst of another class has left the buffer."""
    network = lossless(star(4, classes=2), shared_bytes=np.full(5, 200_000.0), xon_gap_bytes=1_000.0)
    network = replace(network, xoff_alpha=np.where(network.pfc_sent, 0.5, 0.0))
    flows = [*incast(2, 1_000_000), flow(3, 3, 1, 150_000, traffic_class=1), flow(4, 2, 1, 150_000, traffic_class=1)]
    engine = engine_of(network, flows, framing=OCTETS, transports=[QUICK], pause_log=10_000)
    assert engine.run(10e6)
    log = engine.pauses()
    assert log.headroom_bytes.max() > 0
    assert (log.headroom_bytes[~log.is_xoff] == 0).all()
    assert (~log.is_xoff).sum() > 10


def test_a_packet_that_leaves_its_queue_empty_is_not_marked() -> None:
    """ECN looks at the bytes that stay behind: of packets that find their link idle or end a burst, none is marked."""
    network = marking(star(3), 0.0, 0.0, 1.0)
    engine = engine_of(network, incast(2, 1_000), framing=OCTETS, transports=[FIXED])
    assert engine.run(1e9)
    assert engine.counters().sent_packets[1, 0] == 2
    assert engine.counters().marked_packets.sum() == 0


def test_a_queue_that_drops_by_its_ramp_drops_what_it_would_have_marked() -> None:
    """None below Kmin; with the chance of the ramp between; all at Kmax, above which the queue does not grow."""
    network = marking(star(5), 20_000.0, 60_000.0, 0.1)
    network = replace(network, wred=np.isfinite(network.kmin_bytes))
    below = engine_of(network, incast(2, 20_000), framing=OCTETS, transports=[QUICK])
    assert below.run(1e9)
    assert below.counters().dropped_packets.sum() == 0
    engine = engine_of(network, incast(4, 2_000_000), framing=OCTETS, transports=[QUICK])
    engine.run(300_000.0)
    counters = engine.counters()
    assert counters.marked_packets.sum() == 0
    assert counters.dropped_packets[1].sum() > 100
    assert 40_000 < counters.peak_bytes[1].max() <= 61_000


def test_a_queue_keeps_to_its_share_of_the_free_buffer() -> None:
    """With alpha a and no other queue, q <= a (B - q): q <= B a / (1 + a)."""
    network = replace(star(5), shared_bytes=np.full(6, 300_000.0))
    network = replace(network, limit_alpha=np.full((10, QUEUES), 0.5))
    engine = engine_of(network, incast(4, 2_000_000), framing=OCTETS, transports=[QUICK])
    engine.run(300_000.0)
    counters = engine.counters()
    assert counters.peak_bytes[1].max() == pytest.approx(100_000.0, abs=2_000)
    assert counters.dropped_packets[1].sum() > 100


def test_a_share_of_the_free_buffer_is_that_of_the_moment() -> None:
    """A burst that fills the buffer behind another port has left when the next packets come, which are not dropped; all
    within the time in which the engine need not look at the other port."""
    network = replace(star(6, delay_ns=16_780.0), shared_bytes=np.full(7, 100_000.0))
    network = replace(network, limit_alpha=np.full((12, QUEUES), 1.0))
    first = [flow(n, n, 0, 40_000) for n in (1, 2)]
    second = [flow(n, n, 5, 37_000, start_ns=4_900) for n in (3, 4)]
    engine = engine_of(network, first + second, framing=OCTETS, transports=[QUICK])
    assert engine.run(1e9)
    assert engine.counters().dropped_packets.sum() == 0


# Numbers of nodes and flows


def _renumbered(network: Network, routing: Routing, flows: list[Flow], random: np.random.Generator):
    """The same fabric with other numbers of nodes, cables and flows; addresses and hash seeds move with them."""
    node = random.permutation(network.nodes)
    cable = random.permutation(network.links // 2)
    link = np.repeat(2 * cable, 2) + np.tile([0, 1], len(cable))
    values = {}
    for name in Network.__slots__:
        value = getattr(network, name)
        if name in ("near", "far"):
            value = node[value]
        if name == "nic_queue":
            values[name] = value
            continue
        moved = np.empty_like(value)
        moved[link if len(value) == network.links else node] = value
        values[name] = moved
    where = {"destination": np.empty_like(routing.destination), "row": np.empty_like(routing.row)}
    for name, moved in where.items():
        moved[node] = getattr(routing, name)
    order = random.permutation(len(flows)).tolist()
    others = [replace(flows[n], source=int(node[flows[n].source]), target=int(node[flows[n].target])) for n in order]
    return Network(**values), replace(routing, members=link[routing.members], **where), others, link


@pytest.mark.parametrize("seed", range(4))
def test_other_numbers_of_nodes_links_and_flows_change_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = limited(lossless(leaf_spine(3, 3, 2), xoff_bytes=15_000.0), 1e6)
    delays = np.repeat(random.uniform(900, 1500, network.links // 2), 2)
    network = replace(network, delay_ns=delays, pause_delay_ns=delays)
    ends = [random.choice(9, 2, replace=False) for _ in range(20)]
    flows = [
        flow(n, int(a), int(b), int(random.integers(10_000, 500_000)), start_ns=int(random.integers(0, 50_000)))
        for n, (a, b) in enumerate(ends)
    ]
    other_network, other_routing, other_flows, link = _renumbered(network, routes(network), flows, random)
    engine, other = (
        Engine(network, routes(network), transports=[FIXED]),
        Engine(other_network, other_routing, transports=[FIXED]),
    )
    engine.add(flows)
    other.add(other_flows)
    assert engine.run(1e9, stop_when_done=False) == other.run(1e9, stop_when_done=False)
    finish = dict(zip(engine.flows().id.tolist(), engine.flows().finish_ns.tolist(), strict=True))
    assert finish == dict(zip(other.flows().id.tolist(), other.flows().finish_ns.tolist(), strict=True))
    ours, theirs = engine.counters(), other.counters()
    assert ours.xoff_sent.sum() > 0
    for name in ("sent_bytes", "peak_bytes", "xoff_sent", "paused_ns", "held_peak_bytes"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name)[link], err_msg=name)


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    def run(seed: int) -> Engine:
        engine = engine_of(marking(star(5), 20_000.0, 200_000.0, 0.2), incast(4, 2_000_000), seed=seed)
        assert engine.run(1e9)
        return engine

    one, same, other = run(1), run(1), run(2)
    assert one.fingerprint() == same.fingerprint() != other.fingerprint()
    assert one.counters().marked_packets.sum() != other.counters().marked_packets.sum()
    spread = [float(run(seed).flows().finish_ns.max()) for seed in range(3, 8)]
    assert np.std(spread) < 0.1 * np.mean(spread)
