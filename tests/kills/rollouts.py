"""Roll-outs that something happens to at a step of their journal, and what `--resume` or `--abort` makes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from tests import commands
from tests.kills.meeting import Meeting
from tests.kills.tally import Case, keep, recorded

from railfab.deploy import DeployRecord, Journal
from railfab.platforms import platform

PROGRAM = Path(__file__).with_name("disturbed_at_step.py")
TIMEOUT_S = 600
"""Until a command must be taken to hang."""
GIVE_UP_S = 8.0
"""Time after which the operator kills a deploy that waits for switches which do not answer [s]."""
MOMENTS = ("before", "after", "timer")
"""Before and after a step is written, and while a change of a switch waits for its confirmation."""
ENDINGS = ("--resume", "--abort")
BASE = "base"
"""The intent that each change is made to."""
DONE = {"--resume": {"changed", "no change"}, "--abort": {"reverted", "no change"}}
"""Results of switches in the journal after each ending."""
NOTHING_LEFT = "has nothing to continue or to abort"

Texts = Mapping[str, tuple[str, str]]
"""What each switch runs, and what it boots."""
Happening = Callable[[int], None]
"""Does something to a fabric at a step, or ends it."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happens at a step. begins: nothing, where the deploy is killed. ends: when the deploy has ended.

    gives_up: whether the operator kills a deploy that does not end by itself.
    """

    name: str
    begins: Happening | None = None
    ends: Happening = lambda _step: None
    gives_up: bool = False


KILL = Event("kill")


@dataclass
class RolloutSite(ABC):
    """Switches of one platform which are deployed to with an intent, and with changed ones.

    A change is deployed from wherever the switches are: where they run it already, it is taken back. texts: of what
    runs and boots with each intent.
    """

    system: str
    fabric: str
    endpoints: Path
    state: Path
    intents: Mapping[str, Path]
    texts: dict[str, Texts] = field(default_factory=dict)

    @abstractmethod
    def present(self) -> Texts: ...

    @abstractmethod
    def pending(self, changed: Collection[str]) -> Iterator[str]:
        """What waits on a switch: a timer that runs, a drain, what a deploy has left on those that it changed."""
        ...

    def journal(self) -> Journal:
        return Journal(self.state, self.fabric)

    def deploys(self) -> dict[str, DeployRecord]:
        """The deploys of the journal that have begun to change a switch, by ID."""
        return {record.deploy: record for record in self.journal().deploys()}

    def command(self, intent: str, *arguments: str, **variables: str) -> commands.Command:
        words = ("deploy", self.intents[intent], *self.place(), "--yes", *arguments)
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **variables}
        return commands.Command(*words, environment=environment, program=PROGRAM)

    def run(self, intent: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.command(intent, *arguments).wait(TIMEOUT_S)

    def deploy(self, intent: str) -> Texts:
        """Deploy undisturbed."""
        done = self.run(intent, "--accept", "cut")
        assert done.returncode == 0, done.stderr
        return self.present()

    def learn(self, change: str) -> None:
        """Know the texts before and after a change, and have one of them on the switches."""
        for intent in (BASE, change):
            if intent not in self.texts:
                self.texts[intent] = self.deploy(intent)
        if all(any(self.differences(intent)) for intent in (BASE, change)):
            self.deploy(BASE)

    def recover(self) -> None:
        """Have the intent on the switches, whatever a case has left there."""
        self.run(BASE, "--abort")
        names = self.texts[BASE]
        commands.run("undrain", self.intents[BASE], *names, *self.place(), timeout_s=TIMEOUT_S)
        self.deploy(BASE)

    def place(self) -> tuple[str | Path, ...]:
        return "--on", self.endpoints, "--state", self.state

    def differences(self, intent: str) -> Iterator[str]:
        """Lines in which a switch runs or boots something else than an intent; an empty container is none."""
        system = platform(self.system)
        for name, present in self.present().items():
            for kind, text, wanted in zip(("runs", "boots"), present, self.texts[intent][name], strict=True):
                if text != wanted:
                    lines = [*system.differences(text, wanted), *system.differences(wanted, text)]
                    yield from (f"{name} {kind} {line}" for line in lines[:1])

    def deployed(self, change: str) -> str:
        """Which of a change and the intent before it all switches run and boot."""
        for intent in (BASE, change):
            if not any(self.differences(intent)):
                return intent
        raise AssertionError(list(self.differences(change)))


@dataclass(frozen=True, slots=True)
class Trial:
    """A deploy of a change that something happens to, and its ending."""

    site: RolloutSite
    change: str
    event: Event
    step: int
    moment: str
    ending: str

    def run(self) -> Case | None:
        """The case; None where the deploy has not that many steps."""
        began = time.time()
        origin = self.site.deployed(self.change)
        target = self.change if origin == BASE else BASE
        earlier = self.site.deploys()
        code, stderr, reached = self._disturbed(target)
        if not reached:
            assert code == 0, stderr
            return None
        ending, wanted, problem = "none", target, ""
        if code != 0:
            ending = self.ending
            wanted, problem = self._ended(origin, target)
        problem = problem or next(self._problems(wanted, earlier), "")
        result = "failed" if problem else "new" if wanted == target else "old"
        return keep(self._case(ending, result, f"{problem} (deployed: {target})" if problem else "", began))

    def _case(self, ending: str, result: str, problem: str, began: float) -> Case:
        return Case(
            platform=self.site.system,
            change=self.change,
            event=self.event.name,
            step=self.step,
            moment=self.moment,
            ending=ending,
            result=result,
            problem=problem,
            began=began,
            took_s=round(time.time() - began, 2),
        )

    def _disturbed(self, target: str) -> tuple[int, str, bool]:
        """Deploy until the event and beyond: exit code, standard error, and whether the step was reached."""
        deploy = partial(self.site.command, target, "--accept", "cut", RAILFAB_TEST_STEP=f"{self.step}:{self.moment}")
        if self.event.begins is None:
            done = deploy().wait(TIMEOUT_S)
            return done.returncode, done.stderr, done.returncode == -signal.SIGKILL
        with Meeting(partial(self.event.begins, self.step)) as meeting:
            process = deploy(RAILFAB_TEST_MEETS=meeting.address)
            try:
                if self.event.gives_up:
                    _give_up(process, meeting)
                done = process.wait(TIMEOUT_S)
            finally:
                if meeting.reached.is_set():
                    self.event.ends(self.step)
        return done.returncode, done.stderr, meeting.reached.is_set()

    def _ended(self, origin: str, target: str) -> tuple[str, str]:
        """End the deploy: the intent that the switches should have then, and what went wrong."""
        ended = self.site.run(target, self.ending)
        if ended.returncode == 2 and NOTHING_LEFT in ended.stderr:  # it ended before it began to change a switch
            return origin, ""
        wanted = target if self.ending == "--resume" else origin
        if ended.returncode != 0:
            return wanted, f"{self.ending} ends with {ended.returncode}: {ended.stderr.strip()}"
        results = [*self.site.deploys().values()][-1].results
        unexpected = {name: result for name, result in results.items() if result not in DONE[self.ending]}
        return wanted, f"the journal says {unexpected}" if unexpected else ""

    def _problems(self, wanted: str, earlier: Collection[str]) -> Iterator[str]:
        """What is not as it should be with an intent on each switch and no deploy under way but earlier ones."""
        deploys = self.site.deploys()
        if any(deploy.is_unfinished for deploy in deploys.values()):
            yield "the journal says that the deploy is unfinished"
        yield from self.site.differences(wanted)
        changed = {name for deploy in deploys.keys() - earlier for name in deploys[deploy].switches}
        yield from self.site.pending(changed)


def _give_up(process: commands.Command, meeting: Meeting) -> None:
    """Wait for the end of a deploy, and kill it some time after its step."""
    ended = threading.Thread(target=process.join)
    ended.start()
    while ended.is_alive():
        ended.join(0.5)
        if meeting.age_s > GIVE_UP_S:
            process.kill()


def sweep(site: RolloutSite, change: str, event: Event) -> None:
    """Let an event happen at each step, but where that is recorded. Raises AssertionError that names what failed.

    A deploy is killed at each moment, with either ending; another event happens after a step and under a timer, with
    the endings in turn.
    """
    site.learn(change)
    moments = MOMENTS if event is KILL else MOMENTS[1:]
    done = [case for moment in moments for case in _at_each_step(site, change, event, moment)]
    assert not (failed := [case for case in done if case.problem]), failed


def _at_each_step(site: RolloutSite, change: str, event: Event, moment: str) -> Iterator[Case]:
    """Let an event happen at each step at one moment, until a deploy has no further step."""
    known = recorded(site.system, change, event.name, moment)
    for step in count(1):
        for ending in ENDINGS if event is KILL else (ENDINGS[step % 2],):
            if {(step, ending), (step, "none")} & known:
                continue
            case = Trial(site, change, event, step, moment, ending).run()
            if case is None:
                assert step > len(site.texts[change])
                return
            if case.problem:
                site.recover()
            yield case
