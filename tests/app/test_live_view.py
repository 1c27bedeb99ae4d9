"""What the live view adds up and shows."""

from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from railfab.app.reading import FabricTotals, Totals, reading
from railfab.app.view import Scene, frame, line

HOST_RAILS = {("leaf1", "e1"): 1, ("leaf1", "e2"): 2}


def new_totals() -> FabricTotals:
    return FabricTotals(HOST_RAILS, sessions=4, targets=3)


def sample(metric: str, value: float, **labels: str) -> tuple[str, dict[str, str], float]:
    return metric, labels, value


def transmitted(value: float, interface: str = "e1") -> tuple[str, dict[str, str], float]:
    return sample("fabric_interface_transmit_bytes_total", value, device="leaf1", interface=interface)


def test_only_host_ports_count_for_a_rail_and_each_for_its_own() -> None:
    totals = new_totals()
    totals.read([transmitted(0), transmitted(0, "e2"), transmitted(0, "uplink")], at_s=0.0)
    found = totals.read([transmitted(10), transmitted(5, "e2"), transmitted(99, "uplink")], at_s=1.0)
    assert found.rail_bytes == {1: 10, 2: 5}


def test_marks_pauses_drops_and_sessions_add_up_over_the_fabric() -> None:
    def snapshot(times: int) -> list[tuple[str, dict[str, str], float]]:
        marks = "fabric_queue_ecn_marked_packets_total"
        return [
            *(sample(marks, 3 * times, device=d, interface="e1", queue="roce") for d in "ab"),
            sample("fabric_pfc_transmit_frames_total", 7 * times, device="a", interface="e1", priority="3"),
            sample("fabric_pfc_dropped_packets_total", times, device="a", interface="e1"),
            sample("fabric_queue_dropped_packets_total", 2 * times, device="a", interface="e1", queue="roce"),
            sample("fabric_queue_depth_peak_bytes", 100, device="a", interface="e1", queue="roce"),
            sample("fabric_queue_depth_peak_bytes", 40, device="b", interface="e1", queue="roce"),
            sample("fabric_bgp_session_up", 1, device="a", peer="x"),
            sample("fabric_bgp_session_up", 0, device="a", peer="y"),
            sample("fabric_collector_session_up", 1, device="a"),
        ]

    totals = new_totals()
    totals.read(snapshot(1), at_s=0.0)
    found = totals.read(snapshot(2), at_s=1.0)
    assert (found.marks, found.pauses, found.drops, found.deepest_bytes) == (6, 7, 3, 100)
    assert (found.sessions_up, found.sessions, found.targets_up, found.targets) == (1, 4, 1, 3)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e15)), min_size=2, max_size=20))
def test_totals_never_go_back_whatever_vanishes_returns_or_begins_again(values: list[float | None]) -> None:
    totals = new_totals()
    found = [
        totals.read([] if value is None else [transmitted(value)], at_s=float(second)).rail_bytes[1]
        for second, value in enumerate(values)
    ]
    assert found == sorted(found)


def test_a_series_that_was_away_counts_what_it_rose_meanwhile() -> None:
    totals = new_totals()
    totals.read([transmitted(100)], at_s=0.0)
    assert totals.read([], at_s=1.0).rail_bytes[1] == 0
    assert totals.read([transmitted(130)], at_s=2.0).rail_bytes[1] == 30
    assert totals.read([transmitted(7)], at_s=3.0).rail_bytes[1] == 37


def test_the_oldest_sample_is_that_of_the_switch_that_has_been_silent_longest() -> None:
    name = "fabric_collector_last_update_timestamp_seconds"
    snapshot = [sample(name, 1000.0 + place, device=str(place), subscription="sample") for place in range(3)]
    assert new_totals().read(snapshot, at_s=0.0).oldest_sample_s == 1000.0
    assert new_totals().read([], at_s=0.0).oldest_sample_s == 0


def test_100_gigabits_a_second_are_12_and_a_half_gigabytes() -> None:
    found = reading(Totals(at_s=0.0, rail_bytes={1: 0.0}), Totals(at_s=2.0, rail_bytes={1: 25e9}))
    assert found.rail_gbps == {1: 100.0}


def scene() -> Scene:
    before = Totals(at_s=0.0, rail_bytes={1: 0.0, 2: 0.0})
    after = Totals(
        at_s=1.0, rail_bytes={1: 100e9, 2: 50e9}, marks=1234, sessions_up=63, sessions=64, targets_up=8, targets=8
    )
    return Scene(
        fabric="pod64",
        elapsed_s=12,
        job="ring",
        steps=3,
        step_s=0.3125,
        reading=reading(before, after),
        rail_capacity_gbps=1600,
        sampling="sampling every 1 s: 8 switches on 2 cores",
        urls={"metrics": "http://127.0.0.1:9804/metrics"},
    )


def test_a_frame_shows_rails_congestion_sessions_the_step_and_where_to_look() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(frame(scene()))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for word in (
        "rail 1",
        "800 Gb/s",
        "50%",
        "25%",
        "1,234/s",
        "BGP 63/64",
        "gNMI 8/8",
        "312 ms",
        "9804/metrics",
        "every 1 s",
    ):
        assert word in text


def test_the_line_says_the_same() -> None:
    assert line(scene()) == (
        "  12.0 s  job ring     step   312 ms    1200 Gb/s  ecn     1234/s  pfc       0/s  drops    0/s  bgp 63/64"
    )


def test_sessions_and_switches_are_counted_against_the_intent_also_when_nothing_answers() -> None:
    found = new_totals().read([], at_s=0.0)
    assert (found.sessions_up, found.sessions, found.targets_up, found.targets) == (0, 4, 0, 3)


def test_a_collector_that_is_late_is_shown() -> None:
    totals = new_totals().read([sample("fabric_collector_lag_seconds", 2.3)], at_s=1.0)
    late = replace(scene(), reading=reading(Totals(at_s=0.0), totals))
    assert line(late).endswith("bgp 0/4  collector 2 s late")


def test_a_twin_that_falls_behind_is_shown_since_its_rates_are_lower_by_as_much() -> None:
    slow = replace(scene(), pace=0.62)
    console = Console(file=io.StringIO(), width=120)
    console.print(frame(slow))
    assert "twin at 62% of real time" in console.file.getvalue()  # type: ignore[attr-defined]
    assert line(slow).endswith("bgp 63/64  twin at 62% of real time")
    assert "real time" not in line(replace(slow, pace=0.97))
