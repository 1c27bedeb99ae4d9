"""A change of switches, by `deploy`, `rollback` or `reconcile`: preview, plan, roll-out, report, exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import typer

from railfab.cli.change_options import ChangeOptions, Revert, Waves
from railfab.cli.change_report import (
    exit_code,
    print_changes,
    print_drained,
    print_outcomes,
    print_previews,
)
from railfab.cli.common import FOUND, Output, report_line, ticking_bar
from railfab.cli.echo import echo, echo_line
from railfab.cli.junit import outcome_cases
from railfab.cli.rollout_view import RolloutView, most_lost, print_waves
from railfab.endpoints import Endpoints, write_private
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.process.signals import INTERRUPTED, stop_on_signal
from railfab.text.counted import counted, listed
from railfab.text.folding import folded_all

if TYPE_CHECKING:
    from railfab.deploy import (
        ChangePlan,
        Journal,
        KeptSessions,
        OpenDeploy,
        Outcome,
        Preview,
        RolloutResult,
        RolloutSettings,
    )
    from railfab.deploy.gates import ConfigurationGate, Gate
    from railfab.deploy.schedulers import Scheduler
    from railfab.deploy.tasks import IsOwn

STOPPED_AT_A_GATE = 3
IDLE_WITHIN_S = 120.0
"""Limit of the wait until a drained switch carries no traffic [s]."""
FINISHING = "stopping: changes that have begun get 4 s to finish, no other is begun"
NOT_BEGUN = "No switch was changed"
CONTINUES = "Continue with railfab deploy --resume, or return to what ran before with --abort"


@dataclass(frozen=True, slots=True)
class ChangeRun:
    """A change of these switches. from_files: whether to configurations of files instead of those of the intent."""

    fabric: Design
    endpoints: Endpoints
    state: Path
    options: ChangeOptions
    from_files: bool = False

    def change(self, texts: Mapping[str, str], verb: str) -> None:
        """Bring the switches to these configurations, and leave with the exit code of the outcome."""
        from railfab.deploy import KeptSessions

        options = self.options
        if options.shows:
            self._show(texts, verb)
            return
        if not options.yes:
            require_answer(verb, options.output, "Show the differences with --plan, then add --yes")
        journal = self._journal()
        with journal.open(verb) as entry, KeptSessions(entry.change) as kept:
            previews = self._previews(texts, journal.is_own, kept if options.yes else None)
            plan = self._approved(self._plan(previews, verb), previews)
            if plan.changes:
                entry.plan(plan.without_diffs().document(), {name: texts[name] for name in plan.changes})
                if not options.yes:
                    self._print_question(plan, previews)
            self._say_undrained(plan)
            self._roll_out(plan, texts, previews, entry, kept)

    def resume(self) -> None:
        """Continue the last deploy that was interrupted or stopped; see `change`."""
        from railfab.deploy import ChangePlan, KeptSessions, refuse_later_changes

        journal = self._journal()
        if not self.options.yes:
            require_answer("deploy", self.options.output, "Add --yes")
        with journal.reopen() as entry:
            document, texts = journal.planned(entry.record)
            plan = ChangePlan.parse(document, str(journal.folder / entry.record.folder))
            self._say_found(entry, plan)
            entry.rename_change()
            done = entry.past.waves_done()
            left = [name for wave in plan.waves if wave.number not in done for name in wave.switches]
            with KeptSessions(entry.change) as kept:
                previews = self._among(left)._previews(texts, journal.is_own, kept if self.options.yes else None)
                former = journal.former(entry.record)
                refuse_later_changes(plan, previews, former)
                self._roll_out(plan, texts, previews, entry, kept, former)

    def abort(self) -> None:
        """Return the switches of the last deploy that was interrupted or stopped to what they ran before."""
        from railfab.deploy import abort_all

        journal = self._journal()
        if not self.options.yes:
            require_answer("deploy", self.options.output, "Add --yes")
        with journal.reopen() as entry, stop_on_signal(lambda: echo(FINISHING, err=True)) as stop_requested:
            former = journal.former(entry.record)
            if not self.options.yes:
                typer.confirm(f"Return {folded_all(former)} to what ran before?", abort=True)
            among = self._among(former)
            with ticking_bar("aborting", len(former)) as on_done:
                outcomes = abort_all(
                    among.fabric,
                    among.endpoints,
                    entry,
                    former,
                    is_own=journal.is_own,
                    scheduler=self._scheduler(),
                    on_outcome=lambda outcome: on_done(outcome.name),
                    stop_requested=stop_requested,
                )
            failed = [outcome.name for outcome in outcomes if outcome.failed]
            entry.finish(
                {outcome.name: outcome.result for outcome in outcomes},
                stopped=f"{listed(failed)} failed" if failed else "",
            )
        print_outcomes(self.fabric, outcomes, (), self.options.output)
        self._write_junit(outcomes)
        raise typer.Exit(INTERRUPTED if stop_requested.is_set() else exit_code(outcomes))

    def _journal(self) -> Journal:
        from railfab.deploy import Journal

        return Journal(self.state, self.fabric.intent.fabric)

    def _among(self, names: Iterable[str]) -> ChangeRun:
        """The change of some of these switches. Raises RailfabError where one has no address here."""
        wanted = list(names)
        nodes = tuple(node for node in self.endpoints.nodes if node.name in wanted)
        if missing := sorted(set(wanted) - {node.name for node in nodes}):
            problem = f"changed {listed(missing)}, of which --on has no address"
            raise RailfabError("deploy", problem, "Use the intent and the --on of that deploy")
        return replace(self, endpoints=replace(self.endpoints, nodes=nodes))

    def _show(self, texts: Mapping[str, str], verb: str) -> None:
        """Print the differences or the waves, and save the plan where that is asked for."""
        options = self.options
        previews = self._previews(texts)
        if options.plan:
            print_previews(self.fabric, previews, options.output, options.view)
        if options.waves is Waves.OFF:
            return
        plan = self._plan(previews, verb)
        if options.save is not None:
            write_private(options.save, plan.document())
            echo(f"wrote {options.save}", err=True)
        if plan.waves and (options.output is Output.TABLE or not options.plan):
            print_waves(self.fabric, plan, options.output)
        if plan.waves and options.output is Output.TABLE:
            echo_line(f"checked after each wave: {self._checks()}")

    def _checks(self) -> str:
        """The names of the gates, and where the telemetry is read."""
        url = self.options.telemetry or self.fabric.intent.change.telemetry
        names = [*(["configuration"] if self.from_files else []), "state", *([f"telemetry of {url}"] if url else [])]
        return "nothing (--no-gates)" if self.options.no_gates else listed(names)

    def _plan(self, previews: Sequence[Preview], verb: str) -> ChangePlan:
        from railfab.deploy import plan_of

        waves, drain = self.options.waves is not Waves.OFF, not self.options.no_drain
        return replace(plan_of(self.fabric, previews, verb, waves=waves, drain=drain), from_files=self.from_files)

    def _approved(self, plan: ChangePlan, previews: Sequence[Preview]) -> ChangePlan:
        """The plan that is applied: this, or the one saved. Raises RailfabError where it differs, or cuts hosts off."""
        from railfab.deploy import ChangePlan

        if (path := self.options.saved) is not None:
            saved = ChangePlan.parse(_read(path), str(path))
            saved.refuse_others(self.fabric.intent.fabric, previews)
            plan = saved
        if not self.options.accept_cut and self._scheduler() is None:
            plan.refuse_cuts()
        return plan

    def _settings(self, kept: KeptSessions, stop_requested: Event, files: ConfigurationGate | None) -> RolloutSettings:
        """files: the gate of configurations that are not those of the intent."""
        from railfab.deploy import RolloutSettings
        from railfab.deploy.gates import gates_of, source_of, wait_until_idle

        options = self.options
        if options.waves is Waves.OFF:
            return RolloutSettings()
        jobs = self.fabric.intent.change.scheduler
        source = source_of(self.fabric, options.telemetry)
        gates: tuple[Gate, ...] = ()
        if not options.no_gates:
            reading = gates_of(self.fabric, self.endpoints, kept, source, stop_requested)
            gates = reading if files is None else (files, *reading)
        until_idle = (
            partial(wait_until_idle, source, within_s=IDLE_WITHIN_S, stop_requested=stop_requested) if source else None
        )
        return RolloutSettings(
            gates=gates,
            until_idle=until_idle,
            scheduler=self._scheduler(),
            reverts_all=options.revert is Revert.ALL,
            pause_after=options.pause_after,
            accept_cut=options.accept_cut,
            jobs_within_s=jobs.within_s if jobs else 0.0,
        )

    def _scheduler(self) -> Scheduler | None:
        from railfab.deploy.schedulers import scheduler_of

        return scheduler_of(self.fabric, os.environ)

    def _print_question(self, plan: ChangePlan, previews: Sequence[Preview]) -> None:
        """Print what the questions before each wave are about."""
        changing = [preview for preview in previews if preview.changed]
        print_changes(self.fabric, changing, self.options.view)
        print_drained(changing)
        if len(plan.waves) > 1:
            print_waves(self.fabric, plan, self.options.output)

    def _say_found(self, entry: OpenDeploy, plan: ChangePlan) -> None:
        """Say what the journal has of a deploy that is continued."""
        past, number = entry.past, len(plan.waves)
        done = len(past.waves_done())
        self._say(f"deploy {entry.record.deploy}: {done} of {counted(number, 'wave')} done before")
        if past.drained():
            self._say(f"drained by it: {folded_all(past.drained())}")
        if past.damaged:
            lines = listed([str(line) for line in past.damaged])
            self._say(f"its steps have damaged lines ({lines}), which are left out; the switches say what they run")

    def _say_undrained(self, plan: ChangePlan) -> None:
        """Say what `--no-drain` costs: the switches that lose packets of jobs, and the largest share at a time."""
        names = [name for name, change in plan.changes.items() if change.interrupts and not change.drains]
        if self.options.no_drain and names:
            most = most_lost(self.fabric, plan)
            share = f", up to {most} at a time" if most else ""
            self._say(f"not drained: {folded_all(names)}; jobs lose what these carry while they change{share}")

    def _say(self, line: str) -> None:
        if self.options.output is Output.TABLE:
            echo_line(line, err=True)

    def _previews(
        self, texts: Mapping[str, str], is_own: IsOwn | None = None, kept: KeptSessions | None = None
    ) -> list[Preview]:
        from railfab.deploy import nornir_of, preview_all

        nornir = nornir_of(self.fabric, self.endpoints)
        with ticking_bar("reading", len(nornir.inventory.hosts)) as on_done:
            previews = preview_all(nornir, texts, on_done, is_own=is_own, kept=kept)
        for preview in previews:
            if preview.reverted is not None:
                line = f"{preview.name}: reverted the unconfirmed change of deploy {preview.reverted.deploy}"
                echo_line(line, err=True)
        return previews

    def _roll_out(
        self,
        plan: ChangePlan,
        texts: Mapping[str, str],
        previews: Sequence[Preview],
        entry: OpenDeploy,
        kept: KeptSessions,
        former: Mapping[str, str] | None = None,
    ) -> None:
        """Change the switches that have differences; the others have just been read, and are as they should be.

        former: what switches ran before the deploy, where it is continued.
        """
        from railfab.app.wave_events import wave_events
        from railfab.deploy import Rollout
        from railfab.deploy.gates import ConfigurationGate

        before = {preview.name: preview.text for preview in previews if preview.changed} | dict(former or {})
        files = ConfigurationGate(self.fabric, texts, before) if plan.from_files else None
        view = RolloutView(
            plan,
            self.options.output,
            asks=not self.options.yes,
            events=wave_events(self.fabric, entry.record.deploy, os.environ),
        )
        with stop_on_signal(lambda: echo(FINISHING, err=True)) as stop_requested:
            rollout = Rollout(
                self.fabric,
                self.endpoints,
                plan,
                texts,
                before,
                entry,
                view,
                self._settings(kept, stop_requested, files),
                self._journal().is_own,
                stop_requested,
                {preview.name: preview.diff for preview in previews if preview.changed},
                kept,
            )
            result = rollout.run()
        if result.declined and not any(outcome.changed or outcome.failed for outcome in result.outcomes):
            raise typer.Abort
        self._end(plan, previews, entry, result, interrupted=stop_requested.is_set())

    def _end(
        self,
        plan: ChangePlan,
        previews: Sequence[Preview],
        entry: OpenDeploy,
        result: RolloutResult,
        *,
        interrupted: bool,
    ) -> None:
        """Record and print the results, and leave with their exit code."""
        from railfab.deploy import Outcome

        drained = {preview.name: preview.drained for preview in previews}
        unchanged = [
            Outcome(name=name, changed=False, failed=False, diff="", drained=drained.get(name, False))
            for name in plan.unchanged
        ]
        order = {node.name: number for number, node in enumerate(self.endpoints.nodes)}
        outcomes = sorted([*result.outcomes, *unchanged], key=lambda outcome: order.get(outcome.name, -1))
        try:
            entry.finish({outcome.name: outcome.result for outcome in outcomes}, result.stopped)
        finally:
            print_outcomes(self.fabric, outcomes, previews, self.options.output)
            self._write_junit(outcomes, [failure.line for failure in result.failures])
        for failure in result.failures:
            report_line(failure.line)
        if result.stopped and (len(plan.waves) > 1 or result.at_gate):
            begun = any(outcome.changed or outcome.failed or outcome.reverted for outcome in result.outcomes)
            report_line(f"deploy {entry.record.deploy}: {result.stopped}. {CONTINUES if begun else NOT_BEGUN}.")
        if interrupted:
            raise typer.Exit(INTERRUPTED)
        if result.at_gate:
            raise typer.Exit(STOPPED_AT_A_GATE)
        raise typer.Exit(exit_code(outcomes) or (FOUND if result.declined else 0))

    def _write_junit(self, outcomes: Sequence[Outcome], failures: Sequence[str] = ()) -> None:
        """Write the file of `--junit`: a case for each switch, and one for the gates where one has failed."""
        if (file := self.options.junit) is not None:
            file.write(self.fabric.intent.fabric, outcome_cases(file.command, outcomes, failures))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read ({(getattr(error, 'strerror', None) or 'not UTF-8 text').lower()})"
        raise RailfabError(str(path), problem, "Make it with railfab deploy --plan -o FILE") from None


def require_answer(verb: str, output: Output, remedy: str) -> None:
    """Raise RailfabError where a question cannot be asked."""
    if output is Output.JSON:
        raise RailfabError(verb, "--output json leaves no room for the question before a change", remedy)
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        problem = "asks before it changes switches, and standard input or output is not a terminal"
        raise RailfabError(verb, problem, remedy)
