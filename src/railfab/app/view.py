"""The live view: rails, congestion, sessions and the job, as a panel on a terminal or as lines elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from railfab.app.reading import Reading

BAR_CELLS = 40
SLOW_PACE = 0.9
"""A twin slower than this share of real time is shown as slow."""
LATE_S = 1.0
"""A collector later than this is shown as late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The content of one frame.

    rail_capacity_gbps: what the host ports of a rail can carry. urls: name to address. step_s: the last step's
    duration; None before the first. pace: simulated seconds a second; below 1 the machine is too slow, and all rates,
    which are by the wall clock, are lower by as much. sampling: how often switches are sampled, and why.
    """

    fabric: str
    elapsed_s: float
    job: str
    steps: int
    step_s: float | None
    reading: Reading
    rail_capacity_gbps: float
    urls: Mapping[str, str]
    sampling: str
    pace: float = 1.0


def frame(scene: Scene) -> RenderableType:
    """One frame of the view."""
    return Panel(
        Group(
            _headline(scene),
            Text(),
            _rails(scene),
            Text(),
            _congestion(scene.reading),
            Text(),
            _urls(scene),
            Text(scene.sampling, style="dim"),
        ),
        title=f"[bold]railfab[/bold] {scene.fabric}",
        subtitle="Ctrl-C ends everything",
        title_align="left",
        subtitle_align="right",
        padding=(1, 2),
    )


def _headline(scene: Scene) -> RenderableType:
    totals = scene.reading.totals
    table = Table.grid(padding=(0, 2))
    step = "-" if scene.step_s is None else f"{scene.step_s * 1000:.0f} ms"
    table.add_row(
        Text.assemble("job ", (scene.job, "bold cyan")),
        Text.assemble(f"step {scene.steps} took ", (step, "bold")),
        _share_up("BGP", totals.sessions_up, totals.sessions),
        _share_up("gNMI", totals.targets_up, totals.targets),
        f"{totals.series} series",
        f"{scene.elapsed_s:.0f} s",
        Text(_slowness(scene), style="bold yellow"),
    )
    return table


def _slowness(scene: Scene) -> str:
    """Whether the twin or the collector is too slow; empty while neither is."""
    lag_s = scene.reading.totals.lag_s
    slow = f"twin at {scene.pace:.0%} of real time" if scene.pace < SLOW_PACE else ""
    late = f"collector {lag_s:.0f} s late" if lag_s > LATE_S else ""
    return ", ".join(filter(None, (slow, late)))


def _share_up(name: str, up: int, intended: int) -> Text:
    style = "bold green" if up == intended > 0 else "bold red"
    return Text.assemble(f"{name} ", (f"{up}/{intended}", style))


def _rails(scene: Scene) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for rail, rate in scene.reading.rail_gbps.items():
        share = min(1.0, rate / scene.rail_capacity_gbps) if scene.rail_capacity_gbps else 0.0
        filled = round(share * BAR_CELLS)
        bar = Text("█" * filled, style="green") + Text("·" * (BAR_CELLS - filled), style="dim")
        table.add_row(f"rail {rail}", bar, f"{rate:7.0f} Gb/s", f"{share:4.0%}")
    return table


def _congestion(reading: Reading) -> RenderableType:
    table = Table.grid(padding=(0, 4))
    table.add_row(
        _amount("ECN marks", reading.marks_per_s, "/s", "yellow"),
        _amount("PFC pauses", reading.pauses_per_s, "/s", "magenta"),
        _amount("drops", reading.drops_per_s, "/s", "red"),
        _amount("deepest queue", reading.totals.deepest_bytes / 1000, " kB", "yellow"),
    )
    return table


def _amount(name: str, value: float, unit: str, style: str) -> Text:
    return Text.assemble(f"{name} ", (f"{value:,.0f}{unit}", f"bold {style}" if value else "dim"))


def _urls(scene: Scene) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for name, url in scene.urls.items():
        table.add_row(Text(name, style="dim"), Text(url, style="underline"))
    return table


def line(scene: Scene) -> str:
    """One frame as a line, for logs and pipes."""
    found = scene.reading
    step = "-" if scene.step_s is None else f"{scene.step_s * 1000:.0f} ms"
    return (
        f"{scene.elapsed_s:6.1f} s  job {scene.job:<8} step {step:>8}  "
        f"{sum(found.rail_gbps.values()):6.0f} Gb/s  ecn {found.marks_per_s:8.0f}/s  pfc {found.pauses_per_s:7.0f}/s  "
        f"drops {found.drops_per_s:4.0f}/s  bgp {found.totals.sessions_up}/{found.totals.sessions}  {_slowness(scene)}"
    ).rstrip()
