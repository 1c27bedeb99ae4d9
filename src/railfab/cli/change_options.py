"""Options of a change of switches, as `deploy`, `rollback` and `reconcile` have them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.change_report import View
from railfab.cli.common import Output, refuse
from railfab.cli.junit import JunitReport
from railfab.errors import RailfabError


class Waves(StrEnum):
    """Whether a change is made in waves; SHOW shows these and changes nothing."""

    ON = "on"
    OFF = "off"
    SHOW = "show"


class Revert(StrEnum):
    """What is reverted after a gate that failed."""

    WAVE = "wave"
    ALL = "all"


PlanOption = Annotated[bool, typer.Option("--plan", metavar="", help="Show the differences and stop.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]
StatOption = Annotated[bool, typer.Option("--stat", metavar="", help="Show the number of lines, not the lines.")]
FullOption = Annotated[bool, typer.Option("--full", metavar="", help="Show the lines of each switch, also equal ones.")]
WavesOption = Annotated[
    Waves,
    typer.Option("--waves", metavar="MODE", help="on: canary first, then by failure domain; off: all at once; show."),
]
NoDrainOption = Annotated[
    bool, typer.Option("--no-drain", metavar="", help="Do not drain switches whose change interrupts forwarding.")
]
NoGatesOption = Annotated[bool, typer.Option("--no-gates", metavar="", help="Do not check the fabric between waves.")]
TelemetryOption = Annotated[
    str | None,
    typer.Option("--telemetry", metavar="URL", help="Prometheus or collector that the gates read.", show_default=False),
]
RevertOption = Annotated[
    Revert, typer.Option("--revert", metavar="EXTENT", help="After a gate that failed: the wave, or all of them.")
]
PauseOption = Annotated[
    int | None,
    typer.Option("--pause-after", metavar="N", min=1, help="End after wave N, to be resumed.", show_default=False),
]

OF_DIFFERENCES = {"stat": "--stat", "full": "--full"}
"""Options of how differences are shown, by parameter."""
OF_WAVES = {
    "no_drain": "--no-drain",
    "no_gates": "--no-gates",
    "telemetry": "--telemetry",
    "pause_after": "--pause-after",
    "accept_cut": "--accept cut",
}
"""Options that have no effect without waves, by parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOptions:
    """Options of a change. plan: preview only. yes: do not ask. stat, full: see `view`. save, saved: files of plans.
    junit: the file of `--junit`.

    accept_cut: whether switches that are the only path of hosts are changed. Raises BadParameter or RailfabError for
    options that have no effect together.
    """

    plan: bool
    yes: bool
    stat: bool
    full: bool
    output: Output
    waves: Waves = Waves.ON
    no_drain: bool = False
    no_gates: bool = False
    telemetry: str | None = None
    revert: Revert = Revert.WAVE
    pause_after: int | None = None
    accept_cut: bool = False
    save: Path | None = None
    saved: Path | None = None
    junit: JunitReport | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("yes", "stat", "full", "saved", "pause_after") if getattr(self, name)]
        given += ["junit"] if self.junit is not None and self.junit.path is not None else []
        if self.shows:
            changing = {"junit": "--junit", "yes": "--yes", "saved": "--apply", "pause_after": "--pause-after"}
            refuse(given, changing, f"{'--plan' if self.plan else '--waves show'} changes nothing: leave out")
        elif self.yes:
            refuse(given, OF_DIFFERENCES, "--yes shows no differences before the change: leave out")
        if self.output is Output.JSON:
            refuse(given, OF_DIFFERENCES, "--output json has the differences of each switch: leave out")
        if self.stat and self.full:
            raise RailfabError("--full", "is the opposite of --stat", "Leave one of them out")
        if self.save is not None and not self.plan:
            raise RailfabError("-o", "names the file of a plan", "Add --plan")
        if self.waves is Waves.OFF:
            refuse([name for name in OF_WAVES if getattr(self, name)], OF_WAVES, "--waves off has no waves: leave out")

    @property
    def shows(self) -> bool:
        """Whether nothing is changed."""
        return self.plan or self.waves is Waves.SHOW

    @property
    def view(self) -> View:
        """The part of the differences that is shown."""
        return View.STAT if self.stat else View.FULL if self.full else View.FOLDED
