"""Deploys to virtual switches with EOS over SSH: by the commands of a user, by sessions, and by netmiko."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import netmiko
import pytest
from tests.integration.switches.racks import (
    LEAF,
    LISTING,
    Railfab,
    deployed,
    name,
    opened,
)
from tests.pasted import type_session
from tests.twin.twins import netmiko_login

from railfab.device import DeviceModel
from railfab.endpoints import Endpoint
from railfab.errors import CommitRefused, DeviceError
from railfab.fabric.design import Design
from railfab.platforms import Verb, platform
from railfab.platforms.eos.scoped import former_text, scoped
from railfab.twin import Twin

NAME = "eos"
EOS = platform("eos")
SHORT_S = 2


@contextmanager
def typing(endpoint: Endpoint, username: str = "") -> Iterator[netmiko.BaseConnection]:
    """The switch in netmiko, privileged."""
    others = {"username": username} if username else {}
    with netmiko_login(endpoint, "arista_eos", **others) as connection:
        connection.enable()
        yield connection


def text(model: DeviceModel) -> str:
    return EOS.text(EOS.render(model))


def described(model: DeviceModel, description: str) -> str:
    first, *rest = model.interfaces
    return text(replace(model, interfaces=(replace(first, description=description), *rest)))


def test_a_user_deploys_verifies_changes_a_threshold_and_rolls_back(
    railfab: Railfab, twin: Twin, rack: Path, tmp_path: Path, leaf: Endpoint
) -> None:
    deployed = railfab("deploy", "--yes")
    assert deployed.returncode == 0, deployed.stderr
    assert "3 of 3 switches: 3 changed" in deployed.stdout
    assert "0 changed" in railfab("deploy", "--yes").stdout
    assert "all 4 BGP session ends are as the intent says" in railfab("verify").stdout
    hotter = tmp_path / "rack.yml"
    hotter.write_text(rack.read_text() + "profile: {lossless: {watchdog: {detect_ms: 300}}}\n")
    planned = railfab("deploy", "--yes", "--accept", "cut", intent=hotter)
    assert planned.returncode == 0, planned.stderr
    with opened(leaf) as session:
        assert "watchdog default timeout 0.3" in session.running().text
    back = railfab("rollback", "--yes")
    assert back.returncode == 0, back.stderr
    with opened(leaf) as session:
        assert "watchdog default timeout 0.2" in session.running().text


def test_what_the_operator_set_stays_and_the_next_boot_has_the_deploy(
    twin: Twin, leaf: Endpoint, model: DeviceModel
) -> None:
    with typing(leaf) as switch:
        switch.send_config_set(["username alice privilege 1 secret *", "ntp server 192.0.2.9"])
    deployed(leaf, described(model, "kept"), "kept")
    running = twin._switches[LEAF].running()
    for line in ("username admin ", "username alice ", "interface Management0\n", "ntp server 192.0.2.9\n"):
        assert line in running
    assert twin._switches[LEAF].startup() == running
    deployed(leaf, text(model), "returned")


def test_a_change_is_reverted_by_the_timer_after_the_connection_was_cut(
    twin: Twin, leaf: Endpoint, model: DeviceModel
) -> None:
    deployed(leaf, text(model), "begin")
    before = twin._switches[LEAF].running()
    with opened(leaf) as session:
        session.commit(session.stage(described(model, "cut off")), name("cut"), SHORT_S)
    assert "cut off" in twin._switches[LEAF].running()
    end_s = time.monotonic() + 30
    while twin._switches[LEAF].running() != before:
        assert time.monotonic() < end_s
        time.sleep(0.1)
    assert twin._switches[LEAF].startup() == before


def test_a_session_that_an_interrupted_deploy_left_is_removed_and_named(
    leaf: Endpoint, model: DeviceModel, caplog: pytest.LogCaptureFixture
) -> None:
    with typing(leaf) as switch:
        switch.send_command("configure session railfab-stage.0badcafe", expect_string=r"\)#")
        switch.send_command("end", expect_string="#")
        switch.send_command("configure session of-somebody", expect_string=r"\)#")
        switch.send_command("end", expect_string="#")
        deployed(leaf, described(model, "after"), "after")
        assert "removes configuration session railfab-stage.0badcafe of an interrupted deploy" in caplog.text
        pending = switch.send_command("show configuration sessions")
        assert "of-somebody" in pending
        assert "railfab-stage.0badcafe" not in pending
        switch.send_command("configure session of-somebody abort")
    deployed(leaf, text(model), "before")


def test_a_session_that_was_left_is_removed_also_where_nothing_changes(leaf: Endpoint, model: DeviceModel) -> None:
    """As after a deploy that was killed while it drained a switch, and is aborted."""
    deployed(leaf, text(model), "same")
    with typing(leaf) as switch:
        switch.send_command("configure session railfab-stage.0badcafe", expect_string=r"\)#")
        switch.send_command("end", expect_string="#")
        with opened(leaf) as session:
            session.running()
            assert session.stage(text(model)).diff == ""
        assert switch.send_command(LISTING["eos"][1][1]) == ""


def test_who_holds_the_sessions_of_a_full_switch_is_named(leaf: Endpoint, model: DeviceModel) -> None:
    with typing(leaf) as switch:
        for number in range(5):
            switch.send_command(f"configure session held{number}", expect_string=r"\)#")
            switch.send_command("end", expect_string="#")
        with opened(leaf) as session, pytest.raises(DeviceError, match=r"as many pending .*held0, held1") as refused:
            session.stage(described(model, "full"))
        assert len(str(refused.value).splitlines()) == 1
        for number in range(5):
            switch.send_command(f"configure session held{number} abort")


def test_the_configuration_of_another_switch_is_refused(leaf: Endpoint, fabric: Design) -> None:
    with opened(leaf) as session, pytest.raises(CommitRefused, match="but the configuration is for pod1-spine1"):
        session.stage(text(fabric.models["pod1-spine1"]))


def test_a_line_that_the_switch_refuses_is_named_and_nothing_is_left(
    twin: Twin, leaf: Endpoint, model: DeviceModel
) -> None:
    with opened(leaf) as session:
        with pytest.raises(CommitRefused, match=r"refuses 'nonsense here' \(% Invalid input\)"):
            session.stage("nonsense here\n" + text(model))
        assert session.stage(text(model)).diff == deployed(leaf, text(model), "again")


def test_the_live_state_has_neighbours_sessions_and_bfd(twin: Twin, railfab: Railfab, leaf: Endpoint) -> None:
    assert railfab("deploy", "--yes").returncode == 0
    end_s = time.monotonic() + 60
    while True:
        with opened(leaf) as session:
            state = session.observe()
        (peering,) = state.sessions
        if peering.established and peering.bfd_up:
            break
        assert time.monotonic() < end_s
        time.sleep(0.5)
    assert (peering.peer, peering.interface, peering.remote_as) == ("Ethernet64/1", "Ethernet64/1", 65001)
    uplink = next(port for port in state.interfaces if port.name == "Ethernet64/1")
    assert (uplink.oper_up, uplink.mtu_bytes) == (True, 9216)
    assert (uplink.neighbor_device, uplink.neighbor_interface) == ("pod1-spine1", "Ethernet1/1")


def test_verbs(twin: Twin, leaf: Endpoint, model: DeviceModel) -> None:
    with typing(leaf) as switch:
        switch.send_config_set(["interface Ethernet1/1", "description by hand"])
    with opened(leaf) as session:
        session.operate(Verb.SAVE)
        assert "by hand" in twin._switches[LEAF].startup()
        boots = twin._switches[LEAF].boots
        session.operate(Verb.RELOAD)
    end_s = time.monotonic() + 30
    while twin._switches[LEAF].boots == boots:
        assert time.monotonic() < end_s
        time.sleep(0.1)


def test_a_drain_by_a_command_stays_with_the_next_deploy_until_it_ends(
    railfab: Railfab, leaf: Endpoint, model: DeviceModel
) -> None:
    deployed(leaf, text(model), "begin")
    with typing(leaf) as switch:
        switch.send_config_set(["alias mine show version", "maintenance", "unit mine", "group bgp upstream"])
    assert railfab("drain", LEAF, "--yes").returncode == 0
    with opened(leaf) as session:
        lines = [line.strip() for line in session.running().text.splitlines()]
        assert "quiesce" not in session.stage(described(model, "changed")).former, "a rollback would drain again"
    assert {"quiesce", "alias railfab-drained show maintenance", "alias mine show version", "unit mine"} <= {*lines}
    planned = railfab("deploy", "--plan", "--output", "json")
    assert [outcome["drained"] for outcome in json.loads(planned.stdout)] == [True, False, False]
    assert railfab("undrain", LEAF).returncode == 0
    with opened(leaf) as session:
        ended = [line.strip() for line in session.running().text.splitlines()]
    assert sorted({*lines} - {*ended}) == ["alias railfab-drained show maintenance", "quiesce", "unit System"]


def test_a_switch_without_bgp_is_not_drained(leaf: Endpoint) -> None:
    deployed(leaf, f"hostname {LEAF}\n", "bare")
    with opened(leaf) as session, pytest.raises(CommitRefused, match="has no BGP to drain"):
        session.operate(Verb.DRAIN)


def test_a_former_configuration_says_what_a_deploy_of_it_removes(model: DeviceModel) -> None:
    wanted = text(model) + "ntp server 10.0.0.1\n"
    before = f"hostname {LEAF}\n!\nusername admin secret *\n"
    former = former_text(before, wanted)
    assert "username" not in former
    assert scoped("ntp server 10.0.0.1\nusername admin\n", former) == "ntp server 10.0.0.1\n!\nend\n"


def test_a_stranger_changes_a_port_under_a_timer_as_the_page_of_the_twin_shows(
    twin: Twin, leaf: Endpoint, model: DeviceModel
) -> None:
    with typing(leaf) as switch:
        type_session(switch, "EOS", rf"{LEAF}(?:\(.*?\))?[>#]")
    assert "interface Ethernet1/1\n   mtu 1500\n" in twin._switches[LEAF].startup()
    deployed(leaf, text(model), "back")
