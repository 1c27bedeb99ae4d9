"""The live view fits its terminal, and calls nothing present that is not."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from railfab.app.rates import MOST_BUSIEST, FabricRates, PortRate, SwitchRates
from railfab.app.reading import SwitchTotals, Totals
from railfab.app.sparkline import sparkline
from railfab.app.summary import JobSummary
from railfab.app.up import intended_of, rail_capacity_gbps, switch_capacity_gbps
from railfab.app.view import JobState, Scene, frame, line
from railfab.fabric import design

POD64 = "inventory/fabrics/pod64.yml"
LARGER = ("benchmarks/fabrics/multi-pod-72.yml",)


def rendered(scene: Scene, width: int = 80, height: int = 24) -> list[str]:
    """The lines that a terminal of this size shows."""
    console = Console(file=io.StringIO(), width=width, height=height)
    console.print(frame(scene, width, height))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def coloured(scene: Scene) -> list[str]:
    """The lines with their escape sequences on a terminal with colours."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard", legacy_windows=False)
    console.print(frame(scene))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def styles(scene: Scene, word: str) -> str:
    """The escape sequence before a word on a terminal with colours."""
    found = next(text for text in coloured(scene) if word in text)
    return str(found[: found.index(word)].rpartition("\x1b[")[2])


def reading(rails: int = 2, *, gbps: float | None = 800.0, stale: dict[str, float | None] | None = None) -> FabricRates:
    totals = Totals(
        at_s=0.0,
        sessions_up=63,
        sessions=64,
        targets_up=8,
        targets=8,
        depth_bytes=3000,
        peak_bytes=9_999_000,
        series=8880,
    )
    return FabricRates(
        totals=totals,
        rail_gbps=dict.fromkeys(range(1, rails + 1), gbps),
        marks_per_s=1234.0,
        pauses_per_s=0.0,
        drops_per_s=0.0,
        stale=stale or {},
        stale_rails=frozenset((1,) if stale else ()),
    )


@pytest.fixture
def scene() -> Scene:
    return Scene(
        fabric="pod64",
        elapsed_s=12,
        job=JobState(job="incast", steps=3, step_s=1.0004, communication_s=0.0044),
        jobs=(JobSummary("ring", seconds=10.0, sent_bytes=1e13), JobSummary("incast", seconds=2.0, marks=19_379.0)),
        reading=reading(),
        history=(reading(gbps=0.0), reading()),
        history_s=1.0,
        rail_capacity_gbps={1: 1600.0, 2: 1600.0},
        interval_s=1.0,
        pace=0.98,
        urls={"metrics": "http://127.0.0.1:9804/metrics", "Prometheus": "http://127.0.0.1:9090"},
    )


def of_fabric(scene: Scene, path: Path) -> Scene:
    """The scene with the rails and the counts of a fabric, all at their largest."""
    fabric = design(path)
    intended, capacity = intended_of(fabric), rail_capacity_gbps(fabric)
    sessions, switches = len(intended.sessions), len(intended.switches)
    totals = replace(
        scene.reading.totals,
        sessions_up=sessions,
        sessions=sessions,
        targets_up=switches,
        targets=switches,
        series=10**7,
        switches={name: SwitchTotals(sessions=16, sessions_up=16, is_up=True) for name in intended.switches},
    )
    full = replace(
        scene.reading,
        totals=totals,
        rail_gbps={rail: float(rate) for rail, rate in capacity.items()},
        marks_per_s=1e8,
        pauses_per_s=1e7,
        drops_per_s=1e6,
    )
    each = SwitchRates(sent_gbps=6400.0, marks_per_s=1e7, pauses_per_s=1e6, drops_per_s=1e5)
    busiest = tuple(PortRate(*key, rate, 1.0) for key, rate in intended.port_gbps.items())
    full = replace(full, switches=dict.fromkeys(sorted(intended.switches), each), busiest=busiest[:MOST_BUSIEST])
    jobs = tuple(JobSummary(f"job{n}", 3600.0, 1e17, 1e10, 1e9, 1e6, 3e7, [12.5]) for n in range(5))
    return replace(
        scene,
        fabric=fabric.intent.fabric,
        job=JobState(job="job3", steps=12_345, step_s=12.5, communication_s=11.25, ended=True),
        jobs=jobs,
        reading=full,
        history=(full,) * 200,
        rail_capacity_gbps=capacity,
        switch_capacity_gbps=switch_capacity_gbps(intended),
    )


@pytest.mark.parametrize("size", [(140, 40), (100, 50), (200, 52)], ids=str)
@pytest.mark.parametrize("path", [POD64, *LARGER])
def test_a_large_terminal_is_used_to_its_last_line(
    scene: Scene, path: str, size: tuple[int, int], repository: Path
) -> None:
    shown = rendered(of_fabric(scene, repository / path), *size)
    assert {len(text) for text in shown} == {size[0]}
    assert not any("…" in text for text in shown)
    assert size[1] - 1 <= len(shown) <= size[1]
    assert any("busiest ports" in text for text in shown) or path != POD64
    inner = [text.strip("│ ") for text in shown[3:-1]]
    assert all(inner[at] or inner[at + 1] for at in range(len(inner) - 1))


def row(shown: list[str], name: str) -> list[str]:
    """The words of the line that begins with a name."""
    return next(words for text in shown if (words := text.strip("│ ").split()) and words[0] == name)


def test_a_large_terminal_shows_every_switch_and_what_it_sends_marks_and_loses(scene: Scene, repository: Path) -> None:
    full = of_fabric(scene, repository / POD64)
    leaf = "pod1-seg1-leaf1"
    switches = {**full.reading.totals.switches, leaf: SwitchTotals(sessions=8, sessions_up=7)}
    totals = replace(full.reading.totals, switches=switches)
    rates = SwitchRates(sent_gbps=3141.4, marks_per_s=270.0, pauses_per_s=0.0, drops_per_s=5.0)
    now = replace(full.reading, totals=totals, switches={**full.reading.switches, leaf: rates})
    shown = rendered(replace(full, reading=now), 140, 40)
    assert [name for name in sorted(switches) if not row(shown, name)] == []
    assert row(shown, leaf)[:6] == [leaf, "7/8", "3,141", "270", "0", "5"]
    assert row(shown, "pod1-spine1")[1:3] == ["16/16", "6,400"]


def test_of_more_switches_than_lines_those_with_something_wrong_are_shown(scene: Scene, repository: Path) -> None:
    full = of_fabric(scene, repository / LARGER[0])
    quiet = SwitchRates(sent_gbps=1.0, marks_per_s=0.0, pauses_per_s=0.0, drops_per_s=0.0)
    *others, lost, down = sorted(full.reading.switches)
    rates = {**dict.fromkeys((*others, down), quiet), lost: replace(quiet, drops_per_s=1.0)}
    switches = {**full.reading.totals.switches, down: SwitchTotals(sessions=8)}
    now = replace(full.reading, totals=replace(full.reading.totals, switches=switches), switches=rates)
    shown = rendered(replace(full, reading=now), 140, 32)
    assert any(f" of {len(switches)} switches" in text for text in shown)
    assert row(shown, lost)
    assert row(shown, down)[1] == "0/8"


@pytest.mark.parametrize("path", [POD64, *LARGER])
@pytest.mark.parametrize(
    "failures", [(), ("OverflowError: cannot convert float infinity to integer in the engine " * 2,)]
)
def test_everything_fits_80_by_24_without_wrapping(
    scene: Scene, path: str, failures: tuple[str, ...], repository: Path
) -> None:
    shown = rendered(replace(of_fabric(scene, repository / path), failures=failures))
    assert len(shown) <= 24
    assert {len(text) for text in shown} == {80}
    assert all(text.endswith(("│", "╮", "╯")) for text in shown)
    assert not any("…" in text for text in shown) or failures
    for word in (
        "BGP",
        "gNMI",
        "98% of real time",
        "job3",
        "rail",
        "ECN marks",
        "queue mean",
        "Ctrl-C",
        "9804/metrics",
    ):
        assert any(word in text for text in shown), word


def test_pod64_has_a_line_for_each_rail(scene: Scene, repository: Path) -> None:
    shown = rendered(of_fabric(scene, repository / POD64))
    assert len(shown) == 24
    assert [text[2:8] for text in shown if "│ rail" in text] == [f"rail {rail}" for rail in range(1, 9)]


def test_many_rails_share_lines_that_name_the_least_used_one(scene: Scene) -> None:
    many = reading(24)
    many = replace(many, rail_gbps={**many.rail_gbps, 5: 16.0})
    shown = rendered(replace(scene, reading=many, history=(), rail_capacity_gbps=dict.fromkeys(range(1, 25), 1600.0)))
    rails = [text for text in shown if "│ rail" in text]
    assert [text[2:12].strip() for text in rails[:2]] == ["rails 1-3", "rails 4-6"]
    assert "2,400 Gb/s  50%" in rails[0]
    assert "least 50%" in rails[0]
    assert "1,616 Gb/s  34%" in rails[1]
    assert "least 1%" in rails[1]
    assert len(shown) <= 24


def test_a_wider_terminal_shows_more_history(scene: Scene) -> None:
    assert any("last 30 s" in text for text in rendered(scene))
    assert any("last 60 s" in text for text in rendered(scene, 110, 30))
    assert {len(text) for text in rendered(scene, 110, 30)} == {110}


def test_a_frame_shows_rails_congestion_sessions_the_jobs_and_their_time_in_the_network(scene: Scene) -> None:
    text = "\n".join(rendered(scene))
    for word in (
        "BGP 63/64",
        "gNMI 8/8",
        "pace 98% of real time  8,880 series every 1 s",
        "job incast: step 3 took 1,000 ms, 4.4 ms of it (0.4%) in the network",
        "800 Gb/s  50% ███████·······",
        "1,234/s  most 1,234/s",
        "19,379",
    ):
        assert word in text


@pytest.mark.parametrize(("step_s", "text"), [(0.9996, "1,000 ms"), (0.0996, "100 ms"), (0.00441, "4.41 ms")])
def test_a_duration_is_never_in_powers_of_ten(scene: Scene, step_s: float, text: str) -> None:
    assert any(f"took {text}, " in shown for shown in rendered(replace(scene, job=replace(scene.job, step_s=step_s))))


def test_the_most_of_the_history_is_not_less_than_now(scene: Scene) -> None:
    now = replace(scene, reading=replace(reading(), marks_per_s=5000.0))
    assert any("5,000/s  most 5,000/s" in text for text in rendered(now))


def test_no_peak_is_shown_as_a_present_value(scene: Scene) -> None:
    (queue,) = (text for text in rendered(scene) if "queue" in text)
    assert "3 kB" in queue
    assert "9,999" not in queue


def test_readings_of_silent_switches_are_grey_and_named(scene: Scene) -> None:
    stale = replace(scene, reading=reading(stale={"leaf1": 12.0, "leaf2": 7.0, "leaf3": None}))
    text = "\n".join(rendered(stale))
    assert "no sample for 12 s from leaf1 and 1 more; no sample yet from leaf3" in text
    assert "2m" in styles(stale, "rail 1")
    assert "2m" not in styles(stale, "rail 2")
    assert "2m" in styles(stale, "ECN marks")
    assert "2m" not in styles(scene, "rail 1")


def test_what_is_unknown_is_a_dash_and_a_gap_not_zero(scene: Scene) -> None:
    unknown = replace(
        scene, reading=replace(reading(gbps=None), marks_per_s=None), history=(reading(gbps=None), reading())
    )
    shown = rendered(unknown)
    (rail,) = (text for text in shown if "rail 1" in text)
    assert " - " in rail
    assert "%" not in rail
    assert rail.rstrip(" │").endswith("  ▅")
    assert any("ECN marks" in text and " -  " in text for text in shown)


def test_the_line_says_the_same(scene: Scene) -> None:
    assert line(scene) == (
        "  12.0 s  job incast   step  1000 ms    1600 Gb/s  ecn     1234/s  pfc       0/s  drops    0/s  "
        "bgp 63/64  gnmi 8/8  pace  98%"
    )


def test_what_is_wrong_is_in_the_frame_and_in_the_line(scene: Scene) -> None:
    totals = replace(scene.reading.totals, lag_s=2.3)
    late = replace(scene, reading=replace(scene.reading, totals=totals), failures=("leaf1 has no route to 10.0.0.1",))
    assert line(late).endswith("  leaf1 has no route to 10.0.0.1; collector up to 2 s late in the last 30 s")
    assert any(
        "leaf1 has no route to 10.0.0.1; collector up to 2 s late in the last 30 s" in text for text in rendered(late)
    )


def test_a_slow_machine_is_named_before_the_switches_without_samples(scene: Scene) -> None:
    every = replace(scene, pace=0.01, reading=reading(stale=dict.fromkeys(f"leaf{n}" for n in range(8))))
    assert line(every).endswith("pace   1%  this machine is slow or busy; no sample yet from any switch")
    some = replace(scene, pace=0.5, reading=reading(stale={"leaf1": 12.0}))
    assert line(some).endswith("pace  50%  this machine is slow or busy; no sample for 12 s from leaf1")
    assert line(replace(every, elapsed_s=2.2)).endswith("pace   1%  no sample yet from any switch")


def test_no_switch_is_blamed_for_what_an_overloaded_collector_has_not_read(scene: Scene) -> None:
    stale = reading(stale={"leaf1": 12.0, "leaf3": None})
    busy = replace(stale, totals=replace(stale.totals, lag_s=23.4, overloaded=True))
    said = "this machine is too busy: collector up to 23 s late, no switch is judged"
    assert line(replace(scene, reading=busy)).endswith(f"pace  98%  {said}")


def test_drops_are_red_and_their_absence_is_not(scene: Scene) -> None:
    dropped = replace(reading(), drops_per_s=5.0)
    assert "31m" in styles(replace(scene, reading=dropped, history=(dropped,)), "5/s")
    assert not [text for text in coloured(scene) if "drops" in text and "31m" in text]


def test_a_slow_pace_stands_out(scene: Scene) -> None:
    assert "33m" in styles(replace(scene, pace=0.62), "62%")
    assert "32m" in styles(scene, "98%")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.0, 1.0, 50.0, 100.0, 250.0], "▁▂▅██"),
        ([None, 0.0], "    ▁"),
        ([], "     "),
        ([0.0] * 9, "▁▁▁▁▁"),
    ],
)
def test_a_history_is_one_character_a_value(values: list[float | None], text: str) -> None:
    """Nothing is lower than a little, what is unknown is blank, and the newest value is at the right end."""
    assert sparkline(values, most=100.0, width=5) == text


def test_a_long_step_is_shown_while_it_runs(scene: Scene) -> None:
    present = JobState(job="large", share=0.424, elapsed_s=2.33, ideal_s=5.72)
    assert present.present == "step 1 at 42%: 2.3 of about 5.7 s"
    assert f"job large: {present.present}" in "\n".join(rendered(replace(scene, job=present)))
    assert "step   at 42%" in line(replace(scene, job=present))
    later = replace(present, steps=3, step_s=5.8, communication_s=2.0)
    assert "step 4 at 42%: 2.3 of about 5.7 s, the last one took 5,800 ms" in "\n".join(
        rendered(replace(scene, job=later))
    )
    assert replace(present, ideal_s=0.2).present == "", "it has ended before it is read"
