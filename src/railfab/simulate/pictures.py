"""Pictures of a run: the step over time, and the loads of links by tier and rail. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from railfab.draw.figures import save_both
from railfab.draw.link_loads import LinkLoads, load_histograms, load_maps
from railfab.draw.step_timeline import IDLE, TimelineBlock, TimelineRow, step_timeline
from railfab.fabric import Design
from railfab.simulate.details import OperationDetail
from railfab.simulate.job import FabricEstimate
from railfab.simulate.link_places import LinkPlaces, link_places
from railfab.workload import JobEstimate

MOST_PANELS = 4
"""Operations of a picture: those that take most of a step."""


def write_pictures(job: str, design: Design, run: FabricEstimate, folder: Path) -> list[Path]:
    """Write the step of a run, and the loads of links where it has details, as SVG and PNG; the paths.

    job: its name. folder: exists.
    """
    fabric = design.intent.fabric
    title = f"{job} on {fabric}" + (f", seed {run.seed}" if run.details else "")
    rows = list(step_rows(run.step))
    step = step_timeline(f"Parts of a step of {title}", rows, axis="Time, summed over the step")
    paths = save_both(step, folder / f"{fabric}-step")
    if run.details:
        panels = list(_panels(run, link_places(design.topology)))
        paths += save_both(load_histograms(f"Loads of links, {title}", panels), folder / f"{fabric}-loads")
        paths += save_both(load_maps(f"Loads of links by rail, {title}", panels), folder / f"{fabric}-rails")
    return paths


def step_rows(step: JobEstimate) -> Iterator[TimelineRow]:
    """What GPUs of the slowest stage do, and the communication beside it."""
    parts = {"computation": step.compute_s, **{f"exposed {group}": s for group, s in step.exposed_s.items()}}
    stage = f"stage {step.stage + 1}" if step.tokens_per_s is not None else "GPUs"
    yield TimelineRow(name=stage, blocks=tuple(_in_turn({**parts, IDLE: step.bubble_s})))
    hidden: dict[str, float] = {}
    for turn in step.collectives:
        if turn.hidden:
            name = f"beside it: {turn.group}"
            hidden[name] = hidden.get(name, 0.0) + turn.calls * turn.call_s
    for name, duration_s in hidden.items():
        yield TimelineRow(name=name, blocks=tuple(_in_turn({name: duration_s})))


def _in_turn(parts: dict[str, float]) -> Iterator[TimelineBlock]:
    begin_s = 0.0
    for kind, duration_s in parts.items():
        if duration_s > 0:
            yield TimelineBlock(kind=kind, begin_s=begin_s, duration_s=duration_s)
        begin_s += duration_s


def _panels(run: FabricEstimate, places: LinkPlaces) -> Iterator[LinkLoads]:
    longest = sorted(run.details, key=lambda detail: -detail.seconds * run.calls(detail))[:MOST_PANELS]
    return (_loads(detail, places) for detail in longest)


def _loads(detail: OperationDetail, places: LinkPlaces) -> LinkLoads:
    title = f"{detail.group} {detail.op}, {detail.seconds * 1e3:.3g} ms"
    share = detail.load[places.links]
    rails = sorted({rail for numbers in places.rails for rail in numbers})
    serves = np.array([[rail in numbers for rail in rails] for numbers in places.rails])
    return LinkLoads(
        title=title,
        tiers=places.tiers,
        rails=tuple(map(str, rails)),
        tier=places.tier,
        serves=serves[places.rail],
        share=share,
    )
