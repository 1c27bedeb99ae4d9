"""What each number of a switch's QoS amounts to: in the arrays that the simulator runs with, and in what is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.forwarding.fabrics import (
    LEAF,
    MS,
    SPINE,
    deployed,
    made,
    model,
    planned,
    totals,
    with_ports,
    with_qos,
    with_ramp,
    with_thresholds,
)

from railfab.device import ClassPriority, ClassThresholds, DeviceModel, EcnRamp, Qos, TrafficClass
from railfab.forwarding import ForwardingState, Marking
from railfab.sim import QUEUES, Framing
from railfab.topology import switch_model
from railfab.twin.live import LiveFabric
from railfab.units import NS_PER_S

UPLINK, RECEIVER_PORT = "ethernet-1/32", "ethernet-1/1/1"
FAR = "ethernet-1/1"
"""On SPINE, at the other end of UPLINK."""
BUFFER_BYTES = switch_model("7220-ixr-d5").buffer_bytes
ROCE, CNP, DEFAULT = 3, 6, 0
REFUSED, QUEUE_DROPS = "fabric_pfc_dropped_packets_total", "fabric_queue_dropped_packets_total"
MARKS, PAUSES = "fabric_queue_ecn_marked_packets_total", "fabric_pfc_transmit_frames_total"
HEADROOM_PEAK = "fabric_buffer_headroom_peak_bytes"


def converged(*changed: DeviceModel) -> ForwardingState:
    """What follows from the planned fabric with these switches changed."""
    return fabric_with(*changed).state()


def fabric_with(*changed: DeviceModel) -> LiveFabric:
    fabric = deployed()
    for found in changed:
        fabric.configure(found.name, found)
    return fabric


def link(state: ForwardingState, node: str, interface: str) -> int:
    """The link that leaves this port."""
    return state.links.egress[node, interface]


def with_classes(found: DeviceModel, name: str, **fields: object) -> DeviceModel:
    def changed(cls: TrafficClass) -> TrafficClass:
        return replace(cls, **fields) if cls.name == name else cls  # type: ignore[arg-type]

    def classes(qos: Qos) -> Qos:
        return replace(qos, classes=tuple(changed(cls) for cls in qos.classes))

    return with_qos(found, classes)


def test_thresholds_of_a_port_are_those_of_its_profile_and_its_share_of_the_pool() -> None:
    state, qos = converged(), model(LEAF).qos
    assert qos is not None
    network = state.network
    for interface, name in ((UPLINK, "400g-40m"), (RECEIVER_PORT, "100g-5m")):
        out, profile = link(state, LEAF, interface), qos.profile(name)
        assert profile is not None
        roce = profile.of("roce")
        assert roce is not None
        assert roce.ecn is not None
        assert roce.headroom_percent is not None
        assert network.kmin_bytes[out, ROCE] == roce.ecn.kmin_bytes
        assert network.kmax_bytes[out, ROCE] == roce.ecn.kmax_bytes
        assert network.pmax[out, ROCE] == roce.ecn.pmax_percent / 100
        assert network.xoff_bytes[out ^ 1, ROCE] == roce.xoff_bytes
        share = qos.headroom_pool_percent / 100 * roce.headroom_percent / 100
        assert network.headroom_bytes[out ^ 1, ROCE] == pytest.approx(BUFFER_BYTES * share)


def test_a_thinner_pool_or_share_gives_less_headroom_and_a_steeper_ramp_more_marks() -> None:
    half = with_ramp(with_thresholds(model(LEAF), lambda held: replace(held, headroom_percent=1)), pmax_percent=40)
    changed = converged(with_qos(half, lambda qos: replace(qos, headroom_pool_percent=4)))
    out = link(changed, LEAF, UPLINK)
    assert changed.network.pmax[out, ROCE] == 0.4
    assert changed.network.headroom_bytes[out ^ 1, ROCE] == pytest.approx(BUFFER_BYTES * 0.04 * 0.01)


def test_only_the_lossless_class_marks_and_only_it_is_free_of_tail_drop() -> None:
    state = converged()
    out = link(state, LEAF, UPLINK)
    limits, kmin = state.network.limit_bytes[out], state.network.kmin_bytes[out]
    assert np.isinf(limits[ROCE])
    assert all(limits[queue] == BUFFER_BYTES / 100 for queue in range(QUEUES) if queue != ROCE)
    assert all(np.isinf(kmin[queue]) for queue in range(QUEUES) if queue != ROCE)


def test_a_limit_of_0_is_the_share_of_the_free_buffer_that_the_chip_has() -> None:
    state = converged(with_thresholds(model(LEAF), lambda held: replace(held, limit_bytes=0)))
    out = link(state, LEAF, UPLINK)
    assert (state.network.limit_bytes[out, ROCE], state.network.limit_alpha[out, ROCE]) == (np.inf, 0.25)


def test_weights_share_a_port_and_a_strict_class_goes_before_all_of_them() -> None:
    state = converged(with_classes(model(LEAF), "roce", weight=60))
    out = link(state, LEAF, UPLINK)
    weight, strict = state.network.weight[out], state.network.strict[out]
    assert (weight[ROCE], weight[DEFAULT]) == (60, 10)
    assert np.flatnonzero(strict).tolist() == [CNP]


def test_a_pause_is_obeyed_where_pfc_is_on_and_the_priorities_of_both_ends_are_one() -> None:
    plain = converged()
    up = link(plain, LEAF, UPLINK)
    assert plain.network.pfc_sent[up].nonzero()[0].tolist() == [ROCE]
    assert plain.network.pause_queue[up].tolist() == [-1, -1, -1, ROCE, -1, -1, -1, -1]

    off = with_ports(model(LEAF), lambda port: replace(port, pfc=() if port.interface == UPLINK else port.pfc))
    deaf = converged(off).network
    assert (deaf.pause_queue[up] == -1).all()  # the leaf does not obey the spine
    assert deaf.pfc_sent[up, ROCE]  # who goes on asking
    assert not deaf.pfc_sent[up ^ 1].any()  # and the leaf asks for nothing
    assert deaf.pause_queue[link(plain, LEAF, "ethernet-1/31"), ROCE] == ROCE

    renamed = with_classes(model(LEAF), "roce", pfc_priority=4, obeyed_priority=4)
    other = converged(with_ports(renamed, lambda port: replace(port, pfc=(4,)))).network
    assert (other.pause_queue[up, ROCE], other.pause_queue[up, 4]) == (-1, ROCE)
    assert other.pfc_sent[up ^ 1].nonzero()[0].tolist() == [4]
    assert other.pause_queue[up ^ 1, 4] == -1


def test_a_nic_obeys_and_sends_pauses_of_its_own_priority_only() -> None:
    fabric = deployed(marking=Marking(priority=4))
    fabric.set_host_rate("pod1-seg1-host1", None, 5.0)
    state = fabric.state()
    out, network = link(state, "pod1-seg1-host1", "rail1-p0"), state.network
    assert [place for place, queue in enumerate(network.pause_queue[out]) if queue >= 0] == [4]
    assert network.pfc_sent[out ^ 1].nonzero()[0].tolist() == [4]
    assert network.rx_gbps[network.near[out]] == 5.0
    fabric.set_host_rate("pod1-seg1-host1", None, np.inf)
    assert not fabric.state().network.pfc_sent[out ^ 1].any()


def test_the_watchdog_watches_the_queues_that_pause_frames_stop() -> None:
    qos = model(LEAF).qos
    assert qos is not None
    assert qos.watchdog is not None
    up = link(converged(), LEAF, UPLINK)
    detect_ns = converged().network.watchdog_detect_ns[up]
    assert detect_ns.nonzero()[0].tolist() == [ROCE]
    assert detect_ns[ROCE] == qos.watchdog.detect_ms * MS
    off = converged(with_qos(model(LEAF), lambda held: replace(held, watchdog=None)))
    assert not off.network.watchdog_detect_ns[up].any()


def test_a_pause_is_asked_for_again_at_half_of_its_length() -> None:
    """65,535 quanta of 512 bit times (IEEE 802.3 annex 31B): 84 us at 400 Gb/s."""
    state = converged()
    up = link(state, LEAF, UPLINK)
    assert state.network.pause_refresh_ns[up, ROCE] == pytest.approx(65_535 * 512 / 400 / 2)
    assert state.network.pause_refresh_ns[up, DEFAULT] == 0


def test_two_lossless_classes_have_priorities_and_buffers_of_their_own() -> None:
    two = with_classes(model(LEAF), "default", pfc_priority=1, obeyed_priority=1)
    both = with_ports(two, lambda port: replace(port, pfc=(1, ROCE)))
    state = converged(both)
    up, network = link(state, LEAF, UPLINK), state.network
    assert network.pfc_sent[up ^ 1].nonzero()[0].tolist() == [1, ROCE]
    assert (network.pause_queue[up, 1], network.pause_queue[up, ROCE]) == (DEFAULT, ROCE)
    assert network.xoff_bytes[up ^ 1, 1] == 51_200 != network.xoff_bytes[up ^ 1, ROCE]
    assert np.isinf(network.limit_bytes[up, DEFAULT])
    labels = {sample.labels["priority"] for sample in fabric_with(both).samples(LEAF) if sample.metric == PAUSES}
    assert labels == {str(priority) for priority in range(8)}
    groups = {
        sample.labels["priority_group"] for sample in fabric_with(both).samples(LEAF) if sample.metric == HEADROOM_PEAK
    }
    assert groups == {"pfc-default", "pfc-roce"}


def with_pfc(name: str, interface: str, *priorities: int) -> DeviceModel:
    return with_ports(model(name), lambda port: replace(port, pfc=priorities) if port.interface == interface else port)


def test_pfc_is_sent_for_the_priority_of_the_class_where_the_port_has_it() -> None:
    up = link(converged(), LEAF, UPLINK)
    for priorities, sent in (((ROCE,), True), ((2, ROCE), True), ((2,), False), ((), False)):
        network = converged(with_pfc(SPINE, FAR, *priorities)).network
        assert network.pfc_sent[up, ROCE] == sent
        assert (network.pause_queue[up ^ 1, ROCE] == ROCE) == sent


def test_a_pause_stops_the_queue_that_obeys_its_priority_even_if_that_is_the_wrong_one() -> None:
    up = link(converged(), LEAF, UPLINK)
    wrong = with_classes(with_classes(model(LEAF), "roce", obeyed_priority=None), "cnp", obeyed_priority=ROCE)
    network = converged(wrong).network
    assert network.pause_queue[up, ROCE] == CNP
    deaf = converged(with_classes(model(LEAF), "roce", obeyed_priority=5)).network
    assert (deaf.pause_queue[up] == -1).all()
    assert deaf.pfc_sent[up ^ 1, ROCE]
    silent = converged(with_classes(model(LEAF), "roce", pfc_priority=None)).network
    assert silent.pause_queue[up, ROCE] == ROCE
    assert not silent.pfc_sent[up ^ 1].any()
    assert np.isfinite(silent.limit_bytes[up, ROCE])


def test_a_port_may_have_other_priorities_than_the_switch() -> None:
    own = (ClassPriority(traffic_class="roce", pfc_priority=5, obeyed_priority=4),)
    leaf = with_ports(
        model(LEAF), lambda port: replace(port, pfc=(4, 5), priorities=own) if port.interface == UPLINK else port
    )
    network = converged(leaf).network
    up, other = (link(converged(), LEAF, port) for port in (UPLINK, "ethernet-1/31"))
    assert (network.pause_queue[up, ROCE], network.pause_queue[up, 4]) == (-1, ROCE)
    assert network.pfc_sent[up ^ 1].nonzero()[0].tolist() == [5]
    assert network.priority_of[up ^ 1, 0] == 5
    assert (network.pause_queue[other, ROCE], network.priority_of[other ^ 1, 0]) == (ROCE, ROCE)


def test_each_class_is_marked_by_its_own_ramp_where_the_port_marks_it() -> None:
    cnp = ClassThresholds(traffic_class="cnp", ecn=EcnRamp(kmin_bytes=10, kmax_bytes=20, pmax_percent=30))
    both = with_qos(
        model(LEAF),
        lambda qos: replace(
            qos, profiles=tuple(replace(found, thresholds=(*found.thresholds, cnp)) for found in qos.profiles)
        ),
    )
    up, other = link(converged(), LEAF, UPLINK), link(converged(), LEAF, "ethernet-1/31")
    changed = with_ports(both, lambda port: replace(port, ecn=("cnp",)) if port.interface == UPLINK else port)
    network = converged(changed).network
    assert (network.kmin_bytes[up, CNP], network.kmax_bytes[up, CNP], network.pmax[up, CNP]) == (10, 20, 0.3)
    assert np.isinf(network.kmin_bytes[up, ROCE])
    assert np.isinf(network.kmin_bytes[other, CNP])
    assert np.isfinite(network.kmin_bytes[other, ROCE])
    without_ramp = with_ports(model(LEAF), lambda port: replace(port, ecn=("default", "roce", "cnp")))
    assert np.isinf(converged(without_ramp).network.kmin_bytes[up, CNP])


@pytest.mark.parametrize(("kmin_bytes", "drops"), [(1_000, True), (10_000_000, False)])
def test_of_two_ramps_of_a_class_that_which_begins_first_is_in_effect(kmin_bytes: int, drops: bool) -> None:
    ramp = EcnRamp(kmin_bytes=kmin_bytes, kmax_bytes=20_000_000, pmax_percent=30)
    leaf = with_thresholds(model(LEAF), lambda held: replace(held, wred=ramp))
    network = converged(with_ports(leaf, lambda port: replace(port, wred=("roce",)))).network
    up = link(converged(), LEAF, UPLINK)
    assert network.wred[up, ROCE] == drops
    assert (network.kmin_bytes[up, ROCE] == kmin_bytes) == drops


def test_a_class_has_the_tail_drop_limit_of_its_thresholds() -> None:
    limited = with_thresholds(model(LEAF), lambda held: replace(held, limit_bytes=77_000))
    state = converged(limited)
    assert state.network.limit_bytes[link(state, LEAF, UPLINK), ROCE] == 77_000


def test_a_dynamic_threshold_is_a_share_of_the_free_buffer_of_the_chip() -> None:
    dynamic = with_thresholds(model(LEAF), lambda held: replace(held, xoff_bytes=None, alpha=0.25))
    state = converged(dynamic)
    into = link(state, LEAF, UPLINK) ^ 1
    qos = model(LEAF).qos
    assert qos is not None
    shared = BUFFER_BYTES * (1 - qos.headroom_pool_percent / 100)
    assert state.network.xoff_alpha[into, ROCE] == 0.25
    assert state.network.shared_bytes[state.network.far[into]] == pytest.approx(shared)
    assert len({int(state.network.near[held]) for held in state.links.links_of[LEAF]}) == 1
    fixed = converged(with_thresholds(model(LEAF), lambda held: replace(held, alpha=0.25)))
    assert fixed.network.xoff_alpha[into, ROCE] == 0


def test_a_lossy_class_with_alpha_has_a_limit_that_is_a_share_of_the_free_buffer() -> None:
    share = ClassThresholds(traffic_class="default", alpha=0.5)
    changed = with_qos(
        model(LEAF),
        lambda qos: replace(
            qos, profiles=tuple(replace(found, thresholds=(share, *found.thresholds)) for found in qos.profiles)
        ),
    )
    state = converged(changed)
    up = link(state, LEAF, UPLINK)
    assert (state.network.limit_alpha[up, DEFAULT], state.network.limit_bytes[up, DEFAULT]) == (0.5, np.inf)


def test_a_smaller_alpha_pauses_more() -> None:
    def paused(alpha: float) -> float:
        dynamic = with_thresholds(model(LEAF), lambda held: replace(held, xoff_bytes=None, alpha=alpha))
        return totals(incast(fabric_with(dynamic)), LEAF)[PAUSES]

    assert paused(0.002) > paused(0.02) > 0


@pytest.mark.parametrize("classifier", [None, "gone"])
def test_without_a_classifier_every_packet_is_of_the_default_class(classifier: str | None) -> None:
    state = converged(with_ports(model(LEAF), lambda port: replace(port, classifier=classifier)))
    assert state.effects[LEAF].class_of(UPLINK, 26).name == "default"
    other = with_qos(model(LEAF), lambda qos: replace(qos, default_class="cnp", classifiers=()))
    assert converged(other).effects[LEAF].class_of(UPLINK, 26).name == "cnp"
    unknown = with_qos(model(LEAF), lambda qos: replace(qos, default_class="gone", classifiers=()))
    assert converged(unknown).effects[LEAF].class_of(UPLINK, 26).queue == DEFAULT


@pytest.mark.parametrize("profile", [None, "gone"])
def test_without_a_profile_nothing_is_marked_and_pfc_has_the_defaults(profile: str | None) -> None:
    state = converged(with_ports(model(LEAF), lambda port: replace(port, profile=profile)))
    up, network = link(state, LEAF, UPLINK), state.network
    assert np.isinf(network.kmin_bytes[up]).all()
    assert network.pfc_sent[up ^ 1, ROCE]
    assert network.xoff_bytes[up ^ 1, ROCE] == 51_200
    qos = model(LEAF).qos
    assert qos is not None
    pool_bytes = BUFFER_BYTES * qos.headroom_pool_percent / 100
    assert network.headroom_bytes[up ^ 1, ROCE] == pytest.approx(pool_bytes / 10)


def test_a_port_that_qos_does_not_name_has_no_pfc_and_no_marks() -> None:
    bare = with_qos(model(LEAF), lambda qos: replace(qos, ports=()))
    state = converged(bare)
    up = link(state, LEAF, UPLINK)
    assert not state.network.pfc_sent[up ^ 1].any()
    assert (state.network.pause_queue[up] == -1).all()
    assert state.effects[LEAF].class_of(UPLINK, 26).name == "default"


def incast(fabric: LiveFabric) -> LiveFabric:
    phases = [{"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "1MB"}}]
    fabric.start(made(phases=phases, repeat=1))
    fabric.advance(1000 * MS)
    return fabric


def test_too_little_headroom_drops_what_pfc_should_have_kept() -> None:
    plain, thin = (
        incast(deployed()),
        incast(
            fabric_with(
                *(
                    with_thresholds(found, lambda held: replace(held, headroom_percent=0))
                    for found in planned()[1].values()
                )
            )
        ),
    )
    assert totals(plain)[REFUSED] == 0 < totals(plain)[HEADROOM_PEAK]
    assert totals(thin)[REFUSED] > 0
    assert totals(thin)[HEADROOM_PEAK] == 0


def test_an_earlier_xoff_pauses_more_and_drops_nothing() -> None:
    early = [with_thresholds(found, lambda held: replace(held, xoff_bytes=100_000)) for found in planned()[1].values()]
    plain, changed = totals(incast(deployed())), totals(incast(fabric_with(*early)))
    assert changed[PAUSES] > 2 * plain[PAUSES]
    assert changed[REFUSED] == 0


def test_counters_are_monotone_and_octets_all_arrive_while_cables_break_and_switches_change() -> None:
    fabric = deployed()
    fabric.start(made(phases=[{"collective": {"op": "allreduce", "bytes": "20MB"}}], repeat=1))
    last = totals(fabric)
    changes = [
        lambda: fabric.set_link(LEAF, UPLINK, False),
        lambda: fabric.configure(SPINE, with_ports(model(SPINE), lambda port: replace(port, pfc=()))),
        lambda: fabric.configure(SPINE, None),
        lambda: fabric.set_link(LEAF, UPLINK, True),
        lambda: fabric.configure(SPINE, model(SPINE)),
    ]
    for change in changes:
        fabric.advance(300_000)
        change()
        seen = totals(fabric)
        for metric in ("fabric_interface_transmit_bytes_total", "fabric_interface_receive_bytes_total", MARKS, PAUSES):
            assert seen[metric] >= last[metric], metric
        last = seen
    fabric.advance(100 * MS)
    assert fabric.job_status().steps == 1


def test_no_port_was_paused_for_longer_than_there_was_time() -> None:
    fabric = incast(deployed())
    paused = [
        sample.value
        for name in planned()[1]
        for sample in fabric.samples(name)
        if sample.metric == "fabric_pfc_receive_pause_seconds_total"
    ]
    assert 1e-6 < max(paused) <= fabric.job_status().simulated_s


def test_notifications_are_counted_as_packets_and_octets_of_their_own_queue() -> None:
    fabric = incast(deployed())
    seen = {
        metric: sum(
            sample.value
            for name in planned()[1]
            for sample in fabric.samples(name)
            if sample.metric == metric and sample.labels["queue"] == "cnp"
        )
        for metric in ("fabric_queue_transmit_bytes_total", "fabric_queue_transmit_packets_total")
    }
    octets, packets = seen.values()
    assert packets > 0
    assert octets == packets * Framing().cnp_bytes


# How much a job moves.


@pytest.mark.parametrize("hosts", [1, ["pod1-seg1-host1", "pod1-seg2-host3"]])
def test_a_job_of_one_byte_on_named_hosts_ends(hosts: object) -> None:
    fabric = deployed()
    phases: list[object] = [{"compute": {"ms": 1}}]
    if hosts != 1:
        phases.append({"collective": {"op": "allreduce", "bytes": 1}})
    fabric.start(made(hosts=hosts, phases=phases, repeat=2))
    fabric.advance(50 * MS)
    status = fabric.job_status()
    assert (status.steps, status.active_flows, status.simulated_s) == (2, 0, 50 * MS / NS_PER_S)
