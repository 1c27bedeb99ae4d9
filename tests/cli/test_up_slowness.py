"""`railfab up` says when its machine, and no switch, may be why a fabric is not healthy."""

from __future__ import annotations

import pytest

from railfab.app.summary import RunSummary
from railfab.cli.up import _print_slowness

REASON = "railfab: this machine is slow or busy: {}, so that what is not up may be no fault of a switch."


def summary(*, pace: float, overloaded_s: float) -> RunSummary:
    """A run in which one of eight switches was not up."""
    return RunSummary(
        fabric="pod64",
        interval_s=1.0,
        ready_s=None,
        sessions_up=56,
        sessions=64,
        targets_up=7,
        targets=8,
        pace=pace,
        overloaded_s=overloaded_s,
        series=9000,
        jobs=(),
    )


@pytest.mark.parametrize(
    ("pace", "overloaded_s", "reasons"),
    [
        (1.0, 42.3, "the collector was overloaded for 42 s"),
        (0.15, 0.0, "the twin ran at 15% of real time"),
        (0.15, 42.3, "the collector was overloaded for 42 s and the twin ran at 15% of real time"),
    ],
)
def test_the_reasons_are_those_of_this_machine(
    pace: float, overloaded_s: float, reasons: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _print_slowness(summary(pace=pace, overloaded_s=overloaded_s))
    assert capsys.readouterr().err.startswith(REASON.format(reasons))


def test_a_machine_that_kept_up_is_no_excuse(capsys: pytest.CaptureFixture[str]) -> None:
    _print_slowness(summary(pace=0.99, overloaded_s=0.0))
    assert capsys.readouterr().err == ""
