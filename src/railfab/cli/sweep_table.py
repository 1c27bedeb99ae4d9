"""The table of `railfab sweep`: a row for runs that differ in the seeds of their hashes alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from railfab.simulate.sweeps import SweepCase, SweepResult

Row = tuple[object, ...]


def sweep_table(results: Iterable[SweepResult]) -> tuple[tuple[str, ...], list[Row]]:
    """The columns and rows. Settings and placements have columns where there are some.

    Rows without a fault come first, as they were asked for, then the slowest faults. The ratio is that of medians to
    the first row of a fabric. cut off: runs in which ranks do not reach each other.
    """
    by_case: dict[SweepCase, list[SweepResult]] = {}
    for result in results:
        by_case.setdefault(result.case, []).append(result)
    swept = [name for name in ("settings", "placement") if any(getattr(case, name) for case in by_case)]
    heads = ("fabric", *swept, "fault", "runs", "median s", "slowest s", "ratio", "cut off")
    return heads, list(_rows(by_case, swept))


def _rows(by_case: dict[SweepCase, list[SweepResult]], swept: Sequence[str]) -> Iterator[Row]:
    medians = {case: _median(held) for case, held in by_case.items()}
    first: dict[str, float | None] = {}
    for case, middle in medians.items():
        if case.is_healthy:
            first.setdefault(case.fabric, middle)
    # Cases come as their runs were asked for, and this order is kept among equal ones.
    order = sorted(
        by_case,
        key=lambda case: (case.fabric, not case.is_healthy, -(medians[case] or float("inf")) * bool(case.faults)),
    )
    for case in order:
        steps = [result.step_s for result in by_case[case] if result.step_s is not None]
        middle, base = medians[case], first.get(case.fabric)
        times = (f"{middle:.4f}", f"{max(steps):.4f}") if middle else ("-", "-")
        ratio = f"{middle / base:.3f}" if middle and base else "-"
        axes = {"settings": ", ".join(case.settings), "placement": case.placement}
        runs = len(by_case[case])
        cells = (case.fabric, *(axes[name] for name in swept), ", ".join(case.faults) or "none")
        yield *cells, runs, *times, ratio, runs - len(steps)


def _median(results: Iterable[SweepResult]) -> float | None:
    steps = [result.step_s for result in results if result.step_s is not None]
    return median(steps) if steps else None
