"""Jobs of a virtual switch that run later: in time, replaced, cancelled, under a hang and without power."""

from __future__ import annotations

import threading

from railfab.twin.switch_timers import SwitchTimers

SOON_S, LATER_S = 0.05, 30.0


def test_a_job_runs_in_time_and_once() -> None:
    timers, ran = SwitchTimers("leaf1"), threading.Event()
    timers.schedule("rollback", SOON_S, ran.set)
    assert ran.wait(20)
    assert timers.left_s("rollback") is None


def test_a_cancelled_or_replaced_job_does_not_run() -> None:
    timers, runs, last = SwitchTimers("leaf1"), list[str](), threading.Event()
    timers.schedule("rollback", LATER_S, lambda: runs.append("first"))
    left_s = timers.left_s("rollback")
    assert left_s is not None
    assert LATER_S - 20 < left_s <= LATER_S
    timers.schedule("rollback", SOON_S, last.set)
    assert last.wait(20)
    timers.schedule("rollback", LATER_S, lambda: runs.append("second"))
    assert timers.cancel("rollback")
    assert not timers.cancel("rollback")
    assert runs == []


def test_a_job_whose_time_comes_while_the_switch_hangs_runs_when_it_resumes() -> None:
    timers, ran, other = SwitchTimers("leaf1"), threading.Event(), threading.Event()
    timers.hang()
    timers.schedule("rollback", SOON_S, ran.set)
    threading.Timer(4 * SOON_S, other.set).start()
    assert other.wait(20)
    assert not ran.is_set()
    timers.resume()
    assert ran.is_set()


def test_jobs_end_with_the_power() -> None:
    timers, ran = SwitchTimers("leaf1"), threading.Event()
    timers.schedule("rollback", 2 * SOON_S, ran.set)
    timers.clear()
    assert not ran.wait(6 * SOON_S)
