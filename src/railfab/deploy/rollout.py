"""Roll-out of a change over a fabric: wave after wave, each drained, changed, checked by gates, and given its traffic
back; a wave that fails its gates is reverted, and no further one is begun."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from nornir.core import Nornir

from railfab.deploy.change_plan import ChangePlan
from railfab.deploy.drain import operate_all, save_all
from railfab.deploy.gates import Gate, GateFailure
from railfab.deploy.journal import OpenDeploy
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.rollout_settings import GateStop, Observer, RolloutResult, RolloutSettings
from railfab.deploy.run import Outcome, apply_all, nornir_of
from railfab.deploy.schedulers import Scheduler, hosts_behind, idle, released
from railfab.deploy.steps import StepKind, StepState
from railfab.deploy.tasks import IsOwn
from railfab.deploy.waves import Wave
from railfab.endpoints import Endpoints
from railfab.errors import RailfabError, each
from railfab.fabric import Design
from railfab.platforms import Verb
from railfab.text.counted import listed
from railfab.text.folding import alike_as_one, folded_all

SETTLE_S = 5.0
"""Time in which routes move after a drain, where no telemetry shows the traffic [s]."""


@dataclass
class Rollout:
    """A roll-out of the configurations `texts` by a plan.

    former: what each switch ran before the deploy. approved: the reviewed differences. is_own: see `tasks.configure`.
    kept: open sessions, such as those of the preview; those of a wave are closed at its end. still_drained: switches
    that have not taken the end of their drain.
    """

    fabric: Design
    endpoints: Endpoints
    plan: ChangePlan
    texts: Mapping[str, str]
    former: Mapping[str, str]
    entry: OpenDeploy
    observer: Observer
    settings: RolloutSettings
    is_own: IsOwn
    stop_requested: threading.Event
    approved: Mapping[str, str]
    kept: KeptSessions
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    still_drained: set[str] = field(default_factory=set)

    def run(self) -> RolloutResult:
        """Change the waves that are not done, in their order. Raises RailfabError for a journal that takes no more."""
        self._clean_up()
        done = self.entry.past.waves_done()
        for wave in self.plan.waves:
            if wave.number in done:
                continue
            if self.stop_requested.is_set():
                return self._result("a stop was requested")
            if not self.observer.approves(wave):
                return replace(self._result(f"wave {wave.number} was declined"), declined=True)
            try:
                with self._closed(wave):
                    stopped = self._run(wave)
            except GateStop as stop:
                self._revert(self._to_revert(wave))
                self.observer.ends(wave, str(stop))
                return replace(self._result(str(stop)), failures=stop.failures, at_gate=True)
            self.observer.ends(wave, stopped)
            if stopped:
                return self._result(stopped)
            if wave.number == self.settings.pause_after and wave is not self.plan.waves[-1]:
                return replace(self._result(f"paused after wave {wave.number}"), paused=True)
        return self._result("")

    @contextmanager
    def _closed(self, wave: Wave) -> Iterator[None]:
        """Close the sessions of a wave at its end."""
        try:
            yield
        finally:
            self.kept.close(wave.switches)

    def _result(self, stopped: str) -> RolloutResult:
        """stopped: empty where each switch has its change."""
        return RolloutResult(outcomes=tuple(self._outcomes()), stopped=stopped)

    def _outcomes(self) -> Iterator[Outcome]:
        done = self.entry.past.waves_done()
        for wave in self.plan.waves:
            for name in wave.switches:
                before = Outcome(
                    name=name, changed=wave.number in done, failed=False, diff="", begun=wave.number in done
                )
                yield replace(self.outcomes.get(name, before), wave=wave.number)

    def _run(self, wave: Wave) -> str:
        """Change one wave; why the roll-out ends, where a switch failed. Raises GateStop."""
        log, names = self.entry.steps, wave.switches
        log.write(StepKind.WAVE, StepState.BEGINS, wave=wave.number)
        self.observer.begins(wave)
        self._baseline(wave)
        changing = [name for name in names if name in self.approved]
        draining = [name for name in changing if self.plan.changes[name].drains]
        cutting = [name for name in changing if self.plan.changes[name].cut_off]
        with self._held(wave, cutting), self._drained(wave, draining):
            self._change(wave)
            self._check(wave, [gate for gate in self.settings.gates if gate.before_undrain], draining)
        if self.still_drained.isdisjoint(names):
            self._check(wave, self.settings.gates, names)
        failed = [name for name in names if self.outcomes[name].failed]
        if failed:
            return f"{folded_all(failed)} failed"
        log.write(StepKind.WAVE, StepState.DONE, wave=wave.number)
        return ""

    def _clean_up(self) -> None:
        """End what an earlier process of this deploy has begun and this one does not repeat; know what it has done."""
        past, scheduler = self.entry.past, self.settings.scheduler
        if scheduler is not None and past.held():
            scheduler.release(sorted(past.held()), self.entry.record.deploy)
            self.entry.steps.write(StepKind.RELEASE, StepState.DONE, sorted(past.held()))
        for wave in self.plan.waves:
            for name in wave.switches:
                if name not in self.approved:  # it runs what the deploy gives it
                    changed = name in self.former
                    self.outcomes[name] = Outcome(name=name, changed=changed, failed=False, diff="", wave=wave.number)
        again = {name for name in self.approved if self.plan.changes[name].drains}
        if left := sorted(past.drained() - again):
            self._undrain(left)
        self._save(sorted(past.unconfirmed().intersection(self.outcomes)))

    def _save(self, names: Sequence[str]) -> None:
        """Have switches boot what they run, of which it is not known whether they have saved it."""
        for outcome in save_all(self._nornir(names)) if names else ():
            if outcome.failed:
                before = self.outcomes[outcome.name]
                self.outcomes[outcome.name] = replace(before, failed=True, unsettled=True, error=outcome.error)

    def _baseline(self, wave: Wave) -> None:
        """Read what the gates compare with, or take what was read before an earlier process began to change the wave.

        Raises GateStop: a gate that cannot be read is a failed gate.
        """
        before = self.entry.baselines(wave.number)
        for gate in self.settings.gates:
            try:
                if before is not None and gate.name in before:
                    gate.restore(before[gate.name])
                else:
                    gate.baseline(wave.switches)
            except RailfabError as error:
                raise GateStop(f"the gate {gate.name} cannot be read: {_one_line(error)}") from error
        if before is None and self.settings.gates:
            self.entry.save_baselines(wave.number, {gate.name: gate.saved() for gate in self.settings.gates})

    def _check(self, wave: Wave, gates: Iterable[Gate], names: Sequence[str]) -> None:
        """Ask gates about switches that were changed. Raises GateStop."""
        changed = [name for name in names if self.outcomes[name].changed]
        if not changed:
            return
        failures = [failure for gate in gates for failure in gate.failures(changed)]
        state = StepState.FAILED if failures else StepState.DONE
        self.entry.steps.write(StepKind.GATE, state, wave=wave.number, note="; ".join(one.line for one in failures[:8]))
        if failures:
            raise GateStop(f"wave {wave.number} fails {_gates(failures)}", failures)

    @contextmanager
    def _held(self, wave: Wave, cutting: Sequence[str]) -> Iterator[None]:
        """Keep jobs away from the hosts that these switches cut off. Raises GateStop where one is not idle in time."""
        scheduler, deploy = self.settings.scheduler, self.entry.record.deploy
        hosts = hosts_behind(self.fabric, cutting).cut_off
        if scheduler is None or not hosts:
            yield
            return
        self.entry.steps.write(StepKind.HOLD, StepState.BEGINS, hosts, wave=wave.number)
        errors: list[RailfabError] = []
        try:
            with released(scheduler, hosts, deploy, errors.append):
                busy = self._busy(scheduler, hosts, deploy)
                if busy and not self.settings.accept_cut:
                    jobs = ", ".join(f"{host}: {what}" for host, what in sorted(busy.items()))
                    raise GateStop(f"{scheduler.name} has jobs on hosts that wave {wave.number} cuts off ({jobs})")
                yield
        finally:
            for error in errors:
                self.observer.says(f"{error} Its hosts are still held.")
            if not errors:
                self.entry.steps.write(StepKind.RELEASE, StepState.DONE, hosts, wave=wave.number)

    def _busy(self, scheduler: Scheduler, hosts: Sequence[str], deploy: str) -> Mapping[str, str]:
        """What still runs on hosts at the end of the wait. Raises GateStop where the scheduler does not answer."""
        try:
            return idle(
                scheduler,
                hosts,
                deploy,
                within_s=self.settings.jobs_within_s,
                stop_requested=self.stop_requested,
                on_wait=lambda busy: self.observer.says(f"waiting for jobs on {folded_all(busy)}"),
                on_left_alone=lambda taken: self.observer.says(f"held by others, and left so: {folded_all(taken)}"),
            )
        except RailfabError as error:
            raise GateStop(str(error)) from error

    @contextmanager
    def _drained(self, wave: Wave, draining: Sequence[str]) -> Iterator[None]:
        """Take the traffic off switches, and give it back. Raises GateStop where it stays; then nothing is changed."""
        if not draining:
            yield
            return
        try:
            self._drain(wave, draining)
            yield
        except GateStop:
            self._revert(wave.switches)
            raise
        finally:
            self._undrain(draining, wave.number)

    def _drain(self, wave: Wave, draining: Sequence[str]) -> None:
        def keep(name: str, _text: str) -> None:
            self.entry.keep(name, self.former[name])
            self.entry.steps.write(StepKind.DRAIN, StepState.BEGINS, [name], wave=wave.number)

        if len(self.plan.waves) > 1:
            self.observer.says(f"draining {folded_all(draining)}")
        self.kept.close(draining)
        drained = operate_all(
            self._nornir(draining), Verb.DRAIN, _ignore, keep=keep, stop_requested=self.stop_requested
        )
        if failed := [outcome for outcome in drained if outcome.failed]:
            lines = alike_as_one((outcome.name, str(outcome.error)) for outcome in failed)
            raise GateStop(f"cannot drain {'; '.join(lines)}")
        if left := self._flowing(draining):
            flows = ", ".join(f"{name} {gbps:.3g} Gb/s" for name, gbps in sorted(left.items()))
            raise GateStop(f"traffic stays on drained switches: {flows}")

    def _flowing(self, drained: Sequence[str]) -> Mapping[str, float]:
        """What still flows through drained switches at the end of the wait. Raises GateStop where it cannot be read.

        The traffic of hosts that a switch cuts off stays: the scheduler knows of them, or the operator accepts it.
        """
        emptied = [name for name in drained if not self.plan.changes[name].cut_off]
        if self.settings.until_idle is None:
            self.stop_requested.wait(SETTLE_S)
        if self.settings.until_idle is None or not emptied:
            return {}
        try:
            return self.settings.until_idle(emptied)
        except RailfabError as error:
            raise GateStop(f"the traffic of drained switches cannot be read: {_one_line(error)}") from error

    def _undrain(self, names: Sequence[str], wave: int = 0) -> None:
        """Give switches their traffic back; one that does not take it has failed, and `--resume` tries it again."""
        back = operate_all(self._nornir(names), Verb.UNDRAIN, _ignore, again=True)
        done = [outcome.name for outcome in back if not outcome.failed]
        self.entry.steps.write(StepKind.UNDRAIN, StepState.DONE, done, wave=wave)
        for line in alike_as_one((outcome.name, str(outcome.error)) for outcome in back if outcome.failed):
            self.observer.says(f"{line} Still drained: railfab undrain ends that.")
        self.still_drained = {outcome.name for outcome in back if outcome.failed}
        for outcome in back:
            if (before := self.outcomes.get(outcome.name)) is not None:
                self.outcomes[outcome.name] = _undrained(before, outcome)

    def _change(self, wave: Wave) -> None:
        """Configure the switches of a wave, each in a thread."""
        log = self.entry.steps

        def keep(name: str, text: str) -> None:
            self.entry.keep(name, text)
            log.write(StepKind.CHANGE, StepState.BEGINS, [name], wave=wave.number)

        with self.observer.changing(wave) as on_result:

            def on_outcome(outcome: Outcome) -> None:
                self.outcomes[outcome.name] = outcome = replace(outcome, wave=wave.number)
                state = StepState.FAILED if outcome.failed else StepState.DONE
                log.write(StepKind.CHANGE, state, [outcome.name], wave=wave.number)
                on_result(outcome)

            outcomes = apply_all(
                self._nornir(name for name in wave.switches if name in self.approved),
                self.texts,
                self.entry.change,
                on_outcome,
                approved=self.approved,
                former=self.former,
                keep=keep,
                kept=self.kept,
                stays_open=bool(self.settings.gates),
                stop_requested=self.stop_requested,
                abandoned=self.stop_requested,
            )
        for outcome in outcomes:
            self.outcomes.setdefault(outcome.name, replace(outcome, wave=wave.number))

    def _to_revert(self, wave: Wave) -> Sequence[str]:
        if not self.settings.reverts_all:
            return wave.switches
        return [name for each in self.plan.waves if each.number <= wave.number for name in each.switches]

    def _revert(self, names: Sequence[str]) -> None:
        """Return switches that were changed to what they ran before."""
        changed = [name for name in names if name in self.former and self._is_changed(name)]
        if not changed:
            return
        change = self.entry.rename_change()
        for number in sorted({self.plan.wave_of(name) for name in changed}):
            of_wave = [name for name in changed if self.plan.wave_of(name) == number]
            self.entry.steps.write(StepKind.REVERT, StepState.BEGINS, of_wave, wave=number)
        self.observer.says(f"reverting {folded_all(changed)}")
        for outcome in apply_all(self._nornir(changed), self.former, change, _ignore, is_own=self.is_own):
            former = self.outcomes.get(outcome.name, outcome)
            reverted = replace(outcome, diff=former.diff, reverted=not outcome.failed, changed=False)
            self.outcomes[outcome.name] = reverted
            state = StepState.FAILED if outcome.failed else StepState.DONE
            self.entry.steps.write(StepKind.REVERT, state, [outcome.name], wave=self.plan.wave_of(outcome.name))

    def _is_changed(self, name: str) -> bool:
        outcome = self.outcomes.get(name)
        if outcome is None:
            return self.plan.wave_of(name) in self.entry.past.waves_done()
        return outcome.changed or outcome.unsettled

    def _nornir(self, names: Iterable[str]) -> Nornir:
        chosen = set(names)
        nodes = tuple(node for node in self.endpoints.nodes if node.name in chosen)
        return nornir_of(self.fabric, replace(self.endpoints, nodes=nodes), self.stop_requested)


def _ignore(_outcome: Outcome) -> None: ...


def _undrained(before: Outcome, undrain: Outcome) -> Outcome:
    """The outcome of a switch after the end of its drain."""
    if not undrain.failed:
        return replace(before, drained=False)
    return replace(before, failed=True, unsettled=True, error=before.error or undrain.error, drained=True)


def _one_line(error: RailfabError) -> str:
    """The errors inside an error."""
    return "; ".join(alike_as_one((single.where, str(single)) for single in each(error)))


def _gates(failures: Iterable[GateFailure]) -> str:
    return f"the gate {listed(list(dict.fromkeys(failure.gate for failure in failures)))}"
