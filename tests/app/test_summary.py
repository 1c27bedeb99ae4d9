"""What the summary of a run says of the fabric."""

from __future__ import annotations

import pytest

from railfab.app.summary import Summary


@pytest.mark.parametrize(
    ("ready_s", "sessions_up", "sessions", "healthy"),
    [(4.2, 64, 64, True), (4.2, 63, 64, False), (4.2, 0, 0, False), (None, 64, 64, False)],
)
def test_a_fabric_is_healthy_when_it_was_ready_and_all_of_its_sessions_are_up(
    ready_s: float | None, sessions_up: int, sessions: int, healthy: bool
) -> None:
    found = Summary(
        fabric="f",
        interval_s=1.0,
        ready_s=ready_s,
        sessions_up=sessions_up,
        sessions=sessions,
        series=1,
        jobs=(),
    )
    assert found.healthy is healthy
