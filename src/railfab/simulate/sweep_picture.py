"""The picture of a sweep: steps by fabric, settings, placement and fault. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from railfab.draw.figures import save_both
from railfab.draw.step_distribution import step_distribution
from railfab.simulate.sweeps import SweepCase, SweepResult

MOST_ROWS = 30
"""Faults of a picture: those with the slowest medians."""


def write_distribution(results: Sequence[SweepResult], path: Path) -> list[Path]:
    """Write the steps of a sweep by fabric, settings, placement and fault as SVG and PNG; the paths. path: without an
    ending.

    Runs without a fault come first, then the slowest faults, at most MOST_ROWS rows. At least one run has a step.
    """
    steps: dict[SweepCase, list[float]] = {}
    for result in results:
        if result.step_s is not None:
            steps.setdefault(result.case, []).append(result.step_s)
    order = sorted(steps, key=lambda case: (not case.is_healthy, -median(steps[case]), case.label(several=True)))
    several = len({case.fabric for case in steps}) > 1
    names = {case: case.label(several=several) for case in order[:MOST_ROWS]}
    cut_off = sum(result.step_s is None for result in results)
    notes = [f"{len(order) - MOST_ROWS:,} faster rows are left out"] if len(order) > MOST_ROWS else []
    notes += [f"{cut_off:,} runs have no step"] if cut_off else []
    title = f"{results[0].job}: {len(results):,} runs" + "".join(f"; {note}" for note in notes)
    rows = {name: sorted(steps[case]) for case, name in names.items()}
    return save_both(step_distribution(title, rows, {name: case.fabric for case, name in names.items()}), path)
