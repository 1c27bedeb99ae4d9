"""The summary of a run: the health of the fabric, and what each job's turns add up to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from railfab.app.reading import SwitchTotals, Totals
from railfab.app.summary import JobSummary, RunSummary
from railfab.app.turn import Turn
from railfab.twin.status import TwinStatus


@pytest.mark.parametrize(
    ("ready_s", "sessions", "targets", "healthy"),
    [
        (4.2, (64, 64), (8, 8), True),
        (4.2, (56, 64), (8, 8), False),
        (4.2, (64, 64), (7, 8), False),
        (4.2, (0, 0), (1, 1), True),
        (4.2, (0, 0), (0, 0), False),
        (None, (64, 64), (8, 8), False),
    ],
)
def test_a_fabric_is_healthy_when_it_was_ready_and_everything_of_the_intent_is_up(
    ready_s: float | None, sessions: tuple[int, int], targets: tuple[int, int], healthy: bool
) -> None:
    found = RunSummary(
        fabric="f",
        interval_s=1.0,
        ready_s=ready_s,
        sessions_up=sessions[0],
        sessions=sessions[1],
        targets_up=targets[0],
        targets=targets[1],
        pace=1.0,
        overloaded_s=0.0,
        series=1,
        jobs=(),
    )
    assert found.healthy is healthy


def status(job: str = "incast", steps: int = 0, last_step_s: float | None = None) -> TwinStatus:
    return TwinStatus(
        fabric="f",
        pid=1,
        job=job,
        steps=steps,
        last_step_s=last_step_s,
        last_communication_s=None,
        stalled=(),
        slow_hosts=(),
        faults=(),
        sessions_up=0,
        sessions=0,
        simulated_s=0.0,
        slipped_s=0.0,
        failure="",
        switches=(),
    )


def totals(sampled_s: float, *, gigabytes: float = 0.0, marks: float = 0.0, peak_bytes: float = 0.0) -> Totals:
    """One simulated second takes two; simulated time begins at Unix time 1000."""
    counted_s = (sampled_s - 1000.0) / 2
    switch = SwitchTotals(sampled_s=sampled_s, counted_s=counted_s, rail_bytes={1: gigabytes * 1e9}, marks=marks)
    return Totals(at_s=sampled_s, switches={"leaf1": switch}, peak_bytes=peak_bytes)


def test_marks_counted_after_the_end_of_a_job_are_its_own_and_its_time_has_ended() -> None:
    """The job runs from 10 s to 20 s of simulated time, which is until 1040; the last sample comes at 1042."""
    summary = JobSummary("incast")
    turn = Turn(summary, before=totals(1020.0), began_s=10.0)
    turn.count(totals(1030.0, gigabytes=100, marks=500, peak_bytes=7), status())
    turn.end(20.0)
    assert turn.ended
    turn.count(totals(1042.0, gigabytes=125, marks=600), status())
    assert (summary.marks, summary.seconds, summary.peak_bytes) == (600, 10.0, 7)
    assert summary.rate_gbps == pytest.approx(100)


def test_a_first_sample_counts_nothing_and_takes_no_time() -> None:
    summary = JobSummary("ring")
    turn = Turn(summary, before=None, began_s=0.0)
    for at_s, gigabytes in ((1004.0, 0.0), (1014.0, 62.5)):
        turn.count(totals(at_s, gigabytes=gigabytes), status())
    assert summary.seconds == pytest.approx(5.0)
    assert summary.rate_gbps == pytest.approx(100)


def test_a_spine_whose_last_sample_is_old_changes_no_rate() -> None:
    summary = JobSummary("ring")
    turn = Turn(summary, before=totals(1000.0), began_s=0.0)
    now = totals(1020.0, gigabytes=125)
    old = SwitchTotals(sampled_s=1004.0, counted_s=2.0)
    turn.count(replace(now, switches={**now.switches, "spine1": old}), status())
    assert summary.rate_gbps == pytest.approx(100)


def test_turns_of_a_job_add_up() -> None:
    summary = JobSummary("ring")
    for began_s in (0.0, 20.0):
        turn = Turn(summary, before=totals(1000 + 2 * began_s), began_s=began_s)
        turn.count(totals(1010.0 + 2 * began_s, marks=3), status())
    assert (summary.seconds, summary.marks) == (10.0, 6)


def test_steps_are_those_of_the_job() -> None:
    summary = JobSummary("incast")
    turn = Turn(summary, before=totals(1000.0), began_s=0.0)
    for now in (status("ring", 9, 0.4), status(), status(steps=1, last_step_s=1.0), status(steps=1, last_step_s=1.0)):
        turn.count(totals(1002.0), now)
    assert summary.step_s == [1.0]
    assert summary.mean_step_s == 1.0
