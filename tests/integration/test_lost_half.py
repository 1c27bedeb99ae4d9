"""Half of a fabric out of reach before a roll-out and in the middle of it, and a wave that is declined by its user."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.integration.day_two import Railfab, half_unreachable, runner
from tests.integration.test_deploy_on_twin import read_until
from tests.integration.test_waves_on_twin import DUAL_HOMED, THRESHOLDS
from tests.twin.small_fabric import LEAF, OTHER_SPINE, SPINE
from tests.twin.twins import configurations

from railfab.deploy import Journal
from railfab.fabric import design
from railfab.twin import Twin

SECOND = ("pod1-seg1-leaf2", OTHER_SPINE)
"""The second of four waves."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lost")
    (folder / "intent.yml").write_text(DUAL_HOMED)
    (folder / "new.yml").write_text(THRESHOLDS)
    return folder


@pytest.fixture(scope="module")
def twin(folder: Path) -> Iterator[Twin]:
    with Twin(design(folder / "intent.yml"), state=folder, base_port=0, configured=True) as started:
        yield started


@pytest.fixture
def railfab(twin: Twin, folder: Path) -> Iterator[Railfab]:
    """Runs a command on the twin; brings the switches back to the first intent after the test."""
    run = runner(folder)
    yield run
    done = run("deploy", "--yes", "--waves", "off")
    assert done.returncode == 0, done.stderr


def changed(twin: Twin, before: dict[str, str]) -> set[str]:
    return {name for name, text in configurations(twin).items() if text != before[name]}


def newest(folder: Path) -> dict[str, object]:
    """The last deploy in the history."""
    listed = commands.run("history", "new.yml", "--state", str(folder), "--output", "json", cwd=folder, timeout_s=60)
    (first, *_) = conforming("history", listed.stdout)
    return dict(first)


def test_half_of_the_fabric_out_of_reach_is_told_before_anything_changes(
    railfab: Railfab, twin: Twin, folder: Path
) -> None:
    before = configurations(twin)
    half = ("--on", half_unreachable(folder, *list(before)[:3]))
    refused = railfab("deploy", "--yes", *half, intent="new.yml")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert [line.split(": ")[1] for line in refused.stderr.splitlines()] == list(before)[:3]
    everything = ("--on", half_unreachable(folder, *before))
    nobody = railfab("deploy", "--yes", *everything, intent="new.yml")
    assert nobody.returncode == 2
    (line,) = nobody.stderr.splitlines()
    assert line.startswith("railfab: pod1-seg[1-2]-leaf[1-2], pod1-spine[1-2]: no answer from ")
    assert line.endswith(f" (as {LEAF} says; 6 switches)")
    assert changed(twin, before) == set()
    assert Journal(folder, "small").deploys() == ()


@pytest.mark.matrix
def test_switches_that_are_lost_in_the_middle_of_a_wave_are_finished_by_resume(
    railfab: Railfab, twin: Twin, folder: Path
) -> None:
    before, lost = configurations(twin), SECOND[1]
    words = ("deploy", "new.yml", "--on", "twin", "--state", str(folder), "--yes")
    deploy = subprocess.Popen(
        [sys.executable, "-m", "railfab", *words], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while '"change", "state": "begins", "wave": 2' not in steps(folder):
        assert deploy.poll() is None
        time.sleep(0.01)
    twin.stop_switch(lost)
    table, said = deploy.communicate(timeout=170)
    twin.start_switch(lost)
    assert deploy.returncode in (1, 3), said
    last = said.splitlines()[-1]
    assert last.endswith(". Continue with railfab deploy --resume, or return to what ran before with --abort.")
    assert lost in said
    assert "2 not begun" in table
    record = newest(folder)
    assert (record["waves_done"], record["waves"], bool(record["stopped"])) == (1, 4, True)
    resumed = railfab("deploy", "--resume", "--yes", intent="new.yml")
    assert resumed.returncode == 0, resumed.stderr
    assert "wave 1 of 4" not in resumed.stderr
    assert changed(twin, before) == set(before)
    assert newest(folder)["waves_done"] == 4


def steps(folder: Path) -> str:
    """The steps of the deploys that have begun."""
    return "".join(path.read_text() for path in folder.glob("small.deploys/*/steps"))


def test_a_later_wave_that_is_declined_at_a_terminal_leaves_the_earlier_ones_and_is_resumed(
    railfab: Railfab, twin: Twin, folder: Path
) -> None:
    before = configurations(twin)
    ours, theirs = pty.openpty()
    words = ("deploy", "new.yml", "--on", "twin", "--state", str(folder), "--accept", "cut")
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    command = [sys.executable, "-m", "railfab", *words]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True
    ) as asked:
        os.close(theirs)
        read_until(ours, f"(canary): {LEAF}, {SPINE}? [y/N]".encode())
        os.write(ours, b"y\n")
        read_until(ours, f"Change wave 2 of 4: {', '.join(SECOND)}? [y/N]".encode())
        os.write(ours, b"n\n")
        table = read_until(ours, None).decode()
        assert asked.stderr is not None
        said = asked.stderr.read()
    os.close(ours)
    assert asked.returncode == 1
    assert said.endswith(
        ": wave 2 was declined. Continue with railfab deploy --resume, or return to what ran before with --abort.\n"
    )
    assert "2 changed, 4 not begun" in table
    assert changed(twin, before) == {LEAF, SPINE}
    record = newest(folder)
    assert (record["waves_done"], record["stopped"]) == (1, "wave 2 was declined")
    resumed = railfab("deploy", "--resume", "--yes", intent="new.yml")
    assert resumed.returncode == 0, resumed.stderr
    assert changed(twin, before) == set(before)
