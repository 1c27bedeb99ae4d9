"""What `railfab twin status` says of the faults that were made, and the commands that it proposes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.twin.small_fabric import DOWNLINK, LEAF, OTHER_SPINE, OTHER_UPLINK, SPINE, UPLINK, small
from tests.twin.twins import until
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import STATE_DIR, state_option
from railfab.errors import DeviceError, EndpointError
from railfab.twin import Twin, connect
from railfab.twin.control import not_running

FIBRE = (LEAF, UPLINK, "down", "--direction", "receive")
UNDO = "Undo it with railfab "


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(small(), state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as twin:
        yield twin


@pytest.fixture(scope="module")
def state(twin: Twin) -> Path:
    return Path(twin.endpoints.nodes[0].credentials or "").parent


def railfab(*words: str, width: int = 200) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, words, env={"COLUMNS": str(width)})
    assert done.exit_code == 0, done.output
    return done.stdout


def listed(state: Path) -> list[str]:
    """The faults that the status lists."""
    lines = railfab("twin", "status", "--state", str(state), width=1000).splitlines()
    return [line for line in lines if UNDO in line]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (("switch", SPINE, "stop"), f"{SPINE} has no gNMI and no SSH server"),
        (("switch", SPINE, "hang"), f"{SPINE} hangs"),
        (("switch", SPINE, "off"), f"{SPINE} has no power"),
        (("link", SPINE, DOWNLINK, "down"), f"the cable of {LEAF} {UPLINK} and {SPINE} {DOWNLINK} is broken"),
        (("link", *FIBRE), f"{LEAF} {UPLINK} receives no light"),
        (("link", *FIBRE, "--undetected"), f"{LEAF} {UPLINK} loses all"),
        (("fault", LEAF, UPLINK, "--optic-loss", "1"), f"{LEAF} {UPLINK} misses 1 dB of light"),
        (("cable", LEAF, UPLINK, LEAF, OTHER_UPLINK), f"{LEAF} {UPLINK} leads to {OTHER_SPINE} {DOWNLINK}"),
        (("cable", LEAF, UPLINK, OTHER_SPINE, DOWNLINK), f"{LEAF} {UPLINK} leads to {LEAF} {OTHER_UPLINK}"),
    ],
    ids=" ".join,
)
def test_each_fault_is_listed_with_the_command_that_undoes_it(
    twin: Twin, state: Path, made: tuple[str, ...], says: str
) -> None:
    assert listed(state) == []
    railfab("twin", *made, "--state", str(state))
    found = listed(state)
    assert any(line.startswith(says) for line in found), found
    railfab(*shlex.split(found[0].partition(UNDO)[2]))
    until(lambda: listed(state) == [])


def test_a_status_is_as_wide_as_the_terminal(twin: Twin, state: Path) -> None:
    railfab("twin", "switch", SPINE, "stop", "--state", str(state))
    railfab("twin", "link", LEAF, UPLINK, "down", "--state", str(state))
    lines = railfab("twin", "status", "--state", str(state), width=80).splitlines()
    assert max(len(line) for line in lines if str(state) not in line) <= 80
    text = "\n".join(lines).replace(" \\\n", "").split()
    words = f"Undo it with railfab twin link {LEAF} {UPLINK} up --state {state}".split()
    assert " ".join(words) in " ".join(text), "a command of several lines is one for a shell"
    twin.start_switch(SPINE)
    twin.set_link(LEAF, UPLINK, up=True)


def test_the_faults_have_their_kind_and_place_in_the_document(twin: Twin, state: Path) -> None:
    railfab("twin", "link", LEAF, UPLINK, "down", "--state", str(state))
    (found,) = json.loads(railfab("twin", "status", "--state", str(state), "--output", "json"))
    (fault,) = found["status"]["fault_details"]
    assert (fault["kind"], fault["node"], fault["port"]) == ("broken", LEAF, UPLINK)
    assert found["status"]["faults"] == [f"{fault['problem']}. {UNDO}twin {fault['undo']}"]
    assert connect(state, twin.fabric).status().fault_details[0].undo == f"link {LEAF} {UPLINK} up"
    twin.set_link(LEAF, UPLINK, up=True)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ((SPINE, DOWNLINK, "down"), f"the cable to {SPINE} {DOWNLINK} is broken"),
        (FIBRE, f"the cable to {SPINE} {DOWNLINK} has a fibre that does not work"),
    ],
    ids=("broken", "fibre"),
)
def test_a_cable_that_does_not_work_is_not_exchanged(
    twin: Twin, state: Path, made: tuple[str, ...], problem: str
) -> None:
    railfab("twin", "link", *made, "--state", str(state))
    remedy = f"Restore it first: railfab twin link {LEAF} {UPLINK} up."
    with pytest.raises(DeviceError, match=re.escape(f"link {LEAF} {UPLINK}: {problem}. {remedy}")):
        connect(state, twin.fabric).exchange_cables((LEAF, OTHER_UPLINK), (LEAF, UPLINK))
    assert len(listed(state)) == 1, "it stays as it is"
    twin.set_link(LEAF, UPLINK, up=True)


def test_a_loss_of_light_is_a_number_of_db(state: Path) -> None:
    for value in ("nan", "inf", "-1", "61"):
        words = ["twin", "fault", LEAF, UPLINK, "--optic-loss", value, "--state", str(state)]
        done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
        assert done.exit_code == 2
        assert f"{float(value):g} is not a number of dB from 0 to 60." in done.stderr
    assert "Light that the port misses, in dB; 0: none." in railfab("twin", "fault", "--help")


def test_a_state_directory_is_named_in_commands_unless_it_is_the_default_one(tmp_path: Path) -> None:
    assert state_option(STATE_DIR) == ""
    assert state_option(Path("a b")) == " --state 'a b'"
    assert str(not_running("pod64", STATE_DIR)).endswith("Start it with railfab twin FILE.")
    with pytest.raises(EndpointError, match=f"Start it with railfab twin FILE --state {tmp_path}"):
        connect(tmp_path, "pod64")
