"""Deploys that are killed or meet another one, over the CLI or the gNMI of each platform, as an operator lives them.

A deploy is stopped after a step of its session: when the switch has made it, and before the answer is sent.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from getpass import getuser
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.integration.switches.racks import LEAF, OVER_SSH, SYSTEMS, WITHIN_S, left_behind, name, opened, rendered
from tests.integration.switches.steps import watched
from tests.integration.switches.twin_rollouts import SAVES_BY_ITSELF
from tests.sampled import sampled

from railfab.device import DeviceModel
from railfab.endpoints import Endpoint
from railfab.errors import CommitRefused, DeviceError, RailfabError
from railfab.platforms import Pending
from railfab.platforms.cumulus import switch_changes as nvue_changes
from railfab.platforms.cumulus.revisions import NvueRevisions
from railfab.platforms.session import Verb
from railfab.platforms.shared.change_tokens import change_token
from railfab.platforms.sonic import switch_changes as sonic_changes
from railfab.platforms.sonic.switch_changes import CONFIRMED
from railfab.twin import SwitchOperation, Twin

TIMEOUT_S = 150
AT_ONCE = ("--waves", "off")
"""Options of a deploy that is about its session with the switch, and not about the fabric."""
FOUND = re.compile(rf"{LEAF}: (reverted the unconfirmed change of deploy \S+|removes \S+.* of an interrupted deploy.*)")
"""A line of the standard error of a deploy that finds what another one left."""
COMMIT = re.compile(r"commit timer |commit-timeout |commit confirmed |--confirm \d+s|apply-patch .*/change/|Set COMMIT")
OWNER = f"{getuser()}@{socket.gethostname()}"

on_each = pytest.mark.parametrize("system", SYSTEMS, indirect=True)
Texts = tuple[str, str]
"""What a switch runs, and what it boots."""


@dataclass
class Moment:
    """The moment at which a deploy is stopped, by the steps that it has made."""

    is_now: Callable[[list[str]], bool]
    steps: list[str] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def on_step(self, step: str) -> None:
        self.steps.append(step)
        if not self.reached.is_set() and self.is_now(self.steps):
            self.reached.set()
            assert self.over.wait(TIMEOUT_S)


def committed(steps: list[str]) -> bool:
    return COMMIT.search(steps[-1]) is not None


def after(number: int) -> Callable[[list[str]], bool]:
    return lambda steps: len(steps) == number


def saved_before_its_end(session: Any, system: str) -> None:
    """Do of a confirmation what comes before the files of the change are removed, as a client that dies then has."""
    match system:
        case "nxos":
            session._said("confirm")
            session._act("save")
        case "cumulus":
            session._run(nvue_changes.confirming_script(session._commands))
        case "sonic":
            token = change_token(name("first"))
            script = sonic_changes.confirming_script(token, session._commands, waits=True)
            session._run(script.partition(f" && {sonic_changes.ending_script(CONFIRMED, token)}")[0])


@pytest.mark.parametrize("system", ["nxos", "cumulus", "sonic"], indirect=True)
def test_a_change_that_was_saved_and_not_ended_is_reverted_for_the_next_boot_too(
    twin: Twin, leaf: Endpoint, model: DeviceModel, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cumulus Linux without auto-save, with which a revert is saved as each change is."""
    switch = twin._switches[LEAF]
    monkeypatch.setattr(NvueRevisions, "auto_save", False)
    with opened(leaf) as session:
        session.operate(Verb.SAVE)
        before = switch.running(), switch.startup()
        session.commit(session.stage(rendered(model)), name("first"), WITHIN_S)
        saved_before_its_end(session, system)
    assert switch.startup() == switch.running() != before[0]
    with opened(leaf) as session:
        session.revert(name("first"))
        assert session.running().pending is None
    assert (switch.running(), switch.startup()) == before
    assert left_behind(leaf) == ""


@pytest.mark.parametrize("system", [name for name in OVER_SSH if name not in SAVES_BY_ITSELF], indirect=True)
def test_a_switch_that_cannot_save_says_so(twin: Twin, leaf: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RailfabError(LEAF, "no space left on device", "Remove files")

    monkeypatch.setattr(twin._switches[LEAF], "save", refuse)
    with opened(leaf) as session, pytest.raises(DeviceError, match="no space left on device"):
        session.operate(Verb.SAVE)


@dataclass(frozen=True)
class Site:
    """A fabric of which one switch is deployed to, with two intents, by two operators with a state folder each."""

    twin: Twin
    intents: tuple[Path, Path]
    states: tuple[Path, Path]

    @property
    def leaf(self) -> Endpoint:
        return self.twin.endpoints.by_name()[LEAF]

    def begin(self, intent: int, *, operator: int = 0) -> commands.Command:
        """Deploy to the switch in a process of its own."""
        on, state = self.states[0] / "rack.twin.json", self.states[operator]
        words = ("deploy", self.intents[intent], "--on", on, "--state", state, "--limit", LEAF, "--yes")
        return commands.Command(*words, *AT_ONCE)

    def deploy(self, intent: int) -> Texts:
        """Deploy undisturbed."""
        done = self.begin(intent).wait(TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        return self.present()

    def present(self) -> Texts:
        switch = self.twin._switches[LEAF]
        return switch.running(), switch.startup()

    def pending(self) -> Pending | None:
        with opened(self.leaf) as session:
            return session.running().pending

    @contextmanager
    def stopped(
        self, intent: int, is_now: Callable[[list[str]], bool]
    ) -> Iterator[tuple[commands.Command, str | None]]:
        """A deploy that has been stopped, and its last step, None where it has ended; it continues afterwards."""
        moment = Moment(is_now)
        with watched(self.twin, LEAF, moment.on_step):
            process = self.begin(intent)
            ended = threading.Thread(target=process.join)
            ended.start()
            while not moment.reached.wait(0.02) and ended.is_alive():
                pass
            try:
                yield process, f"{len(moment.steps)}: {moment.steps[-1]}" if moment.reached.is_set() else None
            finally:
                moment.over.set()
                ended.join()


@pytest.fixture(scope="module")
def site(twin: Twin, rack: Path, state: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("site")
    changed = folder / "changed.yml"
    changed.write_text(
        f"{rack.read_text()}profile: {{lossless: {{ecn: {{400: {{kmin_bytes: 400000, kmax_bytes: 1600000}}}}}}}}\n"
    )
    return Site(twin, (rack, changed), (state, folder / "state"))


@pytest.fixture(scope="module")
def wanted(site: Site) -> tuple[Texts, Texts]:
    """The texts of the switch with each of the intents."""
    return site.deploy(0), site.deploy(1)


def finish(site: Site, wanted: tuple[Texts, Texts], intent: int, step: str | None) -> None:
    """Deploy after a deploy that was killed. What is pending is named; what the switch runs and boots is as wanted."""
    was_pending = site.pending() is not None
    again = site.begin(intent).wait(TIMEOUT_S)
    lines = again.stderr.splitlines()
    assert again.returncode == 0, (step, lines)
    assert all(map(FOUND.fullmatch, lines)), (step, lines)
    assert any("reverted" in line for line in lines) == was_pending, (step, lines)
    assert site.present() == wanted[intent], step
    assert left_behind(site.leaf) == "", step


@pytest.mark.parametrize("system", sampled(SYSTEMS, few=["srlinux", "sonic"]), indirect=True)
def test_a_second_deploy_is_refused_while_the_first_is_pending_and_finds_it_when_that_is_killed(
    site: Site, wanted: tuple[Texts, Texts]
) -> None:
    with site.stopped(0, committed) as (first, step):
        assert step is not None
        same = site.begin(0).wait(TIMEOUT_S)
        assert (same.returncode, len(same.stderr.splitlines())) == (2, 1)
        assert re.match(rf"railfab: rack: is being changed by {re.escape(OWNER)} \(process \d+, deploy", same.stderr)
        foreign = site.begin(1, operator=1).wait(TIMEOUT_S)
        assert (foreign.returncode, len(foreign.stderr.splitlines())) == (2, 1)
        problem = rf"railfab: {LEAF}: has an unconfirmed change of {re.escape(OWNER)} \(deploy \S+\)"
        timer = r"(, which the switch reverts in \d+ s)?"
        assert re.match(rf"{problem}{timer}\. Wait until it ends, or run railfab deploy where", foreign.stderr)
        first.kill()
    finish(site, wanted, 0, step)


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["eos", "cumulus"]), indirect=True)
def test_a_switch_that_reboots_under_the_timer_runs_what_it_ran_before_and_the_deploy_says_so(
    site: Site, wanted: tuple[Texts, Texts]
) -> None:
    present = wanted.index(site.present())
    with site.stopped(present ^ 1, committed) as (process, step):
        assert step is not None
        site.twin.operate(LEAF, SwitchOperation.OFF)
        site.twin.operate(LEAF, SwitchOperation.ON)
    failed = process.wait(TIMEOUT_S)
    assert failed.returncode == 2, failed.stderr
    (line,) = failed.stderr.splitlines()
    assert line.startswith(f"railfab: {LEAF}: does not answer "), line
    assert site.present() == wanted[present]
    finish(site, wanted, present ^ 1, step)


@pytest.mark.matrix
@pytest.mark.timeout(900)
@on_each
def test_after_a_kill_at_any_step_the_next_deploy_names_and_reverts_what_it_finds(
    site: Site, wanted: tuple[Texts, Texts]
) -> None:
    for number in count(1):
        intent = wanted.index(site.present()) ^ 1
        with site.stopped(intent, after(number)) as (process, step):
            if step is None:
                break
            process.kill()
        finish(site, wanted, intent, step)
    assert number > 2


@pytest.mark.matrix
@pytest.mark.timeout(900)
@on_each
def test_of_two_deploys_at_once_the_switch_takes_one_as_a_whole_at_any_step(
    site: Site, wanted: tuple[Texts, Texts]
) -> None:
    """Both change the switch, from state folders that do not know each other."""
    for number in count(1):
        intent = wanted.index(site.present()) ^ 1
        with site.stopped(intent, after(number)) as (process, step):
            if step is None:
                break
            foreign = site.begin(intent, operator=1).wait(TIMEOUT_S)
        ended = process.wait(TIMEOUT_S)
        assert 0 in (ended.returncode, foreign.returncode), (step, ended.stderr, foreign.stderr)
        for each in (ended, foreign):
            assert each.returncode == 0 or len(each.stderr.splitlines()) == 1, (step, each.stderr)
        assert site.present() == wanted[intent], step
        assert left_behind(site.leaf) == "", step
    assert number > 2


@on_each
def test_of_two_candidates_that_were_compared_the_switch_takes_the_first(leaf: Endpoint, model: DeviceModel) -> None:
    with opened(leaf) as first, opened(leaf) as second:
        staged = [
            session.stage(rendered(model, description=which))
            for session, which in ((first, "first"), (second, "second"))
        ]
        first.commit(staged[0], name("first"), WITHIN_S)
        with pytest.raises(CommitRefused, match=r"has an unconfirmed change|has changed since"):
            second.commit(staged[1], name("second"), WITHIN_S)
        first.confirm(name("first"))
        assert "first" in first.running().text
        assert "second" not in first.running().text
    assert left_behind(leaf) == ""
