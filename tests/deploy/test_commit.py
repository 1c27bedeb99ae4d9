"""The order of a change on one switch, whatever its platform: stage, keep, commit, confirm; or revert."""

from __future__ import annotations

import difflib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import pytest
from nornir.core import Nornir
from nornir.core.configuration import Config
from nornir.core.inventory import Defaults, Groups, Host, Hosts, Inventory
from nornir.core.processor import Processors
from nornir.core.state import GlobalState
from nornir.core.task import MultiResult, Result, Task

from railfab.deploy import drain, tasks
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.runner import StoppableRunner
from railfab.device import Observed
from railfab.errors import CommitRefused, DeviceError, NotRolledBack, RailfabError, Unreachable
from railfab.platforms import ChangeName, Identity, Pending, Running, Staged, Verb

BEFORE, AFTER = "hostname leaf1\nmtu 1500\n", "hostname leaf1\nmtu 9000\n"
CHANGE = ChangeName(deploy="20261122T093012Z-4f2a", user="kim", host="control1")
OTHER = ChangeName(deploy="20261122T080000Z-0001", user="ada", host="control2")


@dataclass
class Switch:
    """A switch in memory that any number of sessions reach. lose: calls in which the connection breaks, by name.

    steps: calls that change a session or the switch. every_step: the others too.
    errors: what calls answer, by name. drained: by a verb. reports: whether it says so.
    """

    running: str = BEFORE
    former: str | None = None
    pending: Pending | None = None
    steps: list[str] = field(default_factory=list)
    every_step: list[str] = field(default_factory=list)
    lose: list[str] = field(default_factory=list)
    refuse: str = ""
    errors: dict[str, RailfabError] = field(default_factory=dict)
    drained: bool = False
    reports: bool = True

    def call(self, name: str) -> None:
        self.steps.append(name)
        self.passed(name)

    def passed(self, name: str) -> None:
        self.every_step.append(name)
        if name in self.errors:
            raise self.errors[name]
        if name in self.lose:
            self.lose.remove(name)
            raise Unreachable("leaf1", "lost the connection", "Check the switch")


@dataclass
class MemorySession:
    """A session of the switch in memory."""

    switch: Switch

    def __enter__(self) -> Self:
        self.switch.call("open")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.switch.passed("close")

    def running(self) -> Running:
        self.switch.passed("running")
        text = self.switch.running
        return Running(
            text=text,
            revision=str(hash(text)),
            identity=Identity(hostname="leaf1"),
            pending=self.switch.pending,
            drained=self.switch.drained and self.switch.reports,
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:
        self.switch.call("stage")
        running = self.switch.running
        diff = "\n".join(difflib.unified_diff(running.splitlines(), text.splitlines(), lineterm=""))
        return Staged(text=text, diff=diff, former=running, revision=str(hash(running)))

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        if self.switch.refuse:
            raise CommitRefused("leaf1", self.switch.refuse, "Correct it")
        self.switch.former, self.switch.running = self.switch.running, staged.text
        self.switch.pending = Pending(change=change, description="", reverts_in_s=within_s)
        self.switch.call("commit")

    def confirm(self, change: ChangeName) -> None:
        self.switch.call("confirm")
        self.switch.pending = None

    def revert(self, change: ChangeName) -> None:
        self.switch.call("revert")
        if self.switch.pending and self.switch.pending.change == change:
            assert self.switch.former is not None
            self.switch.running, self.switch.pending = self.switch.former, None

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        self.switch.passed("observe")
        return Observed(interfaces=(), sessions=())

    def operate(self, verb: Verb) -> None:
        self.switch.drained = verb is Verb.DRAIN
        self.switch.call(str(verb))


@pytest.fixture
def switch(monkeypatch: pytest.MonkeyPatch) -> Switch:
    found = Switch()
    for module in (tasks, drain):
        monkeypatch.setattr(module, "open_session", lambda _task: MemorySession(found))
    monkeypatch.setattr(tasks, "RECONNECT_EVERY_S", 0.01)
    return found


def task_of(function: Callable[[Task], Result]) -> Task:
    """A Nornir task of leaf1."""
    nornir = Nornir(
        inventory=Inventory(hosts=Hosts({"leaf1": Host(name="leaf1")}), groups=Groups(), defaults=Defaults()),
        runner=StoppableRunner(1),
        config=Config(),
        data=GlobalState(),
    )
    task = Task(task=function, nornir=nornir, global_dry_run=False, processors=Processors())
    task.host = nornir.inventory.hosts["leaf1"]
    return task


HOST = task_of(lambda task: Result(host=task.host))


def configure(**arguments: object) -> Result:
    return tasks.configure(HOST, {"leaf1": AFTER}, CHANGE, **arguments)  # type: ignore[arg-type]


def test_a_change_is_kept_committed_and_confirmed_in_one_session(switch: Switch) -> None:
    kept: dict[str, str] = {}
    assert configure(keep=kept.__setitem__).changed
    assert switch.steps == ["open", "stage", "commit", "confirm"]
    assert (switch.running, switch.pending, kept) == (AFTER, None, {"leaf1": BEFORE})


def test_a_switch_that_runs_the_text_is_not_touched(switch: Switch) -> None:
    switch.running = AFTER
    assert not configure().changed
    assert switch.steps == ["open", "stage"]


def test_a_refused_change_is_neither_confirmed_nor_reverted_by_us(switch: Switch) -> None:
    switch.refuse = "rejects mtu 9000"
    with pytest.raises(CommitRefused, match="rejects mtu 9000"):
        configure()
    assert (switch.running, switch.pending) == (BEFORE, None)
    assert "confirm" not in switch.steps


def test_a_switch_that_is_lost_in_the_commit_is_reverted_in_a_new_session(switch: Switch) -> None:
    switch.lose = ["commit", "revert"]
    with pytest.raises(Unreachable, match="lost the connection"):
        configure()
    assert switch.steps[-4:] == ["open", "revert", "open", "revert"]
    assert (switch.running, switch.pending) == (BEFORE, None)


def test_a_switch_that_is_lost_in_the_confirmation_is_confirmed_in_a_new_session(switch: Switch) -> None:
    switch.lose = ["confirm"]
    assert configure().changed
    assert switch.steps[-2:] == ["open", "confirm"]
    assert (switch.running, switch.pending) == (AFTER, None)


@pytest.mark.parametrize("kind", [CommitRefused, DeviceError])
@pytest.mark.parametrize("lost", [False, True])
def test_a_change_whose_confirmation_is_refused_is_reverted_at_once(
    switch: Switch, kind: type[DeviceError], lost: bool
) -> None:
    switch.errors = {"confirm": kind("leaf1", "cannot save its configuration", "Check the free space")}
    switch.lose = ["revert"] if lost else []
    with pytest.raises(kind, match="cannot save its configuration"):
        configure()
    assert switch.steps[-2:] == ["open", "revert"]
    assert (switch.running, switch.pending) == (BEFORE, None)


@pytest.mark.parametrize("step", ["commit", "confirm"])
@pytest.mark.parametrize("kind", [CommitRefused, DeviceError])
def test_a_change_that_is_neither_confirmed_nor_reverted_is_never_called_unchanged(
    switch: Switch, step: str, kind: type[DeviceError]
) -> None:
    switch.errors = {
        step: DeviceError("leaf1", "has no space", "Check the free space"),
        "revert": kind("leaf1", "is being changed by another session", "Try again in a minute"),
    }
    with pytest.raises(NotRolledBack) as failed:
        configure()
    assert switch.running == AFTER
    assert str(failed.value) == (
        "leaf1: has no space, and then is being changed by another session; unless the change was confirmed, "
        "the switch reverts it within 120 s. Deploy again: it finds what is pending."
    )


@pytest.mark.parametrize("step", ["commit", "confirm"])
def test_a_switch_that_stays_away_is_unsettled_and_reverts_by_itself(switch: Switch, step: str) -> None:
    abandoned = threading.Event()
    abandoned.set()
    switch.lose = [step, "revert", "confirm"]
    with pytest.raises(NotRolledBack) as lost:
        configure(abandoned=abandoned)
    assert str(lost.value) == (
        "leaf1: lost the connection, and then lost the connection; unless the change was confirmed, "
        "the switch reverts it within 120 s. Deploy again: it finds what is pending."
    )


@pytest.mark.parametrize(
    ("pending", "text"),
    [
        (
            Pending(change=OTHER, description="", reverts_in_s=61.2),
            "leaf1: has an unconfirmed change of ada@control2 (deploy 20261122T080000Z-0001), which the switch reverts "
            "in 61 s. Wait until it ends, or run railfab deploy where it was begun.",
        ),
        (
            Pending(change=None, description="commit confirmed by admin", reverts_in_s=None),
            "leaf1: has an unconfirmed change that railfab did not make (commit confirmed by admin). "
            "Confirm or revert it on the switch, then run this again.",
        ),
    ],
)
def test_a_pending_change_of_somebody_else_stops_preview_and_change(
    switch: Switch, pending: Pending, text: str
) -> None:
    switch.pending = pending
    for act in (configure, lambda: tasks.preview(HOST, {"leaf1": AFTER}, lambda change: change == CHANGE)):
        with pytest.raises(DeviceError) as refused:
            act()
        assert str(refused.value) == text
    assert "commit" not in switch.steps
    assert "revert" not in switch.steps


def test_a_change_that_an_interrupted_run_left_is_reverted_and_named_before_the_comparison(switch: Switch) -> None:
    switch.former, switch.running = BEFORE, "hostname leaf1\nmtu 4000\n"
    switch.pending = Pending(change=OTHER, description="", reverts_in_s=100)
    found = tasks.preview(HOST, {"leaf1": AFTER}, lambda change: change == OTHER)
    assert found.reverted == OTHER  # type: ignore[attr-defined]
    assert "-mtu 1500" in found.diff
    assert switch.running == BEFORE


def test_a_preview_without_permission_to_revert_changes_nothing(switch: Switch) -> None:
    switch.pending = Pending(change=CHANGE, description="", reverts_in_s=100)
    with pytest.raises(DeviceError, match="has an unconfirmed change of kim@control1"):
        tasks.preview(HOST, {"leaf1": AFTER})
    assert switch.pending is not None


def test_other_differences_than_the_reviewed_ones_are_not_applied(switch: Switch) -> None:
    with pytest.raises(DeviceError, match="has changed since its differences were shown"):
        configure(approved={"leaf1": "-mtu 1400"})
    assert switch.running == BEFORE


def test_the_session_of_the_preview_makes_the_change(switch: Switch) -> None:
    with KeptSessions(CHANGE) as kept:
        assert tasks.preview(HOST, {"leaf1": AFTER}, kept=kept).changed
        assert switch.every_step == ["open", "running", "stage"]
        assert configure(kept=kept).changed
    assert switch.every_step == ["open", "running", "stage", "running", "commit", "confirm", "close"]
    assert switch.running == AFTER


def test_a_kept_session_that_was_lost_is_opened_anew(switch: Switch) -> None:
    with KeptSessions(CHANGE) as kept:
        tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
        switch.lose = ["running"]
        assert configure(kept=kept).changed
    again = ["running", "close", "open", "running", "stage", "commit", "confirm", "close"]
    assert switch.every_step == ["open", "running", "stage", *again]


def test_a_switch_that_has_changed_since_the_preview_is_not_changed(switch: Switch) -> None:
    with KeptSessions(CHANGE) as kept:
        tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
        switch.running = "hostname leaf1\nmtu 4000\n"
        with pytest.raises(DeviceError, match="has changed since its differences were shown"):
            configure(kept=kept)
    assert "commit" not in switch.every_step
    assert switch.every_step[-1] == "close"


def test_sessions_are_kept_up_to_a_number_for_switches_that_would_change_and_closed_at_the_end(
    switch: Switch,
) -> None:
    with KeptSessions(CHANGE, most=0) as kept:
        tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
        assert switch.every_step[-1] == "close"
    with KeptSessions(CHANGE) as kept:
        tasks.preview(HOST, {"leaf1": BEFORE}, kept=kept)
        assert switch.every_step[-1] == "close"
        tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
        assert switch.every_step[-1] == "stage"
    assert switch.every_step[-1] == "close"
    tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
    assert switch.every_step[-2:] == ["stage", "close"]


def test_the_gates_read_the_switch_in_the_session_of_the_preview_and_of_the_change(switch: Switch) -> None:
    with KeptSessions(CHANGE) as kept:
        tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
        tasks.observe_kept(HOST, kept)
        assert configure(kept=kept, stays_open=True).changed
        tasks.observe_kept(HOST, kept)
        assert switch.every_step == [
            *("open", "running", "stage", "observe", "running", "commit", "confirm", "observe")
        ]
        kept.close(["leaf1"])
        assert switch.every_step[-1] == "close"


def test_a_session_of_a_gate_that_was_lost_is_opened_anew_and_the_candidate_staged_again(switch: Switch) -> None:
    with KeptSessions(CHANGE) as kept:
        tasks.preview(HOST, {"leaf1": AFTER}, kept=kept)
        switch.lose = ["observe"]
        tasks.observe_kept(HOST, kept)
        assert configure(kept=kept).changed
    again = ["close", "open", "observe", "running", "stage", "commit", "confirm", "close"]
    assert switch.every_step == ["open", "running", "stage", "observe", *again]
    assert switch.running == AFTER


def test_a_change_in_the_session_of_a_gate_reverts_what_an_interrupted_run_left(switch: Switch) -> None:
    with KeptSessions(CHANGE) as kept:
        tasks.observe_kept(HOST, kept)
        switch.former, switch.running = BEFORE, "hostname leaf1\nmtu 4000\n"
        switch.pending = Pending(change=OTHER, description="", reverts_in_s=100)
        assert configure(kept=kept, is_own=lambda change: change == OTHER).changed
    assert switch.steps == ["open", "revert", "stage", "commit", "confirm"]
    assert (switch.running, switch.pending) == (AFTER, None)


class BrokenProcessor:
    """Raises what it is not expected to, once a switch is done."""

    def task_instance_started(self, task: Task, host: Host) -> None: ...

    def task_instance_completed(self, task: Task, host: Host, results: MultiResult) -> None:
        raise ValueError("a defect")


def test_a_defect_of_a_processor_ends_the_run_and_is_its_result() -> None:
    task = task_of(lambda task: Result(host=task.host))
    task.processors = Processors([BrokenProcessor()])
    results = StoppableRunner(1).run(task, [HOST.host])["leaf1"]
    assert str(results[0].exception) == "a defect"


def run(task: Callable[[Task], Result], stop_requested: threading.Event) -> tuple[MultiResult, float]:
    began_s = time.monotonic()
    found = StoppableRunner(2, stop_requested).run(task_of(task), [HOST.host])
    return found["leaf1"], time.monotonic() - began_s


def test_a_frozen_switch_is_given_up_four_seconds_after_a_stop_request() -> None:
    stop_requested, frozen = threading.Event(), threading.Event()
    stop_requested.set()

    def wait(task: Task) -> Result:
        frozen.wait(60)
        return Result(host=task.host)

    results, took_s = run(wait, stop_requested)
    frozen.set()
    assert took_s < 5
    assert isinstance(results[0].exception, RailfabError)
    assert str(results[0].exception).startswith("leaf1: did not answer before the run was stopped;")


def test_a_switch_that_answers_after_a_stop_request_keeps_its_result() -> None:
    stop_requested = threading.Event()

    def slow(task: Task) -> Result:
        stop_requested.set()
        time.sleep(0.5)
        return Result(host=task.host, result="done")

    assert run(slow, stop_requested)[0][0].result == "done"


def test_a_drain_is_read_back_and_done_once(switch: Switch) -> None:
    kept: dict[str, str] = {}
    for changed in (True, False):
        assert drain.operate(HOST, Verb.DRAIN, keep=kept.__setitem__).changed is changed
    assert switch.steps == ["open", "drain", "open"]
    assert kept == {"leaf1": BEFORE}


def test_a_drain_that_the_switch_does_not_report_is_never_called_done(switch: Switch) -> None:
    """A later deploy would end it."""
    switch.reports = False
    with pytest.raises(NotRolledBack) as failed:
        drain.operate(HOST, Verb.DRAIN)
    assert str(failed.value) == (
        "leaf1: accepted the drain, and does not report it, so that a deploy would not keep it. "
        "Check its running configuration."
    )


def test_a_switch_that_is_lost_in_a_drain_may_be_drained(switch: Switch) -> None:
    switch.lose = ["drain"]
    with pytest.raises(NotRolledBack, match="lost the connection, and may or may not have done the drain"):
        drain.operate(HOST, Verb.DRAIN)


def test_a_stop_and_a_pending_change_leave_the_switch_alone(switch: Switch) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(DeviceError, match="skipped: a stop was requested"):
        drain.operate(HOST, Verb.DRAIN, stop_requested=stop)
    switch.pending = Pending(change=OTHER, description="", reverts_in_s=9.0)
    with pytest.raises(DeviceError, match="has an unconfirmed change of ada@control2"):
        drain.operate(HOST, Verb.DRAIN)
    assert "drain" not in switch.steps
