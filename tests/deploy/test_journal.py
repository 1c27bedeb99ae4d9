"""The journal of deploys, and the lock of a fabric."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import pytest
from typer.testing import CliRunner

from railfab.cli import app
from railfab.deploy import Journal
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.platforms import ChangeName

ROOT = Path(__file__).parents[2]
POD64 = ROOT / "inventory" / "fabrics" / "pod64.yml"


def deployed(journal: Journal, before: Mapping[str, str], verb: str = "deploy") -> str:
    """Record a deploy that replaced these texts; its ID."""
    with journal.open(verb) as entry:
        for name, text in before.items():
            entry.keep(name, text)
        entry.finish(dict.fromkeys(before, "changed"))
    return entry.change.deploy


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal whose deploys have known IDs, of a known user and host."""
    count = iter(range(1000))

    def change() -> ChangeName:
        return ChangeName(deploy=f"20261122T09{next(count):04d}Z-0000", user="kim", host="control1")

    monkeypatch.setattr("railfab.deploy.journal.new_change", change)
    return Journal(tmp_path, "pod64")


def test_before_a_deploy_each_switch_ran_what_the_first_later_deploy_replaced(journal: Journal) -> None:
    first = deployed(journal, {"leaf1": "a1", "leaf2": "a2"})
    second = deployed(journal, {"leaf1": "b1"})
    third = deployed(journal, {"leaf1": "c1", "leaf3": "c3"})
    assert journal.texts_before(third) == {"leaf1": "c1", "leaf3": "c3"}
    assert journal.texts_before(second) == {"leaf1": "b1", "leaf3": "c3"}
    assert journal.texts_before(first) == {"leaf1": "a1", "leaf2": "a2", "leaf3": "c3"}


def test_a_deploy_of_some_switches_keeps_the_texts_of_the_others(journal: Journal) -> None:
    first = deployed(journal, {"leaf1": "a1", "leaf2": "a2"})
    deployed(journal, {"leaf1": "b1"})
    assert journal.texts_before(first)["leaf2"] == "a2"


def test_a_rollback_is_listed_and_is_not_the_last_deploy(journal: Journal) -> None:
    first = deployed(journal, {"leaf1": "a1"})
    undone = deployed(journal, {"leaf1": "b1"}, verb="rollback")
    assert [(record.deploy, record.verb) for record in journal.deploys()] == [(first, "deploy"), (undone, "rollback")]
    assert journal.last().deploy == first
    assert journal.texts_before(undone) == {"leaf1": "b1"}


def test_a_deploy_that_changes_nothing_leaves_no_record(journal: Journal) -> None:
    deployed(journal, {})
    assert journal.deploys() == ()
    with pytest.raises(RailfabError) as refused:
        journal.last()
    assert str(refused.value) == (
        f"{journal.folder}: has no deploy that changed a switch. Name the state folder of the deploy with --state; "
        "a deploy that changes no switch leaves nothing to undo."
    )


def test_where_only_rollbacks_changed_a_switch_they_are_named(journal: Journal) -> None:
    undone = deployed(journal, {"leaf1": "b1"}, verb="rollback")
    with pytest.raises(
        RailfabError, match=rf"has no deploy that .* a switch\. Name one of these with --to: {undone}\.$"
    ):
        journal.last()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The clock of the host that deploys: the time in the list."""
    now = [datetime(2026, 11, 22, 9, 30, tzinfo=UTC)]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(now[0].timestamp(), UTC)

    monkeypatch.setattr("railfab.deploy.journal.datetime", Clock)
    return now


def test_deploys_are_ordered_by_their_number_and_not_by_the_clock(tmp_path: Path, clock: list[datetime]) -> None:
    """A clock that is ten years ahead for one deploy neither makes it the last one nor keeps it longer."""
    journal = Journal(tmp_path, "pod64")
    today = clock[0]
    clock[0] = today + timedelta(days=3650)
    ahead = deployed(journal, {"leaf1": "a1"})
    clock[0] = today
    last = deployed(journal, {"leaf1": "b1"})
    assert [(record.number, record.deploy) for record in journal.deploys()] == [(1, ahead), (2, last)]
    assert journal.last().deploy == last
    assert journal.texts_before(ahead) == {"leaf1": "a1"}
    later = journal.later_by_clock(journal.last())
    assert later is not None
    assert (later.deploy, later.began, later.ended) == (ahead, "2036-11-19T09:30:00+00:00", "2036-11-19T09:30:00+00:00")
    newer = [deployed(journal, {"leaf1": str(at)}) for at in range(20)]
    assert [record.deploy for record in journal.deploys()] == newer
    assert journal.later_by_clock(journal.last()) is None


def test_deploys_of_releases_without_numbers_are_the_oldest(journal: Journal) -> None:
    deploy = deployed(journal, {"leaf1": "b1"})
    (numbered,) = journal.folder.iterdir()
    numbered.rename(journal.folder / deploy)
    last = deployed(journal, {"leaf1": "c1"})
    assert [(record.number, record.deploy) for record in journal.deploys()] == [(0, deploy), (1, last)]
    assert journal.texts_before(deploy) == {"leaf1": "b1"}
    assert journal.is_own(journal.deploys()[0].change)


def test_an_interrupted_deploy_is_listed_as_such_and_can_be_undone(journal: Journal) -> None:
    with suppress(KeyboardInterrupt), journal.open("deploy") as entry:
        entry.keep("leaf1", "a1")
        raise KeyboardInterrupt
    record = journal.last()
    assert (record.finished, record.switches) == (False, ("leaf1",))
    assert journal.texts_before(record.deploy) == {"leaf1": "a1"}
    assert journal.is_own(record.change)


def test_a_change_of_another_owner_is_not_own(journal: Journal) -> None:
    deploy = deployed(journal, {"leaf1": "a1"})
    assert journal.is_own(ChangeName(deploy=deploy, user="kim", host="control1"))
    assert not journal.is_own(ChangeName(deploy=deploy, user="kim", host="control2"))
    assert not journal.is_own(ChangeName(deploy="20260101T000000Z-ffff", user="kim", host="control1"))


def test_an_unknown_deploy_is_refused_with_the_known_ones(journal: Journal) -> None:
    with pytest.raises(RailfabError, match=r"^deploy 'x': is not in .*pod64\.deploys\. Name the state folder of the"):
        journal.texts_before("x")
    deploys = [deployed(journal, {"leaf1": "a"}), deployed(journal, {"leaf1": "b"})]
    with pytest.raises(RailfabError, match=re.escape(f"these with --to: {deploys[1]}, {deploys[0]}.")):
        journal.texts_before("x")


def test_an_empty_deploy_to_undo_is_refused_and_not_taken_for_the_last(tmp_path: Path) -> None:
    """As of `--to "$ID"` where the variable is not set."""
    deployed(Journal(tmp_path, "pod64"), {"pod1-spine1": "a"})
    with pytest.raises(RailfabError, match=r"^deploy '': is not in .*pod64\.deploys\. Name one of these with --to: "):
        CliRunner().invoke(app, ["rollback", str(POD64), "--to", "", "--state", str(tmp_path)], catch_exceptions=False)


def test_the_playbook_refuses_an_empty_deploy_to_undo_too(tmp_path: Path) -> None:
    deployed(Journal(tmp_path / STATE_DIR, "pod64"), {"pod1-spine1": "a"})
    command = [sys.executable, str(ROOT / "playbooks" / "rollback.py"), str(POD64), "--to", "", "--plan"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("rollback.py: deploy '': is not in ")


def test_twenty_deploys_are_kept_with_files_for_their_owner_alone(journal: Journal) -> None:
    deploys = [deployed(journal, {"leaf1": str(at)}) for at in range(25)]
    assert [record.deploy for record in journal.deploys()] == deploys[-20:]
    files = [path for path in journal.folder.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_switches_that_are_changed_at_the_same_time_are_all_kept(journal: Journal) -> None:
    names = [f"leaf{number}" for number in range(64)]
    for _ in range(20):
        with journal.open("deploy") as entry, ThreadPoolExecutor(16) as pool:
            list(pool.map(entry.keep, names, names))
        assert set(journal.last().switches) == set(names)


def test_a_deploy_that_every_switch_refused_is_not_the_one_to_undo(journal: Journal) -> None:
    changed = deployed(journal, {"leaf1": "a1"})
    with journal.open("deploy") as entry:
        entry.keep("leaf1", "b1")
        entry.finish({"leaf1": "failed", "leaf2": "no change"})
    assert journal.last().deploy == changed
    assert len(journal.deploys()) == 2


def test_what_a_process_left_that_was_killed_while_it_wrote_is_no_deploy_and_no_switch(journal: Journal) -> None:
    deploy = deployed(journal, {"leaf1": "a1"})
    (journal.folder / f"000001-{deploy}" / "before" / "leaf2.part").write_text("a")
    killed = journal.folder / "20261122T091000Z-0000"
    killed.mkdir()
    (killed / "deploy.json.part").write_text("{")
    assert [record.switches for record in journal.deploys()] == [("leaf1",)]
    assert journal.texts_before(deploy) == {"leaf1": "a1"}
    deployed(journal, {"leaf1": "b1"})
    assert not killed.exists()


def test_a_damaged_record_is_named_and_the_configurations_beside_it_are_used(journal: Journal) -> None:
    deploy, later = deployed(journal, {"leaf1": "a"}), deployed(journal, {"leaf2": "b"})
    path = journal.folder / f"000001-{deploy}" / "deploy.json"
    path.write_text("{")
    damaged, whole = journal.deploys()
    (line,) = damaged.damaged
    assert line.startswith(f"{path}: is not a record of a deploy (")
    assert (damaged.deploy, damaged.switches, damaged.finished) == (deploy, ("leaf1",), False)
    assert (whole.deploy, whole.damaged) == (later, ())
    assert journal.texts_before(deploy) == {"leaf1": "a", "leaf2": "b"}
    assert not journal.is_own(ChangeName(deploy=deploy, user="kim", host="control1"))


def test_a_state_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RailfabError, match=r"cannot be written .*\. Name another folder with --state\."):
        deployed(Journal(tmp_path / "file", "pod64"), {})


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / "pod64.deploy.lock").symlink_to("/dev/full")
    with pytest.raises(RailfabError, match=r"pod64\.deploy\.lock: cannot be written \(.*\)\. Name another folder"):
        deployed(Journal(tmp_path, "pod64"), {})


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root; run the tests with sudo")
def test_what_sudo_wrote_can_be_continued_by_the_user_who_called_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_GID", "65534")
    deployed(Journal(tmp_path / "state", "pod64"), {"leaf1": "a1"})
    assert {path.stat().st_uid for path in (tmp_path / "state").rglob("*")} == {65534}


def hold(state: Path, opened: multiprocessing.synchronize.Event) -> None:
    """Hold the lock of pod64 until the process is killed."""
    with Journal(state, "pod64").open("deploy") as entry:
        entry.keep("leaf1", "a1")
        opened.set()
        signal.pause()


def test_a_second_deploy_is_refused_with_who_holds_the_lock_until_that_process_ends(tmp_path: Path) -> None:
    spawned = multiprocessing.get_context("spawn")
    opened = spawned.Event()
    holder = spawned.Process(target=hold, args=(tmp_path, opened))
    holder.start()
    try:
        assert opened.wait(60)
        with pytest.raises(RailfabError) as refused:
            deployed(Journal(tmp_path, "pod64"), {})
        assert re.fullmatch(
            rf"pod64: is being changed by \S+@\S+ \(process {holder.pid}, deploy \d{{8}}T\d{{6}}\.\d{{3}}Z-\w{{4}}\) "
            r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\. Wait until it ends\.",
            str(refused.value),
        )
        deployed(Journal(tmp_path, "another"), {})
    finally:
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        holder.join()
    deployed(Journal(tmp_path, "pod64"), {"leaf2": "b"})
    assert [record.finished for record in Journal(tmp_path, "pod64").deploys()] == [False, True]


def test_a_deploy_is_listed_as_running_until_its_process_ends(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "pod64")
    spawned = multiprocessing.get_context("spawn")
    opened = spawned.Event()
    holder = spawned.Process(target=hold, args=(tmp_path, opened))
    holder.start()
    try:
        assert opened.wait(60)
        assert [(record.running, record.finished) for record in journal.deploys()] == [(True, False)]
        (tmp_path / "pod64.deploy.lock").unlink()  # not asked: a deploy that begins meanwhile must get it at once
        assert [(record.running, record.finished) for record in journal.deploys()] == [(True, False)]
    finally:
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        holder.join()
    assert [(record.running, record.finished) for record in journal.deploys()] == [(False, False)]
    deployed(journal, {"leaf1": "b1"})
    assert [(record.running, record.finished) for record in journal.deploys()] == [(False, False), (False, True)]
