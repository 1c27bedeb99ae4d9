"""Deploys to virtual Cumulus Linux switches over SSH: by the commands of a user, by sessions, and by netmiko."""

from __future__ import annotations

import re
import time
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
from railfab.endpoints import Endpoint
from railfab.errors import CommitRefused
from railfab.fabric.design import Design
from railfab.platforms import platform
from railfab.platforms.cumulus.parse import tree_of
from railfab.platforms.cumulus.tree import text
from railfab.platforms.shared.change_tokens import change_token
from railfab.platforms.shared.json_tree import Json

NAME = "cumulus"
CUMULUS = platform("cumulus")


def shell(endpoint: Endpoint, **others: str) -> Any:
    """A login of netmiko."""
    return netmiko_login(endpoint, "cumulus_linux", **others)


def running(endpoint: Endpoint) -> Json:
    with opened(endpoint) as session:
        return tree_of(session.running().text)


def test_one_threshold_is_a_patch_of_one_setting(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    changed = re.sub(r"max-threshold: \d+", "max-threshold: 1700000", rendered(model), count=1)
    diff = deployed(leaf, changed, "threshold")
    changes = [line for line in diff.splitlines() if line.startswith(("+nv", "-nv"))]
    assert [line.split()[-2] for line in changes] == ["max-threshold"] * 2
    assert changes[1].endswith(" 1700000")
    deployed(leaf, rendered(model), "back")


def test_what_the_operator_has_configured_stays(leaf: Endpoint, model: DeviceModel) -> None:
    """Accounts, the management port, and services that the intent does not state."""
    deployed(leaf, rendered(model), "begin")
    with shell(leaf) as connection:
        for command in (
            "nv set system aaa user noc role system-admin",
            "nv set interface eth0 ipv4 address 192.0.2.9/24",
            "nv set system timezone Europe/Berlin",
            "nv config apply -y",
        ):
            answer = connection.send_command(command)
    assert str(answer).startswith("applied_and_saved [rev_id: ")
    assert deployed(leaf, rendered(model), "none") == ""
    deployed(leaf, rendered(model, description="changed"), "changed")
    kept = running(leaf)
    assert set(kept["system"]["aaa"]["user"]) == {"cumulus", "noc"}
    assert kept["system"]["aaa"]["user"]["cumulus"] == {"hashed-password": "*", "role": "system-admin"}
    assert kept["system"]["timezone"] == "Europe/Berlin"
    assert kept["interface"]["eth0"]["ipv4"]["address"] == {"192.0.2.9/24": {}}
    deployed(leaf, rendered(model), "back")


def test_a_candidate_that_the_switch_refuses_is_refused_in_its_words_and_changes_nothing(
    leaf: Endpoint, model: DeviceModel
) -> None:
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    wrong = rendered(model).replace("mtu: 9216", "mtu: 99999", 1)
    with opened(leaf) as session:
        staged = session.stage(wrong)
        with pytest.raises(CommitRefused, match=r"did not accept all of it \(Config invalid at interface\.swp\S+mtu"):
            session.commit(staged, name("wrong"), WITHIN_S)
    assert running(leaf) == before
    assert left_behind(leaf) == ""


def test_the_configuration_of_another_switch_is_refused(leaf: Endpoint, model: DeviceModel, fabric: Design) -> None:
    deployed(leaf, rendered(model), "begin")
    refused = pytest.raises(CommitRefused, match=f"has hostname {LEAF}, but the configuration is for {SPINE}")
    with opened(leaf) as session, refused:
        session.stage(rendered(fabric.models[SPINE]))


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
    with opened(leaf) as session:
        assert session.running().pending is None
        with pytest.raises(CommitRefused, match="was not confirmed in time"):
            session.confirm(name("lost"))
    deployed(leaf, rendered(model, description="next"), "next")
    assert left_behind(leaf) == ""
    deployed(leaf, rendered(model), "back")


def test_a_change_that_was_killed_before_its_timer_is_named_and_reverted(leaf: Endpoint, model: DeviceModel) -> None:
    """A client that dies between the lock and the patch leaves a folder, and no timer."""
    deployed(leaf, rendered(model), "begin")
    before, change = running(leaf), name("killed")
    with shell(leaf) as connection:
        connection.config_mode()
        connection.send_command("mkdir -p /run/railfab/change")
        connection.send_command("cat /proc/uptime > /run/railfab/change/begun")
        connection.send_command(f"echo {change_token(change)} > /run/railfab/change/name")
    with opened(leaf) as session:
        pending = session.running().pending
        assert pending is not None
        assert (pending.change, pending.reverts_in_s) == (change, None)
        with pytest.raises(CommitRefused, match="has an unconfirmed change: killed of tester@here"):
            session.stage(rendered(model, description="x"))
        assert session.stage(rendered(model)).diff == ""
    assert running(leaf) == before
    with opened(leaf) as session:
        with pytest.raises(CommitRefused, match="no longer runs what was committed"):
            session.confirm(change)
        session.revert(change)
        assert session.running().pending is None
    assert running(leaf) == before
    assert left_behind(leaf) == ""


def test_settings_that_root_has_not_applied_are_not_discarded(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    with shell(leaf) as connection:
        connection.config_mode()
        connection.send_command("nv set system timezone Europe/Oslo")
        with opened(leaf) as session:
            assert session.stage(rendered(model)).diff == ""
            with pytest.raises(CommitRefused, match="has settings of root that are not applied"):
                session.stage(rendered(model, description="x"))
        assert "Europe/Oslo" in connection.send_command("nv config diff")
        connection.send_command("nv config detach")
    deployed(leaf, rendered(model, description="x"), "free")
    deployed(leaf, rendered(model), "back")


def test_a_revision_that_an_interrupted_check_left_is_discarded(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    with shell(leaf) as connection:
        connection.config_mode()
        connection.send_command("mkdir -p /run/railfab")
        connection.send_command("echo left > /run/railfab/staged.yaml")
        connection.send_command("nv set interface swp1 description left")
    deployed(leaf, rendered(model, description="next"), "next")
    assert left_behind(leaf) == ""
    assert "description: left" not in text(running(leaf))
    deployed(leaf, rendered(model), "back")


def test_a_stranger_logs_in_and_changes_a_port_as_the_page_of_the_twin_shows(
    railfab: Railfab, leaf: Endpoint, model: DeviceModel
) -> None:
    assert railfab("deploy", "--yes").returncode == 0
    with shell(leaf) as connection:
        type_session(connection, "Cumulus Linux", rf"admin@{LEAF}:mgmt:~\$ ", differs=r"\d+\]")
    assert running(leaf)["interface"]["swp1s0"]["link"]["mtu"] == "9000"
    deployed(leaf, rendered(model), "back")
