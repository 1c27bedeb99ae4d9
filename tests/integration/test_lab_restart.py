"""`lab restart`: a switch of an embedded lab as after a power cycle, or one of its daemons, also a stuck one."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.docs.schemas import conforming
from tests.integration.conftest import RunningLab, wait_for
from tests.lab.fabrics import lab_plan, small_intent
from typer.testing import CliRunner

from railfab.cli import app
from railfab.cli.lab import lab_app
from railfab.endpoints import load_endpoints, read_credentials, save_endpoints
from railfab.errors import LabError
from railfab.fabric import design
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.statuses import Absent
from railfab.lab import LabPlan, backend
from railfab.lab.netns.processes import Process

pytestmark = pytest.mark.lab
LAB = backend("netns")
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabPlan]:
    """The smallest fabric, up and configured."""
    folder = tmp_path_factory.mktemp("restart")
    intent = small_intent(folder)
    made = replace(lab_plan(intent, folder / "state"), configurations=design(intent).configurations())
    LAB.up(made, print)
    yield made
    LAB.down(made.place, print)


@pytest.fixture
def lab(plan: LabPlan) -> RunningLab:
    """That lab with all its sessions."""
    running = RunningLab(plan.place.folder / "small.yml", plan.place)
    wait_for(lambda: running.established(SPINE) == 2, "the sessions of the spine")
    return running


def holders(lab: RunningLab) -> dict[str, Process]:
    return {process.purpose: process for process in lab.state.processes}


def get(lab: RunningLab, path: str) -> object:
    """One leaf of the leaf switch over gNMI; None while it has none."""
    node = load_endpoints(lab.place.endpoints_file).by_name()[LEAF]
    try:
        with BlockingGnmiClient(node, read_credentials(node)) as client:
            return client.get([path])[0].value
    except Absent:
        return None


def daemon_state(lab: RunningLab, daemon: str) -> object:
    return get(lab, f"/components/component[name={daemon}]/state/oper-status")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["dead", "stuck"])
def test_a_daemon_that_does_not_answer_is_seen_over_gnmi_and_restarted(
    lab: RunningLab, plan: LabPlan, number: signal.Signals
) -> None:
    wait_for(lambda: daemon_state(lab, "bgpd") == "ACTIVE", "bgpd runs")
    lab.signal(LEAF, "bgpd", number)
    wait_for(lambda: daemon_state(lab, "bgpd") == "INACTIVE", "gNMI says that bgpd does not")
    assert daemon_state(lab, "zebra") == "ACTIVE"
    before = holders(lab)
    LAB.restart(plan, LEAF, "bgpd", print)
    wait_for(lambda: lab.established(LEAF) == 1, "the session is back, with the startup configuration")
    wait_for(lambda: daemon_state(lab, "bgpd") == "ACTIVE", "gNMI says that bgpd runs")
    assert holders(lab) == before
    assert LAB.status(plan.place).state == "running"


def test_addresses_and_routes_survive_a_restart_of_zebra(lab: RunningLab, plan: LabPlan) -> None:
    """The other daemons are restarted with it: bgpd does not give a new zebra its routes."""
    LAB.restart(plan, LEAF, "zebra", print)
    assert "10.255.1.1/32" in lab.run(LEAF, "ip", "-br", "addr", "show", "dev", "lo").stdout
    wait_for(lambda: "10.254.1.1/32" in lab.show(LEAF, "ip route"), "the route to the spine")


def test_a_restarted_switch_has_its_startup_configuration_and_nothing_else(lab: RunningLab, plan: LabPlan) -> None:
    before = holders(lab)
    lab.vtysh(LEAF, "-c", "configure terminal", "-c", "ip prefix-list UNSAVED permit 10.0.0.0/8")
    lab.run(LEAF, "ip", "addr", "add", "192.0.2.1/32", "dev", "lo")
    lab.run(LEAF, "ip", "link", "set", "swp1", "mtu", "1500", "down")
    progress: list[str] = []
    LAB.restart(plan, LEAF, None, progress.append)
    assert progress == [f"restarting {LEAF}"]
    assert "UNSAVED" not in lab.vtysh(LEAF, "-c", "show running-config")
    addresses = lab.run(LEAF, "ip", "-br", "addr").stdout
    assert "10.255.1.1/32" in addresses
    assert "192.0.2.1" not in addresses
    port = json.loads(lab.run(LEAF, "ip", "-j", "link", "show", "swp1").stdout)[0]
    assert (port["mtu"], "UP" in port["flags"]) == (9000, True)
    wait_for(lambda: lab.established(LEAF) == 1, "its session")
    after = holders(lab)
    assert after.pop(LEAF) != before.pop(LEAF)
    assert after == before, "no other switch and not the agent"


def test_telemetry_of_a_restarted_switch_goes_on(lab: RunningLab, plan: LabPlan) -> None:
    LAB.restart(plan, LEAF, None, print)
    state = "/interfaces/interface[name=swp1]/state/oper-status"
    wait_for(lambda: get(lab, state) == "UP", "the agent has found the new process")
    wait_for(lambda: daemon_state(lab, "bgpd") == "ACTIVE", "and the new daemons")


def test_a_switch_whose_first_process_was_killed_is_restarted(lab: RunningLab, plan: LabPlan) -> None:
    os.kill(holders(lab)[LEAF].pid, signal.SIGKILL)
    wait_for(lambda: LAB.status(plan.place).state == "degraded", "it is gone")
    with pytest.raises(LabError) as raised:
        LAB.restart(plan, LEAF, "bgpd", print)
    assert str(raised.value) == (f"switch {LEAF}: does not run. Run `railfab lab restart {LEAF}` without --daemon.")
    LAB.restart(plan, LEAF, None, print)
    assert LAB.status(plan.place).state == "running"


@pytest.mark.parametrize(
    ("node", "daemon", "line"),
    [
        ("pod1-seg1-host1", None, "pod1-seg1-host1: is a host, in which nothing runs. Name one of {switches}."),
        ("leaf9", None, "leaf9: is not a node of this lab. Name one of {switches}."),
        (LEAF, "ospfd", "daemon 'ospfd': does not run on a switch of a lab. Use one of zebra, staticd, bgpd, bfdd."),
    ],
)
def test_what_cannot_be_restarted_is_one_line(
    lab: RunningLab, plan: LabPlan, node: str, daemon: str | None, line: str
) -> None:
    with pytest.raises(LabError) as raised:
        LAB.restart(plan, node, daemon, print)
    assert str(raised.value) == line.format(switches=f"{LEAF}, pod1-seg1-leaf2, {SPINE}")


def test_a_lab_with_another_topology_is_not_restarted(lab: RunningLab, plan: LabPlan) -> None:
    other = {
        name: replace(model, interfaces=tuple(replace(port, mtu_bytes=1500) for port in model.interfaces))
        for name, model in plan.models.items()
    }
    with pytest.raises(LabError, match=r"^lab small: is up with another topology than the intent\. "):
        LAB.restart(replace(plan, models=other), LEAF, None, print)


def test_a_lab_that_is_down_is_one_line(plan: LabPlan, tmp_path: Path) -> None:
    place = replace(plan.place, state=tmp_path)
    with pytest.raises(LabError) as raised:
        LAB.restart(replace(plan, place=place), LEAF, None, print)
    assert str(raised.value) == "lab small: is not up. Start it with `railfab lab up`."


def test_up_configured_deploys_to_a_lab_that_is_up(lab: RunningLab, plan: LabPlan) -> None:
    lab.vtysh(LEAF, "-c", "configure terminal", "-c", "no router bgp")
    command = ["up", str(lab.intent), "--configured", "--state", str(plan.place.state), "--output", "json"]
    done = CliRunner().invoke(lab_app, command)
    assert done.exit_code == 0, done.output
    assert "lab small is up already" in done.stderr.splitlines()
    assert {switch["name"]: switch["changed"] for switch in json.loads(done.stdout)} == {
        LEAF: True,
        "pod1-seg1-leaf2": False,
        SPINE: False,
    }
    wait_for(lambda: lab.established(LEAF) == 1, "the session is back")
    assert "router bgp" in (lab.state.runtime / LEAF / "etc-frr/frr.conf").read_text()


def test_up_without_configured_changes_nothing_on_a_lab_that_is_up(lab: RunningLab, plan: LabPlan) -> None:
    lab.vtysh(LEAF, "-c", "configure terminal", "-c", "ip prefix-list KEPT permit 10.0.0.0/8")
    done = CliRunner().invoke(lab_app, ["up", str(lab.intent), "--state", str(plan.place.state)])
    assert done.exit_code == 0, done.output
    assert "KEPT" in lab.vtysh(LEAF, "-c", "show running-config")


@pytest.fixture
def narrow_port(lab: RunningLab) -> str:
    """A port that Linux has disabled and given another MTU, behind the back of FRR."""
    lab.run(LEAF, "ip", "link", "set", "swp1", "mtu", "1500", "down")
    return f"{LEAF} swp1"


def railfab(verb: str, lab: RunningLab, *arguments: str) -> tuple[int, Any]:
    """Exit code and JSON of a command on the lab."""
    state = ["--state", str(lab.place.state)] if "lab" in arguments else []
    accepted = ["--accept", "cut"] if verb == "deploy" else []  # each port of its hosts has an address of its own
    done = CliRunner().invoke(app, [verb, str(lab.intent), *state, *accepted, "--output", "json", *arguments])
    return done.exit_code, json.loads(done.stdout)


def link_of(lab: RunningLab, port: str) -> tuple[int, bool]:
    """MTU of a port of the leaf, and whether it is enabled."""
    found = json.loads(lab.run(LEAF, "ip", "-j", "link", "show", port).stdout)[0]
    return found["mtu"], "UP" in found["flags"]


def test_a_deploy_sets_what_linux_has_in_a_lab(lab: RunningLab, narrow_port: str) -> None:
    _, found = railfab("verify", lab, "--on", "lab", "--wait", "0", "--limit", LEAF)
    remedies = {finding["code"]: finding["remedy"] for finding in found["findings"] if finding["where"] == narrow_port}
    assert [finding["where"] for finding in found["findings"] if "differs" in finding["problem"]] == []
    assert remedies == dict.fromkeys(["interface-disabled", "mtu-mismatch"], "Deploy the intent")
    code, outcomes = railfab("deploy", lab, "--on", "lab", "--yes", "--limit", LEAF)
    assert code == 0
    changed = next(outcome for outcome in outcomes if outcome["changed"])
    assert changed["name"] == LEAF
    assert "-! ip link set dev swp1 mtu 1500 down" in changed["diff"].splitlines()
    assert "+! ip link set dev swp1 mtu 9000 up" in changed["diff"].splitlines()
    assert link_of(lab, "swp1") == (9000, True)
    _, again = railfab("deploy", lab, "--on", "lab", "--yes", "--limit", LEAF)
    assert not any(outcome["changed"] for outcome in again)
    assert railfab("verify", lab, "--on", "lab", "--wait", "60")[0] == 0


def test_a_rollback_restores_what_linux_had(lab: RunningLab, narrow_port: str) -> None:
    assert railfab("deploy", lab, "--on", "lab", "--yes", "--limit", LEAF)[0] == 0
    code, outcomes = railfab("rollback", lab, "--on", "lab", "--yes")
    assert (code, [outcome["name"] for outcome in outcomes]) == (0, [narrow_port.partition(" ")[0]])
    assert link_of(lab, "swp1") == (1500, False)
    assert railfab("deploy", lab, "--on", "lab", "--yes", "--limit", LEAF)[0] == 0
    assert link_of(lab, "swp1") == (9000, True)


def test_where_linux_belongs_to_somebody_else_verify_says_what_to_do(
    lab: RunningLab, narrow_port: str, tmp_path: Path
) -> None:
    switches = load_endpoints(lab.place.endpoints_file)
    foreign = tmp_path / "switches.json"
    nodes = tuple(replace(node, owns_system=False) for node in switches.nodes)
    save_endpoints(foreign, replace(switches, nodes=nodes))
    _, outcomes = railfab("deploy", lab, "--on", str(foreign), "--yes", "--limit", LEAF)
    assert not any(outcome["changed"] for outcome in outcomes)
    assert link_of(lab, "swp1") == (1500, False)
    _, found = railfab("verify", lab, "--on", str(foreign), "--wait", "0", "--limit", LEAF)
    remedies = {finding["code"]: finding["remedy"] for finding in found["findings"] if finding["where"] == narrow_port}
    assert remedies["mtu-mismatch"].startswith("Set it with `ip link set dev swp1 mtu 9000`, and for the next boot in")
    assert remedies["interface-disabled"].startswith(
        "Enable it with `ip link set dev swp1 up`, and for the next boot in"
    )
    assert railfab("deploy", lab, "--on", "lab", "--yes", "--limit", LEAF)[0] == 0


def test_the_command_restarts_a_daemon(lab: RunningLab, plan: LabPlan) -> None:
    command = ["restart", str(lab.intent), LEAF, "--daemon", "bfdd", "--state", str(plan.place.state)]
    done = CliRunner().invoke(lab_app, command)
    assert (done.exit_code, done.stderr) == (0, f"bfdd is up again on {LEAF}\n")
    answer = CliRunner().invoke(lab_app, [*command, "--output", "json"])
    assert conforming("lab-restart", answer.stdout) == {"fabric": "small", "node": LEAF, "daemon": "bfdd"}
