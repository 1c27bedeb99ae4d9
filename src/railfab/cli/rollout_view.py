"""A roll-out as the operator sees it: its waves and their risk, questions, progress, the end of each wave."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from threading import Lock, Timer
from typing import TYPE_CHECKING, TypeVar

import typer

from railfab.cli.change_report import RESULTS
from railfab.cli.common import Output, print_json, print_table, ticking_bar
from railfab.cli.echo import echo_line
from railfab.text.counted import listed
from railfab.text.folding import folded_all

if TYPE_CHECKING:
    from railfab.app.wave_events import WaveEvents
    from railfab.deploy import ChangePlan, Outcome, Wave, WaveRisk
    from railfab.fabric import Design

Value = TypeVar("Value", bound=Hashable)

LATE_S = 30.0
"""Time after which a wave says which switches are done, and from then on each result as it comes [s]."""


def print_waves(fabric: Design, plan: ChangePlan, output: Output) -> None:
    """Print the waves of a plan: their switches, what is drained, and the GPUs and the bandwidth at risk meanwhile."""
    from railfab.deploy import risk_of

    if output is Output.JSON:
        print_json(asdict(plan.without_diffs()))
        return
    rows = [
        (
            wave.number,
            risk.switches,
            folded_all(name for name in wave.switches if plan.changes[name].drains) or None,
            risk.cut_off or None,
            risk.less_redundant or None,
            _most_lost(risk),
        )
        for wave, risk in zip(plan.waves, risk_of(fabric, plan.waves), strict=True)
    ]
    print_table("", ("wave", "switches", "drained", "GPUs cut off", "fewer paths", "most lost"), rows)
    interrupting = {
        name: (change.reasons, change.cut_off) for name, change in plan.changes.items() if change.interrupts
    }
    for (reasons, hosts), names in _by_value(interrupting).items():
        cuts = f", and cuts off {folded_all(hosts)}" if hosts else ""
        echo_line(f"{folded_all(names)}: interrupts forwarding ({listed(list(reasons))}){cuts}")


def most_lost(fabric: Design, plan: ChangePlan) -> str | None:
    """The largest share of a rail or tier that a wave of a plan loses."""
    from railfab.deploy import risk_of

    return _most_lost(*risk_of(fabric, plan.waves))


def _most_lost(*risks: WaveRisk) -> str | None:
    """The largest lost share of a rail or tier."""
    groups = [group for risk in risks for group in (risk.rail, risk.tier) if group is not None]
    most = max(groups, key=lambda group: group.share, default=None)
    return None if most is None else f"{most.share:.0%} of {most.group}"


def _by_value(values: Mapping[str, Value]) -> dict[Value, list[str]]:
    grouped: dict[Value, list[str]] = {}
    for name, value in values.items():
        grouped.setdefault(value, []).append(name)
    return grouped


@dataclass(frozen=True, slots=True)
class RolloutView:
    """A roll-out on the terminal. asks: whether each wave needs an answer. events: tells others of each wave.

    Lines go to stderr; with `--output json` stderr is for errors.
    """

    plan: ChangePlan
    output: Output
    asks: bool
    events: WaveEvents

    def approves(self, wave: Wave) -> bool:
        """Ask whether a wave may begin."""
        return not self.asks or typer.confirm(f"Change {self._title(wave)}?", default=False)

    def begins(self, wave: Wave) -> None:
        self.events.begins(wave.number)
        if len(self.plan.waves) > 1:
            self.says(self._title(wave))

    def says(self, line: str) -> None:
        if self.output is Output.TABLE:
            echo_line(line, err=True)

    @contextmanager
    def changing(self, wave: Wave) -> Iterator[Callable[[Outcome], None]]:
        """Show progress, and the results once the wave is late; yields the function that takes each outcome."""
        lines = ResultLines(wave.switches, self.says)
        timer = Timer(LATE_S, lines.late)
        timer.daemon = True
        with ticking_bar("changing", len(wave.switches)) as on_done:

            def done(outcome: Outcome) -> None:
                lines.on_outcome(outcome)
                on_done(outcome.name)

            timer.start()
            try:
                yield done
            finally:
                timer.cancel()

    def ends(self, wave: Wave, stopped: str) -> None:
        self.events.ends(wave.number, wave.switches, stopped)

    def _title(self, wave: Wave) -> str:
        if len(self.plan.waves) == 1:
            return folded_all(wave.switches)
        canary = " (canary)" if wave.canary else ""
        return f"wave {wave.number} of {len(self.plan.waves)}{canary}: {folded_all(wave.switches)}"


class ResultLines:
    """Writes the result of each switch as it comes, once a wave lasts longer than LATE_S. Thread-safe."""

    def __init__(self, names: Sequence[str], write: Callable[[str], None]) -> None:
        self._waiting = dict.fromkeys(names)
        self._write = write
        self._done: list[str] = []
        self._late = False
        self._lock = Lock()

    def on_outcome(self, outcome: Outcome) -> None:
        line = f"{outcome.name}: {RESULTS[outcome.result]}"
        with self._lock:
            self._waiting.pop(outcome.name, None)
            if self._late:
                self._write(line)
            else:
                self._done.append(line)

    def late(self) -> None:
        """Write what is done, and which switches are waited for; nothing once all are done."""
        with self._lock:
            if not self._waiting:
                return
            self._late = True
            for line in self._done:
                self._write(line)
            self._write(f"waiting for {listed(list(self._waiting))}")
