"""Upgrades of switches, one failure domain at a time: install, drain, reload, verify, undrain.

An image is installed before the drain: a switch runs on as it is until its reload, and one that refuses the image is
left with its traffic. What a drain changes is saved, so that the switch comes back drained, and stays so until its
version, configuration and sessions have been verified.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nornir.core import Nornir

from railfab.deploy.drain import operate
from railfab.deploy.gates import Source, wait_until_idle
from railfab.deploy.journal import DeployRecord
from railfab.deploy.peer_checks import PeerChecks
from railfab.deploy.run import OnDone, Outcome, nornir_of, outcomes_of, readings_of
from railfab.deploy.tasks import Keep, read_running
from railfab.deploy.upgrade_tasks import BACK_WITHIN_S, end_drain, install, reload
from railfab.endpoints import Endpoints
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.platforms import Image, Verb

VERIFIED_WITHIN_S, MOVED_WITHIN_S, SETTLE_S = 180.0, 120.0, 10.0
"""Times for sessions to come up after a reload, and for traffic to move after a drain: the limit where the telemetry
tells when it has, and the time that it is given where none does [s]."""
VERB = "upgrade"

OnStep = Callable[[Sequence[str], str], None]
"""Called with switches, and what begins on them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """What became of one switch. before, after: versions that it reported, empty where it was not read.

    domain: number of its failure domain, from 1. result: `upgraded`, `undrained` (it ran the image, and was still
    drained by an upgrade before), `installed` (another of its domain refused the image; it boots the image next), `no
    change`, `failed` or `not begun`. changed: whether it runs, or boots next, something else than before.
    drained: by a verb, when the run ended. error: one line, when failed.
    """

    name: str
    domain: int
    before: str = ""
    after: str = ""
    result: str = "not begun"
    changed: bool = False
    drained: bool = False
    error: str | None = None

    @property
    def failed(self) -> bool:
        return self.result == "failed"

    @property
    def journalled(self) -> str:
        """The result in the words of the journal."""
        if self.failed:
            return "unsettled" if self.changed else "failed"
        return "changed" if self.changed else "no change"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeLimits:
    """Times that an upgrade gives [s]. back: for a reload. verified: for sessions to come up. moved, settle: for
    traffic to move after a drain, with telemetry and without. with_traffic: whether a switch reloads that still has
    traffic then."""

    back_s: float = BACK_WITHIN_S
    verified_s: float = VERIFIED_WITHIN_S
    moved_s: float = MOVED_WITHIN_S
    settle_s: float = SETTLE_S
    with_traffic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeRun:
    """An upgrade of switches of a fabric. endpoints: of these and of their neighbours, as far as they have any.

    resumed: switches that an upgrade before this one has drained. keep: stores what a switch runs before it is changed.
    telemetry: by which it is known that traffic has moved; None where it is not known.
    stop_requested: when set, no further switch is begun, and one that reloads is not waited for.
    """

    fabric: Design
    endpoints: Endpoints
    image: Image
    keep: Keep
    resumed: Collection[str] = ()
    limits: UpgradeLimits = field(default_factory=UpgradeLimits)
    telemetry: Source | None = None
    on_step: OnStep = lambda _names, _step: None
    stop_requested: threading.Event = field(default_factory=threading.Event)

    def upgrade(self, domains: Sequence[Sequence[str]], on_done: OnDone = lambda _name: None) -> list[Upgraded]:
        """Upgrade the domains in this order; after one with a failed switch, no other is begun.

        on_done: called with each switch when it is done.
        """
        results: list[Upgraded] = []
        for number, names in enumerate(domains, start=1):
            domain = UpgradeDomain(self, {name: Upgraded(name=name, domain=number) for name in names})
            if not self.stop_requested.is_set() and not any(result.failed for result in results):
                domain.upgrade()
            results += domain.states.values()
            for name in names:
                on_done(name)
        return results

    def nornir(self, names: Collection[str]) -> Nornir:
        nodes = tuple(node for node in self.endpoints.nodes if node.name in names)
        return nornir_of(self.fabric, replace(self.endpoints, nodes=nodes), self.stop_requested)


@dataclass(slots=True)
class UpgradeDomain:
    """The switches of one failure domain, which are upgraded at the same time. held: drained by others, and left so."""

    run: UpgradeRun
    states: dict[str, Upgraded]
    held: set[str] = field(default_factory=set)
    upgrading: list[str] = field(default_factory=list)
    ending: list[str] = field(default_factory=list)

    def upgrade(self) -> None:
        """Take each switch as far as it gets; one that refuses the image stops all before their drain."""
        self._read()
        if self._failed() or not (self.upgrading or self.ending):
            return
        checks = PeerChecks(self.run.fabric, self.run.endpoints, (*self.upgrading, *self.ending))
        checks.read_baseline()
        self._do("installing", install, image=self.run.image)
        if self._failed():
            for name in self.upgrading:
                self._set(name, result="installed")
            return
        self._do("draining", operate, verb=Verb.DRAIN, keep=self.run.keep, stop_requested=self.run.stop_requested)
        self._settle()
        limits = self.run.limits
        self._do(
            "reloading",
            reload,
            image=self.run.image,
            within_s=limits.back_s,
            stop_requested=self.run.stop_requested,
        )
        self._verify(checks, limits.verified_s)
        self._end_drains()

    def _failed(self) -> bool:
        return any(state.failed for state in self.states.values())

    def _read(self) -> None:
        """Read the versions: which switches are to be upgraded, and which have only a drain left to end."""
        self.run.on_step(tuple(self.states), "reading")
        read = readings_of(self.run.nornir(self.states), read_running)
        for name, error in read.unread.items():
            self._set(name, result="failed", error=str(error))
        for name, running in read.answers.items():
            version, is_ours = running.identity.version, name in self.run.resumed
            self._set(name, before=version, drained=running.drained)
            if running.drained and not is_ours:
                self.held.add(name)
            if not self.run.image.is_of(version):
                self.upgrading.append(name)
            elif running.drained and is_ours:
                self.ending.append(name)
            else:
                self._set(name, after=version, result="no change")

    def _do(self, step: str, task: Callable[..., Any], **arguments: Any) -> None:
        """Run a task on the switches that are to be upgraded; those that fail are not taken further."""
        if not self.upgrading:
            return
        self.run.on_step(tuple(self.upgrading), step)
        for outcome in outcomes_of(self.run.nornir(self.upgrading), task, lambda _outcome: None, **arguments):
            self._take(outcome)
        self.upgrading = [name for name in self.upgrading if not self.states[name].failed]

    def _take(self, outcome: Outcome) -> None:
        state = self.states[outcome.name]
        if outcome.failed:
            changed = state.changed or outcome.unsettled
            self._set(outcome.name, result="failed", error=outcome.error, changed=changed)
        else:
            self._set(outcome.name, changed=state.changed or outcome.changed, drained=outcome.drained)

    def _settle(self) -> None:
        """Wait until the traffic has moved; where no telemetry tells, give it time. Traffic that stays is a failure."""
        if not self.upgrading:
            return
        self.run.on_step(tuple(self.upgrading), "waiting for its traffic to move")
        limits, stop_requested = self.run.limits, self.run.stop_requested
        if self.run.telemetry is None:
            stop_requested.wait(limits.settle_s)
            return
        for name, why in self._staying(self.run.telemetry).items():
            self._set(name, result="failed", error=why)
        self.upgrading = [name for name in self.upgrading if not self.states[name].failed]

    def _staying(self, telemetry: Source) -> Mapping[str, str]:
        """One line for each switch whose traffic has not moved, or of which it cannot be read."""
        limits, names = self.run.limits, tuple(self.upgrading)
        try:
            flows = wait_until_idle(telemetry, names, within_s=limits.moved_s, stop_requested=self.run.stop_requested)
        except RailfabError as error:
            return dict.fromkeys(names, str(error))
        if limits.with_traffic:
            return {}
        remedy = "End the jobs that use it, or add --with-traffic to reload it all the same"
        return {name: f"{name}: is drained, and still carries {flows[name]:.3g} Gb/s. {remedy}." for name in flows}

    def _verify(self, checks: PeerChecks, within_s: float) -> None:
        """Verify the switches that are back; those with what was not wrong before the upgrade have failed."""
        names = (*self.upgrading, *self.ending)
        if not names:
            return
        self.run.on_step(names, "verifying")
        wrong = checks.failures(names, within_s, self.run.stop_requested)
        read = readings_of(self.run.nornir(names), read_running)
        for name in names:
            if name in read.answers:
                self._set(name, after=read.answers[name].identity.version)
            if name in wrong:
                self._set(name, result="failed", error=wrong[name], changed=True)

    def _end_drains(self) -> None:
        """End the drains of the switches that are as they should be, except those that others have drained."""
        good = [name for name in (*self.upgrading, *self.ending) if not self.states[name].failed]
        ending = [name for name in good if name not in self.held]
        if ending:
            self.run.on_step(tuple(ending), "undraining")
            for outcome in outcomes_of(self.run.nornir(ending), end_drain, lambda _outcome: None):
                self._take(outcome)
        for name in good:
            if not self.states[name].failed:
                self._set(name, result="upgraded" if name in self.upgrading else "undrained", changed=True)

    def _set(self, name: str, **changes: Any) -> None:
        self.states[name] = replace(self.states[name], **changes)


def drained_by_upgrades(records: Sequence[DeployRecord]) -> frozenset[str]:
    """Switches whose drain is that of an upgrade, or of a replacement, that did not end it.

    records: of the journal, oldest first; each has the switches that it began to change.
    """
    last: dict[str, DeployRecord] = {}
    for record in records:
        last |= dict.fromkeys(record.switches, record)
    return frozenset(
        name
        for name, record in last.items()
        if record.verb == VERB and (not record.finished or record.results.get(name) != "changed")
    )
