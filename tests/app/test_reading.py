"""Totals of the fabric that an intent describes, from snapshots of the collector."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from railfab.app.reading import FabricTotals, Intended, Totals

Sample = tuple[str, dict[str, str], float]

INTENDED = Intended(
    switches=frozenset(("leaf1", "leaf2")),
    host_rails={("leaf1", "e1"): 1, ("leaf1", "e2"): 2},
    sessions=frozenset((("leaf1", "e9"), ("leaf2", "e9"))),
)


def new_totals() -> FabricTotals:
    return FabricTotals(INTENDED)


def sample(metric: str, value: float, device: str = "leaf1", **labels: str) -> Sample:
    return metric, {"device": device, **labels}, value


def transmitted(value: float, interface: str = "e1") -> Sample:
    return sample("fabric_interface_transmit_bytes_total", value, interface=interface)


def session(device: str, peer: str, up: int = 1) -> Sample:
    return sample("fabric_bgp_session_up", up, device, peer=peer)


def target(device: str, up: int = 1) -> Sample:
    return sample("fabric_collector_session_up", up, device)


def test_only_host_ports_count_for_a_rail_and_each_for_its_own() -> None:
    totals = new_totals()
    totals.read([transmitted(0), transmitted(0, "e2"), transmitted(0, "uplink")], at_s=0.0)
    found = totals.read([transmitted(10), transmitted(5, "e2"), transmitted(99, "uplink")], at_s=1.0)
    assert found.switches["leaf1"].rail_bytes == {1: 10, 2: 5}
    assert found.sent_bytes == 15


def test_marks_pauses_and_drops_add_up_over_the_fabric() -> None:
    def snapshot(times: int) -> list[Sample]:
        marks = "fabric_queue_ecn_marked_packets_total"
        return [
            *(sample(marks, 3 * times, device, interface="e1", queue="roce") for device in ("leaf1", "leaf2")),
            sample("fabric_pfc_transmit_frames_total", 7 * times, interface="e1", priority="3"),
            sample("fabric_pfc_dropped_packets_total", times, interface="e1"),
            sample("fabric_queue_dropped_packets_total", 2 * times, interface="e1", queue="roce"),
            sample("fabric_queue_depth_bytes", 40, interface="e1", queue="roce"),
            sample("fabric_queue_depth_bytes", 100, "leaf2", interface="e1", queue="roce"),
        ]

    totals = new_totals()
    totals.read(snapshot(1), at_s=0.0)
    found = totals.read(snapshot(2), at_s=1.0)
    assert (found.marks, found.pauses, found.drops, found.depth_bytes) == (6, 7, 3, 100)


def test_sessions_and_switches_are_counted_against_the_intent_also_when_nothing_answers() -> None:
    found = new_totals().read([], at_s=0.0)
    assert (found.sessions_up, found.sessions, found.targets_up, found.targets) == (0, 2, 0, 2)
    assert not found.complete


def test_sessions_and_switches_beside_the_intent_make_up_for_none_of_it() -> None:
    foreign = [session("leaf1", "10.0.0.9"), session("leaf3", "e9"), target("leaf1"), target("leaf3")]
    found = new_totals().read([session("leaf1", "e9"), *foreign], at_s=0.0)
    assert (found.sessions_up, found.sessions, found.targets_up, found.targets) == (1, 2, 1, 2)


def test_a_fabric_is_complete_with_all_sessions_and_all_switches() -> None:
    sessions = [session("leaf1", "e9"), session("leaf2", "e9")]
    assert new_totals().read([*sessions, target("leaf1"), target("leaf2")], at_s=0.0).complete
    assert not new_totals().read([*sessions, target("leaf1"), target("leaf2", 0)], at_s=0.0).complete
    assert not new_totals().read([sessions[0], target("leaf1"), target("leaf2")], at_s=0.0).complete
    assert Totals(at_s=0.0, targets_up=1, targets=1).complete


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e15)), min_size=2, max_size=20))
def test_totals_never_go_back_whatever_vanishes_returns_or_begins_again(values: list[float | None]) -> None:
    totals = new_totals()
    found = [
        totals.read([] if value is None else [transmitted(value)], at_s=float(second)).sent_bytes
        for second, value in enumerate(values)
    ]
    assert found == sorted(found)


def test_a_series_that_was_away_counts_what_it_rose_meanwhile() -> None:
    totals = new_totals()
    totals.read([transmitted(100)], at_s=0.0)
    assert totals.read([], at_s=1.0).sent_bytes == 0
    assert totals.read([transmitted(130)], at_s=2.0).sent_bytes == 30
    assert totals.read([transmitted(7)], at_s=3.0).sent_bytes == 37


def test_a_sample_is_as_old_as_the_switch_says_not_as_its_arrival() -> None:
    arrived, lag = "fabric_collector_last_update_timestamp_seconds", "fabric_collector_ingest_lag_seconds"
    late = [sample(arrived, 1000.0, subscription="sample"), sample(lag, 2.5)]
    found = new_totals().read([*late, sample(arrived, 0.0, "leaf2", subscription="sample")], at_s=1001.0)
    assert {name: switch.sampled_s for name, switch in found.switches.items()} == {"leaf1": 997.5, "leaf2": 0.0}


def test_the_counters_of_a_switch_are_of_the_simulated_time_that_it_says() -> None:
    found = new_totals().read([sample("fabric_twin_simulated_seconds_total", 7.5)], at_s=0.0)
    assert {name: switch.counted_s for name, switch in found.switches.items()} == {"leaf1": 7.5, "leaf2": 0.0}
    assert found.counted_since(0.0)
    assert not found.counted_since(7.0)


def test_an_overloaded_collector_is_known_as_such() -> None:
    totals = new_totals()
    for value in (0, 1, 0):
        assert totals.read([sample("fabric_collector_overloaded", value)], at_s=0.0).overloaded is bool(value)


def test_a_peak_counts_for_the_job_in_which_it_rose() -> None:
    """A switch reports a peak for some time: what is still there at the start of a job is another job's."""

    def peaks(one: float, other: float) -> list[Sample]:
        name = "fabric_queue_depth_peak_bytes"
        return [sample(name, value, interface=port, queue="roce") for port, value in (("e1", one), ("e2", other))]

    totals = new_totals()
    assert totals.read([], at_s=0.0).peak_bytes is None
    assert totals.read(peaks(900, 0), at_s=0.0).peak_bytes == 900
    totals.begin_job()
    assert totals.read(peaks(900, 0), at_s=1.0).peak_bytes == 0
    assert totals.read(peaks(900, 50), at_s=2.0).peak_bytes == 50
    assert totals.read(peaks(901, 50), at_s=3.0).peak_bytes == 901
