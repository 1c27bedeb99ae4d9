"""The live view: rails, congestion, sessions and jobs, as a panel on a terminal or as lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from railfab.app.cells import LABEL, NOTE, VALUE, bar, last_seconds, short
from railfab.app.escaped import escaped
from railfab.app.fabric_tables import busiest_ports, switch_table
from railfab.app.rates import FabricRates
from railfab.app.sparkline import sparkline
from railfab.app.summary import JobSummary
from railfab.text.printable import printable

SLOW_PACE = 0.9
"""A twin slower than this share of real time is shown as slow."""
STARTS_WITHIN_S = 5.0
"""Time from the start in which a twin is slow on any machine: its pace says nothing yet."""
LONG_STEP_S = 1.0
"""A step that takes as long is shown while it runs [simulated s]."""
LATE_S = 1.0
"""A collector later than this is shown as late."""

WIDTH, HEIGHT = 80, 24
"""The smallest terminal that shows everything."""
BORDER_CELLS, BORDER_LINES = 4, 2
LEAST_TABLE = 3
"""Lines below which a table is left out: an empty line, a heading and two rows."""
MOST_JOBS = 3
"""Lines of the table of jobs where there is no space for more."""
JOB_COLUMNS = (
    ("job", 0),
    ("s", 7),
    ("Gb/s", 10),
    ("step ms", 8),
    ("ECN marks", 11),
    ("PFC pauses", 11),
    ("drops", 8),
    ("peak kB", 9),
)
"""Headings and cells; the first has the rest, and is aligned left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """The job that runs. steps, step_s, communication_s: finished steps, and duration and communication of the last,
    None before the first. share, elapsed_s, ideal_s: of the present step, as in `TwinStatus`. ended: it has stopped,
    and the samples of what was on its way are awaited."""

    job: str
    steps: int = 0
    step_s: float | None = None
    communication_s: float | None = None
    share: float | None = None
    elapsed_s: float | None = None
    ideal_s: float | None = None
    ended: bool = False

    @property
    def present(self) -> str:
        """The step that runs, where that takes long enough to be seen; empty elsewhere."""
        if self.share is None or self.elapsed_s is None or self.ideal_s is None or self.ideal_s < LONG_STEP_S:
            return ""
        return f"step {self.steps + 1:,} at {self.share:.0%}: {self.elapsed_s:.1f} of about {self.ideal_s:.1f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The content of one frame.

    history: readings at equal intervals of history_s, up to the present. rail_capacity_gbps: what the host ports of
    each rail can carry. pace: simulated seconds a second. interval_s: between two samples of a switch. jobs: in their
    order, the sums so far. failures: what stops the simulation or flows of the job. urls: by name.
    switch_capacity_gbps: what all ports of each switch can transmit.
    """

    fabric: str
    elapsed_s: float
    job: JobState
    jobs: Sequence[JobSummary]
    reading: FabricRates
    history: Sequence[FabricRates]
    history_s: float
    rail_capacity_gbps: Mapping[int, float]
    interval_s: float
    pace: float
    urls: Mapping[str, str]
    failures: Sequence[str] = ()
    switch_capacity_gbps: Mapping[str, float] = field(default_factory=dict)


def frame(scene: Scene, width: int = WIDTH, height: int = HEIGHT) -> RenderableType:
    """One frame of the view, for a terminal of this size; nothing wraps, and rails share lines where they are many.

    Lines that are left show switches, then the busiest ports.
    """
    cells = max(width, 40) - BORDER_CELLS
    lines = [escaped(text, printable) for text in _lines(scene, cells, height - BORDER_LINES)]
    for text in lines:
        text.no_wrap = True
        text.truncate(cells, overflow="ellipsis")
    return Panel(
        Group(*lines),
        title=escaped(Text.assemble(("railfab", "bold"), f" {scene.fabric}"), printable),
        subtitle=f"{scene.elapsed_s:,.0f} s, Ctrl-C ends everything",
        title_align="left",
        subtitle_align="right",
        width=width,
    )


def _lines(scene: Scene, cells: int, height: int) -> Iterator[Text]:
    above = [_headline(scene), _job(scene.job), _notice(scene)]
    congestion, jobs = [*_congestion(scene, cells)], [*_jobs(scene, cells), *_urls(scene, cells)]
    room = height - len(above) - len(congestion) - len(jobs)
    rails = [*_rails(scene, cells, room)]
    yield from (*above, *rails)
    yield from [Text()] * (room > len(rails))
    yield from congestion
    yield from _tables(scene, cells, room - len(rails) - 2)
    yield from [Text()] * (room > len(rails) + 1)
    yield from jobs


def _tables(scene: Scene, cells: int, room: int) -> Iterator[Text]:
    """Tables for the lines that are left, each behind an empty line."""
    readings = (scene.reading, scene.history, scene.history_s)
    for table in (partial(switch_table, *readings, scene.switch_capacity_gbps), partial(busiest_ports, scene.reading)):
        lines = [*table(cells=cells, height=room - 1)] if room > LEAST_TABLE else []
        if lines:
            yield Text()
            yield from lines
            room -= len(lines) + 1


def _headline(scene: Scene) -> Text:
    totals = scene.reading.totals
    slow = scene.pace < SLOW_PACE
    return Text.assemble(
        _share_up("BGP", totals.sessions_up, totals.sessions),
        "  ",
        _share_up("gNMI", totals.targets_up, totals.targets),
        "  pace ",
        (f"{scene.pace:.0%}", "bold yellow" if slow else "bold green"),
        f" of real time  {short(totals.series)} series every {scene.interval_s:g} s",
    )


def _share_up(name: str, up: int, intended: int) -> Text:
    style = "bold green" if up == intended else "bold red"
    return Text.assemble(f"{name} ", (f"{up:,}/{intended:,}", style))


def _job(job: JobState) -> Text:
    """The job, its last step, and the part of it in which it communicated."""
    line = Text.assemble("job ", (job.job, "bold cyan"))
    if job.ended:
        return line.append(": stopped, waiting for its last samples")
    if job.present:
        line.append(f": {job.present}")
        return line if job.step_s is None else line.append(f", the last one took {_ms(job.step_s)}")
    if job.step_s is not None:
        line.append(f": step {job.steps:,} took {_ms(job.step_s)}")
    if job.step_s and job.communication_s is not None:
        line.append(f", {_ms(job.communication_s)} of it ({job.communication_s / job.step_s:.1%}) in the network")
    return line


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds >= 0.0995 else f"{seconds * 1000:.3g} ms"


def _notice(scene: Scene) -> Text:
    """The line for what is wrong, or nothing. No switch is blamed for what an overloaded collector has not read."""
    totals = scene.reading.totals
    wrong = [*scene.failures, *(() if totals.overloaded else _stale(scene))]
    if totals.overloaded:
        wrong.append(f"this machine is too busy: collector up to {totals.lag_s:.0f} s late, no switch is judged")
    elif totals.lag_s > LATE_S:
        wrong.append(f"collector up to {totals.lag_s:.0f} s late in the last 30 s")
    return Text("; ".join(wrong), style="bold yellow")


def _stale(scene: Scene) -> Iterator[str]:
    """The switches without recent samples, and the age of the oldest of their last ones; their twin may be slow."""
    stale, switches = scene.reading.stale, scene.reading.totals.targets
    if stale and scene.pace < SLOW_PACE and scene.elapsed_s > STARTS_WITHIN_S:
        yield "this machine is slow or busy"
    silent = [name for name, age_s in stale.items() if age_s is None]
    ages_s = {name: age_s for name, age_s in stale.items() if age_s is not None}
    if ages_s:
        yield f"no sample for {max(ages_s.values()):.0f} s from {_names(ages_s, switches)}"
    if silent:
        yield f"no sample yet from {_names(silent, switches)}"


def _names(names: Collection[str], switches: int) -> str:
    """Some switches of so many."""
    if len(names) == switches:
        return "any switch"
    first = next(iter(names))
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"


def _rails(scene: Scene, cells: int, height: int) -> Iterator[Text]:
    """A heading and one line for each rail, or for several of them where they are more than lines."""
    rails = sorted(scene.reading.rail_gbps)
    size = -(-len(rails) // max(1, height - 1))
    groups = [rails[place : place + size] for place in range(0, len(rails), size)] if rails else []
    spark = cells - LABEL - VALUE - NOTE
    capacities = {_capacity_gbps(scene, group) for group in groups}
    of = f"of {capacities.pop():,.0f} Gb/s" if len(capacities) == 1 else "of its capacity"
    yield Text(
        f"{'to hosts':<{LABEL}}{'now':>{VALUE}}  {of:<{NOTE - 2}}{last_seconds(spark * scene.history_s, spark)}",
        style="dim",
    )
    yield from (_rail(scene, group, spark) for group in groups)


def _capacity_gbps(scene: Scene, rails: Sequence[int]) -> float:
    return sum(scene.rail_capacity_gbps.get(rail, 0.0) for rail in rails)


def _rail(scene: Scene, rails: Sequence[int], spark: int) -> Text:
    """Rails: their rate together, share of their capacity, and history. Of several rails also the least share."""
    reading, capacity_gbps = scene.reading, _capacity_gbps(scene, rails)
    name = f"rail {rails[0]}" if len(rails) == 1 else f"rails {rails[0]}-{rails[-1]}"
    stale = not reading.stale_rails.isdisjoint(rails)
    rate = _together(reading, rails)
    value = "-" if rate is None else f"{rate:,.{0 if rate >= 10 else 1}f} Gb/s"
    note = Text("".ljust(NOTE)) if rate is None else bar([_share(scene, rail) for rail in rails])
    line = Text.assemble(name.ljust(LABEL), value.rjust(VALUE), note)
    values = [None if not past.stale_rails.isdisjoint(rails) else _together(past, rails) for past in scene.history]
    line.append(sparkline(values, most=capacity_gbps, width=spark), "green")
    if stale:
        line = Text(line.plain, style="dim")
    return line


def _together(reading: FabricRates, rails: Sequence[int]) -> float | None:
    rates = [rate for rail in rails if (rate := reading.rail_gbps.get(rail)) is not None]
    return sum(rates) if rates else None


def _share(scene: Scene, rail: int) -> float:
    """The share of the capacity of a rail that is used; 0 of one that is not known."""
    capacity_gbps = scene.rail_capacity_gbps.get(rail, 0.0)
    return (scene.reading.rail_gbps[rail] or 0.0) / capacity_gbps if capacity_gbps else 0.0


def _congestion(scene: Scene, cells: int) -> Iterator[Text]:
    """Marks, pauses, drops and the deepest queue: now, the most that the history shows, and the history."""
    rows: tuple[tuple[str, Callable[[FabricRates], float | None], float, str, str], ...] = (
        ("ECN marks", lambda reading: reading.marks_per_s, 1.0, "/s", "yellow"),
        ("PFC pauses", lambda reading: reading.pauses_per_s, 1.0, "/s", "magenta"),
        ("drops", lambda reading: reading.drops_per_s, 1.0, "/s", "red"),
        ("queue mean", lambda reading: reading.totals.depth_bytes, 1e-3, " kB", "yellow"),
    )
    width = cells - LABEL - VALUE - NOTE
    for name, value_of, scale, unit, style in rows:
        values = [None if past.stale else value_of(past) for past in scene.history[-width:]]
        now = value_of(scene.reading)
        most = max((value for value in (*values, now) if value is not None), default=0.0)
        shown = "-" if now is None else f"{short(now * scale)}{unit}"
        note = f"  most {short(most * scale)}{unit}" if most else ""
        line = Text.assemble(
            name.ljust(LABEL), (shown.rjust(VALUE), f"bold {style}" if now else ""), (note.ljust(NOTE), "dim")
        )
        line.append(sparkline(values, most=most, width=width), style if most else "dim")
        yield Text(line.plain, style="dim") if scene.reading.stale else line


def _jobs(scene: Scene, cells: int) -> Iterator[Text]:
    """The sums of each job; of many jobs, the ones around the one that runs."""
    first = cells - sum(size for _, size in JOB_COLUMNS)
    yield Text("".join(name.rjust(size) if size else name.ljust(first) for name, size in JOB_COLUMNS), style="dim")
    names = [job.job for job in scene.jobs]
    place = names.index(scene.job.job) if scene.job.job in names else 0
    begin = max(0, min(place - MOST_JOBS // 2, len(names) - MOST_JOBS))
    for job in scene.jobs[begin : begin + MOST_JOBS]:
        name, *rest = _job_cells(job)
        shown = name if len(name) < first else f"{name[: first - 2]}…"
        line = shown.ljust(first) + "".join(
            cell.rjust(size) for cell, (_, size) in zip(rest, JOB_COLUMNS[1:], strict=True)
        )
        yield Text(line, style="cyan" if job.job == scene.job.job else "")


def _job_cells(job: JobSummary) -> tuple[str, ...]:
    """The cells of a job in JOB_COLUMNS."""
    return (
        job.job,
        f"{job.seconds:,.0f}",
        f"{job.rate_gbps:,.1f}",
        "-" if job.mean_step_s is None else f"{job.mean_step_s * 1000:,.0f}",
        *map(short, (job.marks, job.pauses, job.drops)),
        "-" if job.peak_bytes is None else short(job.peak_bytes / 1000),
    )


def _urls(scene: Scene, cells: int) -> Iterator[Text]:
    """The URLs, on as few lines as have room for them whole."""
    line = Text()
    for name, url in scene.urls.items():
        if line and len(line) + len(f"   {name} {url}") > cells:
            yield line
            line = Text()
        line.append("   " if line else "").append(f"{name} ", "dim").append(url, "underline")
    yield line


def line(scene: Scene) -> str:
    """One frame as a line, for logs and pipes."""
    found, totals = scene.reading, scene.reading.totals
    step = "-" if scene.job.step_s is None else f"{scene.job.step_s * 1000:.0f} ms"
    if scene.job.step_s is None and scene.job.present:
        step = f"at {scene.job.share:.0%}"
    sent = _together(found, [*found.rail_gbps])
    return (
        f"{scene.elapsed_s:6.1f} s  job {scene.job.job:<8} step {step:>8}  "
        f"{_plain(sent):>6} Gb/s  ecn {_plain(found.marks_per_s):>8}/s  pfc {_plain(found.pauses_per_s):>7}/s  "
        f"drops {_plain(found.drops_per_s):>4}/s  bgp {totals.sessions_up}/{totals.sessions}  "
        f"gnmi {totals.targets_up}/{totals.targets}  pace {scene.pace:4.0%}  {_notice(scene).plain}"
    ).rstrip()


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"
