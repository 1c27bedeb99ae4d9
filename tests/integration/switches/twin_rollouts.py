"""A rack of a twin as a site of the kill matrix: how it looks inside, and what can happen to its switches."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tests.integration.switches.racks import LISTING, opened
from tests.kills.disks import full
from tests.kills.rollouts import KILL, Event, RolloutSite, Texts

from railfab.errors import RailfabError
from railfab.ssh import CliUser
from railfab.twin import SwitchOperation, Twin

SAVES_BY_ITSELF = ("srlinux", "junos")
"""Platforms on which a change that runs is also what boots: where the disk is full, no change is taken."""


@dataclass
class RackSite(RolloutSite):
    twin: Twin = None  # type: ignore[assignment] # the fields of the base have defaults

    def present(self) -> Texts:
        return {name: (switch.running(), switch.startup()) for name, switch in self.twin._switches.items()}

    def pending(self, changed: Collection[str]) -> Iterator[str]:
        """Asks the switches themselves, and one of them by a session, another with each deploy."""
        for name, switch in self.twin._switches.items():
            if jobs := [*switch.timers._jobs]:
                yield f"{name} has the timers {jobs}"
            if switch._commits._active is not None:
                yield f"{name} has an unconfirmed commit"
            if name in changed and (left := self.left_on(name)):
                yield f"{name} has {left}"
        nodes = self.twin.endpoints.nodes
        endpoint = nodes[len(self.journal().deploys()) % len(nodes)]
        with opened(endpoint) as session:
            running = session.running()
        if running.pending is not None or running.drained:
            yield f"{endpoint.name} says pending: {running.pending}, drained: {running.drained}"

    def left_on(self, name: str) -> str:
        """What deploys have left on a switch, as its CLI lists it; see `racks.left_behind`."""
        switch = self.twin._switches[name]
        if self.system not in LISTING or switch.new_cli is None:
            return ""
        cli = switch.new_cli(CliUser(name="admin"))
        cli.greeting()
        shown = [cli.answer(line).output for line in LISTING[self.system][1]]
        cli.closed()
        return " ".join(word for text in shown for word in text.split() if word != "ended")


@dataclass(frozen=True)
class RackEvents:
    """What can happen to the switches of a rack and to the disk of its client."""

    site: RackSite

    def every(self) -> dict[str, Event]:
        operate = self._operate
        up, down = SwitchOperation.START, SwitchOperation.STOP
        return {
            event.name: event
            for event in (
                KILL,
                Event("connection cut", lambda _: operate(down, up)),
                Event("connection lost", lambda _: operate(down), lambda _: operate(up), gives_up=True),
                Event("commit refused", self._refuse_once, self._take),
                Event("switch hangs", self._hang, self._resume, gives_up=True),
                Event("reboot", lambda _: operate(SwitchOperation.OFF, SwitchOperation.ON)),
                full("the client", self.site.state),
                Event("disk of a switch full", self._fill_switch, self._take),
            )
        }

    def _operate(self, *operations: SwitchOperation) -> None:
        for name in self.site.twin._switches:
            for operation in operations:
                self.site.twin.operate(name, operation)

    def _victim(self, step: int) -> str:
        """Another switch at each step."""
        names = [*self.site.twin._switches]
        return names[step % len(names)]

    def _hang(self, step: int) -> None:
        self.site.twin.operate(self._victim(step), SwitchOperation.HANG)

    def _resume(self, step: int) -> None:
        self.site.twin.operate(self._victim(step), SwitchOperation.RESUME)

    def _refuse_once(self, step: int) -> None:
        """The next change of a switch is refused, those after it are not."""
        name = self._victim(step)
        switch = self.site.twin._switches[name]

        def refuse(_candidate: object) -> None:
            self._take(step)
            raise RailfabError(name, "has no entries left in its TCAM", "Remove rules")

        switch._change_to = refuse  # type: ignore[method-assign, assignment]

    def _fill_switch(self, step: int) -> None:
        name = self._victim(step)
        switch = self.site.twin._switches[name]

        def refuse(*_: object) -> None:
            raise RailfabError(name, "no space left on device", "Remove files")

        attribute = "_change_to" if self.site.system in SAVES_BY_ITSELF else "save"
        setattr(switch, attribute, refuse)

    def _take(self, step: int) -> None:
        """A switch takes and saves changes again."""
        for attribute in ("_change_to", "save"):
            self.site.twin._switches[self._victim(step)].__dict__.pop(attribute, None)
