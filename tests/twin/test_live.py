"""A fabric under jobs: what an operator would see in the counters when something changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.forwarding.fabrics import (
    LEAF,
    MS,
    SPINE,
    deployed,
    lasting_ring,
    made,
    model,
    planned,
    small_ring,
    totals,
    with_interface,
    with_neighbors,
    with_ports,
    with_qos,
    with_ramp,
)

from railfab.device import DeviceModel
from railfab.errors import IntentError
from railfab.metrics import CATALOGUE, Kind
from railfab.twin.live import LiveFabric

RECEIVER_PORT = "ethernet-1/1/1"
"""On LEAF: where the 31 senders of the incast meet."""

TRANSMITTED = "fabric_interface_transmit_bytes_total"
MARKS = "fabric_queue_ecn_marked_packets_total"
PAUSES_SENT, PAUSES_TAKEN = "fabric_pfc_transmit_frames_total", "fabric_pfc_receive_frames_total"
LOSSLESS_DROPS, QUEUE_DROPS = "fabric_pfc_dropped_packets_total", "fabric_queue_dropped_packets_total"


def incast(payload: str = "1MB") -> dict[str, object]:
    return {
        "phases": [{"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": payload}}],
        "repeat": 1,
    }


def after_incast(*changed: DeviceModel, payload: str = "1MB") -> LiveFabric:
    fabric = deployed()
    for found in changed:
        fabric.configure(found.name, found)
    fabric.start(made(**incast(payload)))
    fabric.advance(1000 * MS)
    return fabric


@pytest.fixture(scope="module")
def plain() -> LiveFabric:
    """The planned fabric after one incast."""
    return after_incast()


def test_the_ring_runs_at_the_rate_of_the_links_without_marks_or_pauses() -> None:
    fabric = deployed()
    fabric.start(small_ring())
    fabric.advance(10 * MS)
    status, seen = fabric.job_status(), totals(fabric)
    assert (status.job, status.steps, status.stalled) == ("made", 2, ())
    assert all(0.003 < step.duration_s < 0.005 for step in status.recent)
    assert all(step.communication_s == pytest.approx(step.ideal_s, rel=0.01) for step in status.recent)
    assert seen[MARKS] == seen[PAUSES_SENT] == seen[QUEUE_DROPS] == seen[LOSSLESS_DROPS] == 0
    assert seen[TRANSMITTED] > 0


def test_the_incast_marks_and_pauses_and_loses_nothing(plain: LiveFabric) -> None:
    seen, port = totals(plain), totals(plain, LEAF, interface=RECEIVER_PORT)
    assert plain.job_status().steps == 1
    assert port[MARKS] > 100
    assert seen[PAUSES_SENT] > 0
    assert seen["fabric_pfc_receive_pause_seconds_total"] > 0
    assert seen[LOSSLESS_DROPS] == seen[QUEUE_DROPS] == 0
    assert port[f"{TRANSMITTED}"] >= 31e6
    assert port["fabric_queue_depth_peak_bytes:roce"] > 500_000
    assert seen["fabric_queue_transmit_packets_total:cnp"] > 0


def test_every_pause_a_switch_took_was_sent_by_its_peer(plain: LiveFabric) -> None:
    topology, _ = planned()
    frames = {
        (name, sample.labels["interface"], sample.metric): sample.value
        for name in planned()[1]
        for sample in plain.samples(name)
        if sample.metric in (PAUSES_SENT, PAUSES_TAKEN)
    }
    pairs = [(port, peer) for port, peer, _ in topology.ports() if (peer.node, peer.name, PAUSES_SENT) in frames]
    between = [(port, peer) for port, peer in pairs if (port.node, port.name, PAUSES_TAKEN) in frames]
    assert len(between) == 64
    for port, peer in between:
        assert frames[port.node, port.name, PAUSES_TAKEN] == frames[peer.node, peer.name, PAUSES_SENT]


def test_pfc_off_at_a_port_turns_its_pauses_into_drops(plain: LiveFabric) -> None:
    before = totals(plain, LEAF)
    assert before[PAUSES_SENT] > 0
    fabric = after_incast(with_ports(model(LEAF), lambda port: replace(port, pfc=())))
    seen = totals(fabric, LEAF)
    assert seen[PAUSES_SENT] == 0
    assert seen[LOSSLESS_DROPS] > 0
    assert seen["fabric_interface_receive_discards_total"] == seen[LOSSLESS_DROPS]
    assert fabric.job_status().steps == 1, "what was dropped was sent again"


def test_a_lower_kmin_gives_more_marks_and_a_shorter_queue() -> None:
    """An incast that lasts for many notifications: until the first cuts, PFC alone bounds the queue."""
    low = after_incast(with_ramp(model(LEAF), kmin_bytes=10_000, kmax_bytes=60_000, pmax_percent=100), payload="10MB")
    high = after_incast(with_ramp(model(LEAF), kmin_bytes=5_000_000, kmax_bytes=9_000_000), payload="10MB")
    low_port, high_port = (totals(fabric, LEAF, interface=RECEIVER_PORT) for fabric in (low, high))
    assert low_port[MARKS] > high_port[MARKS] > 0
    assert 0 < low_port["fabric_queue_depth_bytes"] < high_port["fabric_queue_depth_bytes"]


def test_ecn_off_at_a_port_means_no_marks_there() -> None:
    seen = totals(after_incast(with_ports(model(LEAF), lambda port: replace(port, ecn=()))), LEAF)
    assert seen[MARKS] == 0


def test_a_wrong_dscp_puts_roce_into_the_default_queue_where_it_is_dropped() -> None:
    def mapped(found: DeviceModel) -> DeviceModel:
        return with_qos(
            found,
            lambda qos: replace(qos, classifiers=(replace(qos.classifiers[0], dscp=((24, "roce"), (48, "cnp"))),)),
        )

    seen = totals(after_incast(mapped(model(LEAF))), LEAF, interface=RECEIVER_PORT)
    assert seen["fabric_queue_transmit_packets_total:roce"] == 0
    assert seen["fabric_queue_transmit_packets_total:default"] > 0
    assert seen["fabric_queue_dropped_packets_total:default"] > 0
    assert seen[MARKS] == 0


def test_a_port_without_classifier_has_everything_in_the_default_queue() -> None:
    fabric = after_incast(with_ports(model(LEAF), lambda port: replace(port, classifier=None)))
    assert totals(fabric, LEAF)["fabric_queue_transmit_packets_total:default"] > 0


def uplink_bytes(fabric: LiveFabric) -> dict[str, float]:
    return {
        sample.labels["interface"]: sample.value
        for sample in fabric.samples(LEAF)
        if sample.metric == TRANSMITTED and sample.labels["interface"] in {f"ethernet-1/{p}" for p in range(25, 33)}
    }


def moved(fabric: LiveFabric, ns: int) -> dict[str, float]:
    before = uplink_bytes(fabric)
    fabric.advance(ns)
    return {port: after - before[port] for port, after in uplink_bytes(fabric).items()}


def test_a_cleared_neighbour_moves_the_flows_to_the_other_links() -> None:
    fabric = deployed()
    fabric.start(lasting_ring())
    fabric.advance(MS)
    carried = moved(fabric, 5 * MS)
    busiest = max(carried, key=lambda port: carried[port])
    fabric.configure(LEAF, with_neighbors(model(LEAF), lambda found: None if found.peer == busiest else found))
    after = moved(fabric, 5 * MS)
    assert after[busiest] == pytest.approx(0, abs=10_000)
    assert sum(after.values()) == pytest.approx(sum(carried.values()), rel=0.02)
    assert fabric.job_status().stalled == ()
    assert totals(fabric)[QUEUE_DROPS] == 0


@pytest.mark.parametrize("how", ["cable", "spine"])
def test_a_lost_link_or_spine_moves_the_flows_and_their_return_brings_them_back(how: str) -> None:
    fabric = deployed()
    fabric.start(lasting_ring())
    fabric.advance(MS)
    before = moved(fabric, 2 * MS)
    lost = {"cable": {"ethernet-1/32"}, "spine": {"ethernet-1/32", "ethernet-1/31"}}[how]
    if how == "cable":
        fabric.set_link(LEAF, "ethernet-1/32", False)
    else:
        fabric.configure(SPINE, None)
    during = moved(fabric, 2 * MS)
    assert all(during[port] == 0 for port in lost)
    assert sum(during.values()) > 0.8 * sum(before.values())
    if how == "cable":
        fabric.set_link(LEAF, "ethernet-1/32", True)
    else:
        fabric.configure(SPINE, model(SPINE))
    back = moved(fabric, 2 * MS)
    assert {port for port, octets in back.items() if octets > 10_000} == {
        port for port, octets in before.items() if octets > 10_000
    }


def test_flows_without_a_route_stall_say_why_and_resume() -> None:
    fabric = deployed()
    fabric.start(small_ring(repeat=1))
    fabric.advance(2 * MS)
    fabric.configure("pod1-seg2-leaf1", None)
    status = fabric.job_status()
    assert status.stalled_flows > 0
    assert "pod1-seg1-leaf1 has no route to 10.17.2.1" in status.stalled
    fabric.advance(1000 * MS)
    assert fabric.job_status().steps == 0
    fabric.configure("pod1-seg2-leaf1", model("pod1-seg2-leaf1"))
    assert fabric.job_status().stalled == ()
    fabric.advance(100 * MS)
    assert fabric.job_status().steps == 1, "after the timeouts of what was lost"


def test_a_small_mtu_stalls_what_crosses_it() -> None:
    fabric = deployed()
    fabric.configure(LEAF, with_interface(model(LEAF), RECEIVER_PORT, lambda port: replace(port, mtu_bytes=1500)))
    fabric.start(made(**incast()))
    fabric.advance(10 * MS)
    reason = "pod1-seg1-leaf1 ethernet-1/1/1 has MTU 1500, packets have 4140 bytes"
    assert fabric.job_status().stalled == (reason,)
    assert fabric.job_status().stalled_flows == 31


def test_configuring_the_same_again_changes_nothing() -> None:
    def run(times: int) -> tuple[object, ...]:
        fabric = deployed()
        fabric.start(made(**incast("300kB")))
        fabric.advance(1 * MS)
        for _ in range(times):
            fabric.configure(LEAF, model(LEAF))
        fabric.advance(10 * MS)
        return fabric.job_status().recent, fabric.samples(LEAF), fabric.samples(SPINE)

    assert run(1) == run(3)


def test_counters_never_go_back_while_switches_are_reconfigured() -> None:
    fabric = deployed()
    fabric.start(made(phases=[{"compute": {"ms": 1}}, *incast()["phases"]]))  # type: ignore[misc]
    seen: dict[tuple[str, ...], float] = {}
    changes = [model(SPINE), None, model(SPINE), None]
    for change in changes:
        fabric.advance(3 * MS)
        fabric.configure(SPINE, change)
        for name in (LEAF, SPINE):
            for sample in fabric.samples(name):
                key = (name, sample.metric, *sample.labels.values())
                if CATALOGUE[sample.metric].kind is Kind.COUNTER:
                    assert sample.value >= seen.get(key, 0.0), key
                    seen[key] = sample.value


def test_every_sample_is_of_the_catalogue_with_its_labels(plain: LiveFabric) -> None:
    for name in (LEAF, SPINE):
        for sample in plain.samples(name):
            assert {"fabric", "device", *sample.labels} == set(CATALOGUE[sample.metric].labels)
        keys = [(sample.metric, *sorted(sample.labels.items())) for sample in plain.samples(name)]
        assert len(keys) == len(set(keys))


def test_a_fabric_without_lossless_classes_drops_instead_of_pausing() -> None:
    fabric = deployed("labs/frr-pod/intent.yml")
    _, models = planned("labs/frr-pod/intent.yml")
    phases = [{"traffic": {"pattern": "incast", "senders": 4, "receivers": 1, "bytes": "20MB"}}]
    fabric.start(made(phases=phases, repeat=1))
    fabric.advance(3000 * MS)
    seen = totals(fabric, *models)
    (step,) = fabric.job_status().recent
    assert step.duration_s > 1.2 * step.ideal_s, "what is dropped is sent again, after a timeout"
    assert seen[QUEUE_DROPS] > 0
    assert seen[PAUSES_SENT] == seen[MARKS] == 0
    assert seen["fabric_bgp_session_up"] == 16


def test_a_job_ends_after_its_repeats_and_a_stopped_one_leaves_nothing() -> None:
    fabric = deployed()
    fabric.start(made(phases=[{"compute": {"ms": 10}}], repeat=3))
    fabric.advance(100 * MS)
    status = fabric.job_status()
    assert (status.steps, status.stage, [step.duration_s for step in status.recent]) == (3, "", [0.01] * 3)
    fabric.start(lasting_ring())
    fabric.advance(MS)
    fabric.stop()
    assert fabric.job_status().job is None
    assert fabric.job_status().active_flows == 0
    fabric.advance(MS)
    before = totals(fabric)[TRANSMITTED]
    fabric.advance(50 * MS)
    assert totals(fabric)[TRANSMITTED] == before, "what was in flight has arrived"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"hosts": 9, "phases": [{"compute": {"ms": 1}}]},
            "job made: hosts: 9 is more than the 8 hosts of the fabric. Use 8 or less",
        ),
        (
            {"hosts": ["gpu1"], "phases": [{"compute": {"ms": 1}}]},
            "job made: hosts: the fabric has no host 'gpu1'. Use names such as pod1-seg1-host1.",
        ),
        (
            {"hosts": 2, **incast()},
            "job made: phases.0.traffic.senders: 31 senders and 1 receiver are too many for 16 GPUs. Use at most 8",
        ),
        (
            {"hosts": 1, "phases": [{"collective": {"op": "allreduce", "bytes": 1000}}]},
            "job made: phases: nothing takes any time. Use more hosts, or a compute phase.",
        ),
    ],
)
def test_a_job_that_does_not_fit_is_refused_in_one_line(fields: dict[str, object], text: str) -> None:
    with pytest.raises(IntentError) as caught:
        deployed().start(made(**fields))
    assert str(caught.value).startswith(text)


def test_a_bfd_session_that_stays_down_fails_once() -> None:
    fabric, failures = deployed(), "fabric_bfd_failure_transitions_total"
    fabric.set_link(SPINE, "ethernet-1/1", up=False)
    assert totals(fabric, SPINE)[failures] == 1
    fabric.configure(LEAF, with_interface(model(LEAF), "ethernet-1/32", lambda port: replace(port, enabled=False)))
    assert totals(fabric, SPINE)[failures] == 1
    fabric.configure(LEAF, model(LEAF))
    fabric.set_link(SPINE, "ethernet-1/1", up=True)
    fabric.set_link(SPINE, "ethernet-1/1", up=False)
    assert totals(fabric, SPINE)[failures] == 2
