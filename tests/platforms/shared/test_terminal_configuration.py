"""Lines of `configure terminal` that arrive together: one convergence, and a refusal for each bad line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import netmiko
import pytest

from railfab.device import DeviceModel
from railfab.endpoints import read_credentials
from railfab.fabric import design
from railfab.ssh import Cli, CliUser
from railfab.twin import Twin
from railfab.twin.switch import VirtualSwitch

LEAF = "pod1-seg1-leaf1"
DRIVERS = {"eos": "arista_eos", "nxos": "cisco_nxos"}


@pytest.fixture(scope="module", params=DRIVERS)
def twin(request: pytest.FixtureRequest, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    rack = design(repository / "tests" / "deploy" / f"rack_{request.param}.yml")
    with Twin(rack, state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def switch(twin: Twin) -> Iterator[VirtualSwitch]:
    switch = twin._switches[LEAF]
    before = switch.running()
    yield switch
    switch.replace(before)


@pytest.fixture
def convergences(switch: VirtualSwitch, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The switches of the configurations that the fabric has taken."""
    applied: list[str] = []
    apply = switch._apply

    def counted(name: str, model: DeviceModel | None) -> None:
        applied.append(name)
        apply(name, model)

    monkeypatch.setattr(switch, "_apply", counted)
    return applied


@pytest.fixture
def cli(switch: VirtualSwitch) -> Cli:
    """A login in `configure terminal`."""
    new = switch._face.cli
    assert new is not None
    login = new(switch)(CliUser(name="admin"))
    for line in ("enable", "configure terminal"):
        login.answer(line)
    return login


def pasted(cli: Cli, *lines: str) -> list[str]:
    """The outputs of lines that arrive together."""
    return [cli.answer(line, place < len(lines)).output for place, line in enumerate(lines, start=1)]


def test_a_paste_of_500_lines_converges_a_few_times(twin: Twin, convergences: list[str]) -> None:
    endpoint = twin.endpoints.by_name()[LEAF]
    login = read_credentials(endpoint)
    lines = [line for n in range(250) for line in ("interface Ethernet1/1", f"description cable-{n}")]
    with netmiko.ConnectHandler(
        device_type=DRIVERS[endpoint.platform],
        host=endpoint.host,
        port=endpoint.ssh_port,
        username=login.username,
        password=login.password,
        conn_timeout=30,
    ) as connection:
        connection.enable()
        connection.config_mode()
        connection.write_channel("".join(f"{line}\n" for line in lines) + "end\n")
        shown = connection.read_until_pattern(rf"{LEAF}# ?$", read_timeout=60)
        assert "cable-249" in connection.send_command("show running-config")
    assert shown.count("description cable-") == 250
    assert 1 <= len(convergences) <= 5


def test_a_command_sees_the_lines_before_it(cli: Cli, convergences: list[str]) -> None:
    lines = ["interface Ethernet1/1", "description one", "exit", "show running-config", "hostname other"]
    assert "description one" in pasted(cli, *lines)[3]
    assert len(convergences) == 2


def test_the_prompt_has_a_hostname_that_waits(cli: Cli) -> None:
    assert cli.answer("hostname renamed", True).prompt.startswith("renamed(config)#")


def test_lines_wait_for_no_more_than_the_end_of_a_session(cli: Cli, switch: VirtualSwitch) -> None:
    for line in ("interface Ethernet1/1", "description last"):
        cli.answer(line, True)
    assert "description last" not in switch.running()
    cli.closed()
    assert "description last" in switch.running()


def test_a_refused_line_of_a_paste_is_the_only_one_that_has_no_effect(
    cli: Cli, switch: VirtualSwitch, convergences: list[str]
) -> None:
    lines = ["interface Ethernet1/1", "description before", "ip address 300.0.0.1/24", "description after", "no mtu"]
    outputs = pasted(cli, *lines)
    assert sum(bool(output) for output in outputs) == 1
    assert "description after" in switch.running()
    assert "300.0.0.1" not in switch.running()
    assert len(convergences) == 1


def test_a_line_of_another_terminal_stays(cli: Cli, switch: VirtualSwitch) -> None:
    new = switch._face.cli
    assert new is not None
    second = new(switch)(CliUser(name="admin"))
    pasted(cli, "interface Ethernet1/1", "description mine")
    for line in ("enable", "configure terminal", "interface Loopback0", "description theirs"):
        second.answer(line)
    pasted(cli, "description still-mine")
    assert {"description theirs", "description still-mine"} <= {line.strip() for line in switch.running().splitlines()}


@pytest.mark.parametrize("together", [False, True])
def test_the_running_configuration_can_be_pasted(cli: Cli, switch: VirtualSwitch, together: bool) -> None:
    before, lines = switch.model, switch.running().splitlines()
    outputs = pasted(cli, *lines) if together else [cli.answer(line).output for line in lines]
    assert set(outputs) == {""}
    assert before is not None
    assert switch.model is not None
    assert replace(switch.model, unmodelled=()) == replace(before, unmodelled=())
