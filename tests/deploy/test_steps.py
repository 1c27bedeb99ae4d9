"""The steps of a deploy on the disk: nothing that was written is lost, and what is damaged is named."""

from __future__ import annotations

import resource
import signal
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.deploy import Journal
from railfab.deploy.steps import DeployStep, StepKind, StepLog, StepState, read_steps
from railfab.errors import RailfabError
from railfab.platforms import ChangeName

BEGINS, DONE = StepState.BEGINS, StepState.DONE


def written(path: Path) -> None:
    """Two waves, of which the first is done; a switch of the second is drained."""
    log = StepLog(path)
    log.write(StepKind.WAVE, BEGINS, wave=1)
    log.write(StepKind.CHANGE, BEGINS, ["leaf1"], wave=1)
    log.write(StepKind.CHANGE, DONE, ["leaf1"], wave=1)
    log.write(StepKind.WAVE, DONE, wave=1)
    log.write(StepKind.WAVE, BEGINS, wave=2)
    log.write(StepKind.DRAIN, BEGINS, ["spine1", "spine2"], wave=2)
    log.write(StepKind.UNDRAIN, DONE, ["spine2"], wave=2, note="a note of é")
    log.close()


def test_what_is_written_is_read_in_its_order(tmp_path: Path) -> None:
    written(tmp_path / "steps")
    steps = read_steps(tmp_path / "steps")
    assert [(step.kind, step.state, step.switch, step.wave) for step in steps.every][-2:] == [
        (StepKind.DRAIN, BEGINS, "spine2", 2),
        (StepKind.UNDRAIN, DONE, "spine2", 2),
    ]
    assert (steps.every[-1].note, steps.damaged) == ("a note of é", ())
    assert set(steps.waves_done()) == {1}
    assert steps.drained() == {"spine1"}
    assert read_steps(tmp_path / "none").every == ()


def test_a_wave_that_is_reverted_is_not_done(tmp_path: Path) -> None:
    written(tmp_path / "steps")
    log = StepLog(tmp_path / "steps")
    log.write(StepKind.REVERT, BEGINS, ["leaf1"], wave=1)
    assert read_steps(tmp_path / "steps").waves_done() == {}


@given(cut=st.integers(0, 1200))
def test_a_file_that_was_cut_off_anywhere_has_the_whole_lines_before_it(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "steps"
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    steps = read_steps(path)
    lines = whole[:cut].count(b"\n")
    assert len(steps.every) in (lines, lines + 1)
    assert len(steps.damaged) <= 1
    StepLog(path).write(StepKind.WAVE, DONE, wave=9)
    again = read_steps(path)
    assert again.every[:-1] == steps.every
    assert again.every[-1].wave == 9


@given(at=st.integers(0, 899), byte=st.integers(1, 255))
def test_a_byte_that_has_changed_damages_its_line_alone(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    path = tmp_path_factory.mktemp("byte") / "steps"
    written(path)
    intact = read_steps(path).every
    damaged = bytearray(path.read_bytes())
    damaged[at] ^= byte
    path.write_bytes(bytes(damaged))
    steps = read_steps(path)
    assert set(steps.every) < set(intact)
    assert len(steps.every) >= len(intact) - 2
    assert steps.damaged


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    log = StepLog(tmp_path / "steps")
    threads = [
        Thread(target=lambda name=f"leaf{n}": [log.write(StepKind.CHANGE, BEGINS, [name]) for _ in range(20)])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps = read_steps(tmp_path / "steps")
    assert (len(steps.every), steps.damaged) == (160, ())


def _write_until_full(path: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
    log = StepLog(path)
    try:
        for _ in range(10):
            log.write(StepKind.WAVE, BEGINS, wave=1)
    except RailfabError as error:
        path.with_name("said").write_text(str(error)[:390])


def test_a_change_that_did_not_end_well_may_be_unsaved(tmp_path: Path) -> None:
    log = StepLog(tmp_path / "steps")
    log.write(StepKind.CHANGE, BEGINS, ["leaf1", "leaf2", "leaf3"], wave=1)
    log.write(StepKind.CHANGE, DONE, ["leaf1"], wave=1)
    log.write(StepKind.CHANGE, StepState.FAILED, ["leaf2"], wave=1)
    assert read_steps(tmp_path / "steps").unconfirmed() == {"leaf2", "leaf3"}
    log.write(StepKind.CHANGE, DONE, ["leaf2"], wave=1)
    assert read_steps(tmp_path / "steps").unconfirmed() == {"leaf3"}


def test_a_full_disk_stops_the_deploy_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = get_context("fork").Process(target=_write_until_full, args=(tmp_path / "steps",))
    process.start()
    process.join(30)
    said = (tmp_path / "said").read_text()
    assert said.startswith(f"{tmp_path / 'steps'}: cannot be written (")
    assert said.endswith("Free space there, then continue with railfab deploy --resume or --abort.")
    assert len(read_steps(tmp_path / "steps").every) >= 2


def test_an_interrupted_deploy_is_opened_again_with_its_plan_its_steps_and_another_name(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "pod64")
    with journal.open("deploy") as entry:
        entry.plan('{"waves": [1, 2]}', {"leaf1": "new"})
        entry.keep("leaf1", "old")
        entry.steps.write(StepKind.WAVE, DONE, wave=1)
    (record,) = journal.deploys()
    assert (record.waves, record.waves_done, record.is_unfinished) == (2, 1, True)
    with journal.reopen() as again:
        assert set(again.past.waves_done()) == {1}
        name = again.rename_change()
        assert name == ChangeName(deploy=f"{record.deploy}-2", user=record.user, host=record.host)
        assert journal.is_own(name)
        again.keep("leaf1", "what runs in between")
        assert journal.planned(again.record) == ('{"waves": [1, 2]}', {"leaf1": "new"})
        assert journal.former(again.record) == {"leaf1": "old"}
        again.finish({"leaf1": "changed"})
    assert not journal.deploys()[0].is_unfinished
    with (
        pytest.raises(RailfabError, match=r"has nothing to continue or to abort\. Begin a new deploy\."),
        journal.reopen(),
    ):
        pass
    assert not journal.is_own(ChangeName(deploy=f"{record.deploy}-2x", user=record.user, host=record.host))


def test_a_stopped_deploy_is_continued_and_a_running_one_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "pod64")
    with journal.open("deploy") as entry:
        entry.plan('{"waves": [1]}', {"leaf1": "new"})
        entry.keep("leaf1", "old")
        assert not journal.deploys()[0].is_unfinished
        entry.finish({"leaf1": "reverted"}, "wave 1 fails the gate state")
    assert journal.deploys()[0].stopped == "wave 1 fails the gate state"
    with journal.reopen() as again:
        assert again.record.deploy == entry.record.deploy


def test_the_steps_are_private(tmp_path: Path) -> None:
    written(tmp_path / "steps")
    assert (tmp_path / "steps").stat().st_mode & 0o777 == 0o600


def test_a_step_of_another_release_is_damaged_and_not_misread(tmp_path: Path) -> None:
    written(tmp_path / "steps")
    log = StepLog(tmp_path / "steps")
    log._opened()
    (tmp_path / "steps").write_bytes(b'00000000 {"kind": "wave", "state": "done", "wave": 7}\n')
    steps = read_steps(tmp_path / "steps")
    assert (steps.every, steps.damaged) == ((), (1,))
    assert DeployStep(StepKind.WAVE, DONE) != DeployStep(StepKind.WAVE, BEGINS)
