"""Deploys that are killed, told to stop, or meet another one, on real FRR switches, as an operator lives it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.lab.fabrics import FRR_POD, lab_plan
from tests.sampled import sampled

from railfab.deploy import Journal, new_change
from railfab.endpoints import read_credentials
from railfab.fabric import Design, design, resolve_endpoints
from railfab.lab import backend
from railfab.platforms import ChangeName, Session, platform
from railfab.platforms.frr.on_switch import PYTHON

from .conftest import RunningLab, wait_for

pytestmark = pytest.mark.lab

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
BOTH = ("--limit", f"{LEAF},{SPINE}")
"""Options for what concerns these two: a session with each of the others takes CPU, and shows nothing more."""

Railfab = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def fabric(frr_lab: tuple[Path, Path]) -> Design:
    return design(frr_lab[0])


@pytest.fixture(scope="module")
def started(frr_lab: tuple[Path, Path], repository: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts a command on the lab with an interpreter of its own, as a user would."""

    def start(verb: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "railfab", *on_lab(frr_lab, verb, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=repository, stdout=pipe, stderr=pipe, text=True, env=environment())

    return start


@pytest.fixture(scope="module")
def railfab(frr_lab: tuple[Path, Path], repository: Path) -> Railfab:
    """Runs a command on the lab to its end; `history` needs none."""

    def run(verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        words = on_lab(frr_lab, verb, arguments)
        return commands.run(*words, cwd=repository, environment=environment(), timeout_s=150)

    return run


def on_lab(lab: tuple[Path, Path], verb: str, arguments: tuple[str, ...]) -> list[str]:
    """The words of a command on the lab of this intent and state."""
    intent, state = map(str, lab)
    on = [] if verb == "history" else ["--on", "lab"]
    accepted = ["--accept", "cut"] if verb == "deploy" else []  # each port of its hosts has an address of its own
    return [verb, intent, *on, "--state", state, *accepted, *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


@pytest.fixture(scope="module", autouse=True)
def deployed(frr_fabric: RunningLab, railfab: Railfab) -> RunningLab:
    """The lab with the intent on every switch."""
    assert railfab("deploy", "--yes").returncode == 0
    return frr_fabric


def session_of(fabric: Design, state: Path, name: str) -> Session:
    endpoint = resolve_endpoints(fabric, "lab", state).by_name()[name]
    return platform("frr").session(endpoint, read_credentials(endpoint))


def running(fabric: Design, state: Path, name: str) -> str:
    with session_of(fabric, state, name) as session:
        found = session.running()
    assert found.pending is None
    return found.text


def change_by_hand(lab: RunningLab, *names: str) -> None:
    """Make switches differ from the intent."""
    for name in names:
        lab.vtysh(name, "-c", "configure terminal", "-c", "interface lo", "-c", "description by hand")


def startup_file(lab: RunningLab, switch: str) -> Path:
    return lab.state.runtime / switch / "etc-frr/frr.conf"


@pytest.mark.parametrize("after_s", sampled([1.5, 2.0, 2.5, 3.0, 4.0], few=[]))
def test_after_a_kill_the_next_deploy_reverts_what_is_pending_and_brings_every_switch_to_the_intent(
    deployed: RunningLab,
    started: Callable[..., subprocess.Popen[str]],
    railfab: Railfab,
    fabric: Design,
    frr_lab: tuple[Path, Path],
    after_s: float,
) -> None:
    """The moments fall before, into and behind the changes, whatever the load of the machine."""
    change_by_hand(deployed, *fabric.models)
    process = started("deploy", "--yes")
    time.sleep(after_s)
    process.kill()
    process.communicate()
    again = railfab("deploy", "--yes", "--output", "json")
    assert again.returncode == 0, again.stderr
    assert all(re.fullmatch(r"\S+: reverted the unconfirmed change of deploy \S+", one) for one in _lines(again.stderr))
    assert "by hand" not in running(fabric, frr_lab[1], LEAF)
    third = json.loads(railfab("deploy", "--yes", "--output", "json").stdout)
    assert [(found["changed"], found["failed"]) for found in third] == [(False, False)] * 6


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def test_a_change_that_a_killed_deploy_left_is_named_and_reverted_first(
    deployed: RunningLab, railfab: Railfab, fabric: Design, frr_lab: tuple[Path, Path]
) -> None:
    state = frr_lab[1]
    change_by_hand(deployed, LEAF, SPINE)
    change = leave_pending(fabric, state)
    planned = railfab("deploy", "--plan", *BOTH)
    assert planned.returncode == 2
    assert (
        f"{LEAF}: has an unconfirmed change of {change.user}@{change.host} (deploy {change.deploy})" in planned.stderr
    )
    owner = f"deploy {change.deploy} of {change.user}@{change.host}"
    verified = railfab("verify", "--wait", "0", *BOTH)
    assert f"{LEAF}: a change: is neither confirmed nor reverted ({owner})." in verified.stdout
    done = railfab("deploy", "--yes", "--output", "json", *BOTH)
    assert done.returncode == 0, done.stderr
    assert _lines(done.stderr) == [f"{LEAF}: reverted the unconfirmed change of deploy {change.deploy}"]
    assert [found["changed"] for found in json.loads(done.stdout)] == [True] * 2


def leave_pending(fabric: Design, state: Path) -> ChangeName:
    """Do what a deploy does to one switch until it is killed: the journal, the commit, and nothing after it."""
    with Journal(state, fabric.intent.fabric).open("deploy") as entry, session_of(fabric, state, LEAF) as session:
        entry.keep(LEAF, session.running().text)
        session.commit(session.stage(fabric.texts[LEAF]), entry.change, 120)
    return entry.change


def test_a_change_of_somebody_else_stops_a_deploy_that_names_it(
    deployed: RunningLab, railfab: Railfab, fabric: Design, frr_lab: tuple[Path, Path]
) -> None:
    change_by_hand(deployed, LEAF, SPINE)
    other = ChangeName(deploy=new_change().deploy, user="ada", host="control2")
    with session_of(fabric, frr_lab[1], LEAF) as session:
        session.commit(session.stage(fabric.texts[LEAF]), other, 120)
    try:
        refused = railfab("deploy", "--yes", *BOTH)
        assert refused.returncode == 2
        expected = rf"railfab: {LEAF}: has an unconfirmed change of ada@control2 \(deploy {re.escape(other.deploy)}\), "
        assert re.match(expected + r"which the switch reverts in \d+ s\. Wait until it ends", refused.stderr)
        assert len(_lines(refused.stderr)) == 1
    finally:
        with session_of(fabric, frr_lab[1], LEAF) as session:
            session.revert(other)
    assert "by hand" in running(fabric, frr_lab[1], SPINE)


@pytest.mark.matrix
def test_a_dead_daemon_is_named_and_the_startup_configuration_stays(
    deployed: RunningLab, railfab: Railfab, frr_lab: tuple[Path, Path]
) -> None:
    """As on one switch, which frr/test_frr_failing.py tries in `make test`."""
    assert railfab("deploy", "--yes", *BOTH).returncode == 0
    startup = startup_file(deployed, SPINE)
    before = startup.read_text()
    assert "router bgp" in before
    deployed.signal(SPINE, "bgpd", signal.SIGKILL)
    try:
        refused = railfab("deploy", "--yes", *BOTH)
    finally:
        backend("netns").restart(lab_plan(FRR_POD, frr_lab[1]), SPINE, "bgpd", print)
    assert refused.returncode == 2
    assert refused.stderr == f"railfab: {SPINE}: bgpd does not run. Start it, or check /etc/frr/daemons.\n"
    assert startup.read_text() == before


def test_a_deploy_that_is_told_to_stop_ends_although_a_switch_is_frozen(
    deployed: RunningLab, started: Callable[..., subprocess.Popen[str]], railfab: Railfab
) -> None:
    change_by_hand(deployed, LEAF, SPINE)
    deployed.signal(SPINE, "zebra", signal.SIGSTOP)
    try:
        process = started("deploy", "--yes")
        asked = "\0".join([*PYTHON, "from __future__"])  # the program of a session
        wait_for(lambda: any(line.startswith(asked) for _, _, line in deployed.processes(SPINE)), "it asks the switch")
        process.terminate()
        began_s = time.monotonic()
        _, errors = process.communicate(timeout=60)
        took_s = time.monotonic() - began_s
    finally:
        deployed.signal(SPINE, "zebra", signal.SIGCONT)
    assert took_s < 10  # 5 s, and a loaded machine
    assert "Traceback" not in errors
    assert all(line.startswith(("railfab: ", "stopping: ")) for line in _lines(errors)), errors
    assert railfab("deploy", "--yes", *BOTH).returncode == 0


@pytest.mark.matrix
def test_deploys_are_listed_and_undone_to_any_of_them(
    deployed: RunningLab, railfab: Railfab, fabric: Design, frr_lab: tuple[Path, Path]
) -> None:
    state = frr_lab[1]
    deployed.vtysh(LEAF, "-c", "configure terminal", "-c", "interface lo", "-c", "description first")
    assert railfab("deploy", "--yes", *BOTH).returncode == 0
    deployed.vtysh(SPINE, "-c", "configure terminal", "-c", "interface lo", "-c", "description second")
    assert railfab("deploy", "--yes", *BOTH).returncode == 0
    listed = conforming("history", railfab("history", "--output", "json").stdout)
    assert [(found["verb"], found["switches"], found["finished"]) for found in listed[:2]] == [
        ("deploy", [SPINE], True),
        ("deploy", [LEAF], True),
    ]
    done = railfab("rollback", "--to", listed[1]["deploy"], "--yes", "--output", "json")
    undone = conforming("rollback", done.stdout)
    assert {found["name"]: found["changed"] for found in undone} == {LEAF: True, SPINE: True}
    assert "description first" in running(fabric, state, LEAF)
    assert "description second" in running(fabric, state, SPINE)
    table = railfab("history").stdout
    assert table.splitlines()[0].split() == ["number", "deploy", "verb", "by", "began", "ended", "switches", "result"]
    assert "rollback" in table.splitlines()[1]
