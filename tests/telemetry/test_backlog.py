"""How late the samples of a target are, from the growth of their delay, whatever the clocks say."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from railfab.telemetry.health import Backlog, Health

S = 10**9


def late_s(samples: Iterable[tuple[float, float]], *, skew_s: float = 0.0) -> float:
    """The backlog after samples of these time stamps and arrivals [s]. skew_s: of the clock of the target."""
    backlog = Backlog()
    for stamp_s, at_s in samples:
        stamp_s += skew_s
        backlog.arrived(round(stamp_s * S), at_s - stamp_s, at_s)
    return backlog.late_s


@pytest.mark.parametrize("skew_s", [0.0, 86400.0, -86400.0])
def test_samples_that_arrive_ever_later_are_late_whatever_the_clock_of_the_target_says(skew_s: float) -> None:
    """A sample of each 2 s takes 10 s to send: the last of 20 arrives 160 s late."""
    samples = [(2.0 * number, 10.0 * number) for number in range(1, 21)]
    assert late_s(samples, skew_s=skew_s) == pytest.approx(152, abs=1)


def test_samples_on_time_are_not_late() -> None:
    assert late_s((2.0 * number, 2.0 * number + 0.3 * (number % 3)) for number in range(100)) < 1


def test_a_backlog_that_is_sent_at_once_is_gone() -> None:
    samples = [(2.0 * number, 10.0 * number) for number in range(1, 11)]
    caught_up = [(2.0 * number, 100.0 + 0.01 * number) for number in range(11, 51)]
    assert late_s([*samples, *caught_up]) < 1


@pytest.mark.parametrize("step_s", [-100.0, 100.0])
def test_a_clock_that_is_set_is_no_backlog(step_s: float) -> None:
    samples = [(2.0 * number + (step_s if number > 20 else 0.0), 2.0 * number) for number in range(120)]
    assert late_s(samples) < 1


def test_a_clock_that_drifts_is_no_backlog() -> None:
    """By one second in three hours."""
    assert late_s((2.0 * number * (1 - 1e-4), 2.0 * number) for number in range(50_000)) < 1


def test_a_time_stamp_that_stands_still_says_nothing() -> None:
    assert late_s((5.0, 2.0 * number) for number in range(100)) == 0


def test_the_time_in_which_the_collector_was_late_is_not_the_targets() -> None:
    """The clock of arrivals stands meanwhile: 60 s are read at once, and 0.2 s of them are counted."""
    backlog = Backlog()
    for number in range(10):
        backlog.arrived(2 * number * S, 0.1, 2.0 * number)
    backlog.arrived(20 * S, 60.1, 18.2)
    assert backlog.late_s == 0


def test_a_target_is_as_late_as_its_latest_rpc() -> None:
    health = Health(tls_verified=True)
    for number in range(1, 11):
        health.delayed(2 * number * S, 8.0 * number, 10.0 * number, rpc=0)
        health.delayed(10 * number * S, 0.1, 10.0 * number + 0.1, rpc=1)
    assert health.backlog_s == pytest.approx(72, abs=1)
