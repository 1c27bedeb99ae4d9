"""The CLI of a virtual SR Linux switch, as an operator and netmiko meet it, beside the gNMI of the same switch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import netmiko
import pytest
from nornir_netmiko.tasks import netmiko_send_command
from tests.pasted import type_session
from tests.twin.twins import LEAF, endpoint, netmiko_login, ring, srl_pod, until

from railfab.deploy import nornir_of
from railfab.endpoints import read_credentials
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.gnmi.statuses import NotNow
from railfab.gnmi.target import Commit, CommitAction, DataType
from railfab.platforms import platform
from railfab.platforms.srlinux.tree import startup
from railfab.ssh import Cli, CliUser
from railfab.twin import SwitchOperation, Twin

PORT = "ethernet-1/1/1"
DESCRIPTION = f"/interface[name={PORT}]/description"
OCTETS = f"info from state interface {PORT} statistics in-octets"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(srl_pod(), state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def session(twin: Twin) -> Iterator[Cli]:
    """A session in the private candidate of a user, which is left without edits."""
    with opened(twin, "admin") as cli_session:
        yield cli_session


@contextmanager
def opened(twin: Twin, user: str, *, writes: bool = True) -> Iterator[Cli]:
    server = twin._servers[LEAF].ssh
    assert server is not None
    made = server._cli(CliUser(name=user, writes=writes))
    yield made
    made.closed()


@pytest.fixture
def operator(twin: Twin) -> Iterator[netmiko.BaseConnection]:
    with typing(twin) as connection:
        yield connection


def typing(twin: Twin) -> Any:
    return netmiko_login(endpoint(twin, LEAF), "nokia_srl")


@contextmanager
def gnmi(twin: Twin) -> Iterator[BlockingGnmiClient]:
    node = endpoint(twin, LEAF)
    with BlockingGnmiClient(node, read_credentials(node)) as client:
        yield client


def description(twin: Twin) -> Any:
    """As a gNMI Get has it."""
    with gnmi(twin) as client:
        (answer,) = client.get((DESCRIPTION,), DataType.CONFIG)
    return answer.value


def said(session: Cli, *lines: str) -> str:
    """The output of the last of these lines."""
    return [session.answer(line).output for line in lines][-1]


def prompt(session: Cli) -> str:
    return session.answer("").prompt


# The prompt, contexts and reading


def test_a_session_begins_and_moves_as_the_pages_of_the_vendor_show(session: Cli) -> None:
    """learn-srlinux, docs/get-started/cli.md."""
    assert session.greeting().output.splitlines()[0] == "Welcome to the srlinux CLI."
    bgp = "network-instance mgmt protocols bgp"
    steps = (
        ("", "--{ running }--[  ]--"),
        ("interface mgmt0", "--{ running }--[ interface mgmt0 ]--"),
        ("subinterface 0", "--{ running }--[ interface mgmt0 subinterface 0 ]--"),
        ("exit", "--{ running }--[ interface mgmt0 ]--"),
        ("subinterface 0", "--{ running }--[ interface mgmt0 subinterface 0 ]--"),
        ("exit to interface", "--{ running }--[ interface mgmt0 ]--"),
        ("/ system information", "--{ running }--[ system information ]--"),
        ("enter state", "--{ state }--[ system information ]--"),
        ("/", "--{ state }--[  ]--"),
        ("enter candidate", "--{ candidate shared default }--[  ]--"),
        (bgp, f"--{{ * candidate shared default }}--[ {bgp} ]--"),
        ("discard now", f"--{{ running }}--[ {bgp} ]--"),
    )
    assert [session.answer(line).prompt for line, _ in steps] == [f"\n{seen}\nA:admin@{LEAF}# " for _, seen in steps]


def test_each_mode_has_the_prompt_of_the_dialect(session: Cli) -> None:
    prompts = platform("srlinux").dialect.prompts
    for mode, line in (
        ("running", "enter running"),
        ("candidate", "enter candidate private"),
        ("state", "enter state"),
    ):
        shown = session.answer(line).prompt
        assert [name for name, pattern in prompts.items() if re.search(pattern, shown)] == [mode]


def test_info_prints_braces_lines_and_json(session: Cli) -> None:
    assert said(session, "info system lldp") == (
        "    system {\n        lldp {\n            admin-state enable\n        }\n    }\n"
    )
    assert said(session, f"info flat interface {PORT} mtu") == f"set / interface {PORT} mtu 9230\n"
    assert said(session, f"interface {PORT}", "info | grep '^    mtu'") == "    mtu 9230\n"
    assert said(session, "info subinterface 0 type") == "    subinterface 0 {\n        type routed\n    }\n"
    assert said(session, "info flat / interface * mtu").count("mtu 9230") == 10
    assert said(session, "info /system lldp").startswith("    system {\n")
    assert '"name": "ethernet-1/1/1",\n  "admin-state": "enable"' in said(session, "info | as json")
    assert said(session, "show version").startswith("Parsing error: Unknown token")
    assert "Hostname             : " + LEAF in said(session, "show / version")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("info interface lo9", "Error: Path '.interface{.name==lo9}' does not specify any existing objects"),
        ("info from somewhere", "Parsing error: Unknown token 'somewhere'."),
        ("show interface brief detail", "Parsing error: Unknown token 'detail'."),
        ("show version | as yaml", "Parsing error: Unknown token 'as yaml'."),
        (f"interface {PORT} mtuu 9000", "Parsing error: Unknown token 'mtuu'."),
        (f"interface {PORT} mtu 9000", "Parsing error: Unknown token 'mtu'."),
        ("tools system configuration confirmed-accept", "Error: no commit waits for a confirmation"),
        ("bash", "Parsing error: Unknown token 'bash'."),
    ],
)
def test_what_the_switch_does_not_take_is_refused(session: Cli, line: str, answer: str) -> None:
    reply = session.answer(line)
    assert reply.output.splitlines()[0] == answer
    assert reply.status == 1


def test_shows_have_ports_neighbours_and_sessions(twin: Twin, session: Cli) -> None:
    show_bgp = "show network-instance default protocols bgp neighbor"
    until(lambda: said(session, show_bgp).count("| establi |") == 2)
    assert "0 configured neighbors, 0 configured sessions are established,0 disabled peers\n2 dynamic peers" in said(
        session, show_bgp
    )
    header, _, *ports, _ = said(session, "show interface brief").splitlines()[1:]
    assert header.split("|")[1:3] == ["        Port         ", "      Admin State      "]
    assert [cell.strip() for cell in ports[-1].split("|")] == ["", "ethernet-1/31", "enable", "up", "400G", "", ""]
    rows = [line.split("|") for line in said(session, "show system lldp neighbor").splitlines() if "ethernet" in line]
    assert {(row[1].strip(), row[3].strip()) for row in rows} == {
        ("ethernet-1/31", "pod1-spine2"),
        ("ethernet-1/32", "pod1-spine1"),
    }


# The candidate


def test_a_line_a_context_and_braces_set_the_same(session: Cli) -> None:
    for lines in (
        "set / interface lo7 admin-state enable mtu 9000; set / interface lo7 subinterface 0 ipv4 address 10.0.0.7/8",
        "interface lo7; admin-state enable; mtu 9000; subinterface 0; ipv4 address 10.0.0.7/8; /",
        "interface lo7 {; admin-state enable; mtu 9000; subinterface 0 {; ipv4 {; address 10.0.0.7/8 {; }; }; }; }",
    ):
        difference = said(session, "enter candidate private", *lines.split("; "), "diff /")
        assert difference == (
            "+     interface lo7 {\n+         admin-state enable\n+         mtu 9000\n"
            "+         subinterface 0 {\n+             ipv4 {\n"
            "+                 address 10.0.0.7/8 {\n+                 }\n+             }\n+         }\n+     }\n"
        )
        assert said(session, "/", "diff flat").count("insert / interface lo7 ") == 3
        said(session, "discard stay")


def test_the_whole_configuration_that_info_prints_can_be_pasted(twin: Twin, session: Cli) -> None:
    for command in ("info flat", "info"):
        text = said(session, "enter running", command)
        said(session, "enter candidate private", "delete /")
        assert said(session, "diff") != ""
        for line in text.splitlines():
            reply = session.answer(line)
            assert reply.status == 0, (line, reply.output)
        assert said(session, "diff") == ""
        said(session, "discard now")


def test_a_value_out_of_range_is_refused_at_once_and_a_port_that_the_switch_lacks_with_the_commit(session: Cli) -> None:
    said(session, "enter candidate private")
    refused = said(session, f"set / interface {PORT} mtu 90")
    assert refused == 'Error: Invalid value "90": Must be an integer in range 1450..9500\n'
    said(session, "set / interface ethernet-9/1 admin-state enable")
    for command in ("commit validate", "commit now"):
        assert said(session, command).startswith("Error: ")
    assert " * candidate private" in prompt(session)
    said(session, "discard now")


def test_a_leaf_list_grows_and_loses_a_value(session: Cli) -> None:
    path = "network-instance default protocols bgp group fabric export-policy"
    (before,) = re.findall(r"export-policy \[ (.*) \]", said(session, f"info flat {path}"))
    said(session, "enter candidate private", f"set / {path} added")
    assert said(session, f"info flat from candidate {path}").endswith(f"[ {before} added ]\n")
    said(session, f"delete / {path} {before}")
    assert said(session, f"info flat from candidate {path}").endswith("[ added ]\n")
    said(session, "discard now")


def test_the_last_of_two_cases_stays_also_when_another_client_commits(twin: Twin, session: Cli) -> None:
    """A NETCONF server is at an SSH server or at a socket (RFC 7950, section 7.9: one case of a choice exists)."""
    server = "system netconf-server added"
    said(session, "enter candidate private", f"set / {server} ssh-server mgmt", f"set / {server} unix-socket")
    for text in ("first", "second"):
        with gnmi(twin) as client:
            client.set(SetChanges(update=((DESCRIPTION, text),)))
        assert said(session, "diff flat /") == f"insert / {server} unix-socket\n"
    assert said(session, "commit stay").startswith("All changes have been committed.")
    said(session, f"delete / {server}", "commit now")
    assert (description(twin), server in said(session, "info flat")) == ("second", False)


def test_the_shared_candidate_is_one_and_keeps_others_from_the_exclusive_one(twin: Twin) -> None:
    with opened(twin, "ann") as first, opened(twin, "bob") as second:
        said(first, "enter candidate", f"set / interface {PORT} description shared")
    with opened(twin, "ann") as first, opened(twin, "bob") as second:
        assert "description shared" in said(second, "enter candidate", "diff")
        said(second, "enter running")
        assert said(first, "enter candidate exclusive").startswith("Error: the candidate is in use")
        said(second, "enter candidate", "discard now")
        assert "candidate exclusive default" in first.answer("enter candidate exclusive").prompt
        assert said(second, "enter candidate").startswith("Error: the candidate is in use")
        said(first, f"set / interface {PORT} description gone")
        first.closed()
        assert said(second, "enter candidate", "diff") == ""


def test_a_private_candidate_waits_for_its_name_and_is_lost_with_the_power(twin: Twin) -> None:
    enter = "enter candidate private name later"
    with opened(twin, "ann") as session:
        said(session, enter, f"set / interface {PORT} description later")
    with opened(twin, "ann") as session:
        assert "description later" in said(session, enter, "diff")
    for operation in (SwitchOperation.OFF, SwitchOperation.ON):
        twin.operate(LEAF, operation)
    with opened(twin, "ann") as session:
        assert said(session, enter, "diff") == ""


def test_a_user_who_may_only_read_does_not_configure(twin: Twin) -> None:
    """learn-srlinux, docs/blog/posts/2024/srl-radius.md."""
    with opened(twin, "viewer", writes=False) as session:
        said(session, "enter candidate")
        for line in (
            f"delete / interface {PORT} mtu",
            f"set / interface {PORT} mtu 9000",
            "commit now",
            "save startup",
        ):
            assert said(session, line) == f"Error: No authorization to execute command: '{line}'\n"


# Both doors


def test_what_either_door_sets_is_seen_in_the_other(twin: Twin, session: Cli) -> None:
    with gnmi(twin) as client:
        client.set(SetChanges(update=((DESCRIPTION, "over gNMI"),)))
    assert said(session, f"info flat interface {PORT} description").endswith('"over gNMI"\n')
    answer = said(session, "enter candidate", f"set / interface {PORT} description typed", "commit now")
    assert answer == "All changes have been committed. Leaving candidate mode.\n"
    assert description(twin) == "typed"


def test_a_commit_leaves_the_same_configuration_as_a_set(twin: Twin, session: Cli) -> None:
    switch = twin._switches[LEAF]
    before = switch.running()
    said(session, "enter candidate private", "delete /")
    for line in startup(switch.configuration).splitlines():
        said(session, line)
    said(session, "commit now")
    assert switch.running() == before


def test_a_candidate_keeps_what_another_client_commits_meanwhile(twin: Twin, session: Cli) -> None:
    said(session, "enter candidate private", f"set / interface {PORT} subinterface 0 description mine")
    with gnmi(twin) as client:
        client.set(SetChanges(update=((DESCRIPTION, "theirs"),)))
    assert re.search(r"--\{ \+?!\* candidate private ", prompt(session))
    assert "theirs" not in said(session, "diff")
    said(session, "commit now")
    assert description(twin) == "theirs"
    assert "mine" in said(session, f"info interface {PORT} subinterface 0")


def test_a_commit_in_the_cli_takes_effect_in_the_fabric(twin: Twin, session: Cli) -> None:
    said(session, "enter candidate", "set / interface ethernet-1/31 admin-state disable", "commit stay")
    show_bgp = "show network-instance default protocols bgp neighbor"
    until(lambda: said(session, show_bgp).count("| establi |") == 1)
    said(session, "set / interface ethernet-1/31 admin-state enable", "commit now")
    until(lambda: said(session, show_bgp).count("| establi |") == 2)


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_commit_under_a_timer_is_seen_in_both_and_decided_in_the_cli(twin: Twin, session: Cli, verb: str) -> None:
    before, changed = description(twin), f"to {verb}"
    answer = said(
        session,
        "enter candidate",
        f"set / interface {PORT} description '{changed}'".replace("'", '"'),
        "commit confirmed timeout 120",
    )
    assert answer == (
        "Commit confirmed (automatic rollback in 2 minutes)\nAll changes have been committed. Leaving candidate mode.\n"
    )
    with gnmi(twin) as client, pytest.raises(NotNow, match="a commit of the CLI is not confirmed yet"):
        client.set(SetChanges(update=((DESCRIPTION, "no"),)))
    assert said(session, "info from state system configuration commit *").count("status unconfirmed") == 1
    assert said(session, f"tools system configuration confirmed-{verb}") == ""
    assert description(twin) == (changed if verb == "accept" else before)


def test_a_commit_that_is_not_confirmed_is_reverted_by_its_timer(twin: Twin, session: Cli) -> None:
    before = description(twin)
    said(session, "enter candidate", f"set / interface {PORT} description short", "commit confirmed timeout 1")
    assert description(twin) == "short"
    until(lambda: description(twin) == before)


def test_the_cli_waits_for_and_decides_on_a_commit_of_gnmi(twin: Twin, session: Cli) -> None:
    with gnmi(twin) as client:
        client.set(SetChanges(update=((DESCRIPTION, "timed"),)), Commit(CommitAction.COMMIT, "deploy7", 120))
    refused = said(session, "enter candidate", f"set / interface {PORT} description no", "commit now")
    assert refused.startswith("Error: commit in progress\nError: ")
    assert "deploy7" in refused
    assert " candidate shared default " in prompt(session)
    said(session, "discard now", "tools system configuration confirmed-accept")
    assert description(twin) == "timed"
    assert said(session, "tools system configuration confirmed-accept").startswith("Error: no commit waits")


def test_a_deploy_sees_a_commit_of_the_cli_that_waits(twin: Twin, session: Cli) -> None:
    said(session, "enter candidate", f"set / interface {PORT} description waits", "commit confirmed timeout 120")
    node = endpoint(twin, LEAF)
    with platform("srlinux").session_factory(LEAF)(node, read_credentials(node)) as deploying:
        pending = deploying.running().pending
    assert pending is not None
    assert "waits since" in pending.description
    said(session, "tools system configuration confirmed-reject")


# netmiko


def test_netmiko_reads_configures_commits_discards_and_saves(twin: Twin, operator: netmiko.BaseConnection) -> None:
    assert f"Hostname             : {LEAF}" in operator.send_command("show version")
    operator.send_config_set([f"interface {PORT}", "description netmiko", "/"])
    assert operator.check_config_mode()
    assert "+         description netmiko" in str(operator.send_command("diff")).splitlines()
    assert "All changes have been committed. Starting new transaction." in operator.commit()
    assert description(twin) == "netmiko"
    operator.send_config_set([f"delete / interface {PORT} description"])
    assert "All changes have been discarded" in operator.exit_config_mode()
    assert not operator.check_config_mode()
    assert "Saved current running configuration as initial" in operator.save_config()
    assert twin._switches[LEAF].saved
    assert description(twin) == "netmiko"


def test_netmiko_commits_under_a_timer_and_another_connection_rejects_it(twin: Twin) -> None:
    before = description(twin)
    with typing(twin) as operator:
        operator.send_config_set([f"set / interface {PORT} description cut"])
        assert "automatic rollback in 10 minutes" in operator.send_command("commit confirmed")
    assert description(twin) == "cut"
    with typing(twin) as operator:
        operator.send_command("tools system configuration confirmed-reject")
    assert description(twin) == before


def test_netmiko_of_the_inventory_of_a_twin_reaches_its_switches(twin: Twin) -> None:
    with nornir_of(srl_pod(), twin.endpoints) as nornir:
        answers = nornir.run(netmiko_send_command, command_string="info flat system name host-name")
    assert {name: answer[0].result.strip() for name, answer in answers.items()} == {
        name: f"set / system name host-name {name}" for name in srl_pod().models
    }


# Sessions of the documentation


def test_a_stranger_logs_in_and_changes_a_port_as_the_page_of_the_twin_shows(
    twin: Twin, operator: netmiko.BaseConnection
) -> None:
    twin._switches[LEAF].save()
    type_session(operator, "SR Linux", rf"A:admin@{LEAF}# ?")
    assert (description(twin), twin._switches[LEAF].saved) == ("to be seen", True)


def test_a_counter_grows_while_a_job_runs(twin: Twin, session: Cli) -> None:
    def octets() -> int:
        (text,) = re.findall(r"in-octets (\d+)", said(session, OCTETS))
        return int(text)

    before = octets()
    twin.switch_job(ring())
    until(lambda: octets() > before)
    twin.switch_job(None)
