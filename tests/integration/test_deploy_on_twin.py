"""Deploy, verify, audit and collect on the twin: SR Linux over gNMI, by the same commands as on hardware."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from nornir import InitNornir
from nornir.core.filter import F
from tests import commands
from tests.docs.schemas import conforming

from railfab.cli.change import ChangeRun
from railfab.cli.change_options import ChangeOptions, Waves
from railfab.cli.common import Output
from railfab.deploy import DeployRecord, Journal, KeptSessions, OpenDeploy, nornir_of, verify_all
from railfab.errors import RailfabError
from railfab.fabric import design, resolve_endpoints, session_endpoints
from railfab.fabric.audit import CABLING_UNCHECKED
from railfab.fabric.nic_agreement import read_nic_states
from railfab.findings import Severity
from railfab.gnmi.server import _Service
from railfab.twin import Control, Twin, connect

Railfab = Callable[..., subprocess.CompletedProcess[str]]
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
BOTH = ("--limit", f"{LEAF},{SPINE}")
"""Options for what concerns these two: a session with each of the others takes CPU, and shows nothing more."""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twin")


@pytest.fixture(scope="module")
def pod64(repository: Path) -> Path:
    return repository / "inventory" / "fabrics" / "pod64.yml"


@pytest.fixture(scope="module")
def control(pod64: Path, state: Path) -> Iterator[Control]:
    """A twin of pod64 with factory switches."""
    with Twin(design(pod64), state=state, base_port=0):
        yield connect(state, "pod64")


@pytest.fixture(scope="module")
def railfab(control: Control, pod64: Path, state: Path, repository: Path) -> Railfab:
    """Runs a command on the twin, as a user would."""

    def run(verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
        on = () if verb == "history" else ("--on", "twin")
        words = (verb, pod64, *on, "--state", state, *arguments)
        return commands.run(*words, cwd=repository, environment=environment, timeout_s=120)

    return run


@pytest.mark.usefixtures("control")
def test_at_a_terminal_a_deploy_asks_first_and_changes_nothing_when_the_answer_is_no(
    railfab: Railfab, pod64: Path, state: Path
) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "railfab", "deploy", str(pod64), "--on", "twin", "--state", str(state)]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as asked:
        os.close(theirs)
        shown = read_until(ours, b"(canary): pod1-seg1-leaf1, pod1-spine1? [y/N]")
        os.write(ours, b"n\n")
        read_until(ours, None)
    os.close(ours)
    assert asked.returncode != 0
    assert b"+set / network-instance default protocols bgp" in shown
    planned = json.loads(railfab("deploy", "--plan", "--output", "json", *BOTH).stdout)
    assert [outcome["changed"] for outcome in planned] == [True] * 2


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    """What is written to a terminal until this appears, or until the last writer has gone."""
    shown = b""
    while (wanted is None or wanted not in shown) and select.select([terminal], [], [], 90)[0]:
        try:
            shown += os.read(terminal, 65_536)
        except OSError:
            break
    return shown


def test_a_factory_fabric_is_brought_to_the_intent_and_a_second_run_changes_nothing(railfab: Railfab) -> None:
    factory = railfab("verify", "--wait", "0", "--output", "json")
    assert factory.returncode == 1
    assert conforming("verify", factory.stdout)["findings"]
    planned = conforming("deploy", railfab("deploy", "--plan", "--output", "json").stdout)
    assert [outcome["changed"] for outcome in planned] == [True] * 8
    first = conforming("deploy", railfab("deploy", "--yes", "--output", "json").stdout)
    assert [(outcome["changed"], outcome["failed"]) for outcome in first] == [(True, False)] * 8
    assert {outcome["name"]: outcome["diff"] for outcome in first} == {
        outcome["name"]: outcome["diff"] for outcome in planned
    }
    second = railfab("deploy", "--yes", "--output", "json")
    assert second.returncode == 0
    assert [(outcome["changed"], outcome["diff"]) for outcome in json.loads(second.stdout)] == [(False, "")] * 8
    verified = railfab("verify")
    assert (verified.returncode, verified.stdout) == (
        0,
        "8 of 8 switches checked: all 64 BGP session ends are as the intent says\n"
        "cabling: 32 of 160 links proved, 128 unknown "
        "(hosts that ARP identifies, but not their NIC: pod1-seg[1-2]-leaf[1-2] ethernet-1/[1-8]/[1-4])\n",
    )
    audited = railfab("audit")
    assert audited.returncode == 0
    assert [line.partition(" ")[0] for line in audited.stdout.splitlines()] == ["note", "note", "note", "8", "cabling:"]
    assert audited.stdout.endswith(f"8 of 8 switches checked, 24 notes\n{CABLING_UNCHECKED}\n")


def test_findings_about_documents_of_hosts_do_not_have_switches_read_again(
    railfab: Railfab, pod64: Path, state: Path, tmp_path: Path
) -> None:
    railfab("deploy", "--yes")
    assert railfab("verify", *BOTH).returncode == 0
    fabric = design(pod64)
    (tmp_path / "pod1-seg1-host1.json").write_text('{"version": 1, "host": "pod1-seg1-host1", "nics": []}')
    nornir = nornir_of(fabric, session_endpoints(fabric, "twin", state, f"{LEAF},{SPINE}"))
    read: list[str] = []
    verified = verify_all(nornir, fabric, wait_s=60.0, nics=read_nic_states(fabric, tmp_path), on_done=read.append)
    codes = {finding.code for finding in verified.findings if finding.severity is not Severity.NOTE}
    assert codes == {"nic-unread"}
    assert sorted(read) == [LEAF, SPINE]


def test_groups_select_by_role_pod_segment_platform_and_rail(control: Control, pod64: Path, state: Path) -> None:
    nornir = InitNornir(
        inventory={
            "plugin": "RailfabInventory",
            "options": {"intent": str(pod64), "on": "twin", "state": str(state)},
        },
        logging={"enabled": False},
    )
    assert set(nornir.inventory.groups) == {
        *("leaf", "spine", "pod1", "pod1-seg1", "pod1-seg2", "srlinux"),
        *(f"rail_{rail}" for rail in range(1, 9)),
    }
    assert set(nornir.filter(F(groups__contains="rail_3")).inventory.hosts) == {
        f"pod1-seg{segment}-leaf{leaf}" for segment in (1, 2) for leaf in (1, 2)
    }
    host = nornir.inventory.hosts[LEAF]
    assert host.platform == "srlinux"
    assert host.get_connection_parameters("netmiko").platform == "nokia_srl"
    assert str(host.password) not in repr(host)


def test_a_cut_link_is_found_by_verify_at_both_ends_until_it_is_repaired(control: Control, railfab: Railfab) -> None:
    railfab("deploy", "--yes", *BOTH)
    control.set_link(SPINE, "ethernet-1/1", up=False)
    found = railfab("verify", "--wait", "0", *BOTH)
    control.set_link(SPINE, "ethernet-1/1", up=True)
    assert found.returncode == 1
    for line in (
        f"{SPINE} ethernet-1/1: is down, its link to {LEAF} does not work. Check the cable and the far end.",
        f"{LEAF} ethernet-1/32: is down, its link to {SPINE} does not work.",
        f"{LEAF} ethernet-1/32: BGP with {SPINE} is ",
    ):
        assert line in found.stdout
    assert railfab("verify", *BOTH).returncode == 0


def test_an_unreachable_switch_stops_a_deploy_before_anything_is_touched(control: Control, railfab: Railfab) -> None:
    railfab("deploy", "--yes", *BOTH)
    control.stop_switch(SPINE)
    try:
        done = railfab("deploy", "--yes", *BOTH)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert done.stderr.startswith(f"railfab: {SPINE}: ")
        others = railfab("deploy", "--yes", "--limit", f"pod1-seg1,spine&!{SPINE}")
        assert others.returncode == 0
    finally:
        control.start_switch(SPINE)
    assert railfab("deploy", "--yes", *BOTH).returncode == 0


class StoppedEntry(OpenDeploy):
    """A journal entry that cannot be written, of a deploy that is stopped meanwhile."""

    def keep(self, name: str, text: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        raise RailfabError(name, "cannot be kept", "Name another folder with --state")


def test_a_stopped_deploy_ends_with_130_also_when_a_switch_has_failed(
    control: Control, railfab: Railfab, pod64: Path, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert railfab("deploy", "--yes", "--limit", SPINE).returncode == 0
    fabric = design(pod64)
    endpoints = resolve_endpoints(fabric, "twin", state, SPINE)
    options = ChangeOptions(plan=False, yes=True, stat=False, full=False, output=Output.JSON, waves=Waves.OFF)
    run = ChangeRun(fabric, endpoints, state, options)
    texts = {SPINE: "{}"}
    record = DeployRecord(deploy="20261122T093012.345Z-4f2a", user="kim", host="control1", verb="deploy", began="")
    previews = run._previews(texts)
    plan = run._plan(previews, "deploy")
    with pytest.raises(typer.Exit) as ended, KeptSessions(record.change) as kept:
        run._roll_out(plan, texts, previews, StoppedEntry(tmp_path, record), kept)
    assert ended.value.exit_code == 130
    printed = capsys.readouterr()
    assert [found["failed"] for found in json.loads(printed.out)] == [True]
    assert printed.err.startswith("stopping: changes that have begun get 4 s to finish, no other is begun\n")


def test_a_switch_that_the_intent_lacks_is_named_by_rollback_and_left_out_by_a_limit(
    railfab: Railfab, pod64: Path, state: Path
) -> None:
    assert railfab("deploy", "--yes", "--limit", SPINE).returncode == 0
    with Journal(state, "pod64").open("deploy") as entry:
        entry.keep("pod1-spine9", "{}")
        entry.keep(SPINE, design(pod64).texts[SPINE])
        entry.finish({"pod1-spine9": "changed", SPINE: "changed"})
    refused = railfab("rollback", "--plan", "--to", entry.change.deploy)
    assert (refused.returncode, refused.stderr) == (
        2,
        "railfab: rollback: that deploy changed pod1-spine9, which this intent lacks. "
        "Use the intent that was deployed, or name the other switches: --limit.\n",
    )
    planned = railfab("rollback", "--plan", "--to", entry.change.deploy, "--limit", "spine")
    assert (planned.returncode, planned.stderr) == (0, "")
    assert planned.stdout.endswith("1 of 8 switches: 0 would change\n")
    shutil.rmtree(state / "pod64.deploys" / Journal(state, "pod64").last().folder)


def test_a_deploy_with_one_change_costs_a_switch_at_most_eight_get_requests(
    railfab: Railfab, pod64: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[str] = []
    answer = _Service._get

    async def count(server: _Service, request: Any) -> Any:
        served.append("Get")
        return await answer(server, request)

    assert railfab("deploy", "--yes", "--limit", SPINE).returncode == 0
    with Journal(state, "pod64").open("deploy") as entry:
        entry.keep(SPINE, design(pod64).texts[SPINE].replace("300000", "100000"))
        entry.finish({SPINE: "changed"})
    assert "1 changed" in railfab("rollback", "--yes", "--to", entry.change.deploy).stdout
    monkeypatch.setattr(_Service, "_get", count)
    assert "1 changed" in railfab("deploy", "--yes", "--waves", "off", "--limit", SPINE).stdout
    assert 0 < len(served) <= 8


def test_rollback_restores_the_configurations_of_the_twin(control: Control, railfab: Railfab, state: Path) -> None:
    railfab("deploy", "--yes", *BOTH)
    before = railfab("deploy", "--plan", "--output", "json", "--limit", LEAF)
    assert json.loads(before.stdout)[0]["changed"] is False
    oldest = json.loads(railfab("history", "--output", "json").stdout)[-1]["deploy"]
    returned = railfab("rollback", "--to", oldest, "--yes", "--output", "json", "--limit", LEAF)
    assert returned.returncode == 0, returned.stderr
    assert json.loads(returned.stdout)[0]["changed"] is True
    assert railfab("verify", "--wait", "0", *BOTH).returncode == 1
    assert railfab("deploy", "--yes", *BOTH).returncode == 0
    deadline = time.monotonic() + 60
    while railfab("verify", "--wait", "5", *BOTH).returncode != 0:
        assert time.monotonic() < deadline


def test_a_second_twin_of_the_fabric_is_refused_in_one_line(
    control: Control, pod64: Path, state: Path, repository: Path
) -> None:
    command = [sys.executable, "-m", "railfab", "twin", str(pod64), "--state", str(state), "--port", "0"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "a twin is already running" in done.stderr
