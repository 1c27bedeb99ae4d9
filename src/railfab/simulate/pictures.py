"""Pictures of a run: the step over time, loads of links by tier and rail, and queues. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from railfab.draw.figures import save_both
from railfab.draw.link_loads import LinkLoads, load_histograms, load_maps
from railfab.draw.queue_panels import QueuePanel, queue_panels
from railfab.draw.step_timeline import BACKWARD, COMPUTE, FORWARD, IDLE, TimelineBlock, TimelineRow, step_timeline
from railfab.fabric import Design
from railfab.forwarding import LinkTable
from railfab.simulate.details import OperationDetail
from railfab.simulate.link_places import LinkPlaces, link_places
from railfab.simulate.results import FabricEstimate
from railfab.workload import JobEstimate
from railfab.workload.schedule import FORWARD as FORWARD_PASS
from railfab.workload.schedule import followed_batches, pipeline_passes, pipeline_s
from railfab.workload.step import PipelineTime

MOST_PASSES = 2000
"""Passes of all stages in a picture."""
MOST_PANELS = 4
"""Operations of a picture: those that take most of a step."""


def write_pictures(job: str, design: Design, run: FabricEstimate, folder: Path) -> list[Path]:
    """Write the step of a run, and where it has details the loads of links and the queues of packets, as SVG and PNG;
    the paths.

    job: its name. folder: exists.
    """
    fabric = design.intent.fabric
    title = f"{job} on {fabric}" + (f", seed {run.seed}" if run.details else "")
    rows = list(step_rows(run.step))
    step = step_timeline(f"Parts of a step of {title}", rows, axis="Time, summed over the step")
    paths = save_both(step, folder / f"{fabric}-step")
    if (pipeline := run.step.pipeline) is not None:
        batches = followed_batches(
            len(pipeline.stages),
            micro_batches=pipeline.micro_batches,
            vpp=pipeline.vpp,
            most_passes=MOST_PASSES,
        )
        part = "" if batches == pipeline.micro_batches else f", {batches} of {pipeline.micro_batches:,} micro-batches"
        stages = step_timeline(f"Step of {title}{part}", list(stage_rows(pipeline, batches)))
        paths += save_both(stages, folder / f"{fabric}-stages")
    if run.details:
        panels = list(_panels(run, link_places(design.topology)))
        paths += save_both(load_histograms(f"Loads of links, {title}", panels), folder / f"{fabric}-loads")
        paths += save_both(load_maps(f"Loads of links by rail, {title}", panels), folder / f"{fabric}-rails")
    if queues := list(_queues(run, LinkTable(design.topology))):
        paths += save_both(queue_panels(f"Queues of {title}", queues), folder / f"{fabric}-queues")
    return paths


def step_rows(step: JobEstimate) -> Iterator[TimelineRow]:
    """What GPUs of the slowest stage do, and the communication beside it."""
    parts = {COMPUTE: step.compute_s, **{f"exposed {group}": s for group, s in step.exposed_s.items()}}
    stage = f"stage {step.stage + 1}" if step.tokens_per_s is not None else "GPUs"
    yield TimelineRow(name=stage, blocks=tuple(_in_turn({**parts, IDLE: step.bubble_s})))
    hidden: dict[str, float] = {}
    for turn in step.collectives:
        if turn.hidden:
            name = f"beside it: {turn.group}"
            hidden[name] = hidden.get(name, 0.0) + turn.calls * turn.call_s
    for name, duration_s in hidden.items():
        yield TimelineRow(name=name, blocks=tuple(_in_turn({name: duration_s})))


def stage_rows(pipeline: PipelineTime, micro_batches: int) -> Iterator[TimelineRow]:
    """What each stage does in the schedule of a step with so many micro-batches."""
    works = [stage.work for stage in pipeline.stages]
    passes = pipeline_passes(works, micro_batches=micro_batches, vpp=pipeline.vpp)
    step_s = pipeline_s(works, micro_batches=micro_batches, vpp=pipeline.vpp)
    for number, stage in enumerate(pipeline.stages):
        blocks: list[TimelineBlock] = []
        _add(blocks, {"parameters": stage.gathers.waited_s}, 0.0)
        for each in (each for each in passes if each.stage == number):
            _add(blocks, {IDLE: each.begin_s - _end(blocks)}, _end(blocks))
            is_forward = each.direction == FORWARD_PASS
            name, parts = (FORWARD, stage.forward) if is_forward else (BACKWARD, stage.backward)
            chunk = {name if part == "compute" else part: s / pipeline.vpp for part, s in parts.items()}
            _add(blocks, {"parameters": each.waits_s, **chunk}, each.begin_s)
        _add(blocks, {"gradients": stage.reductions.waited_s}, _end(blocks))
        _add(blocks, {IDLE: step_s - _end(blocks)}, _end(blocks))
        yield TimelineRow(name=f"stage {number + 1}", blocks=tuple(blocks))


def _add(blocks: list[TimelineBlock], parts: dict[str, float], begin_s: float) -> None:
    """Add blocks of these durations, one after another; what takes no time is left out."""
    for kind, duration_s in parts.items():
        if duration_s > 1e-9:
            blocks.append(TimelineBlock(kind=kind, begin_s=begin_s, duration_s=duration_s))
            begin_s += duration_s


def _end(blocks: list[TimelineBlock]) -> float:
    return blocks[-1].begin_s + blocks[-1].duration_s if blocks else 0.0


def _in_turn(parts: dict[str, float]) -> Iterator[TimelineBlock]:
    begin_s = 0.0
    for kind, duration_s in parts.items():
        if duration_s > 0:
            yield TimelineBlock(kind=kind, begin_s=begin_s, duration_s=duration_s)
        begin_s += duration_s


def _longest(run: FabricEstimate) -> list[OperationDetail]:
    return sorted(run.details, key=lambda detail: -detail.seconds * run.calls(detail))[:MOST_PANELS]


def _panels(run: FabricEstimate, places: LinkPlaces) -> Iterator[LinkLoads]:
    return (_loads(detail, places) for detail in _longest(run))


def _queues(run: FabricEstimate, links: LinkTable) -> Iterator[tuple[QueuePanel, QueuePanel]]:
    """Queues and buffers of the operations whose packets were simulated, and thresholds of the longest of each."""
    for detail in _longest(run):
        if detail.queues is None:
            continue
        series = detail.queues()
        times_ms, part = series.times_s * 1e3, f" ({series.part})" if series.part else ""
        marks, pauses = {}, {}
        for queue in series.queues[:1]:
            marks = {"Kmin": queue.kmin_bytes, "Kmax": queue.kmax_bytes}
        for buffer in series.buffers[:1]:
            pauses = {"XOFF": buffer.xoff_bytes}
        ports = {" ".join(links.keys[queue.link]): queue.peak_bytes for queue in series.queues}
        ends = {" ".join(links.far_key(buffer.link)): buffer.peak_bytes for buffer in series.buffers}
        yield (
            QueuePanel(f"{detail.group} {detail.op}{part}: queues before ports", times_ms, ports, marks),
            QueuePanel("held in buffers behind ports", times_ms, ends, pauses),
        )


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
