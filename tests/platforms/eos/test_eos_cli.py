"""The CLI of a virtual switch with EOS, against a recording of vEOS 4.22.1F and what readers of others make of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ntc_templates.parse import parse_output  # type: ignore[import-untyped]

from railfab.endpoints import Endpoint
from railfab.fabric.design import Design, design
from railfab.platforms.eos.cli import EosCli
from railfab.platforms.eos.config_sessions import ConfigSessions
from railfab.platforms.eos.names import full_interface
from railfab.platforms.eos.running_text import shown
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import END_OF_TEXT, CliUser
from railfab.twin import Twin

LEAF = "pod1-seg1-leaf1"


@pytest.fixture(scope="module")
def rack(repository: Path) -> Design:
    return design(repository / "tests" / "deploy" / "rack_eos.yml")


@pytest.fixture(scope="module")
def twin(rack: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(rack, state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def device(twin: Twin) -> Iterator[VirtualDevice]:
    switch = twin._switches[LEAF]
    before = switch.running()
    yield switch
    switch.replace(before)


@pytest.fixture
def sessions(device: VirtualDevice) -> ConfigSessions:
    return ConfigSessions(device)


@pytest.fixture
def cli(device: VirtualDevice, sessions: ConfigSessions) -> EosCli:
    """A login in privileged mode."""
    login = EosCli(device, sessions, CliUser(name="admin"))
    login.answer("enable")
    return login


def typed(cli: EosCli, *lines: str) -> str:
    """The output of the last of these lines."""
    return [cli.answer(line).output for line in lines][-1]


@pytest.mark.parametrize(
    ("line", "output", "prompt"),
    [
        ("terminal length 0", "Pagination disabled.\n", f"{LEAF}#"),
        ("terminal width 32767", "Width set to 32767 columns.\n", f"{LEAF}#"),
        ("show version | i Software image version", "Software image version: 4.33.1F\n", f"{LEAF}#"),
        ("configure session scrapli_cfg_1", "", f"{LEAF}(config-s-scrapl)#"),
    ],
)
def test_a_command_of_the_recording_has_its_answer(cli: EosCli, line: str, output: str, prompt: str) -> None:
    reply = cli.answer(line)
    assert (reply.output, reply.prompt) == (output, prompt)


def test_a_lag_has_a_mode_of_its_own_which_exit_leaves(cli: EosCli) -> None:
    lines = ("configure session made", "interface Port-Channel1", "no switchport", "exit")
    assert [cli.answer(line).prompt for line in lines][1:] == [
        f"{LEAF}(config-s-made-if-Po1)#",
        f"{LEAF}(config-s-made-if-Po1)#",
        f"{LEAF}(config-s-made)#",
    ]


def test_a_session_is_compared_and_left_as_in_the_recording(cli: EosCli) -> None:
    prompts = [cli.answer(line).prompt for line in ("configure session scrapli_cfg_1", "interface loopback1")]
    assert prompts[-1] == f"{LEAF}(config-s-scrapl-if-Lo1)#"
    typed(cli, "description tacocat")
    difference = typed(cli, "show session-config diffs").splitlines()
    assert difference[:2] == ["--- system:/running-config", "+++ session:/scrapli_cfg_1-session-config"]
    assert [line for line in difference[2:] if line[:1] == "+"] == [
        "+interface Loopback1",
        "+   description tacocat",
        "+!",
    ]
    assert difference[-1] == ""
    assert cli.answer("end").prompt == f"{LEAF}#"
    assert "Loopback1" not in typed(cli, "show running-config")
    assert cli.answer("configure session scrapli_cfg_1").prompt == f"{LEAF}(config-s-scrapl)#"
    assert cli.answer("abort").prompt == f"{LEAF}#"


def test_equal_configurations_have_no_difference(cli: EosCli, device: VirtualDevice) -> None:
    running = device.running().splitlines()
    typed(cli, "configure session same", "rollback clean-config", *running[:-1])
    assert typed(cli, "show session-config diffs") == ""


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [
        (("shwo version",), "% Invalid input\n"),
        (("show",), "% Incomplete command\n"),
        (("configure terminal", "this is no configuration"), "% Invalid input\n"),
        (("configure terminal", "interface Ethernet1/1", "mtu 99999"), "% Invalid input\n"),
        (("configure session absent commit",), "% Session absent does not exist\n"),
    ],
)
def test_a_line_that_the_switch_does_not_take_changes_nothing(
    cli: EosCli, device: VirtualDevice, lines: tuple[str, ...], refusal: str
) -> None:
    before = device.running()
    assert typed(cli, *lines) == refusal
    assert device.running() == before


def test_a_user_who_may_only_read_stays_in_user_mode(device: VirtualDevice, sessions: ConfigSessions) -> None:
    viewer = EosCli(device, sessions, CliUser(name="viewer", writes=False))
    assert viewer.greeting().prompt == f"{LEAF}>"
    assert typed(viewer, "enable") == "% Authorization denied for command 'enable'\n"
    assert typed(viewer, "show running-config") == "% Invalid input (privileged mode required)\n"
    assert "Et64/1" in typed(viewer, "show lldp neighbors")


def test_a_switch_keeps_five_pending_sessions_and_names_them(cli: EosCli, device: VirtualDevice) -> None:
    for number in range(5):
        typed(cli, f"configure session s{number}", "end")
    assert typed(cli, "configure session s5") == "Maximum number of pending sessions has been reached\n"
    listed = json.loads(typed(cli, "show configuration sessions detail | json"))["sessions"]
    assert {name: session["instances"] for name, session in listed.items()} == {f"s{n}": {} for n in range(5)}
    typed(cli, "configure session s0 abort")
    assert typed(cli, "configure session s5") == ""


def test_another_commit_waits_for_the_timer_and_a_second_one_of_the_session_confirms(
    cli: EosCli, device: VirtualDevice
) -> None:
    typed(cli, "configure session first", "interface Ethernet1/1", "description first", "commit timer 00:02:00")
    shown_sessions = typed(cli, "show configuration sessions")
    assert "Session with pending commit timer: first\n" in shown_sessions
    refused = typed(cli, "configure session second", "interface Ethernet1/1", "description second", "commit")
    assert refused == "% Cannot commit: session first is pending commit timer\n"
    typed(cli, "abort", "configure session first commit")
    assert "pending commit timer" not in typed(cli, "show configuration sessions")
    assert "   description first\n" in device.running()
    assert device.startup() != device.running()
    assert typed(cli, "write memory") == "Copy completed successfully.\n"
    assert device.startup() == device.running()


def test_a_banner_is_read_to_its_end_without_prompts(cli: EosCli, device: VirtualDevice) -> None:
    typed(cli, "configure terminal")
    begun = cli.answer("banner login")
    assert (begun.output, begun.prompt) == ("Enter TEXT message. Type 'EOF' on its own line to end.\n", "")
    assert [cli.answer(line).prompt for line in ("exit", "")] == ["", ""]
    assert cli.answer("EOF").prompt == f"{LEAF}(config)#"
    assert "banner login\nexit\n\nEOF\n" in device.running()


def test_a_text_from_the_terminal_names_its_bad_lines_and_keeps_the_others(cli: EosCli) -> None:
    typed(cli, "configure session copied", "copy terminal: session-config", "interface Ethernet1/1")
    typed(cli, "   description copied", "   nonsense")
    output = cli.answer(END_OF_TEXT).output
    assert output == "% Invalid input at line 3\nCopy completed successfully.\n"
    assert "+   description copied" in typed(cli, "show session-config diffs")


@pytest.mark.parametrize(
    ("typed_name", "name"),
    [("interface et1/1", "Ethernet1/1"), ("interface Loopback 0", "Loopback0"), ("interface po7", "Port-Channel7")],
)
def test_an_interface_may_be_typed_short(typed_name: str, name: str) -> None:
    assert full_interface(typed_name) == f"interface {name}"


def test_equal_configurations_are_equal_texts_in_whatever_order_they_were_typed(device: VirtualDevice) -> None:
    sections = device.running().removesuffix("end\n").split("\n!\n")
    backwards = "\n!\n".join(section for section in reversed(sections) if section.strip())
    assert shown(backwards) == shown(device.running())


def test_readers_of_others_take_the_tables(cli: EosCli) -> None:
    """ntc-templates."""
    (neighbor,) = parse_output("arista_eos", "show lldp neighbors", typed(cli, "show lldp neighbors"))
    assert (neighbor["local_interface"], neighbor["neighbor_name"]) == ("Et64/1", "pod1-spine1")
    ports = parse_output("arista_eos", "show interfaces status", typed(cli, "show interfaces status"))
    assert {port["port"]: port["status"] for port in ports} == {
        "Et1/1": "connected",
        "Et1/3": "connected",
        "Et64/1": "connected",
    }


def test_endpoints_of_the_twin_have_both_ports(twin: Twin) -> None:
    endpoint: Endpoint = twin.endpoints.by_name()[LEAF]
    assert None not in (endpoint.gnmi_port, endpoint.ssh_port)
