"""Drain and undrain by a verb, on the twin: what a user sees, and what deploys, verify and rollback make of it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.twin.small_fabric import INTENT, OTHER_SPINE, SPINE

from railfab.deploy.journal import new_change
from railfab.deploy.lock import fabric_lock
from railfab.fabric import design
from railfab.twin import Twin

Railfab = Callable[..., subprocess.CompletedProcess[str]]
KEPT = f"{SPINE}: is drained by railfab drain, and stays so until railfab undrain\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the intent, and with one that drains the spine."""
    folder = tmp_path_factory.mktemp("drain")
    (folder / "intent.yml").write_text(INTENT)
    (folder / "drained.yml").write_text(f"{INTENT}drain: [{SPINE}]\n")
    return folder


@pytest.fixture(scope="module")
def twin(folder: Path) -> Iterator[Twin]:
    with Twin(design(folder / "intent.yml"), state=folder, base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def railfab(twin: Twin, folder: Path) -> Iterator[Railfab]:
    """Runs a command on the twin; ends the drains after the test."""

    def run(verb: str, *arguments: str, intent: str = "intent.yml") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
        on = () if verb == "history" or "--to" in arguments else ("--on", "twin")
        words = (verb, intent, *arguments, *on, "--state", str(folder))
        return commands.run(*words, cwd=folder, environment=environment, timeout_s=120)

    yield run
    assert run("undrain", SPINE, OTHER_SPINE).returncode == 0


def test_a_drain_is_kept_and_named_by_deploys_and_verify_until_undrain(railfab: Railfab, folder: Path) -> None:
    drained = railfab("drain", SPINE)
    assert (drained.returncode, drained.stderr) == (0, "")
    assert re.search(rf"^{SPINE}  drained$", drained.stdout, re.MULTILINE)
    assert drained.stdout.endswith("1 drained\n")
    assert f"{SPINE}  drained already" in railfab("drain", SPINE).stdout
    for option in ("--plan", "--yes"):
        deployed = railfab("deploy", option)
        assert deployed.returncode == 0
        assert KEPT in deployed.stdout
        assert deployed.stdout.endswith((": 0 would change\n", ": 0 changed\n"))
    planned = conforming("deploy", railfab("deploy", "--plan", "--output", "json").stdout)
    assert {one["name"] for one in planned if one["drained"]} == {SPINE}
    found = railfab("verify", "--wait", "0")
    line = f"warning {SPINE}: is drained by railfab drain, and the intent does not drain it."
    assert found.returncode == 1
    assert [one.partition(" End the")[0] for one in found.stdout.splitlines()[:-2]] == [line]
    audited = railfab("audit")
    assert "drain: " not in audited.stdout
    assert line in audited.stdout
    ended = railfab("undrain", SPINE)
    assert f"{SPINE}  undrained" in ended.stdout
    assert f"{SPINE}  not drained" in railfab("undrain", SPINE).stdout
    assert KEPT not in railfab("deploy", "--plan").stdout
    assert railfab("verify").returncode == 0


def test_a_drain_without_another_path_asks_first(railfab: Railfab) -> None:
    assert railfab("drain", SPINE).returncode == 0
    refused = railfab("drain", OTHER_SPINE)
    assert refused.returncode == 2
    assert "all others of its tier are drained, so that their traffic has no other path" in refused.stdout
    assert refused.stderr.startswith("railfab: drain: asks before it changes switches")
    told = railfab("drain", OTHER_SPINE, "--yes", "--output", "json")
    document = conforming("drain", told.stdout)
    assert [finding["code"] for finding in document["findings"]] == ["drain-without-effect"]
    (switch,) = document["switches"]
    assert (switch["name"], switch["changed"], switch["drained"]) == (OTHER_SPINE, True, True)
    ended = conforming("undrain", railfab("undrain", SPINE, OTHER_SPINE, "--output", "json").stdout)
    assert [(one["changed"], one["drained"]) for one in ended["switches"]] == [(True, False)] * 2


def test_names_that_the_fabric_lacks_are_a_line_each(railfab: Railfab) -> None:
    refused = railfab("drain", "pod1-spin1", SPINE, "nothing")
    assert (refused.returncode, refused.stdout) == (2, "")
    first, second = refused.stderr.splitlines()
    assert first == f"railfab: pod1-spin1: is no switch of this fabric. Use a name such as '{SPINE}'."
    assert second.startswith("railfab: nothing: is no switch of this fabric. Use a name such as ")


def test_the_drain_of_the_intent_is_not_ended_by_the_verb(railfab: Railfab) -> None:
    refused = railfab("undrain", SPINE, intent="drained.yml")
    assert refused.returncode == 2
    assert refused.stderr == (
        f"railfab: {SPINE}: is drained by the intent. "
        "Remove it from `drain` in drained.yml, then deploy, or undrain it.\n"
    )
    assert railfab("deploy", "--yes", intent="drained.yml").returncode == 0
    assert KEPT not in railfab("deploy", "--yes").stdout


def test_a_drain_waits_for_no_deploy_that_runs(railfab: Railfab, folder: Path) -> None:
    with fabric_lock(folder, design(folder / "intent.yml").intent.fabric, new_change()):
        refused = railfab("drain", SPINE)
    assert refused.returncode == 2
    assert "is being changed by " in refused.stderr


def test_the_history_has_drains_and_a_rollback_does_not_undo_them(railfab: Railfab) -> None:
    assert railfab("drain", SPINE).returncode == 0
    (newest, *_) = conforming("history", railfab("history", "--output", "json").stdout)
    assert (newest["verb"], newest["results"]) == ("drain", {SPINE: "changed"})
    refused = railfab("rollback", "--to", newest["deploy"], "--plan")
    assert refused.returncode == 2
    assert "is a drain, which a rollback leaves as it is. Use railfab undrain for its switches." in refused.stderr


@pytest.mark.parametrize("verb", ["drain", "undrain"])
def test_the_playbooks_do_the_same(railfab: Railfab, folder: Path, repository: Path, verb: str) -> None:
    assert railfab("undrain" if verb == "drain" else "drain", SPINE).returncode == 0
    if not (folder / ".railfab").exists():
        (folder / ".railfab").symlink_to(folder)
    playbook = repository / "playbooks" / f"{verb}.py"
    done = commands.run("intent.yml", SPINE, "--on", "twin", cwd=folder, timeout_s=120, program=playbook)
    assert (done.returncode, done.stdout) == (0, f"{SPINE}: changed\n"), done.stderr
    assert f"{SPINE}  {'drained already' if verb == 'drain' else 'not drained'}" in railfab(verb, SPINE).stdout
