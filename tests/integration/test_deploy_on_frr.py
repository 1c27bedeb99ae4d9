"""Deploy, verify and roll back on real FRR switches over SSH: the transaction as an operator lives it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from tests import commands
from tests.findings import reasons
from typer.testing import CliRunner

from railfab.cli import app
from railfab.deploy import apply_all, new_change, nornir_of, preview_all
from railfab.endpoints import load_endpoints, save_endpoints, state_file
from railfab.fabric import Design, design, resolve_endpoints
from railfab.fabric.audit import configuration_findings

from .conftest import RunningLab, wait_for

pytestmark = pytest.mark.lab

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
BOTH = ("--limit", f"{LEAF},{SPINE}")
"""Options for what concerns these two: a session with each of the others takes CPU, and shows nothing more."""

Railfab = Callable[..., Result]


@pytest.fixture(scope="module")
def fabric(frr_lab: tuple[Path, Path]) -> Design:
    return design(frr_lab[0])


@pytest.fixture(scope="module")
def railfab(frr_lab: tuple[Path, Path]) -> Railfab:
    """Runs a command on the lab, in this process."""
    intent, state = frr_lab

    def run(verb: str, *arguments: str) -> Result:
        accepted = ("--accept", "cut") if verb == "deploy" else ()  # each port of its hosts has an address of its own
        command = [verb, str(intent), "--on", "lab", "--state", str(state), *accepted, *arguments]
        return CliRunner().invoke(app, command, env={"COLUMNS": "200", "NO_COLOR": "1"})

    return run


@pytest.fixture(scope="module")
def deployed(frr_fabric: RunningLab, railfab: Railfab) -> RunningLab:
    """The lab with the intent on every switch."""
    assert railfab("deploy", "--yes").exit_code == 0
    return frr_fabric


@pytest.fixture
def mended(railfab: Railfab) -> Iterator[None]:
    """For tests that change a switch: deploy the intent after them."""
    yield
    assert railfab("deploy", "--yes", *BOTH).exit_code == 0
    assert railfab("verify", *BOTH).exit_code == 0


def outcomes(done: Result) -> dict[str, dict[str, object]]:
    return {outcome["name"]: outcome for outcome in json.loads(done.stdout)}


def test_a_deployed_fabric_verifies_and_hosts_reach_each_other_over_the_spines(
    deployed: RunningLab, railfab: Railfab
) -> None:
    verified = railfab("verify")
    assert verified.exit_code == 0, verified.stdout
    assert verified.stdout.startswith(
        "6 of 6 switches checked: all 16 BGP session ends are as the intent says\n"
        "cabling: 8 of 24 links proved, 16 unknown (hosts "
    )
    # rail 1 of the first segment to rail 2 of the second: other rail switches, reached over a spine
    reached = deployed.run("pod1-seg1-host1", "ping", "-c", "3", "-i", "0.2", "-W", "2", "10.18.2.1")
    assert reached.returncode == 0, reached.stdout


def test_the_address_of_another_host_on_a_port_is_a_wrong_cable(deployed: RunningLab, railfab: Railfab) -> None:
    """As two exchanged host cables look to the switch: on swp1 it resolves the address of the host of swp3."""
    host, address = "pod1-seg1-host1", "10.17.0.3"
    deployed.run(host, "ip", "address", "add", f"{address}/31", "dev", "rail1-p0")
    deployed.run(LEAF, "ip", "-4", "neigh", "flush", "dev", "swp1")
    try:
        deployed.run(host, "ping", "-c", "1", "-W", "2", "-I", address, "10.17.0.2")
        verified = railfab("verify", "--wait", "0", "--limit", LEAF)
    finally:
        deployed.run(host, "ip", "address", "del", f"{address}/31", "dev", "rail1-p0")
    assert verified.exit_code == 1, verified.stdout
    assert (
        f"error {LEAF} swp1: resolves {address} of pod1-seg1-host2, the intent says {host} rail1-p0. "
        "Correct the cabling, or the addresses of the host. [miscabled]\n"
    ) in verified.stdout
    assert ", 1 wrong, " in verified.stdout
    # the entry stays, but beside the address of the right host it says nothing
    deployed.run(LEAF, "ping", "-c", "1", "-W", "2", "10.17.0.1")
    assert address in deployed.run(LEAF, "ip", "neigh", "show", "dev", "swp1").stdout
    assert railfab("verify", "--limit", LEAF).exit_code == 0


def test_a_second_deploy_changes_nothing_from_the_command_line_or_the_playbook(
    deployed: RunningLab, railfab: Railfab, frr_lab: tuple[Path, Path], repository: Path, tmp_path: Path
) -> None:
    again = outcomes(railfab("deploy", "--yes", "--output", "json"))
    assert len(again) == 6
    assert all((found["changed"], found["failed"], found["diff"]) == (False, False, "") for found in again.values())
    intent, state = frr_lab
    words = (intent, "--on", state_file(state, "frr-pod", "lab"), *BOTH)
    playbooks = repository / "playbooks"
    played = commands.run(*words, "--yes", timeout_s=120, program=playbooks / "deploy.py")
    assert played.returncode == 0, played.stderr
    assert sorted(played.stdout.splitlines()) == [f"{name}: no change" for name in (LEAF, SPINE)]
    for name in ("verify", "audit"):
        checked = commands.run(*words, timeout_s=120, program=playbooks / f"{name}.py")
        summary, *_ = checked.stdout.splitlines()
        assert (checked.returncode, summary) == (0, "2 of 6 switches, no finding"), checked.stderr


@pytest.mark.usefixtures("mended")
def test_a_change_by_hand_is_shown_by_plan_found_by_verify_and_mended_by_deploy(
    deployed: RunningLab, railfab: Railfab
) -> None:
    deployed.vtysh(LEAF, "-c", "configure terminal", "-c", "router bgp 4200001001", "-c", "no neighbor swp16 interface")
    planned = railfab("deploy", "--plan", "--output", "json", "--limit", "leaf&pod1-seg1")
    assert planned.exit_code == 0
    found = outcomes(planned)
    assert set(found) == {LEAF, "pod1-seg1-leaf2"}
    assert found[LEAF]["changed"]
    assert "neighbor swp16 interface" in str(found[LEAF]["diff"])
    assert not found["pod1-seg1-leaf2"]["changed"]
    verified = railfab("verify", "--wait", "0", *BOTH)
    assert verified.exit_code == 1
    assert f"{LEAF} swp16: has no BGP session with {SPINE}. Deploy the intent." in verified.stdout
    mended = outcomes(railfab("deploy", "--yes", "--output", "json", *BOTH))
    assert [name for name, outcome in mended.items() if outcome["changed"]] == [LEAF]


HAZARDS = (
    "ip route 10.17.0.0/16 blackhole",
    "log timestamp precision 6",
    "ip prefix-list spare seq 5 permit 192.0.2.0/24",
    "router bgp 4200001001",
    "bgp graceful-restart preserve-fw-state",
    "neighbor swp16 advertisement-interval 30",
    "address-family ipv4 unicast",
    "neighbor swp16 allowas-in",
)


@pytest.mark.usefixtures("mended")
def test_hazards_of_a_live_switch_are_those_of_its_configuration_in_a_file(
    deployed: RunningLab, railfab: Railfab, fabric: Design
) -> None:
    deployed.vtysh(LEAF, *(word for line in ("configure terminal", *HAZARDS) for word in ("-c", line)))
    running = deployed.vtysh(LEAF, "-c", "show running-config no-header")
    running = re.sub(rf"(?m)^hostname (?!{LEAF}$).*\n", "", running)  # of vtysh, which runs outside the switch
    findings = configuration_findings(fabric, {LEAF: running})
    assert reasons(finding for finding in findings if finding.is_hazard) == {
        "blackhole-route",
        "stale-routes",
        "delayed-routes",
        "as-path-loops",
    }
    offline = [finding.line for finding in findings]
    verified, audited = railfab("verify", "--wait", "0", *BOTH), railfab("audit", *BOTH)
    assert (verified.exit_code, audited.exit_code) == (1, 1)
    assert audited.stdout.splitlines()[: len(offline)] == offline
    assert {line for line in offline if not line.startswith("note")} <= set(verified.stdout.splitlines())


@pytest.mark.matrix
def test_a_broken_line_is_refused_by_name_and_every_session_stays_up(
    deployed: RunningLab, fabric: Design, frr_lab: tuple[Path, Path]
) -> None:
    """As on one switch, which frr/test_frr_session.py tries in `make test`."""
    nornir = nornir_of(fabric, resolve_endpoints(fabric, "lab", frr_lab[1]))
    texts = fabric.configurations()
    broken = {**texts, SPINE: texts[SPINE].replace("bgp router-id", "bgp bogus-knob", 1)}
    before = {name: deployed.show(name, "bgp ipv4 unicast summary")["peers"] for name in fabric.models}
    results = {outcome.name: outcome for outcome in apply_all(nornir, broken, new_change(), lambda _name: None)}
    assert [name for name, outcome in results.items() if outcome.failed] == [SPINE]
    assert "bogus-knob" in str(results[SPINE].error)
    assert str(results[SPINE].error).startswith(f"{SPINE}: ")
    after = {name: deployed.show(name, "bgp ipv4 unicast summary")["peers"] for name in fabric.models}
    for name, peers in before.items():
        for peer, state in peers.items():
            assert after[name][peer]["state"] == "Established"
            assert after[name][peer]["connectionsDropped"] == state["connectionsDropped"]
    assert preview_all(nornir, texts, lambda _name: None)[-2].diff == ""


@pytest.mark.usefixtures("mended")
def test_rollback_restores_the_configurations_before_the_last_deploy_and_those_of_a_snapshot(
    deployed: RunningLab, railfab: Railfab, tmp_path: Path
) -> None:
    intended = deployed.vtysh(LEAF, "-c", "show running-config no-header")
    assert railfab("snapshot", "-o", str(tmp_path / "before"), *BOTH).exit_code == 0
    deployed.vtysh(LEAF, "-c", "configure terminal", "-c", "router bgp 4200001001", "-c", "no neighbor swp15 interface")
    handmade = deployed.vtysh(LEAF, "-c", "show running-config no-header")
    assert outcomes(railfab("deploy", "--yes", "--output", "json", *BOTH))[LEAF]["changed"]
    returned = outcomes(railfab("rollback", "--yes", "--output", "json"))
    assert set(returned) == {LEAF}
    assert deployed.vtysh(LEAF, "-c", "show running-config no-header") == handmade
    drifted = railfab("drift", *BOTH)
    assert drifted.exit_code == 1
    assert drifted.stdout.endswith("2 of 6 switches read: 1 in step, 1 drifted\n")
    again = outcomes(railfab("rollback", "--to", str(tmp_path / "before"), "--yes", "--output", "json", *BOTH))
    assert {name: outcome["changed"] for name, outcome in again.items()} == {LEAF: True, SPINE: False}
    assert deployed.vtysh(LEAF, "-c", "show running-config no-header") == intended
    assert railfab("drift", *BOTH).exit_code == 0


@pytest.mark.usefixtures("mended")
def test_a_cut_cable_is_found_at_both_ends(deployed: RunningLab, railfab: Railfab) -> None:
    assert deployed.run(SPINE, "ip", "link", "set", "swp1", "down").returncode == 0
    try:
        wait_for(lambda: deployed.established(SPINE) == 3, "the session to fall")
        verified = railfab("verify", "--wait", "0", *BOTH)
    finally:
        deployed.run(SPINE, "ip", "link", "set", "swp1", "up")
    assert verified.exit_code == 1
    assert f"{SPINE} swp1: is shut down, its link to {LEAF} does not work. Deploy the intent." in verified.stdout
    assert f"{LEAF} swp16: is down, its link to {SPINE} does not work." in verified.stdout


@pytest.mark.matrix
def test_a_wrong_password_is_a_one_line_error_and_changes_nothing(
    deployed: RunningLab, fabric: Design, frr_lab: tuple[Path, Path], repository: Path, tmp_path: Path
) -> None:
    """As on one switch, which frr/test_frr_session.py tries in `make test`."""
    intent, state = frr_lab
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("username: root\npassword: not-the-password\n")
    endpoints = load_endpoints(state_file(state, "frr-pod", "lab"))
    nodes = tuple(replace(node, credentials=str(wrong)) if node.name == LEAF else node for node in endpoints.nodes)
    save_endpoints(tmp_path / "endpoints.json", replace(endpoints, nodes=nodes))
    shutil.copy(intent, tmp_path / "intent.yml")
    command = [sys.executable, "-m", "railfab", "deploy", "intent.yml", "--on", "endpoints.json", "--yes"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith(f"railfab: {LEAF}: ")
    assert "not-the-password" not in done.stderr + done.stdout
