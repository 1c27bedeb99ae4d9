"""Fibres that carry nothing in one direction, a switch that hangs, and one without power: seen over real gNMI."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.twin.small_fabric import DOWNLINK, LEAF, OTHER_SPINE, OTHER_UPLINK, SPINE, UPLINK, small
from tests.twin.test_port_mistakes import HELLO, LONG, bfd, mistake, names, session, statistics
from tests.twin.twins import Switch, elapsed_s, endpoint, pass_time, switch, until
from typer.testing import CliRunner

from railfab.cli import app
from railfab.cli.twin_faults import FibreSide, SwitchVerb
from railfab.endpoints import read_credentials
from railfab.errors import DeviceError, LabError
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.gnmi.target import Commit, CommitAction
from railfab.twin import Direction, SwitchOperation, Twin

SPEED = 10.0
DETECTION_S, CONNECT_RETRY_S = 0.9, 10.0
"""Three intervals of 300 ms, as in the intent; and what railfab configures on SR Linux."""
ROLLBACK_S = 8.0
"""In which the test has to have the switch hang [s]."""
RESTORE = f"Undo it with railfab twin link {LEAF} {UPLINK} up"
LIGHT = "transceiver/channel[index=1]/input-power"


class Ends(NamedTuple):
    """A running twin, and the switches at both ends of UPLINK."""

    twin: Twin
    state: Path
    leaf: Switch
    spine: Switch

    def command(self, *words: str) -> None:
        result = CliRunner().invoke(app, ["twin", *words, "--state", str(self.state)])
        assert result.exit_code == 0, result.output

    def sessions(self) -> tuple[str, str]:
        """The session over UPLINK, at both ends."""
        return session(self.leaf, UPLINK)["session-state"], session(self.spine, DOWNLINK)["session-state"]

    def switches_up(self) -> str:
        """What `railfab twin status` shows, `3/4`."""
        result = CliRunner().invoke(app, ["twin", "status", "--state", str(self.state)], env={"COLUMNS": "200"})
        (row,) = (line.split() for line in result.stdout.splitlines() if line.startswith(self.twin.fabric))
        return row[2]

    def healed(self) -> None:
        until(lambda: self.sessions() == ("established", "established"))
        until(lambda: (bfd(self.leaf, UPLINK), bfd(self.spine, DOWNLINK)) == ("UP", "UP"))
        assert self.twin.status().faults == ()


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ends]:
    with ExitStack() as stack:
        state = tmp_path_factory.mktemp("state")
        twin = stack.enter_context(Twin(small(), state=state, base_port=0, configured=True, speed=SPEED))
        yield Ends(twin, state, *(stack.enter_context(switch(twin, name)) for name in (LEAF, SPINE)))


def port_state(target: Switch, port: str) -> tuple[str, bool]:
    """State of a port, and whether it has too little light."""
    here = f"/interface[name={port}]"
    return target.value(f"{here}/oper-state"), target.value(f"{here}/{LIGHT}/low-alarm-condition")


def test_a_dark_fibre_takes_both_ports_down_and_one_of_them_has_light(ends: Ends) -> None:
    ends.command("link", LEAF, UPLINK, "down", "--direction", "receive")
    until(lambda: port_state(ends.leaf, UPLINK) == ("down", True))
    until(lambda: port_state(ends.spine, DOWNLINK) == ("down", False))
    for target, port in ((ends.leaf, UPLINK), (ends.spine, DOWNLINK)):
        assert target.value(f"/interface[name={port}]/oper-down-reason") == "lower-layer-down"
    assert float(ends.leaf.value(f"/interface[name={UPLINK}]/{LIGHT}/latest-value")) == -40
    assert ends.twin.status().faults == (f"{LEAF} {UPLINK} receives no light. {RESTORE}",)
    ends.command("link", SPINE, DOWNLINK, "up", "--direction", "transmit")
    ends.healed()


def test_a_fibre_that_loses_everything_leaves_ports_up_and_bfd_ends_the_session_at_both_ends(ends: Ends) -> None:
    with mistake(ends.spine, update=HELLO):
        ends.twin.switch_job(LONG)
        pass_time(ends.twin, 0.2)
        until(lambda: names(ends.leaf, UPLINK) == [SPINE])
        began_s = ends.twin.status().simulated_s
        ends.command("link", LEAF, UPLINK, "down", "--direction", "receive", "--undetected")
        ends.leaf.wait_for_news()
        before, sent = statistics(ends.leaf, UPLINK), statistics(ends.spine, DOWNLINK)
        until(lambda: "established" not in ends.sessions())
        assert elapsed_s(ends.twin, began_s) >= DETECTION_S
        assert (bfd(ends.leaf, UPLINK), bfd(ends.spine, DOWNLINK)) == ("DOWN", "DOWN")
        until(lambda: names(ends.leaf, UPLINK) == [])
        assert names(ends.spine, DOWNLINK) == [LEAF], "the other direction works"
        until(lambda: statistics(ends.spine, DOWNLINK)["out-octets"] > sent["out-octets"])
        after = statistics(ends.leaf, UPLINK)
        for counter in ("in-octets", "in-unicast-packets", "in-multicast-packets", "in-error-packets"):
            assert after[counter] == before[counter], counter
        assert after["carrier-transitions"] == before["carrier-transitions"]
        assert port_state(ends.leaf, UPLINK) == port_state(ends.spine, DOWNLINK) == ("up", False)
        assert ends.twin.status().faults == (
            f"{LEAF} {UPLINK} loses all that it is sent, and its link stays up. {RESTORE}",
        )
        ends.twin.switch_job(None)
        ends.command("link", LEAF, UPLINK, "up")
    ends.healed()
    until(lambda: statistics(ends.leaf, UPLINK)["in-multicast-packets"] > after["in-multicast-packets"])


def unanswered(twin: Twin, name: str) -> str:
    """The error of a call that a switch does not answer."""
    node = endpoint(twin, name)
    with (
        pytest.raises(DeviceError) as error,
        BlockingGnmiClient(node, read_credentials(node), dial_timeout_s=2, call_timeout_s=0.5) as client,
    ):
        client.get(["/system/name/host-name"])
    return str(error.value)


def test_a_switch_that_hangs_answers_nothing_and_its_peers_leave_it_though_their_ports_are_up(ends: Ends) -> None:
    with mistake(ends.spine, update=HELLO):
        ends.twin.switch_job(LONG)
        pass_time(ends.twin, 0.2)
        began_s, flips = ends.twin.status().simulated_s, statistics(ends.leaf, UPLINK)["carrier-transitions"]
        ends.command("switch", SPINE, "hang")
        assert "no answer" in unanswered(ends.twin, SPINE)
        until(lambda: session(ends.leaf, UPLINK)["session-state"] != "established")
        assert elapsed_s(ends.twin, began_s) >= DETECTION_S
        until(lambda: names(ends.leaf, UPLINK) == [])
        assert port_state(ends.leaf, UPLINK) == ("up", False)
        assert statistics(ends.leaf, UPLINK)["carrier-transitions"] == flips
        ends.leaf.wait_for_news()
        sent = {port: statistics(ends.leaf, port)["out-unicast-packets"] for port in (UPLINK, OTHER_UPLINK)}
        until(lambda: statistics(ends.leaf, OTHER_UPLINK)["out-unicast-packets"] > sent[OTHER_UPLINK])
        assert statistics(ends.leaf, UPLINK)["out-unicast-packets"] == sent[UPLINK], "traffic has left the switch"
        status = ends.twin.status()
        assert status.stalled == ()
        assert [(one.running, one.fault) for one in status.switches if one.name == SPINE] == [(False, "hung")]
        ends.twin.switch_job(None)
        ends.command("switch", SPINE, "resume")
        assert session(ends.spine, DOWNLINK)["session-state"] != "established", "its peer has ended the session"
    ends.healed()


def test_a_switch_without_power_is_dark_and_boots_its_startup_configuration_with_counters_at_zero(ends: Ends) -> None:
    described = f"/interface[name={DOWNLINK}]/description"
    booted = "/platform/chassis/last-booted"
    with switch(ends.twin, OTHER_SPINE) as other:
        ends.twin.switch_job(LONG)
        until(lambda: min(octets(other)) > 10**6)
        before, first = octets(other), other.value(booted)
        other.set(update=[(described, '"never saved"')])
    ends.command("switch", OTHER_SPINE, "off")
    until(lambda: port_state(ends.leaf, OTHER_UPLINK) == ("down", True))
    assert session(ends.leaf, OTHER_UPLINK)["session-state"] == "idle"
    unanswered(ends.twin, OTHER_SPINE)
    assert ends.twin.status().faults == (
        f"{OTHER_SPINE} has no power. Undo it with railfab twin switch {OTHER_SPINE} on",
    )
    with pytest.raises(DeviceError, match=f"{OTHER_SPINE}: has no power and cannot hang. Switch it on first"):
        ends.twin.control.operate(OTHER_SPINE, SwitchOperation.HANG)
    ends.twin.switch_job(None)
    pass_time(ends.twin, 0.2)
    ends.command("switch", OTHER_SPINE, "on")
    with switch(ends.twin, OTHER_SPINE) as other:
        assert max(octets(other)) < min(before), "the counters are lost"
        assert statistics(other, DOWNLINK)["carrier-transitions"] == 1
        assert other.value(booted) > first
        assert "never saved" not in str(other.values(f"/interface[name={DOWNLINK}]", "config"))
        until(lambda: session(ends.leaf, OTHER_UPLINK)["session-state"] == "established")
        other.set(update=[("/system/grpc-server[name=mgmt]/gnmi/commit-save", True), (described, '"saved"')])
    ends.command("switch", OTHER_SPINE, "off")
    ends.command("switch", OTHER_SPINE, "on")
    with switch(ends.twin, OTHER_SPINE) as other:
        assert other.value(described, "config") == "saved"
    ends.healed()


@contextmanager
def ours(twin: Twin, name: str) -> Iterator[BlockingGnmiClient]:
    """A client that can ask for a confirmation, which pygnmi cannot."""
    node = endpoint(twin, name)
    with BlockingGnmiClient(node, read_credentials(node)) as client:
        yield client


def test_a_commit_that_was_not_confirmed_while_its_switch_hung_is_undone_when_it_resumes(ends: Ends) -> None:
    disabled = SetChanges(update=((f"/interface[name={DOWNLINK}]/admin-state", "disable"),))
    with ours(ends.twin, SPINE) as client:
        client.set(disabled, Commit(CommitAction.COMMIT, "late", ROLLBACK_S))
    ends.command("switch", SPINE, "hang")
    time.sleep(ROLLBACK_S + 0.5)
    assert port_state(ends.leaf, UPLINK)[0] == "down", "it does nothing while it hangs"
    ends.command("switch", SPINE, "resume")
    assert ends.spine.value(f"/interface[name={DOWNLINK}]/admin-state", "config") == "enable"
    ends.healed()


def test_a_switch_does_not_boot_a_configuration_that_was_undone(ends: Ends) -> None:
    described = f"/interface[name={DOWNLINK}]/description"
    saved = SetChanges(update=(("/system/grpc-server[name=mgmt]/gnmi/commit-save", True), (described, "undone")))
    with ours(ends.twin, SPINE) as client:
        client.set(saved, Commit(CommitAction.COMMIT, "undone", 60))
        client.set(SetChanges(), Commit(CommitAction.CANCEL, "undone"))
    ends.command("switch", SPINE, "off")
    ends.command("switch", SPINE, "on")
    with switch(ends.twin, SPINE) as spine:
        assert spine.value(described, "config") != "undone"
    until(lambda: session(ends.leaf, UPLINK)["session-state"] == "established")


def test_a_switch_whose_configuration_lost_its_server_is_down_until_it_boots_its_startup_configuration(
    ends: Ends,
) -> None:
    lacks = f"{OTHER_SPINE}: its configuration lacks a gNMI server that is enabled. "
    remedy = "Switch it off and on: it boots its startup configuration, which has one."
    with ours(ends.twin, OTHER_SPINE) as client:
        client.set(SetChanges(replace=(("/", {}),)))
    unanswered(ends.twin, OTHER_SPINE)
    assert [one.name for one in ends.twin.status().switches if not one.running] == [OTHER_SPINE]
    assert ends.switches_up() == "3/4"
    for _ in range(2):
        started = CliRunner().invoke(app, ["twin", "switch", OTHER_SPINE, "start", "--state", str(ends.state)])
        assert isinstance(started.exception, DeviceError)
        assert (str(started.exception), started.output) == (lacks + remedy, "")
    ends.command("switch", OTHER_SPINE, "off")
    ends.command("switch", OTHER_SPINE, "on")
    ends.command("switch", OTHER_SPINE, "start")
    assert ends.switches_up() == "4/4"
    with switch(ends.twin, OTHER_SPINE) as other:
        assert other.value("/system/name/host-name", "config") == OTHER_SPINE


def test_a_switch_that_saved_a_configuration_without_server_does_not_boot_with_one(tmp_path: Path) -> None:
    server = "/system/grpc-server[name=mgmt]"
    saved = SetChanges(update=((f"{server}/gnmi/commit-save", True), (f"{server}/admin-state", "disable")))
    with Twin(small(), state=tmp_path, base_port=0) as twin:
        with ours(twin, SPINE) as client:
            client.set(saved)
        for operation in (SwitchOperation.OFF, SwitchOperation.ON):
            twin.operate(SPINE, operation)
        with pytest.raises(LabError, match=r"Start the twin again: its startup configuration lacks it too\."):
            twin.start_switch(SPINE)


def octets(target: Switch) -> tuple[int, int]:
    found = statistics(target, DOWNLINK)
    return found["in-octets"], found["out-octets"]


def test_a_wrong_name_is_refused_in_one_line(ends: Ends) -> None:
    control = ends.twin.control
    with pytest.raises(DeviceError, match=r"nobody: is not a switch of this twin\. Use one of pod1-seg1-leaf1, "):
        control.operate("nobody", SwitchOperation.OFF)
    with pytest.raises(DeviceError, match=r"there is no cable\. Use a port of the cabling plan"):
        control.set_link(LEAF, "ethernet-1/9", up=False, direction=Direction.RECEIVE)
    control.set_link(LEAF, UPLINK, up=False)
    with pytest.raises(DeviceError, match=r"the cable is cut in both directions\. Restore it first"):
        control.set_link(LEAF, UPLINK, up=False, direction=Direction.TRANSMIT)
    control.set_link(LEAF, UPLINK, up=True)
    ends.healed()


def test_the_words_of_the_commands_are_those_of_the_library() -> None:
    assert [word.value for word in SwitchVerb] == [operation.value for operation in SwitchOperation]
    assert [word.value for word in FibreSide] == [direction.value for direction in Direction]
