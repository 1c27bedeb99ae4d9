"""A change of switches, by `deploy` or `rollback`: preview, question, change, report, exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock, Timer
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.change_report import (
    RESULTS,
    View,
    exit_code,
    print_changes,
    print_drained,
    print_outcomes,
    print_previews,
)
from railfab.cli.common import Output, refuse, ticking_bar
from railfab.cli.echo import echo, echo_line
from railfab.endpoints import Endpoints
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.process.signals import INTERRUPTED, stop_on_signal
from railfab.text.counted import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from railfab.deploy import KeptSessions, OpenDeploy, Outcome, Preview
    from railfab.deploy.tasks import IsOwn

PlanOption = Annotated[bool, typer.Option("--plan", metavar="", help="Show the differences and stop.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]
StatOption = Annotated[bool, typer.Option("--stat", metavar="", help="Show the number of lines, not the lines.")]
FullOption = Annotated[bool, typer.Option("--full", metavar="", help="Show the lines of each switch, also equal ones.")]
LATE_S = 30.0
"""Time after which a run says which switches are done, and from then on each result as it comes [s]."""
FINISHING = "stopping: changes that have begun get 4 s to finish, no other is begun"


OF_DIFFERENCES = {"stat": "--stat", "full": "--full"}
"""Options of how differences are shown, by parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOptions:
    """Options of a change. plan: preview only. yes: do not ask. stat, full: see `view`.

    Raises BadParameter or RailfabError for options that have no effect together.
    """

    plan: bool
    yes: bool
    stat: bool
    full: bool
    output: Output

    def __post_init__(self) -> None:
        given = [name for name in ("yes", "stat", "full") if getattr(self, name)]
        if self.plan:
            refuse(given, {"yes": "--yes"}, "--plan changes nothing: leave out")
        elif self.yes:
            refuse(given, OF_DIFFERENCES, "--yes shows no differences before the change: leave out")
        if self.output is Output.JSON:
            refuse(given, OF_DIFFERENCES, "--output json has the differences of each switch: leave out")
        if self.stat and self.full:
            raise RailfabError("--full", "is the opposite of --stat", "Leave one of them out")

    @property
    def view(self) -> View:
        """The part of the differences that is shown."""
        return View.STAT if self.stat else View.FULL if self.full else View.FOLDED


@dataclass(frozen=True, slots=True)
class ChangeRun:
    """A change of these switches."""

    fabric: Design
    endpoints: Endpoints
    state: Path
    options: ChangeOptions

    def change(self, texts: Mapping[str, str], verb: str) -> None:
        """Bring the switches to these configurations, and leave with the exit code of the outcome."""
        from railfab.deploy import Journal, KeptSessions

        options = self.options
        if options.plan:
            print_previews(self.fabric, self._previews(texts), options.output, options.view)
            return
        if not options.yes:
            require_answer(verb, options.output, "Show the differences with --plan, then add --yes")
        journal = Journal(self.state, self.fabric.intent.fabric)
        with journal.open(verb) as entry, KeptSessions(entry.change) as kept:
            previews = self._previews(texts, journal.is_own, kept if options.yes else None)
            changing = [found for found in previews if found.changed]
            if changing and not options.yes:
                print_changes(self.fabric, changing, options.view)
                print_drained(changing)
                typer.confirm(f"Change {counted(len(changing), 'switch')}?", abort=True)
            self._apply(texts, previews, entry, kept)

    def _previews(
        self, texts: Mapping[str, str], is_own: IsOwn | None = None, kept: KeptSessions | None = None
    ) -> list[Preview]:
        from railfab.deploy import nornir_of, preview_all

        nornir = nornir_of(self.fabric, self.endpoints)
        with ticking_bar("reading", len(nornir.inventory.hosts)) as on_done:
            previews = preview_all(nornir, texts, on_done, is_own=is_own, kept=kept)
        for found in previews:
            if found.reverted is not None:
                line = f"{found.name}: reverted the unconfirmed change of deploy {found.reverted.deploy}"
                echo_line(line, err=True)
        return previews

    def _apply(
        self, texts: Mapping[str, str], previews: Sequence[Preview], entry: OpenDeploy, kept: KeptSessions | None = None
    ) -> None:
        """Change the switches that have differences; the others have just been read, and are as they should be."""
        from railfab.deploy import Outcome, apply_all, nornir_of

        approved = {found.name: found.diff for found in previews if found.changed}
        with stop_on_signal(lambda: echo(FINISHING, err=True)) as stop_requested:
            changing = tuple(node for node in self.endpoints.nodes if node.name in approved)
            nornir = nornir_of(self.fabric, replace(self.endpoints, nodes=changing), stop_requested)
            with _results_as_they_come(list(approved), self.options.output) as on_outcome:
                applied = apply_all(
                    nornir,
                    texts,
                    entry.change,
                    on_outcome,
                    approved=approved,
                    keep=entry.keep,
                    kept=kept,
                    stop_requested=stop_requested,
                    abandoned=stop_requested,
                )
        by_name = {outcome.name: outcome for outcome in applied}
        unchanged = {
            found.name: Outcome(name=found.name, changed=False, failed=False, diff="", drained=found.drained)
            for found in previews
            if not found.changed
        }
        outcomes = [(by_name | unchanged)[found.name] for found in previews]
        try:
            entry.finish({outcome.name: outcome.result for outcome in outcomes})
        finally:
            print_outcomes(self.fabric, outcomes, previews, self.options.output)
        raise typer.Exit(INTERRUPTED if stop_requested.is_set() else exit_code(outcomes))


def require_answer(verb: str, output: Output, remedy: str) -> None:
    """Raise RailfabError where a question cannot be asked."""
    if output is Output.JSON:
        raise RailfabError(verb, "--output json leaves no room for the question before a change", remedy)
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        problem = "asks before it changes switches, and standard input or output is not a terminal"
        raise RailfabError(verb, problem, remedy)


class ResultLines:
    """Writes the result of each switch as it comes, once a run lasts longer than LATE_S. Thread-safe."""

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


@contextmanager
def _results_as_they_come(names: Sequence[str], output: Output) -> Iterator[Callable[[Outcome], None]]:
    """Progress of a change, and the results once it is late; with `--output json` stderr is for errors."""
    lines = ResultLines(names, partial(echo_line, err=True) if output is Output.TABLE else lambda _line: None)
    timer = Timer(LATE_S, lines.late)
    timer.daemon = True
    with ticking_bar("changing", len(names)) as on_done:

        def done(outcome: Outcome) -> None:
            lines.on_outcome(outcome)
            on_done(outcome.name)

        timer.start()
        try:
            yield done
        finally:
            timer.cancel()
