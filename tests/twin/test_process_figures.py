"""What counts as growth of a process."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.twin.process_figures import Figures, grown


def run(
    rss_mb: Callable[[float], float],
    *,
    minutes: int = 30,
    fds: Callable[[float], int] = lambda _: 90,
    used_mb: Callable[[float], float | None] = lambda _: None,
) -> list[Figures]:
    """Figures every 10 s, of a resident set that is noisy by 0.5 MB."""
    random = Random(1)
    return [
        Figures(at_s=at, rss_mb=rss_mb(at) + random.gauss(0, 0.5), fds=fds(at), threads=20, used_mb=used_mb(at))
        for at in (10.0 * place for place in range(6 * minutes + 1))
    ]


def test_memory_that_grows_during_the_warm_up_only_does_not_grow() -> None:
    assert grown(run(lambda at_s: 300 + 40 * min(1.0, at_s / 500))) == []


def test_a_leak_of_two_megabytes_in_ten_minutes_is_growth() -> None:
    (problem,) = grown(run(lambda at_s: 300 + at_s * 2 / 600))
    assert problem.startswith("memory grows by 0.")


def test_noise_that_could_hide_a_leak_is_not_taken_for_none() -> None:
    (problem,) = grown(run(lambda at_s: 300 + 20 * (int(at_s) // 200 % 2)))
    assert problem.startswith("memory grows by")


def test_memory_in_use_that_grows_is_growth_although_the_resident_set_does_not() -> None:
    (problem,) = grown(run(lambda _: 300, used_mb=lambda at_s: 200 + at_s * 2 / 600))
    assert problem.startswith("memory in use grows by 0.20 MB a minute")


def test_a_resident_set_may_grow_by_what_noise_explains_while_memory_in_use_does_not() -> None:
    steps = run(lambda at_s: 300 + 20 * (int(at_s) // 200 % 2), used_mb=lambda _: 200)
    assert grown(steps) == []


def test_a_resident_set_that_surely_grows_is_growth_although_memory_in_use_does_not() -> None:
    (problem,) = grown(run(lambda at_s: 300 + at_s * 2 / 600, used_mb=lambda _: 200))
    assert problem.startswith("memory grows by 0.2")


def test_a_short_run_says_nothing() -> None:
    assert grown(run(lambda at_s: 300 + at_s / 10, minutes=5, fds=lambda at_s: 26 + int(at_s / 3))) == []


def test_file_descriptors_that_stay_open_are_growth() -> None:
    (problem,) = grown(run(lambda _: 300, fds=lambda at_s: 90 + int(at_s / 60)))
    assert problem == "fds grew from 99 to 120"
