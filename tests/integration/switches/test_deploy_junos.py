"""Deploys to virtual Junos switches over their CLI, by sessions; test_deploys has the commands of a user."""

from __future__ import annotations

from dataclasses import replace

import pytest
from paramiko import AutoAddPolicy, SSHClient
from tests.integration.switches.racks import LEAF, deployed, opened

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused
from railfab.fabric.design import Design
from railfab.platforms import ChangeName, platform
from railfab.platforms.junos.flat_lines import is_same

NAME = "junos"
JUNOS = platform("junos")
CHANGE = ChangeName(deploy="test", user="tester", host="here")


def test_a_threshold_is_changed_alone(fabric: Design, leaf: Endpoint) -> None:
    text = fabric.texts[LEAF]
    deployed(leaf, text, "begin")
    with opened(leaf) as session:
        session.stage(text)
        staged = session.stage(text.replace("mtu 9230", "mtu 9000", 1))
    changes = [line for line in staged.diff.splitlines() if line.startswith(("+", "-"))]
    assert [line.split() for line in changes] == [["-", "mtu", "9230;"], ["+", "mtu", "9000;"]]


def test_the_configuration_of_another_switch_is_refused(fabric: Design, leaf: Endpoint) -> None:
    with opened(leaf) as session, pytest.raises(CommitRefused) as refused:
        session.stage(fabric.texts["pod1-spine1"])
    assert str(refused.value) == (
        f"{LEAF}: has hostname {LEAF}, but the configuration is for pod1-spine1. "
        "Check the address, or set the hostname of the switch first."
    )


def test_a_rollback_removes_what_the_change_added_to_the_topics_of_the_operator(fabric: Design, leaf: Endpoint) -> None:
    """A text without `system ntp` would leave that of the switch, as the operator's."""
    added = "system {\n    ntp {\n        server 192.0.2.7;\n    }\n}\n"
    with opened(leaf) as session:
        before = session.running().text
        staged = session.stage(fabric.texts[LEAF] + added)
        session.commit(staged, CHANGE, 120)
        session.confirm(CHANGE)
        assert "192.0.2.7" in session.running().text
    back = replace(CHANGE, deploy="back")
    with opened(leaf) as session:
        session.commit(session.stage(staged.former), back, 120)
        session.confirm(back)
    with opened(leaf) as session:
        after = session.running().text
        assert "192.0.2.7" not in after
        assert is_same(after, before)


def test_who_holds_the_configuration_is_named(fabric: Design, leaf: Endpoint) -> None:
    changed = fabric.texts[LEAF].replace("mtu 9230", "mtu 9000")
    login = read_credentials(leaf)
    with SSHClient() as client:
        client.set_missing_host_key_policy(AutoAddPolicy())
        client.connect(leaf.host, leaf.ssh_port or 22, login.username, login.password, look_for_keys=False)
        held = client.invoke_shell()
        held.send(b"configure exclusive\r")
        screen = b""
        while b"[edit]" not in screen:
            screen += held.recv(1 << 16)
        with opened(leaf) as session, pytest.raises(CommitRefused, match="is being configured by admin since "):
            session.stage(changed)
        held.send(b"exit\r")
        while b"Exiting configuration mode" not in screen:
            screen += held.recv(1 << 16)
    with opened(leaf) as session:
        assert session.stage(changed).diff


def test_a_candidate_that_the_switch_refuses_leaves_it_as_it_was(fabric: Design, leaf: Endpoint) -> None:
    with opened(leaf) as session:
        before = session.running().text
        with pytest.raises(CommitRefused, match=f"{LEAF}: refuses 'commit check'"):
            session.stage(fabric.texts[LEAF].replace("/31;", "/33;", 1))
        assert session.running().text == before
    with opened(leaf) as session:
        assert "another" in session.stage(fabric.texts[LEAF].replace("rail1-p0", "another", 1)).diff
