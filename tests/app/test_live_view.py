"""What the live view adds up and shows."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from railfab.app.reading import Totals, reading, totals
from railfab.app.view import Scene, frame, line

HOST_RAILS = {("leaf1", "e1"): 1, ("leaf1", "e2"): 2}


def sample(metric: str, value: float, **labels: str) -> tuple[str, dict[str, str], float]:
    return metric, labels, value


def test_only_host_ports_count_for_a_rail_and_each_for_its_own() -> None:
    found = totals(
        [
            sample("fabric_interface_transmit_bytes_total", 10, device="leaf1", interface="e1"),
            sample("fabric_interface_transmit_bytes_total", 5, device="leaf1", interface="e2"),
            sample("fabric_interface_transmit_bytes_total", 99, device="leaf1", interface="uplink"),
        ],
        HOST_RAILS,
        at_s=1.0,
    )
    assert found.rail_bytes == {1: 10, 2: 5}


def test_marks_pauses_drops_and_sessions_add_up_over_the_fabric() -> None:
    found = totals(
        [
            *(sample("fabric_queue_ecn_marked_packets_total", 3, device=d, interface="e1", queue="roce") for d in "ab"),
            sample("fabric_pfc_transmit_frames_total", 7, device="a", interface="e1", priority="3"),
            sample("fabric_pfc_dropped_packets_total", 1, device="a", interface="e1"),
            sample("fabric_queue_dropped_packets_total", 2, device="a", interface="e1", queue="roce"),
            sample("fabric_queue_depth_peak_bytes", 100, device="a", interface="e1", queue="roce"),
            sample("fabric_queue_depth_peak_bytes", 40, device="b", interface="e1", queue="roce"),
            sample("fabric_bgp_session_up", 1, device="a", peer="x"),
            sample("fabric_bgp_session_up", 0, device="a", peer="y"),
            sample("fabric_collector_session_up", 1, device="a"),
        ],
        HOST_RAILS,
        at_s=1.0,
    )
    assert (found.marks, found.pauses, found.drops, found.deepest_bytes) == (6, 7, 3, 100)
    assert (found.sessions_up, found.sessions, found.targets_up, found.targets) == (1, 2, 1, 1)


@given(before=st.floats(0, 1e15), after=st.floats(0, 1e15), seconds=st.floats(0.1, 100), marks=st.floats(0, 1e9))
def test_rates_are_never_negative_and_a_reset_counts_as_nothing(
    before: float, after: float, seconds: float, marks: float
) -> None:
    found = reading(
        Totals(at_s=0.0, rail_bytes={1: before}, marks=marks), Totals(at_s=seconds, rail_bytes={1: after}, marks=0)
    )
    assert found.rail_gbps[1] >= 0
    assert found.marks_per_s == 0


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
        urls={"metrics": "http://127.0.0.1:9804/metrics"},
    )


def test_a_frame_shows_rails_congestion_sessions_the_step_and_where_to_look() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(frame(scene()))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for word in ("rail 1", "800 Gb/s", "50%", "25%", "1,234/s", "BGP 63/64", "gNMI 8/8", "312 ms", "9804/metrics"):
        assert word in text


def test_the_line_says_the_same() -> None:
    assert line(scene()) == (
        "  12.0 s  job ring     step   312 ms    1200 Gb/s  ecn     1234/s  pfc       0/s  drops    0/s  bgp 63/64"
    )
