"""Deploys to virtual SONiC switches over SSH: by the commands of a user, by sessions, and by netmiko."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from tests.integration.switches.racks import (
    LEAF,
    REVERTED_WITHIN_S,
    SPINE,
    WITHIN_S,
    Railfab,
    deployed,
    left_behind,
    name,
    opened,
    rendered,
)
from tests.pasted import type_session
from tests.twin.twins import netmiko_login

from railfab.device import DeviceModel
from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused, DeviceError
from railfab.fabric.design import Design
from railfab.platforms import Verb, platform
from railfab.platforms.shared.change_tokens import change_token
from railfab.platforms.sonic.shell import SonicShell
from railfab.platforms.sonic.tables import Tables, text, tree_of

NAME = "sonic"
SONIC = platform("sonic")


def shell(endpoint: Endpoint, **others: str) -> Any:
    """A login of netmiko."""
    return netmiko_login(endpoint, "linux", **others)


def running(endpoint: Endpoint) -> Tables:
    with opened(endpoint) as session:
        return tree_of(session.running().text)


def test_one_threshold_is_a_patch_of_one_field(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    tree = SONIC.render(model)
    profile, fields = next(iter(tree["WRED_PROFILE"].items()))
    changed = tree | {"WRED_PROFILE": tree["WRED_PROFILE"] | {profile: fields | {"green_max_threshold": "1700000"}}}
    diff = deployed(leaf, text(changed), "threshold")
    changes = [line for line in diff.splitlines() if line.startswith(("+ ", "- "))]
    assert [line.split('"')[1] for line in changes] == ["green_max_threshold"] * 2
    assert running(leaf)["WRED_PROFILE"][profile]["green_max_threshold"] == "1700000"
    deployed(leaf, rendered(model), "back")


def test_what_the_operator_has_configured_stays(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    with shell(leaf) as connection:
        connection.config_mode()
        operator = '{"SNMP": {"CONTACT": {"Contact": "noc"}}, "FEATURE": {"snmp": {"state": "enabled"}}}'
        connection.send_command(f"echo '{operator}' > /tmp/mine.json")
        assert "--write-to-db" in connection.send_command("config load -y /tmp/mine.json")
    assert deployed(leaf, rendered(model), "none") == ""
    deployed(leaf, rendered(model, description="changed"), "changed")
    assert running(leaf)["SNMP"] == {"CONTACT": {"Contact": "noc"}}
    deployed(leaf, rendered(model), "back")


def test_a_candidate_that_the_switch_refuses_is_refused_in_its_words_and_changes_nothing(
    leaf: Endpoint, model: DeviceModel
) -> None:
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    wrong = SONIC.render(model) | {"NO_SUCH_TABLE": {"row": {"field": "1"}}}
    with opened(leaf) as session, pytest.raises(CommitRefused) as refused:
        session.stage(text(wrong))
    assert "rejects the change" in str(refused.value)
    assert "NO_SUCH_TABLE" in str(refused.value)
    assert running(leaf) == before
    assert left_behind(leaf) == ""


def test_a_patch_that_fails_when_it_is_applied_is_reverted_at_once(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    wrong = text(SONIC.render(model) | {"NO_SUCH_TABLE": {"row": {"field": "1"}}})
    with opened(leaf) as session:
        staged = session.stage(rendered(model, description="x"))
        with pytest.raises(CommitRefused, match="NO_SUCH_TABLE") as refused:
            session.commit(replace(staged, text=wrong), name("wrong"), WITHIN_S)
    assert "the switch runs its former configuration" in str(refused.value)
    assert running(leaf) == before
    assert left_behind(leaf) == ""


def test_a_switch_that_does_not_take_all_of_a_patch_is_reverted(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(leaf, rendered(model), "begin")
    monkeypatch.setattr(SonicShell, "apply_patch", lambda _shell, file: f"Patch applied successfully: {file}")
    with opened(leaf) as session:
        staged = session.stage(rendered(model, description="x"))
        with pytest.raises(CommitRefused, match=r"did not accept all of it, as `PORT\|Ethernet0 description"):
            session.commit(staged, name("ignored"), WITHIN_S)
    assert left_behind(leaf) == ""


def test_a_change_beside_which_somebody_changed_the_switch_is_not_kept(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    before, change = running(leaf), name("disturbed")
    with opened(leaf) as session:
        session.commit(session.stage(rendered(model, description="x")), change, WITHIN_S)
    with shell(leaf) as connection:
        connection.config_mode()
        connection.send_command('echo \'{"PORT": {"Ethernet0": {"mtu": "9000"}}}\' > /tmp/mtu.json')
        connection.send_command("config load -y /tmp/mtu.json")
    with opened(leaf) as session:
        with pytest.raises(CommitRefused, match="no longer runs what was committed"):
            session.confirm(change)
        session.revert(change)
    assert running(leaf) == before


def test_the_configuration_of_another_switch_is_refused(leaf: Endpoint, model: DeviceModel, fabric: Design) -> None:
    deployed(leaf, rendered(model), "begin")
    with opened(leaf) as session:
        with pytest.raises(CommitRefused, match=f"has hostname {LEAF}, but the configuration is for {SPINE}"):
            session.stage(text(SONIC.render(fabric.models[SPINE])))
        ports = SONIC.render(model)
        ports["PORT"]["Ethernet400"] = {"admin_status": "up"}
        with pytest.raises(CommitRefused, match="has no port Ethernet400"):
            session.stage(text(ports))


def test_a_change_whose_session_is_lost_is_reverted_by_the_switch_and_leaves_nothing(
    leaf: Endpoint, model: DeviceModel
) -> None:
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    with opened(leaf) as session:
        staged = session.stage(rendered(model, description="lost"))
        session.commit(staged, name("lost"), 2)
        pending = session.running().pending
    assert pending is not None
    assert pending.change == name("lost")
    assert "lost of tester@here, made" in pending.description
    until_s = time.monotonic() + REVERTED_WITHIN_S
    while running(leaf) != before:
        assert time.monotonic() < until_s
        time.sleep(0.2)
    with opened(leaf) as session, pytest.raises(CommitRefused, match="was not confirmed in time"):
        session.confirm(name("lost"))
    assert left_behind(leaf) == ""


def test_a_change_that_was_killed_before_its_timer_is_named_and_reverted(leaf: Endpoint, model: DeviceModel) -> None:
    """A client that dies between the lock and the patch leaves a folder, and no timer."""
    deployed(leaf, rendered(model), "begin")
    before, change = running(leaf), name("killed")
    with shell(leaf) as connection:
        connection.config_mode()
        connection.send_command("mkdir -p /run/railfab/change")
        connection.send_command(f"echo {change_token(change)} > /run/railfab/change/name")
    with opened(leaf) as session:
        pending = session.running().pending
        assert pending is not None
        assert (pending.change, pending.reverts_in_s) == (change, None)
        with pytest.raises(CommitRefused, match="has an unconfirmed change: killed of tester@here"):
            session.commit(session.stage(rendered(model, description="x")), name("next"), WITHIN_S)
        session.revert(change)
        assert session.running().pending is None
    assert running(leaf) == before


def test_gnmi_and_the_shell_change_the_same_configuration(railfab: Railfab, leaf: Endpoint) -> None:
    assert railfab("deploy", "--yes").returncode == 0
    assert railfab("verify").returncode == 0
    credentials = read_credentials(leaf)
    assert SONIC.running_text is not None
    assert tree_of(SONIC.running_text(leaf, credentials)) == running(leaf)
    with shell(leaf) as connection:
        assert tree_of(str(connection.send_command("show runningconfiguration all"))) == running(leaf)
        assert connection.send_command("config save -y") == "Root privileges are required for this operation"
        assert connection.send_command("nv show system") == "-bash: nv: command not found"
        ports = str(connection.send_command("show interfaces status")).splitlines()
        assert ports[0].split()[:5] == ["Interface", "Lanes", "Speed", "MTU", "FEC"]
        assert [line.split()[0] for line in ports[2:]] == sorted(running(leaf)["PORT"], key=lambda port: int(port[8:]))
        assert SPINE in connection.send_command("show lldp table")
        summary = json.loads(str(connection.send_command("vtysh -c 'show bgp summary json'")))
        assert {peer["state"] for peer in summary["ipv4Unicast"]["peers"].values()} == {"Established"}


def test_a_switch_that_saves_reloads_what_it_saved(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    with shell(leaf) as connection:
        connection.config_mode()
        connection.send_command('echo \'{"SNMP": {"LOCATION": {"Location": "hall"}}}\' > /tmp/mine.json')
        connection.send_command("config load -y /tmp/mine.json")
    with opened(leaf) as session:
        session.operate(Verb.SAVE)
        session.operate(Verb.RELOAD)
    until_s = time.monotonic() + REVERTED_WITHIN_S
    while True:
        try:
            assert running(leaf)["SNMP"]["LOCATION"] == {"Location": "hall"}
            return
        except DeviceError:
            assert time.monotonic() < until_s
            time.sleep(0.2)


def test_a_stranger_logs_in_and_changes_a_port_as_the_page_of_the_twin_shows(
    railfab: Railfab, leaf: Endpoint, model: DeviceModel
) -> None:
    assert railfab("deploy", "--yes").returncode == 0
    with shell(leaf) as connection:
        type_session(connection, "SONiC", rf"admin@{LEAF}:~\$ ")
    assert running(leaf)["PORT"]["Ethernet0"]["mtu"] == "9100"
    deployed(leaf, rendered(model), "back")
